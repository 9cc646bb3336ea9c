/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting by a 64-bit key. */
#include "fold/radix.h"

#include "support/check.h"

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed ^ seed >> 29;
}

static void check_sort(size_t n, uint64_t mask)
{
	struct ep_fold_keyed *v = calloc(2 * n + 1, sizeof(*v));
	uint64_t keys = 0, items = 0;

	assert_non_null(v);
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct ep_fold_keyed){rnd() & mask, (const void *)(uintptr_t)(i + 1)};
		keys += v[i].key * (i + 1);
		items += i + 1;
	}
	const struct ep_fold_keyed *sorted = ep_fold_radix_sort(v, v + n, n);
	for (size_t i = 0; i < n; i++) {
		keys -= sorted[i].key * (uintptr_t)sorted[i].item;
		items -= (uintptr_t)sorted[i].item;
		if (i)
			assert_true(sorted[i - 1].key <= sorted[i].key);
	}
	check_u64_eq(keys, 0);
	check_u64_eq(items, 0);
	free(v);
}

static void test_sorts(void **state)
{
	(void)state;
	const uint64_t masks[] = {0, 1, 0xff, 0xff00, 0xffff0000, 0xff000000000000ff, UINT64_MAX};

	for (size_t i = 0; i < EP_ARRAY_LEN(masks); i++)
		for (size_t n = 0; n < 3000; n = n * 3 + 1)
			check_sort(n, masks[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
