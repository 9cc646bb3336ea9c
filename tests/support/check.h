/* SPDX-License-Identifier: BSD-2-Clause */
/* cmocka with what it lacks: errors that print themselves, 64-bit compares in decimal. */
#ifndef EP_TESTS_CHECK_H
#define EP_TESTS_CHECK_H

/* cmocka.h needs these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

/* The expression gave no error; prints it otherwise. */
#define check_ok(expr)                                                                             \
	do {                                                                                       \
		struct ep_error *check_err_ = (expr);                                              \
		if (check_err_)                                                                    \
			fail_msg("%s: %s%s%s", #expr, check_err_->message,                         \
			         check_err_->hint ? "\nhint: " : "",                               \
			         check_err_->hint ? check_err_->hint : "");                        \
	} while (0)

/* The expression gave an error of this code. */
#define check_fails(code_, expr)                                                                   \
	do {                                                                                       \
		struct ep_error *check_err_ = (expr);                                              \
		if (!check_err_)                                                                   \
			fail_msg("%s: no error", #expr);                                           \
		else if (check_err_->code != (code_))                                              \
			fail_msg("%s: code %d: %s", #expr, check_err_->code, check_err_->message); \
		ep_error_destroy(check_err_);                                                      \
	} while (0)

#define check_u64_eq(a, b)                                                                         \
	do {                                                                                       \
		uint64_t check_a_ = (a), check_b_ = (b);                                           \
		if (check_a_ != check_b_)                                                          \
			fail_msg("%s is %llu (0x%llx), not %llu (0x%llx)", #a,                     \
			         (unsigned long long)check_a_, (unsigned long long)check_a_,       \
			         (unsigned long long)check_b_, (unsigned long long)check_b_);      \
	} while (0)

/*
 * A copy of n bytes that ends at an unmapped page: reading one byte further crashes. Unmapped by
 * check_guard_free().
 */
void *check_guard(const void *data, size_t n);
void check_guard_free(void *p, size_t n);

/* The folder of foreign test inputs, or NULL with a message when it is absent: then exit 77. */
const char *check_corpus(void);

#endif
