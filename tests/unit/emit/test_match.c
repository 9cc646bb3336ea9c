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

static void test_find(void **state)
{
	struct ep_edges_binary binaries[] = {
	    {.build_id = id(1), .paths = app, .n_paths = 1},
	    {.build_id = id(2), .paths = lib, .n_paths = 1},
	    {.paths = gone, .n_paths = 1},
	};
	struct ep_edges edges = {.binaries = binaries, .n_binaries = 3};
	struct ep_object object = {.path = "build/renamed", .build_id = id(2)};
	enum ep_emit_match match;
	size_t i;

	(void)state;
	/* By identity, whatever the name. */
	check_ok(ep_emit_find(&edges, &object, false, &i, &match));
	assert_int_equal(i, 1);
	assert_int_equal(match, EP_EMIT_MATCH_BUILD_ID);

	/* Another build of the name, and one unidentified: that may be either. */
	object = (struct ep_object){.path = "build/app", .build_id = id(3)};
	check_fails(EP_ERROR_MISMATCH, ep_emit_find(&edges, &object, false, &i, &match));
	check_ok(ep_emit_find(&edges, &object, true, &i, &match));
	assert_int_equal(match, EP_EMIT_MATCH_FORCED);
	assert_int_equal(i, 0);

	/* Nothing contradicts. */
	edges.binaries = &binaries[1];
	edges.n_binaries = 2;
	check_ok(ep_emit_find(&edges, &object, false, &i, &match));
	assert_int_equal(match, EP_EMIT_MATCH_NAME);
	assert_int_equal(i, 1);

	/* Nothing of it. */
	edges.n_binaries = 1;
	check_fails(EP_ERROR_MISSING, ep_emit_find(&edges, &object, false, &i, &match));
	check_ok(ep_emit_find(&edges, &object, true, &i, &match));
	edges.n_binaries = 0;
	check_fails(EP_ERROR_MISSING, ep_emit_find(&edges, &object, true, &i, &match));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_find)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
