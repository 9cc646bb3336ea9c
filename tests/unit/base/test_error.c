/* SPDX-License-Identifier: BSD-2-Clause */
/* Error objects. */
#include "base/error.h"

#include <errno.h>

#include "support/check.h"

static struct ep_error *inner(void)
{
	return ep_error_create(EP_ERROR_BAD_DATA, "offset 0x%x: short", 16);
}

static struct ep_error *outer(void)
{
	EP_TRY(NULL);
	return ep_error_hint(ep_error_wrap(inner(), "%s", "a.data"), "record it again");
}

static void test_wrap_and_hint(void **state)
{
	(void)state;
	ep_autoerr err = outer();

	assert_string_equal(err->message, "a.data: offset 0x10: short");
	assert_string_equal(err->hint, "record it again");
	assert_int_equal(err->code, EP_ERROR_BAD_DATA);
	err = ep_error_hint(err, "second");
	assert_string_equal(err->hint, "record it again");
}

static void test_os_error_names_the_cause(void **state)
{
	(void)state;
	ep_autoerr err = ep_error_os(ENOENT, "x.data");

	assert_string_equal(err->message, "x.data: No such file or directory");
	assert_int_equal(err->os_errno, ENOENT);
}

static void test_nomem_is_static(void **state)
{
	(void)state;
	struct ep_error *err = ep_error_hint(ep_error_wrap(ep_error_nomem(), "a"), "b");

	assert_ptr_equal(err, ep_error_nomem());
	assert_string_equal(err->message, "out of memory");
	ep_error_destroy(err);
	ep_error_destroy(NULL);
	assert_null(ep_error_wrap(NULL, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_wrap_and_hint),
	    cmocka_unit_test(test_os_error_names_the_cause),
	    cmocka_unit_test(test_nomem_is_static),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
