/* SPDX-License-Identifier: BSD-2-Clause */
/* Overlapping ranges become disjoint steps. */
#include "base/search.h"
#include "emit/internal.h"

/* Both are a key and a value of 64 bits. */
_Static_assert(sizeof(struct ep_interval) == sizeof(struct ep_pair), "intervals are pairs");

struct ep_error *ep_emit_intervals_join(ep_emit_interval_vec *intervals)
{
	size_t n = 0;

	if (!intervals->n)
		return NULL;
	EP_TRY(ep_pairs_sort((struct ep_pair *)intervals->v, intervals->n));
	for (size_t i = 0; i < intervals->n; i++) {
		struct ep_interval at = intervals->v[i];

		if (n && at.lo <= intervals->v[n - 1].hi)
			intervals->v[n - 1].hi = EP_MAX(intervals->v[n - 1].hi, at.hi);
		else
			intervals->v[n++] = at;
	}
	intervals->n = n;
	return NULL;
}

/* A sum that cannot overflow; seen from outside it saturates as all counts do. */
static uint64_t whole(unsigned __int128 fixed)
{
	return ep_count_round(fixed > UINT64_MAX ? UINT64_MAX : (uint64_t)fixed);
}

/* `ends` are pairs of last instruction and count. */
static struct ep_error *build(const ep_emit_ranges *starts, const struct ep_pair *ends,
                              ep_steps *ret)
{
	unsigned __int128 sum = 0;
	size_t i = 0, j = 0;
	uint64_t at = 0;

	while (j < starts->n) {
		bool begins = i < starts->n && starts->v[i].start <= ends[j].key;
		/* Up to the next start, or with the next end. */
		uint64_t next = begins ? starts->v[i].start : ends[j].key + 1;

		if (sum && next > at) {
			struct ep_step step = {at, next - 1, whole(sum)};

			if (!ep_vec_push(ret, step))
				return ep_error_nomem();
		}
		at = next;
		if (begins)
			sum += starts->v[i++].count;
		else
			sum -= ends[j++].value;
	}
	return NULL;
}

struct ep_error *ep_steps_build(const ep_emit_ranges *ranges, ep_steps *ret)
{
	struct ep_pair *ends = calloc(ranges->n + 1, sizeof(*ends));

	if (!ends)
		return ep_error_nomem();
	for (size_t i = 0; i < ranges->n; i++)
		ends[i] = (struct ep_pair){ranges->v[i].last, ranges->v[i].count};
	struct ep_error *err = ep_pairs_sort(ends, ranges->n);
	if (!err)
		err = build(ranges, ends, ret);
	free(ends);
	return err;
}

size_t ep_steps_find(const ep_steps *steps, uint64_t vaddr)
{
	return ep_search(i, 0, steps->n, steps->v[i].last < vaddr);
}
