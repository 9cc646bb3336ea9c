/* SPDX-License-Identifier: BSD-2-Clause */
/* Detection by content and the parts that all importers share. */
#include "import/import.h"

#include <string.h>

#include "base/file.h"
#include "perf_data_case.h"
#include "record/raw.h"

static const char script[] =
    "prog 12  401000 0x401010/0x401100/P/-/-/7 0x401200/0x401000/M/-/-/0\n";

/* Writes a temporary file; returns its path, to be unlinked. */
static char *write_file(const void *data, size_t n)
{
	static char path[32];
	int fd;

	strcpy(path, "/tmp/ep_import_XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), (ssize_t)n);
	close(fd);
	return path;
}

/* Opens and runs a file of these bytes. */
static struct ep_error *import_bytes(const void *data, size_t n, struct event_text *text,
                                     struct ep_import_info *ret)
{
	char *path = write_file(data, n);
	struct ep_import *import = NULL;
	struct ep_event_sink sink = event_text_sink(text);
	struct ep_error *err = ep_import_open(path, EP_IMPORT_AUTO, NULL, &import);

	unlink(path);
	if (!err)
		err = ep_import_run(import, &sink, ret);
	ep_import_close(import);
	return err;
}

static const struct ep_buf *small_perf_data(struct perf_builder *b, bool big_endian, bool pipe)
{
	pb_init(b, big_endian, pipe);
	pb_add_attr(b, &(struct pb_attr){.sample_type = ST_USUAL, .branch_type = PERF_BRANCH_ANY});
	pb_sample(b, &(struct pb_sample){
	                 .pid = 7, .tid = 7, .t_ns = 5, .branches = two_branches, .n_branches = 2});
	return pb_finish(b);
}

static void test_kinds_by_content(void **state)
{
	(void)state;
	struct ep_import_info info;

	for (int i = 0; i < 4; i++) {
		struct perf_builder b;
		struct event_text text = {0};
		uint8_t digest[EP_DIGEST_SIZE];
		const struct ep_buf *out = small_perf_data(&b, i & 1, i & 2);
		check_ok(import_bytes(out->v, out->n, &text, &info));
		assert_int_equal(info.kind, EP_IMPORT_PERF_DATA);
		check_u64_eq(text.n_branches, 2);
		ep_digest(out->v, out->n, digest);
		assert_memory_equal(digest, info.digest, EP_DIGEST_SIZE);
		event_text_deinit(&text);
		pb_deinit(&b);
	}
	struct event_text text = {0};
	check_ok(import_bytes(script, strlen(script), &text, &info));
	assert_int_equal(info.kind, EP_IMPORT_PERF_SCRIPT);
	check_u64_eq(text.n_branches, 2);
	event_text_deinit(&text);
}

static void test_raw_captures(void **state)
{
	(void)state;
	struct event_text want = {0}, got = {0};
	struct ep_event_sink tee = event_text_sink(&want);
	struct ep_capture_info capture = {.host = "box", .cmdline = "prog"};
	struct ep_event event = {
	    .type = EP_EVENT_SAMPLE, .pid = 3, .t_ns = 9, .u.sample.branches = two_branches};
	struct ep_raw_writer *writer;
	struct ep_import *import;
	struct ep_import_info info;
	struct ep_file file;
	uint8_t digest[EP_DIGEST_SIZE];
	char *path = write_file("", 0);

	check_ok(ep_raw_writer_create(path, &capture, &tee, &writer));
	struct ep_event_sink sink = ep_raw_writer_sink(writer);
	event.u.sample.n_branches = 2;
	check_ok(sink.event(sink.payload, &event));
	check_ok(ep_raw_writer_commit(writer, digest));
	check_ok(ep_import_open(path, EP_IMPORT_AUTO, NULL, &import));
	struct ep_event_sink got_sink = event_text_sink(&got);
	check_ok(ep_import_run(import, &got_sink, &info));
	assert_int_equal(info.kind, EP_IMPORT_RAW);
	assert_string_equal(info.capture.host, "box");
	assert_string_equal(info.capture.cmdline, "prog");
	check_u64_eq(info.capture.t_end_ns, 9);
	assert_memory_equal(info.digest, digest, EP_DIGEST_SIZE);
	assert_string_equal(event_text_get(&got), event_text_get(&want));
	ep_import_close(import);
	event_text_deinit(&got);

	/* Torn, it gives what it has. */
	struct ep_warnings warnings = {0};
	struct ep_input in;
	got = (struct event_text){0};
	check_ok(ep_file_open(path, 0, &file));
	unlink(path);
	check_ok(ep_input_open_memory("mem", file.data, file.size - 1, 7, &in));
	check_ok(ep_import_open_input(&in, EP_IMPORT_AUTO, &warnings, &import));
	check_ok(ep_import_run(import, &got_sink, &info));
	check_u64_eq(got.n_samples, 1);
	check_u64_eq(got.n_corrupt, 1);
	check_u64_eq(ep_warn_count(&warnings, "torn-capture"), 1);
	ep_import_close(import);
	ep_warnings_deinit(&warnings);
	ep_file_close(&file);
	event_text_deinit(&got);
	event_text_deinit(&want);
}

static void test_strangers_are_named(void **state)
{
	(void)state;
	struct event_text text = {0};
	struct ep_import_info info;

	check_fails(EP_ERROR_BAD_DATA, import_bytes("", 0, &text, &info));
	check_fails(EP_ERROR_BAD_DATA, import_bytes("\x89"
	                                            "EPEDGE\n",
	                                            8, &text, &info));
	check_fails(EP_ERROR_BAD_DATA, import_bytes("\x1f\x8b\x08 some", 8, &text, &info));
	ep_autoerr edges = import_bytes("\x89\x45PEDGE\n\1", 9, &text, &info);
	assert_non_null(edges);
	assert_non_null(strstr(edges->message, "folded already"));
	ep_autoerr err = import_bytes("\177ELF\2\1\1", 8, &text, &info);
	assert_non_null(err);
	assert_non_null(strstr(err->message, "an ELF file"));
	assert_non_null(err->hint);
	event_text_deinit(&text);
}

static void test_standard_input(void **state)
{
	(void)state;
	struct perf_builder b;
	struct event_text text = {0};
	struct ep_import *import;
	struct ep_import_info info;
	struct ep_event_sink sink = event_text_sink(&text);
	const struct ep_buf *out = small_perf_data(&b, false, true);
	int saved = dup(0), ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], out->v, out->n), (ssize_t)out->n);
	close(ends[1]);
	assert_int_equal(dup2(ends[0], 0), 0);
	check_ok(ep_import_open("-", EP_IMPORT_AUTO, NULL, &import));
	check_ok(ep_import_run(import, &sink, &info));
	ep_import_close(import);
	assert_int_equal(dup2(saved, 0), 0);
	close(saved);
	close(ends[0]);
	check_u64_eq(text.n_samples, 1);
	check_u64_eq(text.n_stable, 0);
	event_text_deinit(&text);
	pb_deinit(&b);
}

static void test_kind_names(void **state)
{
	(void)state;
	assert_string_equal(ep_import_kind_name(EP_IMPORT_PERF_DATA), "perf.data");
	assert_string_equal(ep_import_kind_name(EP_IMPORT_PERF_SCRIPT), "perf script");
	assert_string_equal(ep_import_kind_name(EP_IMPORT_AUTO), "unknown");
	assert_string_equal(ep_import_kind_name((enum ep_import_kind)77), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kinds_by_content),    cmocka_unit_test(test_raw_captures),
	    cmocka_unit_test(test_strangers_are_named), cmocka_unit_test(test_standard_input),
	    cmocka_unit_test(test_kind_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
