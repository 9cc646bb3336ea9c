/* SPDX-License-Identifier: BSD-2-Clause */
/* A queue of record references: sorted only when needed, delivered by rounds. */
#include "import/perf_data_order.h"

#include <string.h>

struct ep_error *ep_perf_chunk_get(struct ep_perf_order *order, uint32_t *ret)
{
	struct ep_perf_chunk chunk = {.n_refs = 1};
	size_t i = 0;

	while (i < order->chunks.n && order->chunks.v[i].n_refs)
		i++;
	if (i < order->chunks.n) {
		order->chunks.v[i].n = 0;
		order->chunks.v[i].n_refs = 1;
	} else {
		chunk.data = malloc(EP_PERF_CHUNK_SIZE);
		if (!chunk.data || !ep_vec_push(&order->chunks, chunk)) {
			free(chunk.data);
			return ep_error_nomem();
		}
	}
	order->n_used_chunks++;
	*ret = (uint32_t)i;
	return NULL;
}

void ep_perf_chunk_release(struct ep_perf_order *order, uint32_t chunk)
{
	if (!--order->chunks.v[chunk].n_refs)
		order->n_used_chunks--;
}

struct ep_error *ep_perf_order_copy(struct ep_perf_order *order, const void *rec, size_t n,
                                    struct ep_perf_item *item)
{
	if (!order->fill || n > EP_PERF_CHUNK_SIZE - order->chunks.v[order->fill - 1].n) {
		uint32_t i;
		EP_TRY(ep_perf_chunk_get(order, &i));
		if (order->fill)
			ep_perf_chunk_release(order, order->fill - 1);
		order->fill = i + 1;
	}
	struct ep_perf_chunk *chunk = &order->chunks.v[order->fill - 1];
	item->chunk = order->fill - 1;
	item->rec = memcpy(chunk->data + chunk->n, rec, n);
	chunk->n += n;
	return NULL;
}

/* The end of the ascending run that starts at a[i]. */
static size_t run_end(const struct ep_perf_item *a, size_t i, size_t n)
{
	for (i++; i < n && a[i - 1].t_ns <= a[i].t_ns; i++)
		;
	return i;
}

/* Merges a[from..mid) and a[mid..to) to b, equal times in their old order. */
static void merge_runs(const struct ep_perf_item *a, size_t from, size_t mid, size_t to,
                       struct ep_perf_item *b)
{
	size_t i = from, j = mid;

	for (size_t k = from; k < to; k++) {
		if (j >= to || (i < mid && a[i].t_ns <= a[j].t_ns))
			b[k] = a[i++];
		else
			b[k] = a[j++];
	}
}

/*
 * A natural merge sort: each CPU's buffer is an ascending run, so there are few passes. Stable,
 * since records of one time stay in the order of the input.
 */
static struct ep_error *sort_items(struct ep_perf_order *order)
{
	struct ep_perf_item *a = order->items.v + order->head;
	size_t n = order->items.n - order->head, n_runs;

	if (order->scratch_cap < n) {
		free(order->scratch);
		order->scratch = malloc(order->items.cap * sizeof(*a));
		order->scratch_cap = order->scratch ? order->items.cap : 0;
		if (!order->scratch)
			return ep_error_nomem();
	}
	do {
		n_runs = 0;
		for (size_t from = 0; from < n; n_runs++) {
			size_t mid = run_end(a, from, n);
			size_t to = mid < n ? run_end(a, mid, n) : n;
			merge_runs(a, from, mid, to, order->scratch);
			from = to;
		}
		memcpy(a, order->scratch, n * sizeof(*a));
	} while (n_runs > 1);
	order->unsorted = false;
	return NULL;
}

static struct ep_error *deliver_one(struct ep_perf_order *order)
{
	struct ep_perf_item item = order->items.v[order->head++];
	struct ep_error *err = order->deliver(order->payload, &item);

	order->delivered_t = EP_MAX(order->delivered_t, item.t_ns);
	if (item.chunk != EP_PERF_NO_CHUNK)
		ep_perf_chunk_release(order, item.chunk);
	return err;
}

/* Moves the waiting items to the front when the gap is the larger part. */
static void close_gap(struct ep_perf_order *order)
{
	size_t n = order->items.n - order->head;

	if (order->head < n)
		return;
	if (n)
		memmove(order->items.v, order->items.v + order->head, n * sizeof(*order->items.v));
	order->items.n = n;
	order->head = 0;
}

/* Delivers up to max_items waiting ones that are not newer than t_max. */
static struct ep_error *deliver(struct ep_perf_order *order, size_t max_items, uint64_t t_max)
{
	if (order->unsorted)
		EP_TRY(sort_items(order));
	for (; max_items && order->head < order->items.n; max_items--) {
		if (order->items.v[order->head].t_ns > t_max)
			break;
		EP_TRY(deliver_one(order));
	}
	close_gap(order);
	return NULL;
}

struct ep_error *ep_perf_order_add(struct ep_perf_order *order, const struct ep_perf_item *item)
{
	size_t n = order->items.n - order->head;

	if (EP_UNLIKELY(n && item->t_ns < order->items.v[order->items.n - 1].t_ns))
		order->unsorted = true;
	if (EP_UNLIKELY(item->t_ns < order->delivered_t))
		order->n_late++;
	if (EP_UNLIKELY(!ep_vec_push(&order->items, *item)))
		return ep_error_nomem();
	if (item->chunk != EP_PERF_NO_CHUNK)
		order->chunks.v[item->chunk].n_refs++;
	order->newest_t = EP_MAX(order->newest_t, item->t_ns);
	while (EP_UNLIKELY(n >= order->max_items || order->n_used_chunks > order->max_chunks)) {
		n = order->items.n - order->head;
		if (!n)
			break;
		EP_TRY(deliver(order, (n + 1) / 2, UINT64_MAX));
		n = order->items.n - order->head;
	}
	return NULL;
}

struct ep_error *ep_perf_order_round(struct ep_perf_order *order)
{
	uint64_t t_max = order->round_t;

	order->round_t = order->newest_t;
	return deliver(order, SIZE_MAX, t_max);
}

struct ep_error *ep_perf_order_until(struct ep_perf_order *order, uint64_t t_ns)
{
	return deliver(order, SIZE_MAX, t_ns);
}

struct ep_error *ep_perf_order_flush(struct ep_perf_order *order)
{
	return deliver(order, SIZE_MAX, UINT64_MAX);
}

void ep_perf_order_deinit(struct ep_perf_order *order)
{
	for (size_t i = 0; i < order->chunks.n; i++)
		free(order->chunks.v[i].data);
	ep_vec_deinit(&order->chunks);
	ep_vec_deinit(&order->items);
	free(order->scratch);
	order->scratch = NULL;
}
