/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging: the same bytes in any order, grouping and number of threads; sums; what is refused. */
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/out.h"
#include "edges/block.h"
#include "support/check.h"
#include "support/edges_gen.h"

#define N_FILES 20

static char dir[] = "/tmp/ep_merge.XXXXXX";
static char files[N_FILES][64], out_a[64], out_b[64], out_c[64];

static void write_file(uint64_t seed, const char *path, bool wild)
{
	struct gen_edges_opts opts = {.n_binaries = 1 + (unsigned)seed % 5,
	                              .n_rows = 50 + (unsigned)seed * 13 % 300,
	                              .wild = wild};
	struct ep_edges edges;

	gen_edges(seed, &opts, &edges);
	check_ok(ep_edges_write(&edges, path));
	ep_edges_deinit(&edges);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(out_a, sizeof(out_a), "%s/a", dir);
	snprintf(out_b, sizeof(out_b), "%s/b", dir);
	snprintf(out_c, sizeof(out_c), "%s/c", dir);
	for (unsigned i = 0; i < N_FILES; i++) {
		snprintf(files[i], sizeof(files[i]), "%s/in%u.edges", dir, i);
		write_file(100 + i, files[i], i % 2);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_FILES; i++)
		unlink(files[i]);
	unlink(out_a);
	unlink(out_b);
	unlink(out_c);
	/* Fails if anything else was left behind. */
	return rmdir(dir);
}

/* Merges and throws the report away. */
static struct ep_error *merge(const char *const *paths, size_t n, const char *out,
                              const struct ep_edges_merge_opts *opts)
{
	struct ep_edges_merge_report report = {0};
	struct ep_error *err = ep_edges_merge(paths, n, out, opts, &report);

	ep_edges_merge_report_deinit(&report);
	return err;
}

static void check_same_bytes(const char *path_a, const char *path_b)
{
	struct ep_file a, b;

	check_ok(ep_file_open(path_a, 0, &a));
	check_ok(ep_file_open(path_b, 0, &b));
	check_u64_eq(a.size, b.size);
	assert_memory_equal(a.data, b.data, a.size);
	ep_file_close(&a);
	ep_file_close(&b);
}

static void shuffle(uint64_t *s, const char **v, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = (size_t)gen_below(s, i);
		const char *t = v[i - 1];
		v[i - 1] = v[k];
		v[k] = t;
	}
}

static void all_files(const char **ret)
{
	for (size_t i = 0; i < N_FILES; i++)
		ret[i] = files[i];
}

static void test_order_threads_and_fan_in_do_not_matter(void **state)
{
	(void)state;
	const char *v[N_FILES];
	uint64_t s = 1;

	all_files(v);
	check_ok(merge(v, N_FILES, out_a, &(struct ep_edges_merge_opts){.n_threads = 1}));
	for (unsigned i = 0; i < 24; i++) {
		struct ep_edges_merge_opts opts = {.n_threads = 1 + i % 3,
		                                   .n_open_max = i % 4 ? 2 + i % 7 : 0};
		shuffle(&s, v, N_FILES);
		check_ok(merge(v, N_FILES, out_b, &opts));
		check_same_bytes(out_a, out_b);
	}
}

/* Merges the files in a random binary tree by way of files. */
static void merge_by_tree(uint64_t *s, const char **v, size_t n, const char *out)
{
	char left[80], right[80];
	const char *both[2] = {left, right};

	if (n == 1) {
		check_ok(merge(v, 1, out, NULL));
		return;
	}
	size_t k = 1 + (size_t)gen_below(s, n - 1);
	snprintf(left, sizeof(left), "%.60s.l%zu", out, n);
	snprintf(right, sizeof(right), "%.60s.r%zu", out, n);
	merge_by_tree(s, v, k, left);
	merge_by_tree(s, v + k, n - k, right);
	check_ok(merge(both, 2, out, NULL));
	unlink(left);
	unlink(right);
}

static void test_tree_shapes_do_not_matter(void **state)
{
	(void)state;
	const char *v[N_FILES];
	uint64_t s = 2;

	all_files(v);
	check_ok(merge(v, N_FILES, out_a, NULL));
	for (unsigned i = 0; i < 6; i++) {
		shuffle(&s, v, N_FILES);
		merge_by_tree(&s, v, 8, out_b);
		/* 8 by a tree of their own, the others together with that. */
		const char *w[N_FILES - 7];
		for (size_t k = 8; k < N_FILES; k++)
			w[k - 8] = v[k];
		w[N_FILES - 8] = out_b;
		check_ok(merge(w, N_FILES - 7, out_c, NULL));
		check_same_bytes(out_a, out_c);
	}
}

static void test_merging_one_file_is_identity(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FILES; i++) {
		const char *v[] = {files[i]};
		check_ok(merge(v, 1, out_a, NULL));
		check_same_bytes(files[i], out_a);
	}
}

/* The sum by another way: both tables put together in memory and normalised. */
static void check_sum(const char *path_a, const char *path_b, const char *path_sum)
{
	struct ep_edges a, b, sum, both = {0};

	check_ok(ep_edges_read(path_a, &a));
	check_ok(ep_edges_read(path_b, &b));
	check_ok(ep_edges_read(path_sum, &sum));
	size_t n = a.n_binaries + b.n_binaries;
	struct ep_edges_binary *binaries = calloc(n, sizeof(*binaries));
	struct ep_provenance provenance[2] = {a.provenance[0], b.provenance[0]};
	struct ep_edges_reason reasons[8];
	assert_non_null(binaries);
	memcpy(binaries, a.binaries, a.n_binaries * sizeof(*binaries));
	memcpy(binaries + a.n_binaries, b.binaries, b.n_binaries * sizeof(*binaries));
	for (size_t i = a.n_binaries; i < n; i++)
		for (size_t k = 0; k < binaries[i].n_edges; k++)
			if (binaries[i].edges[k].peer)
				binaries[i].edges[k].peer += a.n_binaries & 0xff;
	memcpy(reasons, a.unknown_reasons, a.n_unknown_reasons * sizeof(*reasons));
	memcpy(reasons + a.n_unknown_reasons, b.unknown_reasons,
	       b.n_unknown_reasons * sizeof(*reasons));
	both.binaries = binaries;
	both.n_binaries = n;
	both.provenance = provenance;
	both.n_provenance = 2;
	both.unknown_reasons = reasons;
	both.n_unknown_reasons = a.n_unknown_reasons + b.n_unknown_reasons;
	ep_drops_add(&both.drops, &a.drops);
	ep_drops_add(&both.drops, &b.drops);
	check_ok(ep_edges_normalise(&both));
	gen_edges_check_equal(&both, &sum);
	ep_edges_deinit(&both);
	ep_edges_deinit(&a);
	ep_edges_deinit(&b);
	ep_edges_deinit(&sum);
	free(binaries);
}

static void test_counts_add_up(void **state)
{
	(void)state;
	for (size_t i = 0; i + 1 < N_FILES; i++) {
		const char *v[] = {files[i], files[i + 1]};
		check_ok(merge(v, 2, out_a, NULL));
		check_sum(files[i], files[i + 1], out_a);
	}
}

static void test_counts_saturate(void **state)
{
	(void)state;
	struct ep_edge edge = {.from = 1, .to = 2, .count = UINT64_MAX - 5, .mispreds = 1};
	struct ep_edges_binary binary = {.edges = &edge, .n_edges = 1};
	struct ep_edges edges = {.binaries = &binary, .n_binaries = 1}, got;
	struct ep_edges_merge_report report = {0};
	const char *v[] = {out_a, out_b};

	check_ok(ep_edges_write(&edges, out_a));
	edge.count = 10;
	check_ok(ep_edges_write(&edges, out_b));
	check_ok(ep_edges_merge(v, 2, out_c, NULL, &report));
	check_u64_eq(report.n_saturated, 1);
	ep_edges_merge_report_deinit(&report);
	check_ok(ep_edges_read(out_c, &got));
	check_u64_eq(got.binaries[0].edges[0].count, UINT64_MAX);
	check_u64_eq(got.binaries[0].edges[0].mispreds, 2);
	ep_edges_deinit(&got);
}

static void test_same_capture_twice_is_refused(void **state)
{
	(void)state;
	const char *first[] = {files[0], files[1]}, *second[] = {files[2], files[1]};
	const char *again[] = {out_a, out_b}, *twice[] = {files[4], files[5], files[4]};

	check_fails(EP_ERROR_MISMATCH, merge(twice, 3, out_c, NULL));
	check_ok(merge(first, 2, out_a, NULL));
	check_ok(merge(second, 2, out_b, NULL));
	check_fails(EP_ERROR_MISMATCH, merge(again, 2, out_c, NULL));
	check_ok(merge(again, 2, out_c, &(struct ep_edges_merge_opts){.allow_duplicates = true}));
	struct ep_edges got;
	uint64_t n_copies = 0;
	check_ok(ep_edges_read(out_c, &got));
	check_u64_eq(got.n_provenance, 3);
	for (size_t i = 0; i < 3; i++)
		n_copies += got.provenance[i].n_copies;
	check_u64_eq(n_copies, 4);
	ep_edges_deinit(&got);
	/* A file with a copy on purpose may be merged with others. */
	const char *more[] = {out_c, files[7]};
	check_ok(merge(more, 2, out_a, NULL));
	/* Also when the two are in different groups of a tree. */
	const char *v[N_FILES + 1];
	all_files(v);
	v[N_FILES] = files[3];
	struct ep_error *err = merge(
	    v, N_FILES + 1, out_a, &(struct ep_edges_merge_opts){.n_open_max = 3, .n_threads = 2});
	assert_non_null(err);
	assert_int_equal(err->code, EP_ERROR_MISMATCH);
	assert_non_null(strstr(err->message, "in3.edges"));
	assert_non_null(strstr(err->message, "(2 inputs do)"));
	ep_error_destroy(err);
}

/* The same capture folded in another way is still the same capture. */
static void test_same_digest_is_the_same_capture(void **state)
{
	(void)state;
	struct ep_provenance p = {
	    .host = "x", .kernel = "", .cpu = "", .event = "", .tool = "", .n_copies = 1};
	struct ep_edges edges = {.provenance = &p, .n_provenance = 1};
	const char *v[] = {out_a, out_b};

	check_ok(ep_edges_write(&edges, out_a));
	p.weighted = true;
	check_ok(ep_edges_write(&edges, out_b));
	check_fails(EP_ERROR_MISMATCH, merge(v, 2, out_c, NULL));
	check_ok(merge(v, 2, out_c, &(struct ep_edges_merge_opts){.allow_duplicates = true}));
}

static void damage(const char *path)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	fseek(f, -200, SEEK_END);
	int c = fgetc(f);
	fseek(f, -1, SEEK_CUR);
	fputc(c ^ 16, f);
	fclose(f);
}

static void test_bad_inputs_are_all_reported(void **state)
{
	(void)state;
	const char *v[N_FILES], *good[N_FILES];
	struct ep_edges_merge_report report = {0};
	size_t n_good = 0;

	all_files(v);
	check_ok(ep_out_write(out_a, "old", 3));
	damage(files[3]);
	check_ok(ep_out_write(files[8], "", 0));
	v[12] = "/nonexistent";
	for (size_t i = 0; i < N_FILES; i++)
		if (i != 3 && i != 8 && i != 12)
			good[n_good++] = v[i];
	for (unsigned n_threads = 1; n_threads < 4; n_threads++) {
		struct ep_edges_merge_opts opts = {.n_threads = n_threads, .n_open_max = 5};
		check_fails(EP_ERROR_BAD_DATA, ep_edges_merge(v, N_FILES, out_a, &opts, &report));
		check_u64_eq(report.n_bad, 3);
		assert_ptr_equal(report.bad[0].path, v[3]);
		assert_int_equal(report.bad[0].err->code, EP_ERROR_BAD_DATA);
		assert_ptr_equal(report.bad[1].path, v[8]);
		assert_ptr_equal(report.bad[2].path, v[12]);
		assert_int_equal(report.bad[2].err->code, EP_ERROR_OS);
		ep_edges_merge_report_deinit(&report);
		struct ep_file file;
		check_ok(ep_file_open(out_a, 0, &file));
		check_u64_eq(file.size, 3);
		ep_file_close(&file);
		opts.quarantine = true;
		check_ok(ep_edges_merge(v, N_FILES, out_b, &opts, &report));
		check_u64_eq(report.n_bad, 3);
		check_u64_eq(report.n_merged, N_FILES - 3);
		check_u64_eq(report.n_provenance, N_FILES - 3);
		ep_edges_merge_report_deinit(&report);
		check_ok(merge(good, n_good, out_c, NULL));
		check_same_bytes(out_b, out_c);
	}
	const char *only_bad[] = {v[3], v[8]};
	check_fails(EP_ERROR_MISSING,
	            merge(only_bad, 2, out_a, &(struct ep_edges_merge_opts){.quarantine = true}));
	write_file(103, files[3], true);
	write_file(108, files[8], false);
}

static void test_output_may_be_an_input(void **state)
{
	(void)state;
	const char *v[] = {files[0], files[1]}, *w[] = {out_b, files[1]};

	check_ok(merge(v, 2, out_a, NULL));
	check_ok(merge(v, 1, out_b, NULL));
	check_ok(merge(w, 2, out_b, NULL));
	check_same_bytes(out_a, out_b);
}

static void test_unwritable_output(void **state)
{
	(void)state;
	const char *v[] = {files[0]};

	check_fails(EP_ERROR_OS, merge(v, 1, "/nonexistent/folder/out", NULL));
	check_fails(EP_ERROR_MISSING, merge(NULL, 0, out_a, NULL));
}

/* A file with a block of a type that does not exist yet. */
static void write_future(const char *path)
{
	struct ep_edges_block_writer writer;
	struct ep_buf column = {0};
	struct ep_out out = {0};

	check_ok(ep_out_open(path, &out));
	check_ok(ep_edges_block_writer_init(out.file, path, &writer));
	ep_buf_put(&column, "context", 7);
	/* Written like a known table first: the header's type and flags are changed in the file. */
	check_ok(ep_edges_block_write(&writer, EP_EDGES_TABLE_RANGES, 1, &column, 1));
	check_ok(ep_edges_block_writer_finish(&writer, NULL));
	ep_edges_block_writer_deinit(&writer);
	ep_buf_deinit(&column);
	check_ok(ep_out_commit(&out));
}

static void put_le(unsigned char *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

/* Makes the one block of write_future() one of type 77, all sums right. */
static void make_unknown(struct ep_buf *bytes, bool optional)
{
	unsigned char *block = bytes->v + EP_EDGES_HEADER_SIZE;
	size_t n_block = EP_EDGES_BLOCK_HEADER_SIZE + 2 + 7;
	unsigned char *end = block + n_block + EP_EDGES_CHECKSUM_SIZE;
	unsigned char *footer = end + EP_EDGES_BLOCK_HEADER_SIZE + 2;
	unsigned char content[6 + 4 + 7] = {77, 1, 1, 0, 0, 0, 7, 0, 0, 0};

	block[0] = 77;
	block[1] = optional ? EP_EDGES_FLAG_OPTIONAL : 0;
	put_le(block + n_block, XXH3_64bits(block, n_block), 8);
	memcpy(content + 10, "context", 7);
	ep_digest(content, sizeof(content), footer);
	put_le(footer + EP_DIGEST_SIZE + 8 * 4, 0, 8); /* no ranges */
	size_t n_end = (size_t)(footer - end) + EP_EDGES_FOOTER_SIZE;
	put_le(end + n_end, XXH3_64bits(end, n_end), 8);
}

static void test_unknown_blocks(void **state)
{
	(void)state;
	const char *v[] = {out_b, files[0]};

	for (int optional = 0; optional < 2; optional++) {
		struct ep_buf bytes = {0};
		struct ep_edges got;
		struct ep_file file;
		write_future(out_a);
		check_ok(ep_file_open(out_a, 0, &file));
		ep_buf_put(&bytes, file.data, file.size);
		ep_file_close(&file);
		make_unknown(&bytes, optional);
		if (optional) {
			check_ok(ep_edges_decode(bytes.v, bytes.n, "t", &got));
			check_u64_eq(got.n_unknown_blocks, 1);
			ep_edges_deinit(&got);
		} else {
			check_fails(EP_ERROR_UNSUPPORTED,
			            ep_edges_decode(bytes.v, bytes.n, "t", &got));
		}
		check_ok(ep_out_write(out_b, bytes.v, bytes.n));
		check_fails(EP_ERROR_UNSUPPORTED, merge(v, 2, out_c, NULL));
		ep_buf_deinit(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order_threads_and_fan_in_do_not_matter),
	    cmocka_unit_test(test_tree_shapes_do_not_matter),
	    cmocka_unit_test(test_merging_one_file_is_identity),
	    cmocka_unit_test(test_counts_add_up),
	    cmocka_unit_test(test_counts_saturate),
	    cmocka_unit_test(test_same_capture_twice_is_refused),
	    cmocka_unit_test(test_same_digest_is_the_same_capture),
	    cmocka_unit_test(test_bad_inputs_are_all_reported),
	    cmocka_unit_test(test_output_may_be_an_input),
	    cmocka_unit_test(test_unwritable_output),
	    cmocka_unit_test(test_unknown_blocks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
