/* SPDX-License-Identifier: BSD-2-Clause */
/* What both forms of `show` for .edges files are made of. */
#ifndef EP_TOOLS_SHOW_EDGES_H
#define EP_TOOLS_SHOW_EDGES_H

#include "edges/edges.h"
#include "show.h"

struct ep_hot_edge {
	const struct ep_edges_binary *binary;
	const struct ep_edge *edge;
};

struct ep_hot_range {
	const struct ep_edges_binary *binary;
	const struct ep_range *range;
};

struct ep_edges_summary {
	const struct ep_edges *edges;
	/* Fixed point, saturating. A branch between two binaries of the file counts once. */
	uint64_t taken, mispredicted;
	size_t n_edges, n_ranges;
	size_t n_saturated;            /* counts at the largest value */
	struct ep_hot_edge *hot_edges; /* hottest first; equal ones in the order of the file */
	size_t n_hot_edges;
	struct ep_hot_range *hot_ranges;
	size_t n_hot_ranges;
};

/* True for the entry of a branch that comes in from a binary of the file: it has another there. */
static inline bool ep_edge_is_second(const struct ep_edge *edge)
{
	return edge->kind == EP_EDGE_IN && edge->peer;
}

/* Sums of one binary's taken branches, fixed point, by the same rule. */
void ep_edges_binary_taken(const struct ep_edges_binary *binary, uint64_t *taken_ret,
                           uint64_t *mispredicted_ret);

/* Names of a set of branch types, in `buf`; of what was counted, static. */
const char *ep_types_name(uint32_t types, char *buf, size_t n_buf);
const char *ep_sampling_name(unsigned sampling);

/* A short name of a binary: its first path's last part, or its id. */
const char *ep_binary_name(const struct ep_edges_binary *binary, char buf[EP_BUILD_ID_TEXT_MAX]);

/* {"schema": ...}: the whole file as JSON; NULL: no memory. */
json_t *ep_show_edges_json(const struct ep_args *args, const struct ep_file *file,
                           const struct ep_show_opts *opts, const struct ep_edges_summary *summary);

#endif
