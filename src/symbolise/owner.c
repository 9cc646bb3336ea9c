/* SPDX-License-Identifier: BSD-2-Clause */
/* Which unit owns an address, where several claim it (identical code folded, odd linkers). */
#include "symbolise/internal.h"

static int compare_start(const void *a, const void *b)
{
	const struct ep_sym_claim *x = a, *y = b;

	if (x->at.lo != y->at.lo)
		return x->at.lo < y->at.lo ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

static int compare_unit(const void *a, const void *b)
{
	const struct ep_sym_claim *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (x->at.lo > y->at.lo) - (x->at.lo < y->at.lo);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A heap of claims, smallest unit on top. */
typedef EP_VEC(struct ep_sym_claim) claim_heap;

static bool heap_push(claim_heap *heap, struct ep_sym_claim claim)
{
	if (!ep_vec_push(heap, claim))
		return false;
	for (size_t i = heap->n - 1; i;) {
		size_t parent = (i - 1) / 2;

		if (heap->v[parent].unit <= claim.unit)
			break;
		heap->v[i] = heap->v[parent];
		heap->v[i = parent] = claim;
	}
	return true;
}

static void heap_pop(claim_heap *heap)
{
	struct ep_sym_claim last = heap->v[--heap->n];

	for (size_t i = 0;;) {
		size_t child = 2 * i + 1;

		if (child >= heap->n) {
			heap->v[i] = last;
			return;
		}
		if (child + 1 < heap->n && heap->v[child + 1].unit < heap->v[child].unit)
			child++;
		if (heap->v[child].unit >= last.unit) {
			heap->v[i] = last;
			return;
		}
		heap->v[i] = heap->v[child];
		i = child;
	}
}

struct sweep {
	ep_sym_claims out;
	claim_heap heap;
	EP_VEC(uint64_t) ends;   /* of what each unit has begun */
	EP_VEC(uint64_t) points; /* all ends of claims, sorted */
};

static bool sweep_init(struct sweep *sweep, const ep_sym_claims *claims)
{
	uint32_t n_units = 0;

	for (size_t i = 0; i < claims->n; i++)
		n_units = EP_MAX(n_units, claims->v[i].unit + 1);
	if (!ep_vec_reserve(&sweep->points, 2 * claims->n) ||
	    !ep_vec_reserve(&sweep->ends, n_units))
		return false;
	for (size_t i = 0; i < n_units; i++)
		sweep->ends.v[i] = 0;
	for (size_t i = 0; i < claims->n; i++) {
		sweep->points.v[sweep->points.n++] = claims->v[i].at.lo;
		sweep->points.v[sweep->points.n++] = claims->v[i].at.hi;
	}
	qsort(sweep->points.v, sweep->points.n, sizeof(*sweep->points.v), compare_u64);
	return true;
}

/* Gives [lo, hi) to who may have it. */
static bool sweep_give(struct sweep *sweep, uint64_t lo, uint64_t hi)
{
	struct ep_sym_claim *last = sweep->out.n ? &sweep->out.v[sweep->out.n - 1] : NULL;

	while (sweep->heap.n && sweep->heap.v[0].at.hi <= lo)
		heap_pop(&sweep->heap);
	if (last && last->at.hi == lo && sweep->ends.v[last->unit] > lo) {
		last->at.hi = hi;
		return true;
	}
	return !sweep->heap.n ||
	       ep_vec_push(&sweep->out,
	                   (struct ep_sym_claim){.at = {lo, hi}, .unit = sweep->heap.v[0].unit});
}

static bool sweep_run(struct sweep *sweep, ep_sym_claims *claims)
{
	size_t next = 0;

	if (!claims->n)
		return true;
	if (!sweep_init(sweep, claims))
		return false;
	qsort(claims->v, claims->n, sizeof(*claims->v), compare_start);
	for (size_t i = 0; i + 1 < sweep->points.n; i++) {
		uint64_t lo = sweep->points.v[i], hi = sweep->points.v[i + 1];

		for (; next < claims->n && claims->v[next].at.lo <= lo; next++) {
			uint64_t *end = &sweep->ends.v[claims->v[next].unit];

			*end = EP_MAX(*end, claims->v[next].at.hi);
			if (!heap_push(&sweep->heap, claims->v[next]))
				return false;
		}
		if (lo < hi && !sweep_give(sweep, lo, hi))
			return false;
	}
	return true;
}

struct ep_error *ep_sym_claims_settle(ep_sym_claims *claims)
{
	struct sweep sweep = {0};
	bool ok = sweep_run(&sweep, claims);

	ep_vec_deinit(&sweep.heap);
	ep_vec_deinit(&sweep.ends);
	ep_vec_deinit(&sweep.points);
	if (!ok) {
		ep_vec_deinit(&sweep.out);
		return ep_error_nomem();
	}
	free(claims->v);
	*claims = sweep.out;
	if (claims->n)
		qsort(claims->v, claims->n, sizeof(*claims->v), compare_unit);
	return NULL;
}
