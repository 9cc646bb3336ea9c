/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiler attributes, overflow-checked sizes and scope guards. */
#ifndef EP_BASE_MACROS_H
#define EP_BASE_MACROS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define EP_MUST_CHECK __attribute__((warn_unused_result))
#define EP_NONNULL __attribute__((returns_nonnull))
#define EP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define EP_LIKELY(x) __builtin_expect(!!(x), 1)
#define EP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define EP_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define EP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define EP_MAX(a, b) ((a) > (b) ? (a) : (b))

/* *ret = a * b or a + b; false when it does not fit. */
static inline bool ep_size_mul(size_t a, size_t b, size_t *ret)
{
	return !__builtin_mul_overflow(a, b, ret);
}

static inline bool ep_size_add(size_t a, size_t b, size_t *ret)
{
	return !__builtin_add_overflow(a, b, ret);
}

static inline void ep_free_cleanup(void *p)
{
	free(*(void **)p);
}

static inline void ep_close_cleanup(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* `ep_autofree char *s` is freed, `ep_autoclose int fd` closed (if >= 0) at the end of its scope.
 */
#define ep_autofree __attribute__((cleanup(ep_free_cleanup)))
#define ep_autoclose __attribute__((cleanup(ep_close_cleanup)))

/* Hands the value of a guarded pointer out of its scope. */
#define ep_take(p)                                                                                 \
	__extension__({                                                                            \
		__typeof__(p) ep_take_ = (p);                                                      \
		(p) = NULL;                                                                        \
		ep_take_;                                                                          \
	})

#endif
