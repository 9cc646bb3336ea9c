/* SPDX-License-Identifier: BSD-2-Clause */
/* Least significant digit first, leaving out the digits that all keys have in common. */
#include "fold/radix.h"

#include <string.h>

#define DIGIT_BITS 8
#define N_DIGITS (64 / DIGIT_BITS)
#define RADIX (1u << DIGIT_BITS)

static unsigned digit_of(uint64_t key, unsigned i_digit)
{
	return (unsigned)(key >> (i_digit * DIGIT_BITS)) & (RADIX - 1);
}

static void move_by_digit(const struct ep_fold_keyed *from, struct ep_fold_keyed *to, size_t n,
                          unsigned i_digit, size_t count[RADIX])
{
	size_t sum = 0;

	for (unsigned d = 0; d < RADIX; d++) {
		size_t c = count[d];
		count[d] = sum;
		sum += c;
	}
	for (size_t i = 0; i < n; i++)
		to[count[digit_of(from[i].key, i_digit)]++] = from[i];
}

struct ep_fold_keyed *ep_fold_radix_sort(struct ep_fold_keyed *v, struct ep_fold_keyed *scratch,
                                         size_t n)
{
	size_t counts[N_DIGITS][RADIX];

	memset(counts, 0, sizeof(counts));
	for (size_t i = 0; i < n; i++)
		for (unsigned d = 0; d < N_DIGITS; d++)
			counts[d][digit_of(v[i].key, d)]++;
	for (unsigned d = 0; n && d < N_DIGITS; d++) {
		if (counts[d][digit_of(v[0].key, d)] == n)
			continue;
		move_by_digit(v, scratch, n, d, counts[d]);
		struct ep_fold_keyed *other = v;
		v = scratch;
		scratch = other;
	}
	return v;
}
