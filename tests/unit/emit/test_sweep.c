/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps from overlapping ranges, against counting each address. */
#include <string.h>

#include "emit/internal.h"
#include "support/check.h"

#define N 400

static uint32_t random_state = 99;

static uint32_t pick(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

static int compare(const void *a, const void *b)
{
	const struct ep_emit_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void test_random(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		uint64_t counts[N] = {0}, at = 0;
		ep_emit_ranges ranges = {0};
		ep_steps steps = {0};

		for (uint32_t i = pick(30); i; i--) {
			struct ep_emit_range r = {.start = pick(N),
			                          .count = ep_count_from_whole(1 + pick(5))};

			r.last = r.start + pick((uint32_t)(N - r.start));
			assert_true(ep_vec_push(&ranges, r));
			for (uint64_t j = r.start; j <= r.last; j++)
				counts[j] += r.count >> EP_COUNT_SHIFT;
		}
		if (ranges.n)
			qsort(ranges.v, ranges.n, sizeof(*ranges.v), compare);
		check_ok(ep_steps_build(&ranges, &steps));
		for (size_t i = 0; i < steps.n; i++) {
			for (; at < steps.v[i].lo; at++)
				check_u64_eq(counts[at], 0);
			assert_true(steps.v[i].lo <= steps.v[i].last);
			for (; at <= steps.v[i].last; at++) {
				check_u64_eq(counts[at], steps.v[i].count);
				assert_int_equal(ep_steps_find(&steps, at), i);
			}
		}
		for (; at < N; at++)
			check_u64_eq(counts[at], 0);
		ep_vec_deinit(&ranges);
		ep_vec_deinit(&steps);
	}
}

/* Sums beyond the largest count stay there, and come down again. */
static void test_saturated(void **state)
{
	struct ep_emit_range v[] = {
	    {.start = 0, .last = 30, .count = UINT64_MAX},
	    {.start = 10, .last = 19, .count = UINT64_MAX},
	    {.start = 25, .last = 29, .count = EP_COUNT_ONE / 3},
	};
	ep_emit_ranges ranges = {.v = v, .n = 3};
	ep_steps steps = {0};

	(void)state;
	check_ok(ep_steps_build(&ranges, &steps));
	for (size_t i = 0; i < steps.n; i++)
		check_u64_eq(steps.v[i].count, ep_count_round(UINT64_MAX));
	check_u64_eq(steps.v[steps.n - 1].last, 30);
	ep_vec_deinit(&steps);
	/* A small weight is not nothing. */
	ranges.v = &v[2];
	ranges.n = 1;
	check_ok(ep_steps_build(&ranges, &steps));
	assert_int_equal(steps.n, 1);
	check_u64_eq(steps.v[0].count, 1);
	ep_vec_deinit(&steps);
}

static void test_join(void **state)
{
	ep_emit_interval_vec v = {0};

	(void)state;
	check_ok(ep_emit_intervals_join(&v));
	assert_true(ep_vec_push(&v, (struct ep_interval){30, 40}));
	assert_true(ep_vec_push(&v, (struct ep_interval){10, 20}));
	assert_true(ep_vec_push(&v, (struct ep_interval){12, 15}));
	assert_true(ep_vec_push(&v, (struct ep_interval){20, 25}));
	check_ok(ep_emit_intervals_join(&v));
	assert_int_equal(v.n, 2);
	check_u64_eq(v.v[0].lo, 10);
	check_u64_eq(v.v[0].hi, 25);
	check_u64_eq(v.v[1].lo, 30);
	ep_vec_deinit(&v);
}

static void test_pairs(void **state)
{
	static struct ep_pair v[3000];

	(void)state;
	for (size_t n = 0; n < EP_ARRAY_LEN(v); n = 3 * n + 1) {
		for (size_t i = 0; i < n; i++)
			v[i] = (struct ep_pair){(uint64_t)pick(7) << 60 | pick(3000), i};
		check_ok(ep_pairs_sort(v, n));
		for (size_t i = 1; i < n; i++)
			assert_true(v[i - 1].key < v[i].key ||
			            (v[i - 1].key == v[i].key && v[i - 1].value < v[i].value));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random),
	    cmocka_unit_test(test_saturated),
	    cmocka_unit_test(test_join),
	    cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
