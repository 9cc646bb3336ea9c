/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal: merging a few open files row by row. */
#ifndef EP_EDGES_MERGE_H
#define EP_EDGES_MERGE_H

#include <stdio.h>

#include "edges/edges.h"

/* An open input: read from its start; the descriptor stays the caller's. */
struct ep_edges_source {
	int fd;
	const char *name;
};

/* What one merge of open files found. */
struct ep_edges_streams_result {
	bool duplicate;               /* the merge failed because two sources hold this capture: */
	struct ep_provenance capture; /* without strings */
	struct ep_edges_merge_report totals;
};

/*
 * Merges all sources, opened together, into `out`. Memory: some blocks a source, and 4 bytes for
 * each of its binaries. Errors: those of reading; OS, NOMEM; MISMATCH for a capture given twice.
 */
struct ep_error *ep_edges_merge_streams(const struct ep_edges_source *sources, size_t n,
                                        bool allow_duplicates, FILE *out, const char *out_name,
                                        struct ep_edges_streams_result *ret) EP_MUST_CHECK;

/*
 * Reads one file to its end and finds whether it can be merged. With `capture`, *holds_ret says
 * whether it has a capture of that digest. Errors: those of reading.
 */
struct ep_error *ep_edges_check_stream(const struct ep_edges_source *source,
                                       const struct ep_provenance *capture, bool *holds_ret)
    EP_MUST_CHECK;

#endif
