/* SPDX-License-Identifier: BSD-2-Clause */
/* Overlapping address ranges against a map that is painted byte by byte. */
#include <string.h>

#include "support/check.h"
#include "symbolise/internal.h"

static void add(ep_sym_paints *paints, uint64_t lo, uint64_t hi, uint32_t context)
{
	assert_true(ep_vec_push(paints, (struct ep_sym_paint){{lo, hi}, context}));
}

static void is(const ep_sym_paints *paints, size_t i, uint64_t lo, uint64_t hi, uint32_t context)
{
	assert_true(i < paints->n);
	check_u64_eq(paints->v[i].at.lo, lo);
	check_u64_eq(paints->v[i].at.hi, hi);
	check_u64_eq(paints->v[i].context, context);
}

static void test_nested(void **state)
{
	ep_sym_paints paints = {0};

	(void)state;
	add(&paints, 100, 200, 1); /* a function, */
	add(&paints, 120, 160, 2); /* inlined in it, */
	add(&paints, 130, 140, 3); /* and in that */
	add(&paints, 120, 125, 4);
	add(&paints, 300, 310, 5);
	check_ok(ep_sym_paint_flatten(&paints));
	assert_int_equal(paints.n, 7);
	is(&paints, 0, 100, 120, 1);
	is(&paints, 1, 120, 125, 4);
	is(&paints, 2, 125, 130, 2);
	is(&paints, 3, 130, 140, 3);
	is(&paints, 4, 140, 160, 2);
	is(&paints, 5, 160, 200, 1);
	is(&paints, 6, 300, 310, 5);
	ep_vec_deinit(&paints);
}

/* Folded code: LLVM's map keeps the inner entries of the function that was there before. */
static void test_same_code_twice(void **state)
{
	ep_sym_paints paints = {0};

	(void)state;
	add(&paints, 100, 200, 1);
	add(&paints, 120, 160, 2);
	add(&paints, 100, 200, 3);
	check_ok(ep_sym_paint_flatten(&paints));
	assert_int_equal(paints.n, 3);
	is(&paints, 0, 100, 120, 3);
	is(&paints, 1, 120, 160, 2);
	is(&paints, 2, 160, 200, 1);
	ep_vec_deinit(&paints);
}

static void test_empty(void **state)
{
	ep_sym_paints paints = {0};

	(void)state;
	check_ok(ep_sym_paint_flatten(&paints));
	assert_int_equal(paints.n, 0);
	ep_vec_deinit(&paints);
}

static uint32_t random_state = 12345;

static uint32_t pick(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

/* Splits [lo, hi) as inlining does: children lie in their parent, disjoint. */
static void grow(ep_sym_paints *paints, uint32_t *owners, uint64_t lo, uint64_t hi, int depth)
{
	uint32_t context = (uint32_t)paints->n + 1;

	add(paints, lo, hi, context);
	for (uint64_t i = lo; i < hi; i++)
		owners[i] = context;
	for (uint64_t at = lo; depth && at < hi;) {
		uint64_t from = at + pick(20), to = from + 1 + pick(30);

		if (to > hi)
			break;
		grow(paints, owners, from, to, depth - 1);
		at = to;
	}
}

static void test_random_nesting(void **state)
{
	static uint32_t owners[20000];

	(void)state;
	for (int round = 0; round < 20; round++) {
		ep_sym_paints paints = {0};
		uint64_t at = 0;

		memset(owners, 0, sizeof(owners));
		for (uint64_t lo = pick(50); lo + 600 < 20000; lo += 600 + pick(50))
			grow(&paints, owners, lo, lo + 1 + pick(600), 4);
		check_ok(ep_sym_paint_flatten(&paints));
		for (size_t i = 0; i < paints.n; i++) {
			for (; at < paints.v[i].at.lo; at++)
				assert_int_equal(owners[at], 0);
			for (; at < paints.v[i].at.hi; at++)
				assert_int_equal(owners[at], paints.v[i].context);
		}
		for (; at < 20000; at++)
			assert_int_equal(owners[at], 0);
		ep_vec_deinit(&paints);
	}
}

static void claim(ep_sym_claims *claims, uint64_t lo, uint64_t hi, uint32_t unit)
{
	assert_true(ep_vec_push(claims, (struct ep_sym_claim){{lo, hi}, unit}));
}

static void owns(const ep_sym_claims *claims, size_t i, uint64_t lo, uint64_t hi, uint32_t unit)
{
	assert_true(i < claims->n);
	check_u64_eq(claims->v[i].at.lo, lo);
	check_u64_eq(claims->v[i].at.hi, hi);
	check_u64_eq(claims->v[i].unit, unit);
}

static void test_claims(void **state)
{
	ep_sym_claims claims = {0};

	(void)state;
	claim(&claims, 0, 10, 1);
	claim(&claims, 10, 20, 1);
	claim(&claims, 5, 30, 2);  /* unit 1 goes on up to its end, */
	claim(&claims, 25, 40, 0); /* then 2 has it, up to its own */
	claim(&claims, 50, 60, 3);
	claim(&claims, 50, 70, 0); /* the first unit begins */
	check_ok(ep_sym_claims_settle(&claims));
	assert_int_equal(claims.n, 4);
	owns(&claims, 0, 30, 40, 0);
	owns(&claims, 1, 50, 70, 0);
	owns(&claims, 2, 0, 20, 1);
	owns(&claims, 3, 20, 30, 2);
	ep_vec_deinit(&claims);
	check_ok(ep_sym_claims_settle(&claims));
	assert_int_equal(claims.n, 0);
	ep_vec_deinit(&claims);
}

static void test_meet(void **state)
{
	struct ep_interval v[] = {{10, 20}, {30, 40}};
	struct ep_intervals intervals = {v, 2};

	(void)state;
	assert_false(ep_intervals_meet(&intervals, 0, 10));
	assert_true(ep_intervals_meet(&intervals, 0, 11));
	assert_true(ep_intervals_meet(&intervals, 19, 20));
	assert_false(ep_intervals_meet(&intervals, 20, 30));
	assert_true(ep_intervals_meet(&intervals, 20, 31));
	assert_false(ep_intervals_meet(&intervals, 40, 50));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nested), cmocka_unit_test(test_same_code_twice),
	    cmocka_unit_test(test_empty),  cmocka_unit_test(test_random_nesting),
	    cmocka_unit_test(test_claims), cmocka_unit_test(test_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
