/* SPDX-License-Identifier: BSD-2-Clause */
/* Inputs of verbs that fold: captures and .edges files become one set of edges. */
#ifndef EP_TOOLS_INPUTS_H
#define EP_TOOLS_INPUTS_H

#include "cmd.h"
#include "fold/fold.h"

/*
 * Folds each of the n inputs (perf.data, perf script, raw captures; "-": standard input), reads
 * those that are .edges files, and merges them all. Shows progress. Captures that have been folded
 * wait in a temporary folder if there are several inputs, so that only one fold is in memory.
 * `warnings` gets what was met on the way. Errors: those of importing, folding, reading and
 * merging, with the input's name; MISMATCH when two inputs are the same capture.
 */
struct ep_error *ep_inputs_fold(const struct ep_args *args, char *const *paths, size_t n_paths,
                                const struct ep_fold_opts *opts, struct ep_warnings *warnings,
                                struct ep_edges *ret) EP_MUST_CHECK;

/*
 * Refuses to write to one of the n inputs, under whatever name: `output` may be NULL. Errors:
 * USAGE.
 */
struct ep_error *ep_inputs_spare(const char *const *paths, size_t n_paths, const char *output)
    EP_MUST_CHECK;

#endif
