/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal: order and joining of single entries, shared by tables in memory and by merging. */
#ifndef EP_EDGES_ROWS_H
#define EP_EDGES_ROWS_H

#include "edges/edges.h"

/* Like ep_edges_compare_provenance() without n_copies: 0 means that the two add up. */
int ep_edges_compare_captures(const struct ep_provenance *a, const struct ep_provenance *b);
int ep_edges_compare_reasons(const struct ep_edges_reason *a, const struct ep_edges_reason *b);
int ep_edges_compare_paths(const char *a, const char *b);

/* Adds the counts and types of an equal edge. */
void ep_edges_join_edges(struct ep_edge *to, const struct ep_edge *from);

/* Joins what two entries of the same binary know of it, but for paths, edges and ranges. */
void ep_edges_join_identity(struct ep_edges_binary *to, const struct ep_edges_binary *from);

/* Sorts n paths in place, drops doubles and those over the limit, and returns how many are left. */
uint32_t ep_edges_normalise_paths(const char **paths, size_t n);

#endif
