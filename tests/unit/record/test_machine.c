/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines by name and number. */
#include "record/machine.h"

#include "support/check.h"

static void test_names(void **state)
{
	(void)state;
	char buf[EP_MACHINE_NAME_MAX];

	check_u64_eq(ep_machine_of_arch("x86_64"), EP_MACHINE_X86_64);
	check_u64_eq(ep_machine_of_arch("arm64"), EP_MACHINE_AARCH64);
	check_u64_eq(ep_machine_of_arch(""), EP_MACHINE_UNKNOWN);
	assert_string_equal(ep_machine_arch(EP_MACHINE_X86_64), "x86_64");
	assert_string_equal(ep_machine_arch(EP_MACHINE_AARCH64), "aarch64");
	assert_null(ep_machine_arch(EP_MACHINE_I386));
	assert_string_equal(ep_machine_name(EP_MACHINE_AARCH64, buf), "aarch64");
	assert_string_equal(ep_machine_name(65535, buf), "machine-65535");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
