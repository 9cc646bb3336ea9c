/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting by a 64-bit key in linear time. */
#ifndef EP_FOLD_RADIX_H
#define EP_FOLD_RADIX_H

#include "base/macros.h"

struct ep_fold_keyed {
	uint64_t key;
	const void *item;
};

/*
 * Sorts v[0..n) by key, items of equal keys in no particular order. `scratch` has room for n more.
 * Returns the sorted array, which is either of the two.
 */
struct ep_fold_keyed *ep_fold_radix_sort(struct ep_fold_keyed *v, struct ep_fold_keyed *scratch,
                                         size_t n);

#endif
