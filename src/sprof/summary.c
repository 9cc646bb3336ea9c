/* SPDX-License-Identifier: BSD-2-Clause */
/* LLVM's profile summary: cutoffs over all body counts; and the density. */
#include "sprof/summary.h"

#include <string.h>

#include "sprof/private.h"

#define SCALE 1000000
#define CUTOFF_HOT 990000
#define CUTOFF_COLD 999999
#define CUTOFF_DENSITY 990000

static const uint32_t cutoffs[EP_SPROF_N_CUTOFFS] = {
    10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
    800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999,
};

/* What the base profile holds as well must not count twice. */
static bool counts(const struct ep_sprof_func *func)
{
	return !func->depth || !(func->attributes & EP_SPROF_ATTR_DUPLICATED);
}

/* Recursion ends at EP_SPROF_DEPTH_MAX, here and below. */
static size_t n_counts_in(const struct ep_sprof_func *func)
{
	size_t n = counts(func) ? func->n_records : 0;

	for (uint32_t i = 0; i < func->n_calls && counts(func); i++)
		n += n_counts_in(func->calls[i].func);
	return n;
}

/* Puts the counts of func at `to`; returns the place behind them. */
static uint64_t *put_counts(uint64_t *to, const struct ep_sprof_func *func)
{
	if (!counts(func))
		return to;
	for (uint32_t i = 0; i < func->n_records; i++)
		*to++ = func->records[i].count;
	for (uint32_t i = 0; i < func->n_calls; i++)
		to = put_counts(to, func->calls[i].func);
	return to;
}

/* Sorts, highest first, by one byte after the other; `spare` has room for as many. */
static void sort_descending(uint64_t *v, uint64_t *spare, size_t n, uint64_t max)
{
	uint64_t *from = v, *to = spare;

	for (unsigned shift = 0; shift < 64 && max >> shift; shift += 8) {
		size_t starts[257] = {0};
		for (size_t i = 0; i < n; i++)
			starts[256 - (from[i] >> shift & 0xff)]++;
		for (size_t k = 1; k < 257; k++)
			starts[k] += starts[k - 1];
		for (size_t i = 0; i < n; i++)
			to[starts[255 - (from[i] >> shift & 0xff)]++] = from[i];
		uint64_t *other = from;
		from = to;
		to = other;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

/* floor(total * cutoff / SCALE) without a product that could overflow. */
static uint64_t share_of(uint64_t total, uint32_t cutoff)
{
	return total / SCALE * cutoff + total % SCALE * cutoff / SCALE;
}

/* v: all counts, highest first. Those that are equal are taken all together. */
static void fill_cutoffs(const uint64_t *v, struct ep_sprof_summary *summary)
{
	uint64_t sum = 0, count = 0;
	size_t n = 0;

	for (size_t c = 0; c < EP_SPROF_N_CUTOFFS; c++) {
		uint64_t want = share_of(summary->total_count, cutoffs[c]);
		while (sum < want && n < summary->n_counts) {
			count = v[n];
			for (; n < summary->n_counts && v[n] == count; n++)
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

	for (size_t i = 0; i < prof->funcs.n; i++) {
		summary.max_head = EP_MAX(summary.max_head, prof->funcs.v[i]->head);
		summary.n_counts += n_counts_in(prof->funcs.v[i]);
	}
	ep_autofree uint64_t *v = calloc((size_t)summary.n_counts + 1, sizeof(*v));
	ep_autofree uint64_t *spare = calloc((size_t)summary.n_counts + 1, sizeof(*v));
	if (!v || !spare)
		return ep_error_nomem();
	uint64_t *end = v;
	for (size_t i = 0; i < prof->funcs.n; i++)
		end = put_counts(end, prof->funcs.v[i]);
	for (size_t i = 0; i < summary.n_counts; i++) {
		summary.max_count = EP_MAX(summary.max_count, v[i]);
		summary.total_count = ep_count_add(summary.total_count, v[i]);
	}
	sort_descending(v, spare, (size_t)summary.n_counts, summary.max_count);
	fill_cutoffs(v, &summary);
	*ret = summary;
	return NULL;
}

struct dense {
	double density;
	uint64_t sum;
};

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
