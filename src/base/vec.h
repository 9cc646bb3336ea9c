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
 * *ret = v, moved if need be, with room for `n_more` elements of `elem_size` bytes behind the `n`
 * in use. False: no memory (or a size that does not fit), nothing changed.
 */
static inline EP_MUST_CHECK bool ep_vec_grow_(void *v, size_t n, size_t *cap, size_t n_more,
                                              size_t elem_size, void **ret)
{
	size_t want, bytes;

	if (!ep_size_add(n, n_more, &want))
		return false;
	if (want <= *cap) {
		*ret = v;
		return true;
	}
	want = EP_MAX(want, *cap + *cap / 2);
	want = EP_MAX(want, (size_t)8);
	if (!ep_size_mul(want, elem_size, &bytes))
		return false;
	void *p = realloc(v, bytes);
	if (!p)
		return false;
	*cap = want;
	*ret = p;
	return true;
}

/* Room for `n_more` further elements; false when out of memory. */
#define ep_vec_reserve(vec, n_more)                                                                \
	__extension__({                                                                            \
		void *ep_vec_p_ = NULL;                                                            \
		bool ep_vec_ok_ = ep_vec_grow_((vec)->v, (vec)->n, &(vec)->cap, (n_more),          \
		                               sizeof(*(vec)->v), &ep_vec_p_);                     \
		if (ep_vec_ok_)                                                                    \
			(vec)->v = ep_vec_p_;                                                      \
		ep_vec_ok_;                                                                        \
	})

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
