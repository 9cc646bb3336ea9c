/* SPDX-License-Identifier: BSD-2-Clause */
/* A parallel for-loop on POSIX threads. */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS_MAX 256u

struct loop {
	ep_parallel_fn fn;
	void *payload;
	size_t n_jobs;
	atomic_size_t next;
	atomic_bool stop;
	pthread_mutex_t lock;
	struct ep_error *err; /* under lock, as is i_err */
	size_t i_err;
};

struct worker {
	struct loop *loop;
	unsigned index;
	pthread_t thread;
};

unsigned ep_parallel_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (unsigned)EP_MIN(n, (long)THREADS_MAX);
}

static void keep_error(struct loop *loop, size_t i, struct ep_error *err)
{
	pthread_mutex_lock(&loop->lock);
	if (!loop->err || i < loop->i_err) {
		ep_error_destroy(loop->err);
		loop->err = err;
		loop->i_err = i;
	} else {
		ep_error_destroy(err);
	}
	pthread_mutex_unlock(&loop->lock);
	atomic_store(&loop->stop, true);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct loop *loop = worker->loop;

	while (!atomic_load(&loop->stop)) {
		size_t i = atomic_fetch_add(&loop->next, 1);
		if (i >= loop->n_jobs)
			break;
		struct ep_error *err = loop->fn(loop->payload, i, worker->index);
		if (err)
			keep_error(loop, i, err);
	}
	return NULL;
}

struct ep_error *ep_parallel_for(unsigned n_threads, size_t n_jobs, ep_parallel_fn fn,
                                 void *payload)
{
	struct loop loop = {.fn = fn, .payload = payload, .n_jobs = n_jobs};
	struct worker workers[THREADS_MAX];
	unsigned n_started = 0;

	n_threads = n_threads ? EP_MIN(n_threads, THREADS_MAX) : ep_parallel_cpus();
	n_threads = (unsigned)EP_MIN((size_t)n_threads, n_jobs);
	pthread_mutex_init(&loop.lock, NULL);
	/* Thread 0 is the caller: it works even where no thread can be started. */
	for (unsigned i = 1; i < n_threads; i++) {
		struct worker *w = &workers[n_started + 1];
		*w = (struct worker){.loop = &loop, .index = n_started + 1};
		if (!pthread_create(&w->thread, NULL, work, w))
			n_started++;
	}
	workers[0] = (struct worker){.loop = &loop};
	work(&workers[0]);
	for (unsigned i = 1; i <= n_started; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_mutex_destroy(&loop.lock);
	return loop.err;
}
