/* SPDX-License-Identifier: BSD-2-Clause */
/* Which binary of the edges a file is. */
#include <string.h>

#include "emit/emit.h"
#include "support/check.h"

static struct ep_build_id id(uint8_t byte)
{
	uint8_t bytes[20];

	memset(bytes, byte, sizeof(bytes));
	return ep_build_id_make(EP_BUILD_ID_GNU, bytes, sizeof(bytes));
}

static const char *app[] = {"/opt/app"}, *gone[] = {"/usr/bin/app (deleted)"},
                  *lib[] = {"/usr/lib/lib.so"};

/* Finds `object`, n of them, the first of which is `first`. */
static void finds(const struct ep_edges *edges, const struct ep_object *object, bool force,
                  enum ep_emit_match match, size_t n, const struct ep_edges_binary *first)
{
	struct ep_emit_found found = {0};

	check_ok(ep_emit_find(edges, object, force, &found));
	assert_int_equal(found.match, match);
	assert_int_equal(found.binaries.n, n);
	assert_ptr_equal(found.binaries.v[0], first);
	ep_emit_found_deinit(&found);
}

static void refused(const struct ep_edges *edges, const struct ep_object *object, bool force,
                    enum ep_error_code code)
{
	struct ep_emit_found found = {0};

	check_fails(code, ep_emit_find(edges, object, force, &found));
	ep_emit_found_deinit(&found);
}

static void test_find(void **state)
{
	struct ep_edges_binary binaries[] = {
	    {.build_id = id(1), .paths = app, .n_paths = 1},
	    {.build_id = id(2), .paths = lib, .n_paths = 1},
	    {.paths = gone, .n_paths = 1},
	};
	struct ep_edges edges = {.binaries = binaries, .n_binaries = 3};
	struct ep_object object = {.path = "build/renamed", .build_id = id(2)};

	(void)state;
	/* By identity, whatever the name. */
	finds(&edges, &object, false, EP_EMIT_MATCH_BUILD_ID, 1, &binaries[1]);

	/* Another build of the name, and one unidentified: that may be either. */
	object = (struct ep_object){.path = "build/app", .build_id = id(3)};
	refused(&edges, &object, false, EP_ERROR_MISMATCH);
	finds(&edges, &object, true, EP_EMIT_MATCH_FORCED, 1, &binaries[0]);

	/* Nothing contradicts. */
	edges.binaries = &binaries[1];
	edges.n_binaries = 2;
	finds(&edges, &object, false, EP_EMIT_MATCH_NAME, 1, &binaries[2]);

	/* Nothing of it. */
	edges.n_binaries = 1;
	refused(&edges, &object, false, EP_ERROR_MISSING);
	finds(&edges, &object, true, EP_EMIT_MATCH_FORCED, 1, &binaries[1]);
	edges.n_binaries = 0;
	refused(&edges, &object, true, EP_ERROR_MISSING);
}

/* perf pads a short id where it does not know its size: both are the same binary. */
static void test_padded(void **state)
{
	static const uint8_t bytes[20] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct ep_edges_binary binaries[] = {
	    {.build_id = ep_build_id_make(EP_BUILD_ID_GNU, bytes, 8), .paths = app, .n_paths = 1},
	    {.build_id = ep_build_id_make(EP_BUILD_ID_GNU, bytes, 20), .paths = app, .n_paths = 1},
	    {.paths = gone, .n_paths = 1},
	};
	struct ep_edges edges = {.binaries = binaries, .n_binaries = 3};
	struct ep_object object = {.path = "app", .build_id = binaries[0].build_id};
	struct ep_emit_found found = {0};

	(void)state;
	check_ok(ep_emit_find(&edges, &object, false, &found));
	assert_int_equal(found.binaries.n, 2);
	assert_int_equal(found.n_passed_over, 1);
	ep_emit_found_deinit(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_find),
	    cmocka_unit_test(test_padded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
