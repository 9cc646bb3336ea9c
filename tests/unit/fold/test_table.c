/* SPDX-License-Identifier: BSD-2-Clause */
/* The counting table against a model, growth, packing, and its limit. */
#include "fold/table.h"

#include <string.h>

#include "support/check.h"

#define N_KEYS 5000

static void add(struct ep_fold_table *table, uint64_t key, uint64_t count, uint64_t mispreds)
{
	uint32_t what = EP_FOLD_WHAT_EDGE | (uint32_t)key % 3;

	check_ok(ep_fold_table_reserve(table, 2));
	ep_fold_table_add(table, ep_fold_table_hash(table, key, ~key, what), key, ~key, what, count,
	                  mispreds);
}

static void test_against_model(void **state)
{
	(void)state;
	static uint64_t counts[N_KEYS], mispreds[N_KEYS];
	struct ep_fold_table table;
	uint64_t seed = 1;

	check_ok(ep_fold_table_init(&table, 1));
	for (int i = 0; i < 200000; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		uint64_t key = (seed >> 33) % N_KEYS, n = (seed >> 20 & 0xfffff) + 1;
		add(&table, key, n, seed >> 63 ? n : 0);
		counts[key] += n;
		mispreds[key] += seed >> 63 ? n : 0;
	}
	ep_fold_table_pack(&table);
	for (size_t i = 0; i < table.n_used; i++) {
		const struct ep_fold_entry *e = &table.slots[i];
		check_u64_eq(e->to, ~e->from);
		if (!(e->what & EP_FOLD_WHAT_SPILL))
			counts[e->from] -= e->count;
		mispreds[e->from] -= e->what & EP_FOLD_WHAT_SPILL ? e->count : e->mispreds;
	}
	for (size_t key = 0; key < N_KEYS; key++) {
		check_u64_eq(counts[key], 0);
		check_u64_eq(mispreds[key], 0);
	}
	ep_fold_table_deinit(&table);
}

static void test_counts_saturate(void **state)
{
	(void)state;
	struct ep_fold_table table;

	check_ok(ep_fold_table_init(&table, 1));
	for (int i = 0; i < 3; i++)
		add(&table, 7, UINT64_MAX / 2, UINT64_MAX / 2);
	ep_fold_table_pack(&table);
	check_u64_eq(table.n_used, 2);
	for (size_t i = 0; i < 2; i++)
		check_u64_eq(table.slots[i].count, UINT64_MAX);
	ep_fold_table_deinit(&table);
}

/* The limit is shared, and reaching it is an error before any memory is taken. */
static void test_limit(void **state)
{
	(void)state;
	struct ep_fold_table table;
	size_t one, eight;

	check_ok(ep_fold_table_init(&table, 1));
	one = table.n_slots_max;
	check_fails(EP_ERROR_NOMEM, ep_fold_table_reserve(&table, one));
	add(&table, 1, 1, 0);
	ep_fold_table_deinit(&table);
	check_ok(ep_fold_table_init(&table, 8));
	eight = table.n_slots_max;
	ep_fold_table_deinit(&table);
	assert_int_equal(one / eight, 8);
	check_ok(ep_fold_table_init(&table, 5));
	assert_int_equal(table.n_slots_max, eight);
	ep_fold_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_against_model),
	    cmocka_unit_test(test_counts_saturate),
	    cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
