/* SPDX-License-Identifier: BSD-2-Clause */
/* Folding rule 8: which binary a map is; and what is said when nothing can be counted. */
#include <stdio.h>

#include "script.h"
#include "support/elf_image.h"

#define A 0x555555554000

static char dir[] = "/tmp/ep-fold-XXXXXX";
static const uint8_t id_5[20] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
static const uint8_t id_6[8] = {6, 6, 6, 6, 6, 6, 6, 6};

static const char *in_dir(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(in_dir("t"));
	unlink(in_dir("u"));
	unlink(in_dir("vmlinux-6.1"));
	return rmdir(dir);
}

static void loop(struct script *s, int32_t pid, uint64_t base)
{
	script_stack(s, pid, B(base + 0x1210, base + 0x1200), B(base + 0x1210, base + 0x1200));
}

static void begin(struct script *s, const char *const *binaries, size_t n)
{
	const struct ep_fold_opts opts = {
	    .n_threads = 1, .binary_paths = binaries, .n_binaries = n};

	script_begin(s, &opts);
}

/* The input's build-id counts, whatever file is at the path; every path is kept as a hint. */
static void test_build_id_of_the_input_first(void **state)
{
	(void)state;
	struct script s;

	elf_image_file(in_dir("t"), id_5, sizeof(id_5));
	begin(&s, NULL, 0);
	script_map(&s, 1, A, 0x4000, 0, in_dir("t"), 7);
	script_map(&s, 2, A, 0x4000, 0, "/opt/app/t (deleted)", 7);
	script_map(&s, 3, A, 0x4000, 0, "/opt/app/t.old", 7);
	script_map(&s, 4, A, 0x4000, 0, "/var/lib/docker/overlay2/x/merged/t", 7);
	for (int32_t pid = 1; pid <= 4; pid++)
		loop(&s, pid, A);
	script_end(&s);
	assert_int_equal(s.edges.n_binaries, 1);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 8);
	assert_int_equal(s.edges.binaries[0].n_paths, 4);
	assert_string_equal(s.edges.binaries[0].paths[0], "/opt/app/t.old");
	assert_int_equal(s.warnings.n, 0);
	script_deinit(&s);
}

/* perf pads ids to 20 bytes where it does not record their size. */
static void test_padded_build_id(void **state)
{
	(void)state;
	struct ep_event e = {.type = EP_EVENT_MAP,
	                     .pid = 1,
	                     .u.map = {.start = A, .len = 0x4000, .path = "/a", .is_file = true}};
	uint8_t bytes[20] = {6, 6, 6, 6, 6, 6, 6, 6};
	struct script s;

	begin(&s, NULL, 0);
	e.u.map.build_id = ep_build_id_make(EP_BUILD_ID_GNU, bytes, 20);
	script_event(&s, &e);
	e.pid = e.tid = 2;
	e.u.map.build_id = ep_build_id_make(EP_BUILD_ID_GNU, bytes, 8);
	script_event(&s, &e);
	loop(&s, 1, A);
	loop(&s, 2, A);
	script_end(&s);
	assert_int_equal(s.edges.n_binaries, 1);
	assert_int_equal(s.edges.binaries[0].build_id.size, 8);
	script_deinit(&s);
}

/* Without an id in the input: the file at the path, read on the spot, however often replaced. */
static void test_file_at_the_path(void **state)
{
	(void)state;
	struct script s;

	begin(&s, NULL, 0);
	elf_image_file(in_dir("t"), id_5, sizeof(id_5));
	script_map(&s, 1, A, 0x4000, 0, in_dir("t"), 0);
	loop(&s, 1, A);
	unlink(in_dir("t"));
	elf_image_file(in_dir("t"), id_6, sizeof(id_6));
	script_map(&s, 2, A, 0x4000, 0, in_dir("t"), 0);
	loop(&s, 2, A);
	loop(&s, 2, A);
	unlink(in_dir("t"));
	elf_image_file(in_dir("t"), NULL, 0);
	script_map(&s, 3, A, 0x4000, 0, in_dir("t"), 0);
	loop(&s, 3, A);
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 5, 0x1210, 0x1200), 2);
	check_u64_eq(edge_count(&s.edges, 6, 0x1210, 0x1200), 4);
	assert_int_equal(s.edges.n_binaries, 3);
	assert_int_equal(s.edges.binaries[2].build_id.kind, EP_BUILD_ID_HASH);
	assert_int_equal(s.edges.binaries[0].machine, 62);
	check_u64_eq(ep_warn_count(&s.warnings, "identity-by-path"), 3);
	script_deinit(&s);
	unlink(in_dir("t"));
}

/* What comes late in the input goes before what was found by looking. */
static void test_late_build_id(void **state)
{
	(void)state;
	struct ep_event late = {.type = EP_EVENT_BUILD_ID, .u.build_id.path = in_dir("t")};
	uint8_t bytes[20];
	struct script s;

	memset(bytes, 7, sizeof(bytes));
	late.u.build_id.build_id = ep_build_id_make(EP_BUILD_ID_GNU, bytes, sizeof(bytes));
	elf_image_file(in_dir("t"), id_5, sizeof(id_5));
	begin(&s, NULL, 0);
	script_map(&s, 1, A, 0x4000, 0, in_dir("t"), 0);
	script_map(&s, 2, A, 0x4000, 0, "/other/t", 7);
	loop(&s, 1, A);
	loop(&s, 2, A);
	late.u.build_id.path = "/never/seen";
	script_event(&s, &late);
	late.u.build_id.path = in_dir("t");
	script_event(&s, &late);
	script_end(&s);
	assert_int_equal(s.edges.n_binaries, 1);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 4);
	assert_int_equal(s.warnings.n, 0);
	script_deinit(&s);
	unlink(in_dir("t"));
}

/* Else --binary of that basename, also of a deleted file; else the path alone. */
static void test_binary_by_basename(void **state)
{
	(void)state;
	const char *binary = in_dir("t");
	struct script s;

	elf_image_file(binary, id_5, sizeof(id_5));
	begin(&s, &binary, 1);
	script_map(&s, 1, A, 0x4000, 0, "/nonexistent/t (deleted)", 0);
	script_map(&s, 2, A, 0x4000, 0, "/nonexistent/u", 0);
	script_map(&s, 2, A + 0x10000, 0x4000, 0, "/nonexistent/never-ran", 0);
	script_map(&s, 3, A, 0x4000, 0, "/nonexistent/t", 8); /* another build */
	for (int32_t pid = 1; pid <= 3; pid++)
		loop(&s, pid, A);
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 5, 0x1210, 0x1200), 2);
	check_u64_eq(edge_count(&s.edges, 8, 0x1210, 0x1200), 2);
	const struct ep_edges_binary *u = find_binary(&s.edges, 0, "/nonexistent/u");
	assert_non_null(u);
	assert_int_equal(u->build_id.size, 0);
	assert_int_equal(u->n_edges, 1);
	check_u64_eq(ep_warn_count(&s.warnings, "identity-by-name"), 1);
	check_u64_eq(ep_warn_count(&s.warnings, "no-identity"), 1);
	check_u64_eq(ep_warn_count(&s.warnings, "unused-binary"), 0);
	script_deinit(&s);
	/* Given, but none of those that ran: said, with both ids if the name is there. */
	begin(&s, &binary, 1);
	script_map(&s, 1, A, 0x4000, 0, "/nonexistent/t", 8);
	loop(&s, 1, A);
	script_end(&s);
	check_u64_eq(ep_warn_count(&s.warnings, "unused-binary"), 1);
	assert_non_null(strstr(s.warnings.v[0].first, "0505"));
	assert_non_null(strstr(s.warnings.v[0].first, "0808"));
	script_deinit(&s);
	begin(&s, &binary, 1);
	script_map(&s, 1, A, 0x4000, 0, "/nonexistent/u", 8);
	/* What people can do nothing about does not hide what they can. */
	script_kernel_map(&s, 0xffffffff81000000, 0x1000000, 0, "[kernel.kallsyms]_text", 0);
	loop(&s, 1, A);
	loop(&s, 1, 0xffffffff81000000);
	script_end(&s);
	check_u64_eq(ep_warn_count(&s.warnings, "no-kernel-identity"), 1);
	check_u64_eq(ep_warn_count(&s.warnings, "no-identity"), 0);
	check_u64_eq(ep_warn_count(&s.warnings, "unused-binary"), 1);
	assert_non_null(strstr(s.warnings.v[0].first, "nothing of that name"));
	script_deinit(&s);
}

/* Input without maps: linked addresses of the one binary, from vaddr to foff. */
static void test_no_maps_one_binary(void **state)
{
	(void)state;
	const char *binary = in_dir("t");
	struct script s;

	begin(&s, &binary, 1);
	loop(&s, EP_PID_UNKNOWN, 0x400000);
	loop(&s, 17, 0x400000);
	script_stack(&s, 1, B(0x1000, 0x2000));
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 5, 0x1210, 0x1200), 4);
	assert_int_equal(s.edges.binaries[0].machine, 62);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 1);
	assert_int_equal(s.warnings.n, 0);
	script_deinit(&s);
}

/* When maps come after all, what was taken for linked addresses was not. */
static void test_maps_after_samples(void **state)
{
	(void)state;
	const char *binary = in_dir("t");
	struct script s;

	begin(&s, &binary, 1);
	loop(&s, 1, 0x400000);
	script_map(&s, 1, A, 0x4000, 0, "/opt/t", 8);
	loop(&s, 1, A);
	script_end(&s);
	assert_int_equal(s.edges.n_binaries, 1);
	check_u64_eq(edge_count(&s.edges, 8, 0x1210, 0x1200), 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 2);
	script_deinit(&s);
}

static void test_no_maps_no_binary(void **state)
{
	(void)state;
	char two[2][256];
	const char *binaries[] = {two[0], two[1]};
	struct script s;

	begin(&s, NULL, 0);
	loop(&s, 1, 0x400000);
	script_fails(&s, "no maps in the input", "--show-mmap-events");
	snprintf(two[0], sizeof(two[0]), "%s", in_dir("t"));
	snprintf(two[1], sizeof(two[1]), "%s", in_dir("u"));
	elf_image_file(two[1], id_6, sizeof(id_6));
	begin(&s, binaries, 2);
	loop(&s, 1, 0x400000);
	script_fails(&s, "more than one --binary", "one --binary");
	begin(&s, binaries, 1);
	loop(&s, 1, 0x100);
	script_fails(&s, "no branch lies in its code", "as linked");
}

static void test_bad_binaries(void **state)
{
	(void)state;
	const char *const twice[] = {"/a/t", "/b/t"};
	const char *const missing[] = {"/nonexistent/t"};
	struct ep_fold_opts opts = {.binary_paths = missing, .n_binaries = 1};
	struct ep_fold *fold;

	check_fails(EP_ERROR_OS, ep_fold_create(&opts, NULL, &fold));
	const char *path = in_dir("t");
	const char *same[] = {path, twice[1]};
	opts.binary_paths = same;
	opts.n_binaries = 2;
	check_fails(EP_ERROR_USAGE, ep_fold_create(&opts, NULL, &fold));
}

/* More binaries than a compact address has numbers for: the rest is dropped by name. */
static void test_too_many_binaries(void **state)
{
	(void)state;
	struct ep_event e = {.type = EP_EVENT_MAP,
	                     .u.map = {.start = A, .len = 0x4000, .path = "/b", .is_file = true}};
	struct script s;

	begin(&s, NULL, 0);
	for (int32_t i = 1; i <= 70000; i++) {
		e.pid = e.tid = i;
		e.u.map.build_id = ep_build_id_make(EP_BUILD_ID_GNU, &i, sizeof(i));
		script_event(&s, &e);
	}
	loop(&s, 1, A);
	loop(&s, 65531, A);
	loop(&s, 65532, A);
	loop(&s, 70000, A);
	script_end(&s);
	assert_int_equal(s.edges.n_binaries, 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNIDENTIFIED], 4);
	check_u64_eq(ep_warn_count(&s.warnings, "too-many-binaries"), 70000 - 65531);
	script_deinit(&s);
}

/* A kernel that runs elsewhere than linked: the given image says how far. */
static void test_kernel_slide(void **state)
{
	(void)state;
	const uint64_t linked = 0xffff800080000000, slide = 0x5a0000;
	const struct elf_image_segment segment = {linked, 0x10000, 0x1000, 0x1000, true};
	const struct elf_image image = {.is_64 = true,
	                                .type = 2,
	                                .machine = 183,
	                                .segments = &segment,
	                                .n_segments = 1,
	                                .section_name = ".text",
	                                .section_data = "abcd",
	                                .n_section_data = 4,
	                                .section_flags = 6,
	                                .section_vaddr = linked + 0x10000,
	                                .min_size = 0x11000};
	struct ep_buf file = {0};
	const char *path = in_dir("vmlinux-6.1");
	FILE *f = fopen(path, "wb");
	struct script s;

	elf_image_write(&image, &file);
	if (!f) {
		fail_msg("%s: cannot be written", path);
		return;
	}
	assert_int_equal(fwrite(file.v, 1, file.n, f), file.n);
	fclose(f);
	ep_buf_deinit(&file);
	begin(&s, &path, 1);
	script_kernel_map(&s, linked + slide, 0x1000000, linked + 0x10000 + slide,
	                  "[kernel.kallsyms]_stext", 0);
	script_stack(&s, 1, B(linked + slide + 0x20010, linked + slide + 0x20000));
	script_end(&s);
	assert_int_equal(s.edges.n_binaries, 1);
	assert_int_equal(s.edges.binaries[0].space, EP_SPACE_VADDR);
	check_u64_eq(s.edges.binaries[0].edges[0].from, linked + 0x20010);
	check_u64_eq(s.edges.binaries[0].edges[0].to, linked + 0x20000);
	script_deinit(&s);
	/* The map of an old perf, from 0 on: what it says of _stext still holds. */
	begin(&s, &path, 1);
	script_kernel_map(&s, 0, 0xffffffff9fffffff, linked + 0x10000 + slide,
	                  "[kernel.kallsyms]_stext", 0);
	script_stack(&s, 1, B(linked + slide + 0x20010, linked + slide + 0x20000));
	script_end(&s);
	check_u64_eq(s.edges.binaries[0].edges[0].from, linked + 0x20010);
	script_deinit(&s);
	/* Without a symbol nothing says how far. */
	begin(&s, &path, 1);
	script_kernel_map(&s, linked + slide, 0x1000000, 0, "[kernel.kallsyms]", 0);
	script_stack(&s, 1, B(linked + slide + 0x20010, linked + slide + 0x20000));
	script_end(&s);
	check_u64_eq(s.edges.binaries[0].edges[0].from, linked + slide + 0x20010);
	script_deinit(&s);
}

/* Design: an empty result is an error that says what was there instead. */
static void test_nothing_counted(void **state)
{
	(void)state;
	struct ep_branch b = B(A + 0x10, A + 0x20);
	struct script s;

	begin(&s, NULL, 0);
	script_map(&s, 1, A, 0x4000, 0, "/t", 7);
	script_fails(&s, "no samples", "recording");
	begin(&s, NULL, 0);
	script_sample(&s, 1, NULL, 0);
	script_fails(&s, "without branch stacks", "-j any");
	begin(&s, NULL, 0);
	script_sample(&s, 1, &b, 0);
	script_fails(&s, "are empty", "privilege level");
	begin(&s, NULL, 0);
	s.flags = EP_SAMPLE_CALL_STACK;
	script_sample(&s, 1, &b, 1);
	script_fails(&s, "call-stack mode", "--call-graph lbr");
	begin(&s, NULL, 0);
	script_map(&s, 2, A, 0x4000, 0, "/t", 7);
	script_sample(&s, 1, &b, 1);
	script_fails(&s, "no branch lies in a file", "maps");
	begin(&s, NULL, 0);
	script_map(&s, 1, A, 0x4000, 0, NULL, 0);
	script_sample(&s, 1, &b, 1);
	script_fails(&s, "memory without a file", "JIT");
	begin(&s, NULL, 0);
	script_map(&s, 1, A, 0x4000, 0, "/t", 7);
	script_map(&s, 2, A, 0x4000, 0, "/u", 8);
	script_sample(&s, EP_PID_UNKNOWN, &b, 1);
	script_fails(&s, "no pid", "-F +pid");
	begin(&s, NULL, 0);
	script_map(&s, 1, A, 0x4000, 0, "/t", 7);
	script_stack(&s, 1, B(0xffffffff81000000, 0xffffffff81000010));
	script_fails(&s, "in the kernel", "-j any,u");
}

/* Events that only a hostile input has. */
static void test_absurd_events(void **state)
{
	(void)state;
	struct ep_branch b = B(A + 0x10, A + 0x20);
	struct ep_event sample = {
	    .type = EP_EVENT_SAMPLE,
	    .pid = 1,
	    .u.sample = {.branches = &b, .n_branches = 1, .stream = UINT32_MAX}};
	struct script s;

	begin(&s, NULL, 0);
	script_map(&s, 1, UINT64_MAX - 10, 0x4000, 0, "/t", 7);
	script_map(&s, 1, A, 0, 0, "/t", 7);
	script_map(&s, 1, 0x10000, 0x1000, UINT64_MAX - 10, "/t", 7);
	script_map(&s, 1, 0x20000, 0x1000, UINT64_C(1) << 48, "/t", 7);
	script_map(&s, 1, A, 0x4000, 0, "", 7);
	script_unmap(&s, 1, UINT64_MAX - 5, UINT64_MAX);
	script_unmap(&s, 77, 0, UINT64_MAX);
	script_fork(&s, 5, 99);
	script_exit(&s, 98);
	script_stack(&s, 1, B(0x10010, 0x10020), B(0x20010, 0x20020));
	script_sample(&s, 1, &b, 1);
	check_fails(EP_ERROR_BAD_DATA, s.sink.event(s.sink.payload, &sample));
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 7, 0x10, 0x20), 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 2);
	script_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_build_id_of_the_input_first),
	    cmocka_unit_test(test_padded_build_id),
	    cmocka_unit_test(test_file_at_the_path),
	    cmocka_unit_test(test_late_build_id),
	    cmocka_unit_test(test_binary_by_basename),
	    cmocka_unit_test(test_no_maps_one_binary),
	    cmocka_unit_test(test_maps_after_samples),
	    cmocka_unit_test(test_no_maps_no_binary),
	    cmocka_unit_test(test_bad_binaries),
	    cmocka_unit_test(test_too_many_binaries),
	    cmocka_unit_test(test_kernel_slide),
	    cmocka_unit_test(test_nothing_counted),
	    cmocka_unit_test(test_absurd_events),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
