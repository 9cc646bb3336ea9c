/* SPDX-License-Identifier: BSD-2-Clause */
/* `.edges` files: identity of write and read, and that any damage is noticed. */
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/out.h"
#include "edges/edges.h"
#include "edges/format.h"
#include "support/check.h"
#include "support/edges_gen.h"

static void encode(const struct ep_edges *edges, struct ep_buf *ret)
{
	*ret = (struct ep_buf){0};
	check_ok(ep_edges_encode(edges, ret));
}

/* Encodes, decodes, compares, and encodes again. */
static void check_round_trip(const struct ep_edges *edges)
{
	struct ep_buf bytes, again;
	struct ep_edges decoded;

	encode(edges, &bytes);
	check_ok(ep_edges_decode(bytes.v, bytes.n, "t", &decoded));
	gen_edges_check_equal(edges, &decoded);
	encode(&decoded, &again);
	check_u64_eq(again.n, bytes.n);
	assert_memory_equal(again.v, bytes.v, bytes.n);
	ep_edges_deinit(&decoded);
	ep_buf_deinit(&bytes);
	ep_buf_deinit(&again);
}

static void test_write_then_read_is_identity(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct gen_edges_opts opts = {.n_binaries = (unsigned)(seed % 7),
		                              .n_rows = (unsigned)(seed * seed % 900),
		                              .wild = seed % 2};
		struct ep_edges edges;
		gen_edges(seed, &opts, &edges);
		check_round_trip(&edges);
		ep_edges_deinit(&edges);
	}
}

static void test_many_blocks(void **state)
{
	(void)state;
	struct gen_edges_opts opts = {.n_binaries = 3, .n_rows = 60000, .wild = true};
	struct ep_edges edges;

	gen_edges(5, &opts, &edges);
	check_round_trip(&edges);
	ep_edges_deinit(&edges);
}

static void test_empty_table(void **state)
{
	(void)state;
	check_round_trip(&(struct ep_edges){0});
}

static void test_files_and_pipes(void **state)
{
	(void)state;
	struct gen_edges_opts opts = {.n_binaries = 3, .n_rows = 100};
	char path[] = "/tmp/ep_edges.XXXXXX";
	struct ep_edges edges, got;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	gen_edges(9, &opts, &edges);
	check_ok(ep_edges_write(&edges, path));
	check_ok(ep_edges_read(path, &got));
	gen_edges_check_equal(&edges, &got);
	ep_edges_deinit(&got);
	ep_edges_deinit(&edges);
	unlink(path);
	check_fails(EP_ERROR_OS, ep_edges_read(path, &got));
}

/* A small file whose columns are partly compressed. */
static void make_small(struct ep_buf *ret)
{
	struct gen_edges_opts opts = {.n_binaries = 3, .n_rows = 120};
	struct ep_edges edges;

	gen_edges(3, &opts, &edges);
	encode(&edges, ret);
	ep_edges_deinit(&edges);
}

static void test_every_truncation_is_an_error(void **state)
{
	(void)state;
	struct ep_buf bytes;
	struct ep_edges got;

	make_small(&bytes);
	for (size_t n = 0; n < bytes.n; n++) {
		unsigned char *copy = check_guard(bytes.v, n);
		check_fails(EP_ERROR_BAD_DATA, ep_edges_decode(copy, n, "t", &got));
		check_guard_free(copy, n);
	}
	ep_buf_u8(&bytes, 0);
	check_fails(EP_ERROR_BAD_DATA, ep_edges_decode(bytes.v, bytes.n, "t", &got));
	ep_buf_deinit(&bytes);
}

static void test_every_bit_flip_is_an_error(void **state)
{
	(void)state;
	struct ep_buf bytes;
	struct ep_edges got;

	make_small(&bytes);
	for (size_t i = 0; i < bytes.n * 8; i++) {
		bytes.v[i / 8] ^= (unsigned char)(1u << i % 8);
		check_fails(EP_ERROR_BAD_DATA, ep_edges_decode(bytes.v, bytes.n, "t", &got));
		bytes.v[i / 8] ^= (unsigned char)(1u << i % 8);
	}
	check_ok(ep_edges_decode(bytes.v, bytes.n, "t", &got));
	ep_edges_deinit(&got);
	ep_buf_deinit(&bytes);
}

static void put_u64(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static void test_newer_versions_are_refused_by_name(void **state)
{
	(void)state;
	struct ep_buf bytes;
	struct ep_edges got;

	make_small(&bytes);
	bytes.v[8] = 2;
	put_u64(bytes.v + 16, XXH3_64bits(bytes.v, 16));
	struct ep_error *err = ep_edges_decode(bytes.v, bytes.n, "t", &got);
	assert_non_null(err);
	assert_int_equal(err->code, EP_ERROR_UNSUPPORTED);
	assert_string_equal(err->message, "t: format version 2; this program reads version 1");
	assert_non_null(err->hint);
	ep_error_destroy(err);
	bytes.v[8] = 1;
	bytes.v[12] = 4;
	put_u64(bytes.v + 16, XXH3_64bits(bytes.v, 16));
	check_fails(EP_ERROR_UNSUPPORTED, ep_edges_decode(bytes.v, bytes.n, "t", &got));
	ep_buf_deinit(&bytes);
}

static void test_other_files_are_not_edges(void **state)
{
	(void)state;
	static const char text[] = "PERFILE2 and more than eight bytes";
	struct ep_edges got;

	assert_false(ep_edges_detect(text, sizeof(text)));
	check_fails(EP_ERROR_BAD_DATA, ep_edges_decode(text, sizeof(text), "t", &got));
	check_fails(EP_ERROR_BAD_DATA, ep_edges_decode(NULL, 0, "t", &got));
}

static void test_refuses_to_write_what_is_out_of_order(void **state)
{
	(void)state;
	struct ep_edge v[] = {{.from = 8, .to = 4}, {.from = 4, .to = 9}};
	struct ep_edges_binary binary = {.edges = v, .n_edges = 2};
	struct ep_edges edges = {.binaries = &binary, .n_binaries = 1};
	struct ep_buf bytes = {0};

	check_fails(EP_ERROR_BUG, ep_edges_encode(&edges, &bytes));
	ep_buf_deinit(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_write_then_read_is_identity),
	    cmocka_unit_test(test_many_blocks),
	    cmocka_unit_test(test_empty_table),
	    cmocka_unit_test(test_files_and_pipes),
	    cmocka_unit_test(test_every_truncation_is_an_error),
	    cmocka_unit_test(test_every_bit_flip_is_an_error),
	    cmocka_unit_test(test_newer_versions_are_refused_by_name),
	    cmocka_unit_test(test_other_files_are_not_edges),
	    cmocka_unit_test(test_refuses_to_write_what_is_out_of_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
