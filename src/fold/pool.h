/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks on their way to the threads that count them. */
#ifndef EP_FOLD_POOL_H
#define EP_FOLD_POOL_H

#include "fold/stack.h"

struct ep_fold_pool;

/*
 * n_threads counting threads, of which the caller is one: it counts when the others are behind, so
 * that what waits is bounded. With 1 no thread is started; more than 8 are never. Errors: NOMEM.
 */
struct ep_error *ep_fold_pool_create(unsigned n_threads, struct ep_fold_pool **ret) EP_MUST_CHECK;

/*
 * Counts a stack, now or later. `job` is copied; its maps are kept by reference; its branches are
 * copied unless `stable`. Errors: NOMEM, also for an earlier stack.
 */
struct ep_error *ep_fold_pool_add(struct ep_fold_pool *pool, const struct ep_fold_job *job,
                                  struct ep_fold_maps *user, struct ep_fold_maps *kernel,
                                  bool stable) EP_MUST_CHECK;

/* Waits until all is counted and ends the threads. Errors: as before. */
struct ep_error *ep_fold_pool_finish(struct ep_fold_pool *pool) EP_MUST_CHECK;

/* The caller's own counter: for whatever else is to be counted. */
struct ep_fold_counter *ep_fold_pool_own(struct ep_fold_pool *pool);

/* The counters of all threads, to be read after finish. */
size_t ep_fold_pool_counters(struct ep_fold_pool *pool, struct ep_fold_counter **ret);

/* Records dropped so far by stacks that have been counted. */
uint64_t ep_fold_pool_dropped(const struct ep_fold_pool *pool);

void ep_fold_pool_destroy(struct ep_fold_pool *pool);

#endif
