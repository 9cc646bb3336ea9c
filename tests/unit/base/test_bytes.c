/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounded reading and writing. */
#include "base/bytes.h"

#include "support/check.h"

static void test_reads_stop_at_the_end(void **state)
{
	(void)state;
	const unsigned char raw[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	void *p = check_guard(raw, sizeof(raw));
	struct ep_bytes b = ep_bytes_init(p, sizeof(raw), ep_swap_for(false));

	check_u64_eq(ep_bytes_u64(&b), UINT64_C(0x0807060504030201));
	check_u64_eq(ep_bytes_u16(&b), 0);
	assert_true(b.failed);
	check_u64_eq(ep_bytes_offset(&b), 8);
	check_u64_eq(ep_bytes_u8(&b), 0); /* failure is sticky */
	b = ep_bytes_init(p, sizeof(raw), ep_swap_for(true));
	check_u64_eq(ep_bytes_u32(&b), 0x01020304);
	check_guard_free(p, sizeof(raw));
}

static void test_leb128_round_trip(void **state)
{
	(void)state;
	const uint64_t values[] = {0, 1, 127, 128, 255, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX};

	for (size_t i = 0; i < EP_ARRAY_LEN(values); i++) {
		struct ep_buf buf = {0};
		ep_buf_uleb(&buf, values[i]);
		ep_buf_sleb(&buf, (int64_t)values[i]);
		ep_buf_sleb(&buf, -(int64_t)(values[i] >> 1));
		void *p = check_guard(buf.v, buf.n);
		struct ep_bytes b = ep_bytes_init(p, buf.n, false);
		check_u64_eq(ep_bytes_uleb(&b), values[i]);
		check_u64_eq((uint64_t)ep_bytes_sleb(&b), values[i]);
		check_u64_eq((uint64_t)ep_bytes_sleb(&b), (uint64_t) - (int64_t)(values[i] >> 1));
		assert_false(b.failed);
		check_u64_eq(ep_bytes_left(&b), 0);
		check_guard_free(p, buf.n);
		ep_buf_deinit(&buf);
	}
}

static void test_leb128_over_64_bits_fails(void **state)
{
	(void)state;
	const unsigned char big[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	const unsigned char open[] = {0x80, 0x80};
	struct ep_bytes b = ep_bytes_init(big, sizeof(big), false);

	check_u64_eq(ep_bytes_uleb(&b), 0);
	assert_true(b.failed);
	b = ep_bytes_init(open, sizeof(open), false);
	(void)ep_bytes_uleb(&b);
	assert_true(b.failed);
	check_u64_eq(ep_bytes_offset(&b), 0);
	b = ep_bytes_init(open, sizeof(open), false);
	(void)ep_bytes_sleb(&b);
	assert_true(b.failed);
}

static void test_strings_need_their_nul(void **state)
{
	(void)state;
	void *p = check_guard("ab\0cd", 5);
	struct ep_bytes b = ep_bytes_init(p, 5, false);
	size_t n;

	assert_string_equal(ep_bytes_cstr(&b, &n), "ab");
	check_u64_eq(n, 2);
	assert_null(ep_bytes_cstr(&b, NULL));
	assert_true(b.failed);
	check_guard_free(p, 5);
}

static void test_buffer_text(void **state)
{
	(void)state;
	struct ep_buf buf = {0};

	ep_buf_decimal(&buf, 0);
	ep_buf_u8(&buf, ' ');
	ep_buf_decimal(&buf, UINT64_MAX);
	ep_buf_printf(&buf, " %s", "x");
	ep_buf_u8(&buf, 0);
	assert_string_equal((char *)buf.v, "0 18446744073709551615 x");
	ep_buf_deinit(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reads_stop_at_the_end),
	    cmocka_unit_test(test_leb128_round_trip),
	    cmocka_unit_test(test_leb128_over_64_bits_fails),
	    cmocka_unit_test(test_strings_need_their_nul),
	    cmocka_unit_test(test_buffer_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
