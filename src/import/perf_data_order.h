/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts the records of a perf.data input in order of time, in bounded memory. */
#ifndef EP_IMPORT_PERF_DATA_ORDER_H
#define EP_IMPORT_PERF_DATA_ORDER_H

#include "base/vec.h"

/* Memory that records lie in until they are delivered; freed when nobody refers to it. */
struct ep_perf_chunk {
	unsigned char *data; /* EP_PERF_CHUNK_SIZE bytes */
	size_t n;            /* in use */
	uint32_t n_refs;
};

#define EP_PERF_CHUNK_SIZE ((size_t)1 << 20)
#define EP_PERF_NO_CHUNK UINT32_MAX

/* A record that waits for its turn. */
struct ep_perf_item {
	uint64_t t_ns;
	const unsigned char *rec; /* in the input's map, or in `chunk` */
	uint32_t chunk;           /* index of a chunk, or EP_PERF_NO_CHUNK */
	uint32_t attr;            /* index of the event it belongs to */
};

typedef struct ep_error *(*ep_perf_deliver_fn)(void *payload, const struct ep_perf_item *item);

/* Zero-initialise, then set max_items, max_chunks, deliver and payload. */
struct ep_perf_order {
	size_t max_items, max_chunks; /* over either limit the older half is delivered at once */
	ep_perf_deliver_fn deliver;
	void *payload;
	uint64_t n_late; /* records that came after a newer one was delivered */

	EP_VEC(struct ep_perf_item) items; /* waiting ones: [head, n) */
	size_t head;
	bool unsorted;
	uint64_t newest_t, round_t, delivered_t;
	struct ep_perf_item *scratch;
	size_t scratch_cap;
	EP_VEC(struct ep_perf_chunk) chunks;
	uint32_t fill; /* chunk index + 1 that ep_perf_order_copy() fills */
	size_t n_used_chunks;
};

/* A chunk for the caller to fill, with one reference that ep_perf_chunk_release() gives back. */
struct ep_error *ep_perf_chunk_get(struct ep_perf_order *order, uint32_t *ret) EP_MUST_CHECK;
void ep_perf_chunk_release(struct ep_perf_order *order, uint32_t chunk);

/* Copies a record of n <= EP_PERF_CHUNK_SIZE bytes to a chunk and points item->rec and ->chunk
 * there. For an item that is added next. */
struct ep_error *ep_perf_order_copy(struct ep_perf_order *order, const void *rec, size_t n,
                                    struct ep_perf_item *item) EP_MUST_CHECK;

/* Adds a record. What its chunk holds stays until it was delivered. May deliver older ones. */
struct ep_error *ep_perf_order_add(struct ep_perf_order *order, const struct ep_perf_item *item)
    EP_MUST_CHECK;

/* A FINISHED_ROUND: all up to the newest time of the round before can be delivered. */
struct ep_error *ep_perf_order_round(struct ep_perf_order *order) EP_MUST_CHECK;

/* Delivers those not newer than t_ns: the caller knows that no older ones follow. */
struct ep_error *ep_perf_order_until(struct ep_perf_order *order, uint64_t t_ns) EP_MUST_CHECK;

/* Delivers all that wait. */
struct ep_error *ep_perf_order_flush(struct ep_perf_order *order) EP_MUST_CHECK;

void ep_perf_order_deinit(struct ep_perf_order *order);

#endif
