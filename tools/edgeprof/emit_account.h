/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of an emit: what became of the samples. */
#ifndef EP_TOOLS_EMIT_ACCOUNT_H
#define EP_TOOLS_EMIT_ACCOUNT_H

#include "cmd.h"
#include "emit/emit.h"

/* One binary of a run. Strings are borrowed. */
struct ep_emit_result {
	const char *binary, *debug_file;
	const char *output;          /* NULL: there is none, for this reason: */
	const char *error;           /* NULL: none */
	struct ep_build_id build_id; /* of the file */
	struct ep_build_id sampled;  /* of the samples, empty if they have none */
	enum ep_emit_match match;
	uint64_t taken; /* its share of the input, fixed point; shares do not overlap */
	struct ep_emit_account account;
};

/* All of a run. */
struct ep_emit_summary {
	const struct ep_edges *edges;
	const struct ep_emit_result *results;
	size_t n_results;
	const char *const *missing; /* binaries whose file was not found */
	size_t n_missing;
	const struct ep_warnings *warnings;
	const char *error; /* why the run failed; NULL: it did not */
};

/* Prints the account of one binary on standard error, unless -q. */
void ep_emit_account_print(const struct ep_args *args, const struct ep_edges *edges,
                           const struct ep_emit_result *result);

/* The same of all as a report. NULL: no memory. */
json_t *ep_emit_account_json(const struct ep_args *args, const struct ep_emit_summary *summary);

#endif
