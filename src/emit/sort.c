/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting by 64-bit keys in linear time. */
#include <string.h>

#include "emit/internal.h"

#define DIGITS 8
#define BUCKETS 256

static bool is_sorted(const struct ep_pair *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i - 1].key > v[i].key)
			return false;
	return true;
}

/* One stable pass by a digit; false: all keys have the same digit there, nothing was moved. */
static bool pass(const struct ep_pair *from, struct ep_pair *to, size_t n, unsigned digit,
                 const size_t *counts)
{
	size_t starts[BUCKETS], sum = 0;
	unsigned shift = 8 * digit;

	if (counts[from[0].key >> shift & (BUCKETS - 1)] == n)
		return false;
	for (size_t i = 0; i < BUCKETS; i++) {
		starts[i] = sum;
		sum += counts[i];
	}
	for (size_t i = 0; i < n; i++)
		to[starts[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
	return true;
}

struct ep_error *ep_pairs_sort(struct ep_pair *v, size_t n)
{
	size_t counts[DIGITS][BUCKETS] = {0};
	struct ep_pair *from = v, *to;

	if (is_sorted(v, n))
		return NULL;
	struct ep_pair *spare = calloc(n, sizeof(*spare));
	if (!spare)
		return ep_error_nomem();
	to = spare;
	for (size_t i = 0; i < n; i++)
		for (unsigned digit = 0; digit < DIGITS; digit++)
			counts[digit][v[i].key >> 8 * digit & (BUCKETS - 1)]++;
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		if (!pass(from, to, n, digit, counts[digit]))
			continue;
		struct ep_pair *sorted = to;
		to = from;
		from = sorted;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
	free(spare);
	return NULL;
}
