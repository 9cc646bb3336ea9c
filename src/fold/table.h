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
	uint64_t count;    /* fixed point, 0: the slot is free */
	uint32_t what;     /* EP_FOLD_WHAT_*, never 0 */
	uint32_t mispreds; /* fixed point; what does not fit is in the entry with SPILL */
};

/* Bits 0 to 4: enum ep_branch_type. */
#define EP_FOLD_WHAT_TYPE_MASK UINT32_C(31)
#define EP_FOLD_WHAT_EDGE (UINT32_C(1) << 5)
#define EP_FOLD_WHAT_RANGE (UINT32_C(1) << 6)    /* [from - length, from] was executed */
#define EP_FOLD_WHAT_OPEN_END (UINT32_C(1) << 7) /* of the range */
/* `count` is mispredicts of the entry without this bit, and nothing else. */
#define EP_FOLD_WHAT_SPILL (UINT32_C(1) << 8)
#define EP_FOLD_WHAT_LENGTH_SHIFT 11

/* Longest range taken for straight-line code: 1 MiB, and what `what` has room for. */
#define EP_FOLD_RANGE_MAX (UINT64_C(1) << 20)

/*
 * Open addressing with linear probing. A slot is found by the upper bits of the hash, so growing
 * reads and writes memory in order. One thread at a time.
 */
struct ep_fold_table {
	struct ep_fold_entry *slots;
	uint64_t mask;  /* slots - 1 */
	unsigned shift; /* slot = hash >> shift */
	size_t n_used, n_limit;
	size_t n_slots_max;
	uint64_t seeds[2]; /* so that no input can be made to collide */
};

/* One of n_tables tables that may take 4 GiB together. Errors: NOMEM. */
struct ep_error *ep_fold_table_init(struct ep_fold_table *table, unsigned n_tables) EP_MUST_CHECK;
void ep_fold_table_deinit(struct ep_fold_table *table);

/* Makes sure that n_more additions fit. Errors: NOMEM, also over the limit of entries. */
struct ep_error *ep_fold_table_grow(struct ep_fold_table *table, size_t n_more) EP_MUST_CHECK;

/* Ends counting: slots[0..n_used) are the entries from then on, and nothing can be looked up. */
void ep_fold_table_pack(struct ep_fold_table *table);

static inline struct ep_error *ep_fold_table_reserve(struct ep_fold_table *table, size_t n_more)
{
	return EP_LIKELY(table->n_used + n_more <= table->n_limit)
	           ? NULL
	           : ep_fold_table_grow(table, n_more);
}

__extension__ typedef unsigned __int128 ep_fold_product;

static inline uint64_t ep_fold_table_hash(const struct ep_fold_table *table, uint64_t from,
                                          uint64_t to, uint32_t what)
{
	ep_fold_product product = (ep_fold_product)(from ^ table->seeds[0]) *
	                          ((to + ((uint64_t)what << 30)) ^ table->seeds[1]);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline void ep_fold_table_prefetch(const struct ep_fold_table *table, uint64_t hash)
{
	__builtin_prefetch(&table->slots[hash >> table->shift], 1);
}

/* Adds mispredicts that do not fit their entry. */
void ep_fold_table_spill(struct ep_fold_table *table, uint64_t from, uint64_t to, uint32_t what,
                         uint64_t mispreds);

/*
 * Adds to an entry; room was made for two. `mispreds` is at most `count`.
 */
static inline void ep_fold_table_add(struct ep_fold_table *table, uint64_t hash, uint64_t from,
                                     uint64_t to, uint32_t what, uint64_t count, uint64_t mispreds)
{
	for (uint64_t i = hash >> table->shift;; i = (i + 1) & table->mask) {
		struct ep_fold_entry *e = &table->slots[i];
		if (EP_LIKELY(e->from == from && e->to == to && e->what == what)) {
			e->count = ep_count_add(e->count, count);
			if (EP_LIKELY(e->mispreds + mispreds <= UINT32_MAX))
				e->mispreds += (uint32_t)mispreds;
			else
				ep_fold_table_spill(table, from, to, what, mispreds);
			return;
		}
		if (!e->count) {
			bool fits = mispreds <= UINT32_MAX;
			*e = (struct ep_fold_entry){from, to, count, what,
			                            fits ? (uint32_t)mispreds : 0};
			table->n_used++;
			if (!fits)
				ep_fold_table_spill(table, from, to, what, mispreds);
			return;
		}
	}
}

#endif
