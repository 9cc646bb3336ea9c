/* SPDX-License-Identifier: BSD-2-Clause */
/* Folding: an event stream becomes counted edges and ranges (RULES.md). */
#ifndef EP_FOLD_FOLD_H
#define EP_FOLD_FOLD_H

#include "edges/edges.h"
#include "record/event.h"

enum ep_fold_weights {
	EP_FOLD_WEIGHTS_AUTO, /* by what the capture counted, folding rule 6 */
	EP_FOLD_WEIGHTS_NONE, /* every sample counts 1 */
};

struct ep_fold_opts {
	enum ep_fold_weights weights;
	bool keep_file_map; /* an anonymous executable map does not end the file map below it */
	unsigned n_threads; /* 0: one per processor, at most 8; 1: no thread is started */
	/*
	 * Binaries (ELF files) named by the user: they identify maps of their basename that bring
	 * no build-id, and a single one owns the addresses of an input without maps.
	 */
	const char *const *binary_paths;
	size_t n_binaries;
};

struct ep_fold;

/*
 * Starts a fold. Opens the binaries named in `opts` (NULL: defaults). One object folds one input;
 * several inputs are folded one by one and merged. Errors: NOMEM, OS, BAD_DATA, MISSING.
 */
struct ep_error *ep_fold_create(const struct ep_fold_opts *opts, struct ep_warnings *warnings,
                                struct ep_fold **ret) EP_MUST_CHECK;

/* Where the input's events go. The sink is valid as long as the fold. */
struct ep_event_sink ep_fold_sink(struct ep_fold *fold);

struct ep_fold_progress {
	uint64_t n_samples, n_records;
	uint64_t n_dropped_records;
};

/* What has been taken in so far; callable between events. */
struct ep_fold_progress ep_fold_progress(const struct ep_fold *fold);

/*
 * Ends the fold and gives its result, with one provenance entry made of `source` (strings are
 * copied) to which sampling, event, period and counts are added. A source that lives in a mapped
 * file must stay open until this returns. Errors: NOMEM; MISSING with a hint when nothing could be
 * counted: no samples, no branch stacks, no map, no identity.
 */
struct ep_error *ep_fold_finish(struct ep_fold *fold, const struct ep_provenance *source,
                                struct ep_edges *ret) EP_MUST_CHECK;

/* Ends a fold, finished or not; NULL is allowed. */
void ep_fold_destroy(struct ep_fold *fold);

#endif
