/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges and ranges of a binary, with its code and debug information, become a sample profile. */
#ifndef EP_EMIT_EMIT_H
#define EP_EMIT_EMIT_H

#include "base/vec.h"
#include "base/warn.h"
#include "edges/edges.h"
#include "object/object.h"
#include "sprof/sprof.h"

struct ep_emit_opts {
	unsigned n_threads;     /* 0: one per processor; the result does not depend on it */
	bool compat;            /* exactly what llvm-profgen gives, see edgeprof-emit(1) */
	const char *debug_path; /* the file with the debug information; NULL: the binary itself */
	/* For tests: the bytes of that file, borrowed during the call; debug_path names them. */
	const void *debug_data;
	size_t debug_size;
};

/* How the profile came about. Weighted numbers are fixed point (base/count.h). */
struct ep_emit_account {
	uint64_t records; /* weighted: branch records with an end in this binary */
	uint64_t ranges;  /* weighted: their straight-line stretches */
	uint64_t ranges_used;
	struct ep_drops drops; /* what was not used and why, whole numbers of weighted counts */

	/* Executed code, in bytes times executions: all, in functions, with line info. */
	double executed, in_functions, with_lines;

	uint32_t n_functions; /* in the profile, top level */
	uint32_t n_sampled;   /* of them with samples */
	uint32_t n_units, n_units_read, n_bad_units, n_missing_dwo;
	uint64_t n_body, max_body; /* body records of the profile and the greatest count of one */
	double density;            /* of the profile: ep_sprof_density() */
};

/*
 * Makes the profile of those n binaries of an input that are `object`, whatever their identity is,
 * and adds it to `ret` (which the caller finalises and frees). The object's symbols may be read.
 * Errors: NOMEM; MISSING with a hint: no debug information, nothing in the code of this binary,
 * nothing in functions with line info; BAD_DATA: debug information that cannot be read; MISMATCH:
 * samples of another machine; UNSUPPORTED: a machine that is neither x86-64 nor AArch64. On errors
 * `account_ret` is filled as far as it got.
 */
struct ep_error *ep_emit_profile(const struct ep_edges_binary *const *binaries, size_t n,
                                 struct ep_object *object, const struct ep_emit_opts *opts,
                                 struct ep_warnings *warnings, struct ep_sprof *ret,
                                 struct ep_emit_account *account_ret) EP_MUST_CHECK;

enum ep_emit_match {
	EP_EMIT_MATCH_NONE = 0,
	EP_EMIT_MATCH_BUILD_ID, /* the same build-id or content */
	EP_EMIT_MATCH_NAME,     /* unidentified in the edges, of the same file name */
	EP_EMIT_MATCH_FORCED,   /* another build-id, of the same file name or the only one */
};

/* The binaries of an input that are one object. Zero-initialise to start. */
struct ep_emit_found {
	EP_VEC(const struct ep_edges_binary *) binaries;
	enum ep_emit_match match;
	size_t n_passed_over; /* unidentified ones of its file name beside identified ones */
};

/*
 * Finds `object` among the binaries of `edges`: all of its identity (which may be written in
 * several ways); else the unidentified one of its file name, if it is the only one of that name;
 * else, if `force`, the one of that name, or the only binary there is. Errors: NOMEM; MISMATCH
 * naming both identities where the name is there under another one; MISSING where nothing of it is
 * there; these have a hint.
 */
struct ep_error *ep_emit_find(const struct ep_edges *edges, const struct ep_object *object,
                              bool force, struct ep_emit_found *ret) EP_MUST_CHECK;
void ep_emit_found_deinit(struct ep_emit_found *found);

/* The part of an LLVM function name that names its profile: without ".llvm.N" and ".part.N". */
size_t ep_emit_canonical_length(const char *name);

/* LLVM's discriminators: the base, and how often the code was duplicated (at least 1). */
uint32_t ep_emit_base_discriminator(uint32_t discriminator);
uint32_t ep_emit_duplication(uint32_t discriminator);

#endif
