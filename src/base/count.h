/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts: saturating sums, and the fixed point in which weighted counts are kept. */
#ifndef EP_BASE_COUNT_H
#define EP_BASE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A weighted count is a uint64_t in units of 1/65536: a record of weight 1 adds EP_COUNT_ONE. It
 * saturates at UINT64_MAX (2.8e14 records), never wraps.
 */
#define EP_COUNT_SHIFT 16
#define EP_COUNT_ONE (UINT64_C(1) << EP_COUNT_SHIFT)

static inline uint64_t ep_count_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t ep_count_mul(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Whole records of a fixed-point count, rounded half up; a count that is not 0 gives at least 1. */
static inline uint64_t ep_count_round(uint64_t fixed)
{
	uint64_t whole = (fixed >> EP_COUNT_SHIFT) + ((fixed >> (EP_COUNT_SHIFT - 1)) & 1);

	return whole ? whole : fixed != 0;
}

/* The fixed-point form of a whole number of records. */
static inline uint64_t ep_count_from_whole(uint64_t whole)
{
	return ep_count_mul(whole, EP_COUNT_ONE);
}

#endif
