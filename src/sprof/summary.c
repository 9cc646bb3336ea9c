/* SPDX-License-Identifier: BSD-2-Clause */
/* LLVM's profile summary: cutoffs over all body counts; and the density. */
#include "sprof/summary.h"

#include "base/vec.h"
#include "sprof/private.h"

#define SCALE 1000000
#define CUTOFF_HOT 990000
#define CUTOFF_COLD 999999
#define CUTOFF_DENSITY 990000

static const uint32_t cutoffs[EP_SPROF_N_CUTOFFS] = {
    10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
    800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999,
};

typedef EP_VEC(uint64_t) counts_vec;

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static bool add_counts(counts_vec *counts, const struct ep_sprof_func *func)
{
	/* What the base profile holds as well must not count twice. */
	if (func->depth && (func->attributes & EP_SPROF_ATTR_DUPLICATED))
		return true;
	if (!ep_vec_reserve(counts, func->n_records))
		return false;
	for (uint32_t i = 0; i < func->n_records; i++)
		counts->v[counts->n++] = func->records[i].count;
	for (uint32_t i = 0; i < func->n_calls; i++)
		if (!add_counts(counts, func->calls[i].func))
			return false;
	return true;
}

static int compare_descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* floor(total * cutoff / SCALE) without a product that could overflow. */
static uint64_t share_of(uint64_t total, uint32_t cutoff)
{
	return total / SCALE * cutoff + total % SCALE * cutoff / SCALE;
}

/* Counts that are equal are taken all together. */
static void fill_cutoffs(const counts_vec *counts, struct ep_sprof_summary *summary)
{
	uint64_t sum = 0, count = 0;
	size_t n = 0;

	for (size_t c = 0; c < EP_SPROF_N_CUTOFFS; c++) {
		uint64_t want = share_of(summary->total_count, cutoffs[c]);
		while (sum < want && n < counts->n) {
			count = counts->v[n];
			for (; n < counts->n && counts->v[n] == count; n++)
				sum = ep_count_add(sum, count);
		}
		summary->cutoffs[c] = (struct ep_sprof_cutoff){cutoffs[c], count, n};
		if (cutoffs[c] == CUTOFF_HOT)
			summary->hot_count = count;
		if (cutoffs[c] == CUTOFF_COLD)
			summary->cold_count = count;
	}
}

struct ep_error *ep_sprof_summarise(const struct ep_sprof *prof, struct ep_sprof_summary *ret)
{
	struct ep_sprof_summary summary = {.n_funcs = prof->funcs.n};
	counts_vec counts = {0};

	for (size_t i = 0; i < prof->funcs.n; i++) {
		summary.max_head = EP_MAX(summary.max_head, prof->funcs.v[i]->head);
		if (!add_counts(&counts, prof->funcs.v[i])) {
			ep_vec_deinit(&counts);
			return ep_error_nomem();
		}
	}
	if (counts.n) {
		qsort(counts.v, counts.n, sizeof(*counts.v), compare_descending);
		summary.max_count = counts.v[0];
	}
	for (size_t i = 0; i < counts.n; i++)
		summary.total_count = ep_count_add(summary.total_count, counts.v[i]);
	summary.n_counts = counts.n;
	fill_cutoffs(&counts, &summary);
	ep_vec_deinit(&counts);
	*ret = summary;
	return NULL;
}

struct dense {
	double density;
	uint64_t sum;
};

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static void sum_func(const struct ep_sprof_func *func, uint64_t *sum, uint64_t *n)
{
	for (uint32_t i = 0; i < func->n_records; i++)
		*sum = ep_count_add(*sum, func->records[i].count);
	*n += func->n_records;
	for (uint32_t i = 0; i < func->n_calls; i++)
		sum_func(func->calls[i].func, sum, n);
}

static int compare_dense(const void *a, const void *b)
{
	const struct dense *x = a, *y = b;

	if (x->density != y->density)
		return x->density > y->density ? -1 : 1;
	return x->sum > y->sum ? -1 : x->sum < y->sum;
}

struct ep_error *ep_sprof_density(const struct ep_sprof *prof, double *ret)
{
	size_t n_funcs = prof->funcs.n, n = 0;
	uint64_t total = 0, sum = 0;
	double density = 0;

	ep_autofree struct dense *funcs = calloc(n_funcs + 1, sizeof(*funcs));
	if (!funcs)
		return ep_error_nomem();
	for (size_t i = 0; i < n_funcs; i++) {
		uint64_t f_sum = 0, f_n = 0;
		sum_func(prof->funcs.v[i], &f_sum, &f_n);
		if (f_n)
			funcs[n++] = (struct dense){(double)f_sum / (double)f_n, f_sum};
		total = ep_count_add(total, f_sum);
	}
	qsort(funcs, n, sizeof(*funcs), compare_dense);
	uint64_t want = share_of(total, CUTOFF_DENSITY);
	for (size_t i = 0; i < n && sum < want; i++) {
		density = funcs[i].density;
		sum = ep_count_add(sum, funcs[i].sum);
	}
	*ret = density;
	return NULL;
}
