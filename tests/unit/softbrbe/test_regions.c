/* SPDX-License-Identifier: BSD-2-Clause */
/* The plugin's sets of executable memory. */
#include "../../../tools/softbrbe/plugin.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static void add(struct ep_sb_regions *set, uint64_t start, uint64_t end, uint64_t pgoff,
                const char *path)
{
	assert_true(ep_sb_regions_add(set, start, end, pgoff, strdup(path), true));
}

static void check_region(const struct ep_sb_regions *set, size_t i, uint64_t start, uint64_t end,
                         uint64_t pgoff, const char *path)
{
	assert_true(i < set->n);
	check_u64_eq(set->v[i].start, start);
	check_u64_eq(set->v[i].end, end);
	check_u64_eq(set->v[i].pgoff, pgoff);
	assert_string_equal(set->v[i].path, path);
}

static void test_hole(void **state)
{
	struct ep_sb_regions set = {0}, removed = {0};

	(void)state;
	add(&set, 0x10000, 0x20000, 0x1000, "a");
	assert_true(ep_sb_regions_remove(&set, 0x14000, 0x15000, &removed));
	assert_int_equal(set.n, 2);
	check_region(&set, 0, 0x10000, 0x14000, 0x1000, "a");
	check_region(&set, 1, 0x15000, 0x20000, 0x6000, "a");
	assert_int_equal(removed.n, 1);
	check_region(&removed, 0, 0x14000, 0x15000, 0x5000, "a");
	assert_false(ep_sb_regions_remove(&set, 0x14000, 0x15000, NULL));
	assert_false(ep_sb_regions_cover(&set, 0x13000, 0x16000));
	add(&set, 0x14000, 0x15000, 0, "b");
	assert_true(ep_sb_regions_cover(&set, 0x13000, 0x16000));
	ep_sb_regions_clear(&set);
	ep_sb_regions_clear(&removed);
}

static void test_replace(void **state)
{
	struct ep_sb_regions set = {0};

	(void)state;
	add(&set, 0x3000, 0x5000, 0, "c");
	add(&set, 0x1000, 0x2000, 0, "a");
	add(&set, 0x2000, 0x3000, 0, "b");
	add(&set, 0x1800, 0x3800, 0x10, "new");
	assert_int_equal(set.n, 3);
	check_region(&set, 0, 0x1000, 0x1800, 0, "a");
	check_region(&set, 1, 0x1800, 0x3800, 0x10, "new");
	check_region(&set, 2, 0x3800, 0x5000, 0x800, "c");
	assert_true(ep_sb_regions_remove(&set, 0, UINT64_MAX, NULL));
	assert_int_equal(set.n, 0);
	ep_sb_regions_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hole),
	    cmocka_unit_test(test_replace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
