/* SPDX-License-Identifier: BSD-2-Clause */
/* Overlapping ranges become disjoint steps. */
#include "base/search.h"
#include "emit/internal.h"

static int compare_intervals(const void *a, const void *b)
{
	const struct ep_interval *x = a, *y = b;

	return (x->lo > y->lo) - (x->lo < y->lo);
}

void ep_emit_intervals_join(ep_emit_interval_vec *intervals)
{
	size_t n = 0;

	if (intervals->n)
		qsort(intervals->v, intervals->n, sizeof(*intervals->v), compare_intervals);
	for (size_t i = 0; i < intervals->n; i++) {
		struct ep_interval at = intervals->v[i];

		if (n && at.lo <= intervals->v[n - 1].hi)
			intervals->v[n - 1].hi = EP_MAX(intervals->v[n - 1].hi, at.hi);
		else
			intervals->v[n++] = at;
	}
	intervals->n = n;
}

static int compare_last(const void *a, const void *b)
{
	const struct ep_emit_range *x = a, *y = b;

	return (x->last > y->last) - (x->last < y->last);
}

/* A sum that cannot overflow; seen from outside it saturates as all counts do. */
static uint64_t whole(unsigned __int128 fixed)
{
	return ep_count_round(fixed > UINT64_MAX ? UINT64_MAX : (uint64_t)fixed);
}

static struct ep_error *build(const ep_emit_ranges *starts, const struct ep_emit_range *ends,
                              ep_steps *ret)
{
	unsigned __int128 sum = 0;
	size_t i = 0, j = 0;
	uint64_t at = 0;

	while (j < starts->n) {
		bool begins = i < starts->n && starts->v[i].start <= ends[j].last;
		/* Up to the next start, or with the next end. */
		uint64_t next = begins ? starts->v[i].start : ends[j].last + 1;

		if (sum && next > at) {
			struct ep_step step = {at, next - 1, whole(sum)};

			if (!ep_vec_push(ret, step))
				return ep_error_nomem();
		}
		at = next;
		if (begins)
			sum += starts->v[i++].count;
		else
			sum -= ends[j++].count;
	}
	return NULL;
}

struct ep_error *ep_steps_build(const ep_emit_ranges *ranges, ep_steps *ret)
{
	struct ep_emit_range *ends = calloc(ranges->n + 1, sizeof(*ends));

	if (!ends)
		return ep_error_nomem();
	for (size_t i = 0; i < ranges->n; i++)
		ends[i] = ranges->v[i];
	qsort(ends, ranges->n, sizeof(*ends), compare_last);
	struct ep_error *err = build(ranges, ends, ret);
	free(ends);
	return err;
}

size_t ep_steps_find(const ep_steps *steps, uint64_t vaddr)
{
	return ep_search(i, 0, steps->n, steps->v[i].last < vaddr);
}
