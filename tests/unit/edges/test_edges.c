/* SPDX-License-Identifier: BSD-2-Clause */
/* Bringing a table into order: sums, joined binaries, renumbered peers. */
#include "edges/edges.h"

#include <stdio.h>

#include "support/check.h"
#include "support/edges_gen.h"

static void test_sums_equal_edges_and_ranges(void **state)
{
	(void)state;
	struct ep_edge v[] = {
	    {.from = 8, .to = 4, .count = 5, .mispreds = 1, .types = 2},
	    {.from = 4, .to = 9, .count = 1, .types = 2},
	    {.from = 8, .to = 4, .count = UINT64_MAX, .mispreds = 2, .types = 4},
	    {.from = 8, .to = 99, .count = 3, .kind = EP_EDGE_OUT},
	    {.from = 8, .to = 98, .count = 3, .kind = EP_EDGE_OUT},
	};
	struct ep_range ranges[] = {
	    {.start = 4, .end = 8, .count = 1},
	    {.start = 4, .end = 8, .count = 1, .open_end = 7},
	    {.start = 4, .end = 8, .count = 2},
	};
	struct ep_edges_binary binary = {.edges = v, .n_edges = 5, .ranges = ranges, .n_ranges = 3};
	struct ep_edges edges = {.binaries = &binary, .n_binaries = 1};

	check_ok(ep_edges_normalise(&edges));
	check_u64_eq(binary.n_edges, 3);
	check_u64_eq(v[0].from, 4);
	check_u64_eq(v[1].count, UINT64_MAX);
	check_u64_eq(v[1].mispreds, 3);
	check_u64_eq(v[1].types, 6);
	check_u64_eq(v[2].count, 6);
	check_u64_eq(v[2].to, 0);
	check_u64_eq(binary.n_ranges, 2);
	check_u64_eq(ranges[0].count, 3);
	check_u64_eq(ranges[1].open_end, 1);
	ep_edges_deinit(&edges);
}

static void test_joins_binaries_and_renumbers_peers(void **state)
{
	(void)state;
	/* The same id, once padded by zeros; the third binary sorts before both. */
	const char *paths_a[] = {"/opt/app/long/name", "/bin/a"}, *paths_b[] = {"/bin/b", "/bin/a"};
	struct ep_edge a = {.from = 1, .kind = EP_EDGE_OUT, .count = 1, .peer = 3};
	struct ep_edge b = {.from = 1, .kind = EP_EDGE_OUT, .count = 2, .peer = 3};
	struct ep_edge c = {.to = 7, .kind = EP_EDGE_IN, .count = 4, .peer = 2};
	struct ep_edges_binary binaries[] = {
	    {.build_id = ep_build_id_make(EP_BUILD_ID_GNU, "\x09\x01", 2),
	     .paths = paths_a,
	     .n_paths = 2,
	     .edges = &a,
	     .n_edges = 1},
	    {.build_id = ep_build_id_make(EP_BUILD_ID_GNU, "\x09\x01\0\0", 4),
	     .paths = paths_b,
	     .n_paths = 2,
	     .edges = &b,
	     .n_edges = 1,
	     .machine = 62},
	    {.build_id = ep_build_id_make(EP_BUILD_ID_GNU, "\x02", 1), .edges = &c, .n_edges = 1},
	};
	struct ep_edges edges = {.binaries = binaries, .n_binaries = 3};

	check_ok(ep_edges_normalise(&edges));
	check_u64_eq(edges.n_binaries, 2);
	check_u64_eq(binaries[0].build_id.size, 1);
	check_u64_eq(binaries[0].edges[0].peer, 2);
	check_u64_eq(binaries[1].build_id.size, 2);
	check_u64_eq(binaries[1].machine, 62);
	check_u64_eq(binaries[1].n_edges, 1);
	check_u64_eq(binaries[1].edges[0].count, 3);
	check_u64_eq(binaries[1].edges[0].peer, 1);
	check_u64_eq(binaries[1].n_paths, 3);
	assert_string_equal(binaries[1].paths[0], "/bin/a");
	assert_string_equal(binaries[1].paths[2], "/opt/app/long/name");
	ep_edges_deinit(&edges);
}

static void test_unidentified_binaries_are_told_apart_by_path(void **state)
{
	(void)state;
	const char *paths[] = {"/x", "/y", "/x"};
	struct ep_edges_binary binaries[] = {
	    {.paths = &paths[0], .n_paths = 1, .machine = 62},
	    {.paths = &paths[1], .n_paths = 1, .machine = 62},
	    {.paths = &paths[2], .n_paths = 1, .machine = 183},
	};
	struct ep_edges edges = {.binaries = binaries, .n_binaries = 3};

	check_ok(ep_edges_normalise(&edges));
	check_u64_eq(edges.n_binaries, 3);
	assert_string_equal(binaries[1].paths[0], "/x");
	check_u64_eq(binaries[1].machine, 183);
	ep_edges_deinit(&edges);
}

static void test_paths_are_bounded(void **state)
{
	(void)state;
	static char text[100][8];
	const char *paths[100];
	struct ep_edges_binary binary = {
	    .build_id = ep_build_id_make(EP_BUILD_ID_GNU, "x", 1), .paths = paths, .n_paths = 100};
	struct ep_edges edges = {.binaries = &binary, .n_binaries = 1};

	for (int i = 0; i < 100; i++) {
		snprintf(text[i], sizeof(text[i]), "/%d", 99 - i);
		paths[i] = text[i];
	}
	check_ok(ep_edges_normalise(&edges));
	check_u64_eq(binary.n_paths, EP_EDGES_PATHS_MAX);
	assert_string_equal(paths[0], "/0");
	assert_string_equal(paths[63], "/63");
	ep_edges_deinit(&edges);
}

static void test_refuses_impossible_edges(void **state)
{
	(void)state;
	struct ep_edge edge = {.from = 1, .to = 2, .peer = 1};
	struct ep_edges_binary binary = {.edges = &edge, .n_edges = 1};
	struct ep_edges edges = {.binaries = &binary, .n_binaries = 1};

	check_fails(EP_ERROR_BUG, ep_edges_normalise(&edges));
	edge.kind = EP_EDGE_OUT;
	edge.peer = 2;
	check_fails(EP_ERROR_BUG, ep_edges_normalise(&edges));
	edge.kind = 3;
	check_fails(EP_ERROR_BUG, ep_edges_normalise(&edges));
	ep_edges_deinit(&edges);
}

static void test_provenance_of_the_same_capture_adds_up(void **state)
{
	(void)state;
	struct ep_provenance v[] = {{.host = "b"}, {.host = "a", .n_copies = 2}, {.host = "b"}};
	struct ep_edges edges = {.provenance = v, .n_provenance = 3};

	check_ok(ep_edges_normalise(&edges));
	check_u64_eq(edges.n_provenance, 2);
	assert_string_equal(v[0].host, "a");
	check_u64_eq(v[0].n_copies, 2);
	check_u64_eq(v[1].n_copies, 2);
	assert_string_equal(v[1].tool, "");
	ep_edges_deinit(&edges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sums_equal_edges_and_ranges),
	    cmocka_unit_test(test_joins_binaries_and_renumbers_peers),
	    cmocka_unit_test(test_unidentified_binaries_are_told_apart_by_path),
	    cmocka_unit_test(test_paths_are_bounded),
	    cmocka_unit_test(test_refuses_impossible_edges),
	    cmocka_unit_test(test_provenance_of_the_same_capture_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
