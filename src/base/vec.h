/* SPDX-License-Identifier: BSD-2-Clause */
/* Typed growable arrays: `EP_VEC(struct x) xs = {0};` with xs.v, xs.n. */
#ifndef EP_BASE_VEC_H
#define EP_BASE_VEC_H

#include "base/error.h"

#define EP_VEC(type)                                                                               \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
	}

/*
 * Makes room for `n_more` elements of `elem_size` bytes behind the `n` in use. False: no memory
 * (or a size that does not fit), nothing changed.
 */
static inline EP_MUST_CHECK bool ep_vec_reserve_(void **v, size_t n, size_t *cap, size_t n_more,
                                                 size_t elem_size)
{
	size_t want, bytes;

	if (!ep_size_add(n, n_more, &want))
		return false;
	if (want <= *cap)
		return true;
	want = EP_MAX(want, *cap + *cap / 2);
	want = EP_MAX(want, (size_t)8);
	if (!ep_size_mul(want, elem_size, &bytes))
		return false;
	void *p = realloc(*v, bytes);
	if (!p)
		return false;
	*v = p;
	*cap = want;
	return true;
}

/* Room for `n_more` further elements; false when out of memory. */
#define ep_vec_reserve(vec, n_more)                                                                \
	ep_vec_reserve_((void **)&(vec)->v, (vec)->n, &(vec)->cap, (n_more), sizeof(*(vec)->v))

/* Appends a value; false when out of memory. */
#define ep_vec_push(vec, ...)                                                                      \
	(ep_vec_reserve((vec), 1) ? ((vec)->v[(vec)->n++] = (__VA_ARGS__), true) : false)

#define ep_vec_deinit(vec)                                                                         \
	do {                                                                                       \
		free((vec)->v);                                                                    \
		(vec)->v = NULL;                                                                   \
		(vec)->n = (vec)->cap = 0;                                                         \
	} while (0)

#endif
