/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches of stacks, a bounded queue, and the threads that empty it. */
#include "fold/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* About so many keep up with the one that reads; each more costs a table. */
#define THREADS_MAX 8u
/* A batch is worth waking a thread for, and small enough that all of them fit in the cache. */
#define BATCH_JOBS 128
#define BATCH_BRANCHES 4096
#define BATCHES_PER_THREAD 4

struct batch {
	struct batch *next;
	size_t n_jobs, n_branches;
	struct ep_fold_job jobs[BATCH_JOBS];
	EP_VEC(struct ep_branch) copies;
	EP_VEC(struct ep_fold_maps *) maps; /* referenced by the jobs */
};

struct thread {
	struct ep_fold_pool *pool;
	struct ep_fold_counter *counter;
	pthread_t thread;
};

struct ep_fold_pool {
	struct ep_fold_counter *counters; /* [0] is the caller's */
	size_t n_counters;
	struct thread *threads;
	size_t n_threads; /* started */
	struct batch *filling;
	atomic_bool failed;
	atomic_uint_fast64_t n_dropped;
	pthread_mutex_t lock;
	pthread_cond_t more;
	/* The rest is under lock. */
	struct batch *first, **last; /* waiting */
	struct batch *free;
	bool closed;
	struct ep_error *err;
};

/* Reasons that take away whole records. */
static uint64_t dropped_records(const struct ep_drops *drops)
{
	static const enum ep_drop reasons[] = {
	    EP_DROP_FILLER,
	    EP_DROP_HALF_RECORD,
	    EP_DROP_WRONG_PATH,
	    EP_DROP_DUPLICATE_TOP,
	    EP_DROP_UNMAPPED,
	    EP_DROP_KERNEL,
	    EP_DROP_AMBIGUOUS_PROCESS,
	    EP_DROP_UNIDENTIFIED,
	    EP_DROP_ANONYMOUS,
	};
	uint64_t n = 0;

	for (size_t i = 0; i < EP_ARRAY_LEN(reasons); i++)
		n = ep_count_add(n, drops->n[reasons[i]]);
	return n;
}

static void empty_batch(struct batch *batch)
{
	for (size_t i = 0; i < batch->maps.n; i++)
		ep_fold_maps_unref(batch->maps.v[i]);
	batch->maps.n = batch->copies.n = 0;
	batch->n_jobs = batch->n_branches = 0;
}

static void count_batch(struct ep_fold_pool *pool, struct ep_fold_counter *counter,
                        struct batch *batch)
{
	uint64_t before = dropped_records(&counter->drops);

	for (size_t i = 0; i < batch->n_jobs && !atomic_load(&pool->failed); i++) {
		struct ep_error *err = ep_fold_count_stack(counter, &batch->jobs[i]);
		if (!err)
			continue;
		pthread_mutex_lock(&pool->lock);
		if (pool->err)
			ep_error_destroy(err);
		else
			pool->err = err;
		pthread_mutex_unlock(&pool->lock);
		atomic_store(&pool->failed, true);
	}
	empty_batch(batch);
	atomic_fetch_add(&pool->n_dropped, dropped_records(&counter->drops) - before);
}

static struct batch *pop(struct ep_fold_pool *pool)
{
	struct batch *batch = pool->first;

	if (batch) {
		pool->first = batch->next;
		if (!pool->first)
			pool->last = &pool->first;
	}
	return batch;
}

static void *run_thread(void *arg)
{
	struct thread *thread = arg;
	struct ep_fold_pool *pool = thread->pool;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		struct batch *batch = pop(pool);
		if (!batch) {
			if (pool->closed)
				break;
			pthread_cond_wait(&pool->more, &pool->lock);
			continue;
		}
		pthread_mutex_unlock(&pool->lock);
		count_batch(pool, thread->counter, batch);
		pthread_mutex_lock(&pool->lock);
		batch->next = pool->free;
		pool->free = batch;
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

static void free_batch(struct batch *batch)
{
	if (!batch)
		return;
	empty_batch(batch);
	ep_vec_deinit(&batch->copies);
	ep_vec_deinit(&batch->maps);
	free(batch);
}

static struct ep_error *add_batches(struct ep_fold_pool *pool, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct batch *batch = calloc(1, sizeof(*batch));
		if (!batch)
			return ep_error_nomem();
		batch->next = pool->free;
		pool->free = batch;
	}
	pool->filling = pool->free;
	pool->free = pool->filling->next;
	return NULL;
}

static struct ep_error *start(struct ep_fold_pool *pool, unsigned n_threads)
{
	pool->counters =
	    aligned_alloc(_Alignof(struct ep_fold_counter), n_threads * sizeof(*pool->counters));
	pool->threads = calloc(n_threads, sizeof(*pool->threads));
	if (!pool->counters || !pool->threads)
		return ep_error_nomem();
	for (; pool->n_counters < n_threads; pool->n_counters++)
		EP_TRY(ep_fold_counter_init(&pool->counters[pool->n_counters], n_threads));
	if (n_threads == 1)
		return NULL;
	EP_TRY(add_batches(pool, (size_t)n_threads * BATCHES_PER_THREAD));
	for (size_t i = 1; i < n_threads; i++) {
		struct thread *t = &pool->threads[pool->n_threads];
		*t = (struct thread){.pool = pool, .counter = &pool->counters[i]};
		/* Fewer threads only take longer. */
		if (!pthread_create(&t->thread, NULL, run_thread, t))
			pool->n_threads++;
	}
	return NULL;
}

struct ep_error *ep_fold_pool_create(unsigned n_threads, struct ep_fold_pool **ret)
{
	struct ep_fold_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return ep_error_nomem();
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->more, NULL);
	pool->last = &pool->first;
	struct ep_error *err = start(pool, EP_MIN(n_threads, THREADS_MAX));
	if (err) {
		ep_fold_pool_destroy(pool);
		return err;
	}
	*ret = pool;
	return NULL;
}

/* Hands the batch over and gets an empty one, counting a waiting one itself if there is none. */
static void submit(struct ep_fold_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->filling->next = NULL;
	*pool->last = pool->filling;
	pool->last = &pool->filling->next;
	struct batch *batch = pool->free, *waiting = NULL;
	if (batch)
		pool->free = batch->next;
	else
		waiting = pop(pool);
	pthread_cond_signal(&pool->more);
	pthread_mutex_unlock(&pool->lock);
	if (waiting)
		count_batch(pool, &pool->counters[0], waiting);
	pool->filling = batch ? batch : waiting;
}

/* Keeps a set alive as long as the batch; the same one comes many times in a row. */
static bool keep_maps(struct batch *batch, struct ep_fold_maps *maps)
{
	size_t n = batch->maps.n;

	if (!maps || (n && batch->maps.v[n - 1] == maps) || (n > 1 && batch->maps.v[n - 2] == maps))
		return true;
	if (!ep_vec_push(&batch->maps, maps))
		return false;
	ep_fold_maps_ref(maps);
	return true;
}

/* Copies stay where they are: the room for all of a batch is taken before the first. */
static const struct ep_branch *copy_branches(struct batch *batch, const struct ep_fold_job *job)
{
	size_t n = batch->copies.n ? job->n_branches
	                           : EP_MAX((size_t)job->n_branches, (size_t)BATCH_BRANCHES);

	if (!ep_vec_reserve(&batch->copies, n))
		return NULL;
	struct ep_branch *copy = batch->copies.v + batch->copies.n;
	memcpy(copy, job->branches, job->n_branches * sizeof(*copy));
	batch->copies.n += job->n_branches;
	return copy;
}

static struct ep_error *failure(struct ep_fold_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	struct ep_error *err = ep_take(pool->err);
	pthread_mutex_unlock(&pool->lock);
	return err ? err : ep_error_nomem();
}

static struct ep_error *add_now(struct ep_fold_pool *pool, const struct ep_fold_job *job)
{
	struct ep_fold_counter *counter = &pool->counters[0];
	uint64_t before = dropped_records(&counter->drops);
	struct ep_error *err = ep_fold_count_stack(counter, job);

	atomic_store_explicit(&pool->n_dropped,
	                      atomic_load_explicit(&pool->n_dropped, memory_order_relaxed) +
	                          dropped_records(&counter->drops) - before,
	                      memory_order_relaxed);
	return err;
}

struct ep_error *ep_fold_pool_add(struct ep_fold_pool *pool, const struct ep_fold_job *job,
                                  struct ep_fold_maps *user, struct ep_fold_maps *kernel,
                                  bool stable)
{
	if (!pool->n_threads)
		return add_now(pool, job);
	if (atomic_load_explicit(&pool->failed, memory_order_relaxed))
		return failure(pool);
	struct batch *batch = pool->filling;
	size_t n_copies = batch->copies.n;
	if (batch->n_jobs == BATCH_JOBS || batch->n_branches >= BATCH_BRANCHES ||
	    (!stable && n_copies && n_copies + job->n_branches > batch->copies.cap)) {
		submit(pool);
		batch = pool->filling;
	}
	struct ep_fold_job *copy = &batch->jobs[batch->n_jobs];
	*copy = *job;
	if (!keep_maps(batch, user) || !keep_maps(batch, kernel))
		return ep_error_nomem();
	if (!stable) {
		copy->branches = copy_branches(batch, job);
		if (!copy->branches)
			return ep_error_nomem();
	}
	batch->n_jobs++;
	batch->n_branches += job->n_branches;
	return NULL;
}

struct ep_error *ep_fold_pool_finish(struct ep_fold_pool *pool)
{
	struct batch *batch;

	if (pool->n_threads) {
		submit(pool);
		pthread_mutex_lock(&pool->lock);
		pool->closed = true;
		pthread_cond_broadcast(&pool->more);
		while ((batch = pop(pool))) {
			pthread_mutex_unlock(&pool->lock);
			count_batch(pool, &pool->counters[0], batch);
			pthread_mutex_lock(&pool->lock);
			batch->next = pool->free;
			pool->free = batch;
		}
		pthread_mutex_unlock(&pool->lock);
	}
	for (; pool->n_threads; pool->n_threads--)
		pthread_join(pool->threads[pool->n_threads - 1].thread, NULL);
	return atomic_load(&pool->failed) ? failure(pool) : NULL;
}

struct ep_fold_counter *ep_fold_pool_own(struct ep_fold_pool *pool)
{
	return &pool->counters[0];
}

size_t ep_fold_pool_counters(struct ep_fold_pool *pool, struct ep_fold_counter **ret)
{
	*ret = pool->counters;
	return pool->n_counters;
}

uint64_t ep_fold_pool_dropped(const struct ep_fold_pool *pool)
{
	return atomic_load_explicit(&pool->n_dropped, memory_order_relaxed);
}

void ep_fold_pool_destroy(struct ep_fold_pool *pool)
{
	if (!pool)
		return;
	atomic_store(&pool->failed, true);
	if (pool->n_threads)
		ep_error_destroy(ep_fold_pool_finish(pool));
	ep_error_destroy(pool->err);
	while (pool->free) {
		struct batch *next = pool->free->next;
		free_batch(pool->free);
		pool->free = next;
	}
	free_batch(pool->filling);
	for (size_t i = 0; i < pool->n_counters; i++)
		ep_fold_counter_deinit(&pool->counters[i]);
	free(pool->counters);
	free(pool->threads);
	pthread_cond_destroy(&pool->more);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}
