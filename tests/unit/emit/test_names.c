/* SPDX-License-Identifier: BSD-2-Clause */
/* LLVM's names and discriminators. */
#include <string.h>

#include "emit/emit.h"
#include "support/check.h"

static void canonical(const char *name, const char *wanted)
{
	assert_int_equal(ep_emit_canonical_length(name), strlen(wanted));
	assert_memory_equal(name, wanted, strlen(wanted));
}

static void test_canonical(void **state)
{
	(void)state;
	canonical("foo", "foo");
	canonical("foo.llvm.1234", "foo");
	canonical("foo.part.0", "foo");
	canonical("foo.part.0.llvm.9", "foo");
	canonical("foo.cold", "foo.cold");
	canonical("foo.part.0.cold", "foo.part.0.cold");
	canonical("foo.isra.0", "foo.isra.0");
	canonical("foo.__uniq.123", "foo.__uniq.123");
	canonical("foo.__uniq.123.llvm.7", "foo.__uniq.123");
	canonical("foo.llvm.", "foo");
	canonical("", "");
	canonical(".llvm.", "");
}

static void test_discriminators(void **state)
{
	(void)state;
	check_u64_eq(ep_emit_base_discriminator(0), 0);
	check_u64_eq(ep_emit_duplication(0), 1);
	check_u64_eq(ep_emit_base_discriminator(2), 1);
	check_u64_eq(ep_emit_base_discriminator(8), 4);
	check_u64_eq(ep_emit_base_discriminator(33), 0);
	check_u64_eq(ep_emit_duplication(33), 8);
	check_u64_eq(ep_emit_base_discriminator(1028), 2);
	check_u64_eq(ep_emit_duplication(1028), 4);
	/* 14 bits: a base of 0x7ff. */
	uint32_t large = (0x7ffu & 0x1f) << 1 | 1u << 6 | (0x7ffu >> 5) << 7;
	check_u64_eq(ep_emit_base_discriminator(large), 0x7ff);
	check_u64_eq(ep_emit_duplication(large), 1);
	/* Pseudo-probes: number 5; number 5 with base 3. */
	check_u64_eq(ep_emit_base_discriminator(7 | 5 << 3), 5);
	check_u64_eq(ep_emit_base_discriminator(7 | 5 << 3 | 3 << 16 | 1 << 28), 3);
	check_u64_eq(ep_emit_duplication(7 | 5 << 3), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_canonical),
	    cmocka_unit_test(test_discriminators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
