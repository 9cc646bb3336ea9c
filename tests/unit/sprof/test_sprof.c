/* SPDX-License-Identifier: BSD-2-Clause */
/* The model: building in any order, sums that saturate, LLVM's orders, merging, figures. */
#include <stdio.h>
#include <string.h>

#include "sprof/sprof.h"
#include "sprof/summary.h"
#include "support/check.h"

static uint32_t name_of(struct ep_sprof *prof, const char *name)
{
	uint32_t id;

	check_ok(ep_sprof_name(prof, name, strlen(name), &id));
	return id;
}

static struct ep_sprof_func *func_of(struct ep_sprof *prof, const char *name)
{
	struct ep_sprof_func *func;

	check_ok(ep_sprof_func(prof, name_of(prof, name), &func));
	return func;
}

static struct ep_sprof_func *callee_of(struct ep_sprof *prof, struct ep_sprof_func *func,
                                       uint32_t offset, const char *name)
{
	struct ep_sprof_func *callee;

	check_ok(ep_sprof_callee(prof, func, offset, 0, name_of(prof, name), &callee));
	return callee;
}

static const char *str(const struct ep_sprof *prof, uint32_t name)
{
	return ep_strtab_get(&prof->names, name);
}

static void functions_are_sorted_by_total_then_name(void **state)
{
	struct ep_sprof prof = {0};
	static const char *const want[] = {"hot", "a", "ab", "b", "cold"};

	(void)state;
	func_of(&prof, "cold")->total = 1;
	func_of(&prof, "b")->total = 5;
	func_of(&prof, "ab")->total = 5;
	func_of(&prof, "hot")->total = UINT64_MAX;
	func_of(&prof, "a")->total = 5;
	assert_ptr_equal(func_of(&prof, "b"), func_of(&prof, "b"));
	assert_false(prof.finalised);
	check_ok(ep_sprof_finalise(&prof));
	assert_true(prof.finalised);
	check_u64_eq(prof.funcs.n, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(str(&prof, prof.funcs.v[i]->name), want[i]);
	ep_sprof_deinit(&prof);
}

static void guids_are_sorted_as_numbers(void **state)
{
	struct ep_sprof prof = {.flags = EP_SPROF_MD5};

	(void)state;
	func_of(&prof, "100");
	func_of(&prof, "18446744073709551615");
	func_of(&prof, "9");
	check_ok(ep_sprof_finalise(&prof));
	assert_string_equal(str(&prof, prof.funcs.v[0]->name), "9");
	assert_string_equal(str(&prof, prof.funcs.v[1]->name), "100");
	check_u64_eq(ep_sprof_guid_of(&prof, prof.funcs.v[2]->name), UINT64_MAX);
	ep_sprof_deinit(&prof);
}

static void guid_is_the_start_of_md5(void **state)
{
	(void)state;
	/* MD5 of "123" begins with 20 2c b9 62 ac 59 07 5b. */
	check_u64_eq(ep_sprof_guid("123", 3), UINT64_C(0x5b0759ac62b92c20));
	/* LLVM's own example: the GUID of "main". */
	check_u64_eq(ep_sprof_guid("main", 4), UINT64_C(15822663052811949562));
}

/* Numbers of a fixed sequence that visits every value below n = 2^k once. */
static uint32_t scattered(uint32_t i, uint32_t n)
{
	return (i * 2654435761u + 12345u) & (n - 1);
}

static void records_in_any_order(void **state)
{
	enum { N = 1 << 16 };
	struct ep_sprof prof = {0};
	struct ep_sprof_func *func = func_of(&prof, "f");

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < N; i++)
			check_ok(ep_sprof_body_add(&prof, func, scattered(i, N), i & 1, i));
	check_u64_eq(func->n_records, N);
	check_ok(ep_sprof_finalise(&prof));
	for (uint32_t i = 0; i < N; i++) {
		const struct ep_sprof_record *r = &func->records[i];
		check_u64_eq(r->offset, i);
		check_u64_eq(scattered((uint32_t)(r->count / 2), N), i);
	}
	/* Also after sorting, by the look-up of sorted records. */
	check_ok(ep_sprof_body_max(&prof, func, 7, func->records[7].discriminator, UINT64_MAX));
	check_u64_eq(func->n_records, N);
	check_u64_eq(func->records[7].count, UINT64_MAX);
	ep_sprof_deinit(&prof);
}

static void many_targets_and_callees(void **state)
{
	enum { N = 1 << 12 };
	struct ep_sprof prof = {0};
	struct ep_sprof_func *func = func_of(&prof, "f");
	struct ep_sprof_record *record;

	(void)state;
	check_ok(ep_sprof_record(&prof, func, 1, 0, &record));
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < N; i++) {
			char name[16];
			snprintf(name, sizeof(name), "t%05u", scattered(i, N));
			check_ok(ep_sprof_target_add(&prof, record, name_of(&prof, name), i / 16));
			callee_of(&prof, func, i & 3, name)->total++;
		}
	}
	check_u64_eq(record->n_targets, N);
	check_u64_eq(func->n_calls, N);
	check_ok(ep_sprof_finalise(&prof));
	for (uint32_t i = 1; i < N; i++) {
		const struct ep_sprof_target *t = &record->targets[i - 1];
		const struct ep_sprof_call *c = &func->calls[i - 1];
		assert_true(t->count > t[1].count ||
		            (t->count == t[1].count &&
		             strcmp(str(&prof, t->name), str(&prof, t[1].name)) < 0));
		assert_true(c->offset < c[1].offset ||
		            (c->offset == c[1].offset &&
		             strcmp(str(&prof, c->func->name), str(&prof, c[1].func->name)) < 0));
		check_u64_eq(c->func->total, 2);
	}
	ep_sprof_deinit(&prof);
}

static void counts_saturate(void **state)
{
	struct ep_sprof prof = {0}, sum = {0};
	struct ep_sprof_func *func = func_of(&prof, "f");
	struct ep_sprof_record *record;

	(void)state;
	func->total = UINT64_MAX / 2;
	func->head = 3;
	check_ok(ep_sprof_body_add(&prof, func, 1, 0, UINT64_MAX - 1));
	check_ok(ep_sprof_body_add(&prof, func, 1, 0, 5));
	check_ok(ep_sprof_record(&prof, func, 1, 0, &record));
	check_u64_eq(record->count, UINT64_MAX);
	check_ok(ep_sprof_target_add(&prof, record, name_of(&prof, "g"), UINT64_MAX));
	check_ok(ep_sprof_target_add(&prof, record, name_of(&prof, "g"), 1));
	check_u64_eq(record->targets[0].count, UINT64_MAX);
	check_ok(ep_sprof_merge(&sum, &prof, 3));
	check_ok(ep_sprof_finalise(&sum));
	check_u64_eq(sum.funcs.v[0]->total, UINT64_MAX);
	check_u64_eq(sum.funcs.v[0]->head, 9);
	check_u64_eq(sum.funcs.v[0]->records[0].count, UINT64_MAX);
	ep_sprof_deinit(&prof);
	ep_sprof_deinit(&sum);
}

static void inlining_has_a_limit(void **state)
{
	struct ep_sprof prof = {0};
	struct ep_sprof_func *func = func_of(&prof, "f");

	(void)state;
	for (uint32_t i = 0; i < EP_SPROF_DEPTH_MAX; i++)
		func = callee_of(&prof, func, 1, "f");
	check_fails(EP_ERROR_BAD_DATA,
	            ep_sprof_callee(&prof, func, 1, 0, name_of(&prof, "f"), &func));
	check_ok(ep_sprof_finalise(&prof));
	ep_sprof_deinit(&prof);
}

static void merge_adds_what_matches(void **state)
{
	struct ep_sprof a = {0}, b = {0};
	struct ep_sprof_func *func = func_of(&a, "f");

	(void)state;
	check_ok(ep_sprof_body_add(&a, func, 1, 0, 10));
	callee_of(&a, func, 2, "g")->total = 4;
	check_ok(ep_sprof_symbol_add(&a, name_of(&a, "s")));
	name_of(&b, "shifts the ids");
	func = func_of(&b, "f");
	check_ok(ep_sprof_body_add(&b, func, 1, 0, 1));
	check_ok(ep_sprof_body_add(&b, func, 1, 2, 7));
	callee_of(&b, func, 2, "g")->total = 2;
	callee_of(&b, func, 2, "h")->total = 1;
	check_ok(ep_sprof_symbol_add(&b, name_of(&b, "r")));
	check_ok(ep_sprof_symbol_add(&b, name_of(&b, "s")));
	check_ok(ep_sprof_merge(&a, &b, 2));
	check_ok(ep_sprof_finalise(&a));
	func = ep_sprof_func_find(&a, name_of(&a, "f"));
	check_u64_eq(func->n_records, 2);
	check_u64_eq(func->records[0].count, 12);
	check_u64_eq(func->records[1].count, 14);
	check_u64_eq(func->n_calls, 2);
	check_u64_eq(func->calls[0].func->total, 8);
	check_u64_eq(func->calls[1].func->total, 2);
	check_u64_eq(a.symbols.n, 2);
	assert_string_equal(str(&a, a.symbols.v[0]), "r");
	ep_sprof_deinit(&a);
	ep_sprof_deinit(&b);
}

static void merge_refuses_what_does_not_belong_together(void **state)
{
	static const uint32_t flags[] = {EP_SPROF_PROBE, EP_SPROF_MD5, EP_SPROF_FS};

	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(flags); i++) {
		struct ep_sprof a = {0}, b = {.flags = flags[i]};
		func_of(&a, "1");
		func_of(&b, "1");
		check_fails(EP_ERROR_MISMATCH, ep_sprof_merge(&a, &b, 1));
		ep_sprof_deinit(&a);
		ep_sprof_deinit(&b);
	}
	struct ep_sprof a = {.flags = EP_SPROF_PROBE}, b = {.flags = EP_SPROF_PROBE};
	func_of(&a, "f")->checksum = 1;
	func_of(&b, "f")->checksum = 2;
	check_fails(EP_ERROR_MISMATCH, ep_sprof_merge(&a, &b, 1));
	ep_sprof_deinit(&a);
	ep_sprof_deinit(&b);
}

static void summary_takes_equal_counts_together(void **state)
{
	struct ep_sprof prof = {0};
	struct ep_sprof_func *func = func_of(&prof, "f");
	struct ep_sprof_summary s;
	double density;

	(void)state;
	func->head = 9;
	check_ok(ep_sprof_body_add(&prof, func, 1, 0, 600));
	check_ok(ep_sprof_body_add(&prof, func, 2, 0, 200));
	check_ok(ep_sprof_body_add(&prof, func, 3, 0, 0));
	func = callee_of(&prof, func, 4, "g");
	check_ok(ep_sprof_body_add(&prof, func, 1, 0, 200));
	check_ok(ep_sprof_finalise(&prof));
	check_ok(ep_sprof_summarise(&prof, &s));
	check_u64_eq(s.total_count, 1000);
	check_u64_eq(s.max_count, 600);
	check_u64_eq(s.max_head, 9);
	check_u64_eq(s.n_counts, 4);
	check_u64_eq(s.n_funcs, 1);
	check_u64_eq(s.cutoffs[0].cutoff, 10000);
	check_u64_eq(s.cutoffs[0].min_count, 600);
	check_u64_eq(s.cutoffs[0].n_counts, 1);
	/* 70% needs one of the 200s, and so both. */
	check_u64_eq(s.cutoffs[7].cutoff, 700000);
	check_u64_eq(s.cutoffs[7].min_count, 200);
	check_u64_eq(s.cutoffs[7].n_counts, 3);
	check_u64_eq(s.hot_count, 200);
	check_u64_eq(s.cold_count, 200);
	check_ok(ep_sprof_density(&prof, &density));
	assert_true(density == 250.0);
	/* Copies that are in the base profile as well do not count. */
	func->attributes = EP_SPROF_ATTR_DUPLICATED;
	check_ok(ep_sprof_summarise(&prof, &s));
	check_u64_eq(s.total_count, 800);
	ep_sprof_deinit(&prof);
}

static void summary_of_nothing(void **state)
{
	struct ep_sprof prof = {0};
	struct ep_sprof_summary s;
	double density;

	(void)state;
	check_ok(ep_sprof_finalise(&prof));
	check_ok(ep_sprof_summarise(&prof, &s));
	check_u64_eq(s.total_count, 0);
	check_u64_eq(s.cutoffs[15].n_counts, 0);
	check_ok(ep_sprof_density(&prof, &density));
	assert_true(density == 0);
	ep_sprof_deinit(&prof);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(functions_are_sorted_by_total_then_name),
	    cmocka_unit_test(guids_are_sorted_as_numbers),
	    cmocka_unit_test(guid_is_the_start_of_md5),
	    cmocka_unit_test(records_in_any_order),
	    cmocka_unit_test(many_targets_and_callees),
	    cmocka_unit_test(counts_saturate),
	    cmocka_unit_test(inlining_has_a_limit),
	    cmocka_unit_test(merge_adds_what_matches),
	    cmocka_unit_test(merge_refuses_what_does_not_belong_together),
	    cmocka_unit_test(summary_takes_equal_counts_together),
	    cmocka_unit_test(summary_of_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
