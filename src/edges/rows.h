/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal: order and joining of single entries, shared by tables in memory and by merging. */
#ifndef EP_EDGES_ROWS_H
#define EP_EDGES_ROWS_H

#include "edges/edges.h"

/* Like ep_edges_compare_provenance() without n_copies: 0 means that the two add up. */
int ep_edges_compare_captures(const struct ep_provenance *a, const struct ep_provenance *b);
int ep_edges_compare_reasons(const struct ep_edges_reason *a, const struct ep_edges_reason *b);
int ep_edges_compare_paths(const char *a, const char *b);

/* Order of edges and ranges with their binaries. */
static inline int ep_edges_order_edges(uint32_t a_binary, const struct ep_edge *a,
                                       uint32_t b_binary, const struct ep_edge *b)
{
	uint64_t a_group = (uint64_t)a_binary << 32 | (uint32_t)a->kind << 30 | a->peer;
	uint64_t b_group = (uint64_t)b_binary << 32 | (uint32_t)b->kind << 30 | b->peer;

	if (a_group != b_group)
		return a_group < b_group ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static inline int ep_edges_order_ranges(uint32_t a_binary, const struct ep_range *a,
                                        uint32_t b_binary, const struct ep_range *b)
{
	if (a_binary != b_binary)
		return a_binary < b_binary ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->open_end > b->open_end) - (a->open_end < b->open_end);
}

/* Adds the counts and types of an equal edge. */
void ep_edges_join_edges(struct ep_edge *to, const struct ep_edge *from);

/* Joins what two entries of the same binary know of it, but for paths, edges and ranges. */
void ep_edges_join_identity(struct ep_edges_binary *to, const struct ep_edges_binary *from);

/* Sorts n paths in place, drops doubles and those over the limit, and returns how many are left. */
uint32_t ep_edges_normalise_paths(const char **paths, size_t n);

#endif
