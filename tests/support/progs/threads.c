/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that run at the same time: threads [N [THREADS]], N rounds (1000), 1 to 64 threads (4).
 * Thread k of 0..THREADS-1 does (k + 1) N rounds, so that no two do the same. Then
 *   body      THREADS, called by the C library
 *   work      N THREADS (THREADS + 1) / 2
 *   odd, even the halves of that by the number of the round
 *   after     N, by the first thread when the others are gone
 */
#include "progs.h"

#include <pthread.h>

enum { MAX_THREADS = 64 };

struct job {
	unsigned long n;
	unsigned long sum;
};

COUNTED void *body(void *arg);
COUNTED void work(struct job *job, unsigned long i);
COUNTED void odd(struct job *job);
COUNTED void even(struct job *job);
COUNTED void after(struct job *job);

void odd(struct job *job)
{
	job->sum += 3;
	keep(1);
}

void even(struct job *job)
{
	job->sum ^= 5;
	keep(2);
}

void work(struct job *job, unsigned long i)
{
	if (i % 2)
		odd(job);
	else
		even(job);
	keep(3);
}

void *body(void *arg)
{
	struct job *job = arg;

	for (unsigned long i = 0; i < job->n; i++)
		work(job, i);
	keep(4);
	return NULL;
}

void after(struct job *job)
{
	job->sum += 7;
	keep(5);
}

int main(int argc, char **argv)
{
	unsigned long n = number_arg(argc, argv, 1, 1000), n_odd = 0, n_even = 0, sum = 0;
	unsigned long n_threads = number_arg(argc, argv, 2, 4);
	struct job jobs[MAX_THREADS];
	pthread_t threads[MAX_THREADS];

	if (n_threads < 1 || n_threads > MAX_THREADS) {
		fputs("usage: threads [N [THREADS]], at most 64 threads\n", stderr);
		return 2;
	}
	for (unsigned long k = 0; k < n_threads; k++) {
		jobs[k] = (struct job){.n = n * (k + 1)};
		n_odd += n_of_rest(jobs[k].n, 2, 1);
		n_even += n_of_rest(jobs[k].n, 2, 0);
		if (pthread_create(&threads[k], NULL, body, &jobs[k]) != 0) {
			fputs("threads: cannot make a thread\n", stderr);
			return 1;
		}
	}
	for (unsigned long k = 0; k < n_threads; k++)
		pthread_join(threads[k], NULL);
	for (unsigned long i = 0; i < n; i++)
		after(&jobs[0]);
	for (unsigned long k = 0; k < n_threads; k++)
		sum += jobs[k].sum;

	expect("body", n_threads);
	expect("work", n * n_threads * (n_threads + 1) / 2);
	expect("odd", n_odd);
	expect("even", n_even);
	expect("after", n);
	printf("# sum %lu\n", sum);
	return 0;
}
