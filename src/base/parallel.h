/* SPDX-License-Identifier: BSD-2-Clause */
/* Running independent jobs on several threads. */
#ifndef EP_BASE_PARALLEL_H
#define EP_BASE_PARALLEL_H

#include "base/error.h"

typedef struct ep_error *(*ep_parallel_fn)(void *payload, size_t i_job, unsigned i_thread);

/* Number of processors this process may use, at least 1. */
unsigned ep_parallel_cpus(void);

/*
 * Calls fn(payload, i, thread) once for each i < n_jobs on up to n_threads threads (0: one per
 * processor) and waits. Jobs start in ascending order. After a failure no further job starts; the
 * error of the lowest failed job is returned, so the outcome does not depend on n_threads beyond
 * which later jobs ran. `i_thread` is below the number of threads.
 */
struct ep_error *ep_parallel_for(unsigned n_threads, size_t n_jobs, ep_parallel_fn fn,
                                 void *payload) EP_MUST_CHECK;

#endif
