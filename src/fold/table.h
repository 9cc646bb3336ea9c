/* SPDX-License-Identifier: BSD-2-Clause */
/* The counting table of the hot loop. */
#ifndef EP_FOLD_TABLE_H
#define EP_FOLD_TABLE_H

#include "base/count.h"
#include "base/error.h"

/*
 * One look-up a record counts an edge together with the range that leads to it: the key is both.
 * What .edges holds is derived from the entries at the end. Two entries fill a cache line.
 */
struct ep_fold_entry {
	uint64_t from, to; /* compact addresses; without an edge, `from` is the range's end */
	uint64_t what;     /* EP_FOLD_WHAT_*, never 0 */
	uint64_t count;    /* fixed point, 0: the slot is free */
};

/* Bits 0 to 4: enum ep_branch_type. */
#define EP_FOLD_WHAT_TYPE_MASK UINT64_C(31)
#define EP_FOLD_WHAT_MISPRED_SHIFT 5
#define EP_FOLD_WHAT_MISPRED (UINT64_C(1) << EP_FOLD_WHAT_MISPRED_SHIFT)
#define EP_FOLD_WHAT_EDGE (UINT64_C(1) << 6)
#define EP_FOLD_WHAT_RANGE (UINT64_C(1) << 7)    /* [from - length, from] was executed */
#define EP_FOLD_WHAT_OPEN_END (UINT64_C(1) << 8) /* of the range */
#define EP_FOLD_WHAT_LENGTH_SHIFT 16

/* Zero-initialise, then init. One thread at a time. */
struct ep_fold_table {
	struct ep_fold_entry *slots;
	uint64_t mask; /* slots - 1 */
	size_t n_used, n_limit;
	uint64_t seeds[2]; /* so that no input can be made to collide */
};

struct ep_error *ep_fold_table_init(struct ep_fold_table *table) EP_MUST_CHECK;
void ep_fold_table_deinit(struct ep_fold_table *table);

/* Makes sure that n_more additions fit. Errors: NOMEM, also over the limit of entries. */
struct ep_error *ep_fold_table_grow(struct ep_fold_table *table, size_t n_more) EP_MUST_CHECK;

static inline struct ep_error *ep_fold_table_reserve(struct ep_fold_table *table, size_t n_more)
{
	return EP_LIKELY(table->n_used + n_more <= table->n_limit)
	           ? NULL
	           : ep_fold_table_grow(table, n_more);
}

__extension__ typedef unsigned __int128 ep_fold_product;

static inline uint64_t ep_fold_table_hash(const struct ep_fold_table *table, uint64_t from,
                                          uint64_t to, uint64_t what)
{
	ep_fold_product product = (ep_fold_product)(from ^ table->seeds[0]) *
	                          ((to + (what << 20 | what >> 44)) ^ table->seeds[1]);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline void ep_fold_table_prefetch(const struct ep_fold_table *table, uint64_t hash)
{
	__builtin_prefetch(&table->slots[hash & table->mask], 1);
}

/* Adds to an entry; room was reserved. */
static inline void ep_fold_table_add(struct ep_fold_table *table, uint64_t hash, uint64_t from,
                                     uint64_t to, uint64_t what, uint64_t count)
{
	for (uint64_t i = hash & table->mask;; i = (i + 1) & table->mask) {
		struct ep_fold_entry *e = &table->slots[i];
		if (EP_LIKELY(e->from == from && e->to == to && e->what == what)) {
			e->count = ep_count_add(e->count, count);
			return;
		}
		if (!e->count) {
			*e = (struct ep_fold_entry){from, to, what, count};
			table->n_used++;
			return;
		}
	}
}

#endif
