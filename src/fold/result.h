/* SPDX-License-Identifier: BSD-2-Clause */
/* From counting tables to an edge table. */
#ifndef EP_FOLD_RESULT_H
#define EP_FOLD_RESULT_H

#include "fold/binaries.h"
#include "fold/stack.h"

/*
 * Fills binaries with edges and ranges and adds the counters' drops; the result is a proper edge
 * table. The counters' tables are ended. `no_linked`: what was counted for the owner of an input
 * without maps is left out, since maps came after all. Works on up to n_threads threads; the result
 * does not depend on it. Errors: NOMEM.
 */
struct ep_error *ep_fold_make_result(const struct ep_fold_binaries *binaries,
                                     struct ep_fold_counter *counters, size_t n_counters,
                                     bool no_linked, unsigned n_threads, struct ep_edges *ret)
    EP_MUST_CHECK;

#endif
