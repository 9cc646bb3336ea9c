/* SPDX-License-Identifier: BSD-2-Clause */
/* Vectors, searching, arena, string table, counts, warnings, the parallel loop. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "base/pages.h"
#include "base/parallel.h"
#include "base/search.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "base/warn.h"
#include "support/check.h"

static void test_vec_grows(void **state)
{
	(void)state;
	EP_VEC(uint32_t) xs = {0};

	for (uint32_t i = 0; i < 1000; i++)
		assert_true(ep_vec_push(&xs, i * 3));
	check_u64_eq(xs.n, 1000);
	check_u64_eq(xs.v[999], 2997);
	assert_false(ep_vec_reserve(&xs, SIZE_MAX));
	assert_false(ep_vec_reserve(&xs, SIZE_MAX / 4));
	check_u64_eq(xs.n, 1000);
	ep_vec_deinit(&xs);
}

static void test_search_finds_the_border(void **state)
{
	(void)state;
	static const uint64_t v[] = {2, 4, 4, 8, UINT64_MAX};

	for (uint64_t wanted = 0; wanted < 10; wanted++) {
		size_t expected = 0;
		while (v[expected] < wanted)
			expected++;
		check_u64_eq(ep_search(i, 0, EP_ARRAY_LEN(v), v[i] < wanted), expected);
	}
	check_u64_eq(ep_search(i, 0, EP_ARRAY_LEN(v), true), EP_ARRAY_LEN(v));
	check_u64_eq(ep_search(i, 2, EP_ARRAY_LEN(v), false), 2);
	check_u64_eq(ep_search(i, 3, 3, v[i] < 8), 3);
}

static void test_arena_keeps_objects_apart(void **state)
{
	(void)state;
	struct ep_arena arena = {0};
	char *parts[300];

	for (size_t i = 0; i < EP_ARRAY_LEN(parts); i++) {
		parts[i] = ep_arena_alloc(&arena, i * i + 1);
		assert_non_null(parts[i]);
		check_u64_eq((uintptr_t)parts[i] % _Alignof(max_align_t), 0);
		memset(parts[i], (int)i, i * i + 1);
	}
	for (size_t i = 0; i < EP_ARRAY_LEN(parts); i++)
		for (size_t j = 0; j < i * i + 1; j++)
			assert_int_equal((unsigned char)parts[i][j], (unsigned char)i);
	char *big = ep_arena_calloc(&arena, 1 << 20, 3);
	assert_non_null(big);
	assert_int_equal(big[(3 << 20) - 1], 0);
	assert_null(ep_arena_alloc(&arena, SIZE_MAX));
	assert_null(ep_arena_calloc(&arena, SIZE_MAX, 2));
	assert_string_equal(ep_arena_strndup(&arena, "abc", 2), "ab");
	ep_arena_deinit(&arena);
}

static void test_strtab_interns(void **state)
{
	(void)state;
	struct ep_strtab tab = {0};
	char name[16];
	uint32_t id;

	assert_false(ep_strtab_find(&tab, "x", 1, &id));
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			int n = snprintf(name, sizeof(name), "f%u", i);
			check_ok(ep_strtab_add(&tab, name, (size_t)n, &id));
			check_u64_eq(id, i);
		}
	assert_true(ep_strtab_find(&tab, "f4999", 5, &id));
	assert_string_equal(ep_strtab_get(&tab, id), "f4999");
	assert_false(ep_strtab_find(&tab, "f5000", 5, &id));
	check_ok(ep_strtab_add(&tab, "f1\0x", 4, &id));
	check_u64_eq(id, 5000);
	check_u64_eq(ep_strtab_len(&tab, id), 4);
	ep_strtab_deinit(&tab);
}

static void test_counts_saturate(void **state)
{
	(void)state;
	check_u64_eq(ep_count_add(UINT64_MAX - 5, 10), UINT64_MAX);
	check_u64_eq(ep_count_mul(UINT64_MAX / 2, 3), UINT64_MAX);
	check_u64_eq(ep_count_round(0), 0);
	check_u64_eq(ep_count_round(1), 1);
	check_u64_eq(ep_count_round(EP_COUNT_ONE * 3 + EP_COUNT_ONE / 2), 4);
	check_u64_eq(ep_count_round(EP_COUNT_ONE * 3 + EP_COUNT_ONE / 2 - 1), 3);
	check_u64_eq(ep_count_round(UINT64_MAX), UINT64_C(1) << 48);
	check_u64_eq(ep_count_from_whole(UINT64_C(1) << 60), UINT64_MAX);
}

static void test_warnings_count_by_kind(void **state)
{
	(void)state;
	struct ep_warnings w = {0};
	char kinds[70][8];

	for (size_t i = 0; i < 70; i++) {
		snprintf(kinds[i], sizeof(kinds[i]), "k%zu", i);
		ep_warn(&w, kinds[i], "line %zu", i);
		ep_warn(&w, kinds[i], "again");
	}
	check_u64_eq(w.n, 64);
	check_u64_eq(ep_warn_count(&w, "k3"), 2);
	assert_string_equal(w.v[3].first, "line 3");
	check_u64_eq(ep_warn_count(&w, "k63"), 14); /* 7 kinds x 2 share the last place */
	ep_warn(NULL, "k", "nothing");
	ep_warnings_deinit(&w);
}

static atomic_uint sum;

static struct ep_error *add_job(void *payload, size_t i, unsigned thread)
{
	const size_t *fail_from = payload;

	assert_true(thread < 4);
	if (i >= *fail_from)
		return ep_error_create(EP_ERROR_BUG, "job %zu", i);
	atomic_fetch_add(&sum, (unsigned)i);
	return NULL;
}

static void test_parallel_for(void **state)
{
	(void)state;
	size_t fail_from = SIZE_MAX;

	check_ok(ep_parallel_for(4, 1000, add_job, &fail_from));
	check_u64_eq(atomic_load(&sum), 499500);
	check_ok(ep_parallel_for(4, 0, add_job, &fail_from));
	fail_from = 10;
	for (unsigned n = 1; n <= 4; n++) {
		struct ep_error *err = ep_parallel_for(n, 1000, add_job, &fail_from);
		assert_non_null(err);
		assert_string_equal(err->message, "job 10");
		ep_error_destroy(err);
	}
}

static void test_pages(void **state)
{
	(void)state;
	const size_t sizes[] = {1, 4096, (2u << 20) - 1, 2u << 20, (2u << 20) + 1, 9u << 20};

	for (size_t i = 0; i < EP_ARRAY_LEN(sizes); i++) {
		unsigned char *p = ep_pages_alloc(sizes[i]);
		assert_non_null(p);
		for (size_t j = 0; j < sizes[i]; j += 4096)
			assert_int_equal(p[j]++, 0);
		assert_true(p[sizes[i] - 1] <= 1);
		ep_pages_free(p, sizes[i]);
	}
	ep_pages_free(NULL, 1);
	assert_null(ep_pages_alloc(SIZE_MAX - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vec_grows),
	    cmocka_unit_test(test_search_finds_the_border),
	    cmocka_unit_test(test_arena_keeps_objects_apart),
	    cmocka_unit_test(test_strtab_interns),
	    cmocka_unit_test(test_counts_saturate),
	    cmocka_unit_test(test_warnings_count_by_kind),
	    cmocka_unit_test(test_parallel_for),
	    cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
