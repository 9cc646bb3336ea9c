/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding binaries by their identity, and their debug files. */
#ifndef EP_TOOLS_EMIT_FILES_H
#define EP_TOOLS_EMIT_FILES_H

#include "cmd.h"
#include "edges/edges.h"
#include "object/object.h"

/*
 * Opens the file that is this binary: of its build-id, at a path where it was seen, or in the
 * folders (or as the files) of `search`. Sets ret to NULL if there is none. Errors: NOMEM.
 */
struct ep_error *ep_emit_find_binary(const struct ep_edges_binary *binary,
                                     const char *const *search, size_t n_search,
                                     struct ep_object **ret) EP_MUST_CHECK;

/*
 * Where the debug information of a binary is: `given`, else the binary itself, else a separate
 * debug file of the same build-id beside it, in `search`, or under /usr/lib/debug; else the binary
 * itself. Malloc'ed. Errors: NOMEM; those of opening `given`; MISMATCH, unless `force`, when it
 * has another build-id.
 */
struct ep_error *ep_emit_find_debug(const struct ep_object *binary, const char *given, bool force,
                                    const char *const *search, size_t n_search, char **ret)
    EP_MUST_CHECK;

#endif
