/* SPDX-License-Identifier: BSD-2-Clause */
/* Binary search in anything that is sorted. */
#ifndef EP_BASE_SEARCH_H
#define EP_BASE_SEARCH_H

#include <stddef.h>

/*
 * The first index in [first, end) for which `before`, an expression in the index `i`, is false;
 * `end` if there is none. `before` must be true up to some index and false from there on:
 *
 *	size_t at = ep_search(i, 0, n, v[i].vaddr < vaddr);
 *
 * O(log n).
 */
#define ep_search(i, first, end, before)                                                           \
	__extension__({                                                                            \
		size_t ep_search_lo_ = (first), ep_search_hi_ = (end);                             \
		while (ep_search_lo_ < ep_search_hi_) {                                            \
			size_t i = ep_search_lo_ + (ep_search_hi_ - ep_search_lo_) / 2;            \
			if (before)                                                                \
				ep_search_lo_ = i + 1;                                             \
			else                                                                       \
				ep_search_hi_ = i;                                                 \
		}                                                                                  \
		ep_search_lo_;                                                                     \
	})

#endif
