/* SPDX-License-Identifier: BSD-2-Clause */
/* The one error idiom: functions return `struct ep_error *`, NULL meaning success. */
#ifndef EP_BASE_ERROR_H
#define EP_BASE_ERROR_H

#include "base/macros.h"

/* What the caller can do about it decides the code. */
enum ep_error_code {
	EP_ERROR_NOMEM = 1,   /* out of memory, or over a memory limit */
	EP_ERROR_OS,          /* a system call failed: see os_errno */
	EP_ERROR_USAGE,       /* the request makes no sense */
	EP_ERROR_BAD_DATA,    /* the input is malformed or torn */
	EP_ERROR_MISSING,     /* something needed is absent: build-id, debug info, branch stacks */
	EP_ERROR_MISMATCH,    /* two inputs do not belong together */
	EP_ERROR_UNSUPPORTED, /* this machine or this version cannot do it */
	EP_ERROR_INTERRUPTED, /* stopped on request */
	EP_ERROR_BUG,         /* an own invariant does not hold */
};

struct ep_error {
	enum ep_error_code code;
	int os_errno;        /* errno of EP_ERROR_OS, else 0 */
	const char *message; /* one line: "path: what: detail", no full stop, no newline */
	const char *hint;    /* what cures it, or NULL */
};

/*
 * Makes an error. Never fails: when there is no memory, the static out-of-memory error is returned
 * in its place. The caller owns the result and ends it with ep_error_destroy() or by returning it.
 */
struct ep_error *ep_error_create(enum ep_error_code code, const char *fmt, ...)
    EP_MUST_CHECK EP_NONNULL EP_PRINTF(2, 3);

/* The same for a failed system call: ": " and the text of `os_errno` are added to the message. */
struct ep_error *ep_error_os(int os_errno, const char *fmt, ...)
    EP_MUST_CHECK EP_NONNULL EP_PRINTF(2, 3);

/* The out-of-memory error: static, needs no allocation, may be destroyed like any other. */
struct ep_error *ep_error_nomem(void) EP_MUST_CHECK EP_NONNULL;

/* Puts "context: " before the message on the way up. Takes `err`, returns its replacement. */
struct ep_error *ep_error_wrap(struct ep_error *err, const char *fmt, ...)
    EP_MUST_CHECK EP_PRINTF(2, 3);

/* Sets the hint, if none is set yet. Takes `err`, returns its replacement. */
struct ep_error *ep_error_hint(struct ep_error *err, const char *fmt, ...)
    EP_MUST_CHECK EP_PRINTF(2, 3);

/* Ends an error; NULL is allowed. */
void ep_error_destroy(struct ep_error *err);

static inline void ep_error_cleanup(struct ep_error **err)
{
	ep_error_destroy(*err);
}

/* A local error that is destroyed at the end of its scope. */
#define ep_autoerr __attribute__((cleanup(ep_error_cleanup))) struct ep_error *

/* Returns from the calling function if `expr` failed. */
#define EP_TRY(expr)                                                                               \
	do {                                                                                       \
		struct ep_error *ep_try_err_ = (expr);                                             \
		if (ep_try_err_)                                                                   \
			return ep_try_err_;                                                        \
	} while (0)

#endif
