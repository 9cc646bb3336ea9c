/* SPDX-License-Identifier: BSD-2-Clause */
/* Build-ids: text form and order. */
#include "record/build_id.h"

#include <string.h>

#include "record/drop.h"
#include "support/check.h"

static void test_text_round_trip(void **state)
{
	(void)state;
	char text[EP_BUILD_ID_TEXT_MAX];
	struct ep_build_id id, again;

	assert_true(ep_build_id_parse("0xDEadbeef00", 12, &id));
	assert_string_equal(ep_build_id_format(&id, text), "deadbeef00");
	id.kind = EP_BUILD_ID_HASH;
	assert_string_equal(ep_build_id_format(&id, text), "hash:deadbeef00");
	assert_true(ep_build_id_parse(text, strlen(text), &again));
	assert_int_equal(ep_build_id_compare(&id, &again), 0);
	again = (struct ep_build_id){0};
	assert_string_equal(ep_build_id_format(&again, text), "none");
	assert_false(ep_build_id_same(&again, &again));
}

static void test_what_is_not_an_id(void **state)
{
	(void)state;
	struct ep_build_id id;
	const char *const bad[] = {"", "a", "0x", "zz", "hash:", "abc"};
	char longer[2 * EP_BUILD_ID_MAX + 3];

	for (size_t i = 0; i < EP_ARRAY_LEN(bad); i++)
		assert_false(ep_build_id_parse(bad[i], strlen(bad[i]), &id));
	memset(longer, 'a', sizeof(longer));
	assert_false(ep_build_id_parse(longer, sizeof(longer) - 1, &id));
	assert_true(ep_build_id_parse(longer, 2 * EP_BUILD_ID_MAX, &id));
}

static void test_zero_padding_is_the_same_id(void **state)
{
	(void)state;
	struct ep_build_id a, b;

	assert_true(ep_build_id_parse("0102030405060708", 16, &a));
	assert_true(ep_build_id_parse("0102030405060708000000000000000000000000", 40, &b));
	assert_true(ep_build_id_same(&a, &b));
	assert_true(ep_build_id_compare(&a, &b) < 0);
}

static void test_drop_names_are_unique(void **state)
{
	(void)state;
	struct ep_drops drops = {0}, more = {0};

	for (size_t i = 0; i < EP_DROP_N; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(ep_drop_name(i), ep_drop_name(j));
	more.n[EP_DROP_FILLER] = UINT64_MAX - 1;
	assert_true(ep_drops_empty(&drops));
	ep_drops_add(&drops, &more);
	ep_drops_add(&drops, &more);
	check_u64_eq(drops.n[EP_DROP_FILLER], UINT64_MAX);
	assert_false(ep_drops_empty(&drops));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text_round_trip),
	    cmocka_unit_test(test_what_is_not_an_id),
	    cmocka_unit_test(test_zero_padding_is_the_same_id),
	    cmocka_unit_test(test_drop_names_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
