/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of file that `edgeprof show` knows: one show_<kind>.c each. */
#ifndef EP_TOOLS_SHOW_H
#define EP_TOOLS_SHOW_H

#include "base/file.h"
#include "cmd.h"

struct ep_show_opts {
	const char *path; /* as given, for messages and the report */
	uint64_t top;     /* entries of a ranking */
	bool json;
	bool symbols; /* list the symbols, too */
};

struct ep_show_kind {
	const char *name; /* for "show reads ..." */
	/* True if the contents are of this kind, by their first bytes; they may still be damaged.
	 */
	bool (*detect)(const void *data, size_t n);
	/* Shows it on standard output. */
	struct ep_error *(*show)(const struct ep_args *args, const struct ep_file *file,
	                         const struct ep_show_opts *opts);
};

extern const struct ep_show_kind ep_show_edges;
extern const struct ep_show_kind ep_show_sprof;

#endif
