/* SPDX-License-Identifier: BSD-2-Clause */
/* The plugin's writer and the backend's reader over the same memory, without QEMU. */
#include "capture/soft/reader.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../../../tools/softbrbe/plugin.h"
#include "support/check.h"

#define RING 8192u

struct ep_sb_plugin ep_sb = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct seen {
	uint64_t n_samples, n_maps, n_lost, n_corrupt, n_not_followed, n_edge_counts, n_ranges;
	uint64_t next[64]; /* by tid: the ip of its next sample, which must come in order */
	uint64_t last_order;
	bool ordered;
};

static struct ep_error *see(void *payload, const struct ep_event *e)
{
	struct seen *s = payload;

	switch ((int)e->type) {
	case EP_EVENT_SAMPLE:
		s->n_samples++;
		assert_true(e->tid >= 0 && e->tid < 64);
		assert_true(e->u.sample.ip >= s->next[e->tid]);
		s->next[e->tid] = e->u.sample.ip + 1;
		break;
	case EP_EVENT_MAP:
		s->n_maps++;
		break;
	case EP_EVENT_EDGE:
		s->n_edge_counts += e->u.counted.count;
		break;
	case EP_EVENT_RANGE:
		s->n_ranges++;
		break;
	case EP_EVENT_LOST:
		if (e->u.lost.reason == EP_LOST_RECORDER)
			s->n_lost += e->u.lost.n;
		else if (e->u.lost.reason == EP_LOST_NOT_FOLLOWED)
			s->n_not_followed += e->u.lost.n;
		else
			s->n_corrupt += e->u.lost.n;
		break;
	}
	return NULL;
}

static struct ep_soft_reader *reader;
static int memory_fd;

static void attach(void)
{
	check_ok(ep_soft_shared_memory(&memory_fd));
	check_ok(ep_soft_reader_create(memory_fd, RING, &reader));
	const struct ep_sb_header *h = ep_soft_reader_header(reader);
	ep_sb.shared = mmap(NULL, h->total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
	assert_true(ep_sb.shared != MAP_FAILED);
	ep_sb.slots = (unsigned char *)ep_sb.shared + EP_SB_HEADER_BYTES;
	ep_sb.chunks = ep_sb.slots + (size_t)h->n_slots * h->slot_bytes;
	ep_sb.pid = (uint32_t)getpid();
	ep_sb.exact = false;
	ep_sb.regions_stale = false;
}

static void detach(void)
{
	munmap(ep_sb.shared, ep_sb.shared->total_bytes);
	ep_soft_reader_destroy(reader);
	close(memory_fd);
}

static void open_vcpu(struct ep_sb_vcpu *v, uint32_t tid)
{
	memset(v, 0, sizeof(*v));
	v->tid = tid;
	v->slot = ep_sb_slot_claim(tid, &v->ring);
	assert_non_null(v->slot);
}

static void close_vcpu(struct ep_sb_vcpu *v)
{
	__atomic_store_n(&v->slot->state, EP_SB_SLOT_CLOSED, __ATOMIC_RELEASE);
}

static void write_sample(struct ep_sb_vcpu *v, uint64_t ip)
{
	struct ep_sb_sample body = {.ip = ip, .period = 1};

	if (ep_sb_ring_write(v, EP_SB_SAMPLE, &body, sizeof(body), NULL, 0))
		v->slot->n_samples++;
	else
		v->slot->n_lost++;
}

/* A reader that does not come loses samples, and says how many; other records have their room. */
static void test_full_ring(void **state)
{
	static struct ep_sb_vcpu v;
	struct seen seen = {0};
	struct ep_event_sink sink = {see, &seen};
	struct ep_sb_map map = {0x1000, 0x1000, 0, 0, 0};
	struct ep_capture_totals totals;

	(void)state;
	attach();
	open_vcpu(&v, 1);
	for (uint64_t i = 0; i < 1000; i++)
		write_sample(&v, i);
	for (int i = 0; i < 5; i++)
		assert_true(ep_sb_ring_write(&v, EP_SB_MAP, &map, sizeof(map), NULL, 0));
	assert_true(v.slot->n_lost > 800 && v.slot->n_samples > 100);
	check_ok(ep_soft_reader_drain(reader, &sink, false));
	check_u64_eq(seen.n_samples + seen.n_lost, 1000);
	check_u64_eq(seen.n_maps, 5);
	for (uint64_t i = 0; i < 10; i++)
		write_sample(&v, 1000 + i);
	close_vcpu(&v);
	check_ok(ep_soft_reader_drain(reader, &sink, true));
	check_u64_eq(seen.n_samples + seen.n_lost, 1010);
	ep_soft_reader_totals(reader, &totals);
	check_u64_eq(totals.n_samples, seen.n_samples);
	check_u64_eq(totals.n_lost_samples, seen.n_lost);
	assert_int_equal(totals.n_threads, 1);
	detach();
}

enum { N_THREADS = 8, N_EACH = 20000 };

static void *write_many(void *payload)
{
	static __thread struct ep_sb_vcpu v;
	uint32_t tid = (uint32_t)(uintptr_t)payload;

	open_vcpu(&v, tid);
	for (uint64_t i = 0; i < N_EACH; i++)
		write_sample(&v, i);
	close_vcpu(&v);
	return NULL;
}

static struct ep_error *see_order(void *payload, const struct ep_event *e)
{
	struct seen *s = payload;

	/* CLOCK_MONOTONIC is read right behind the number: allow for being preempted there. */
	if (e->type == EP_EVENT_SAMPLE) {
		s->ordered &= e->t_ns + 1000000000 > s->last_order;
		s->last_order = e->t_ns;
	}
	return see(payload, e);
}

/* Threads that come and go while the reader drains: nothing is lost without being counted. */
static void test_threads(void **state)
{
	struct seen seen = {.ordered = true};
	struct ep_event_sink sink = {see_order, &seen};
	pthread_t threads[N_THREADS];
	struct ep_capture_totals totals;

	(void)state;
	attach();
	for (uintptr_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, (void *)(i + 1)), 0);
	do {
		check_ok(ep_soft_reader_drain(reader, &sink, false));
		ep_soft_reader_totals(reader, &totals);
	} while (totals.n_samples + totals.n_lost_samples < (uint64_t)N_THREADS * N_EACH);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	check_ok(ep_soft_reader_drain(reader, &sink, true));
	check_u64_eq(seen.n_samples + seen.n_lost, (uint64_t)N_THREADS * N_EACH);
	assert_true(seen.n_samples > 0 && seen.ordered);
	ep_soft_reader_totals(reader, &totals);
	assert_int_equal(totals.n_threads, N_THREADS);
	detach();
}

/* More threads than slots: those left out are counted, and slots come free again. */
static void test_many_threads(void **state)
{
	enum { N = 600 };
	struct ep_sb_vcpu *v = calloc(N, sizeof(*v));
	struct seen seen = {0};
	struct ep_event_sink sink = {see, &seen};
	struct ep_capture_totals totals;
	unsigned n_got = 0;

	(void)state;
	attach();
	for (uint32_t i = 0; i < N; i++) {
		v[i].tid = i % 64;
		v[i].slot = ep_sb_slot_claim(i, &v[i].ring);
		n_got += v[i].slot != NULL;
	}
	assert_true(n_got > 0 && n_got < N);
	for (unsigned i = 0; i < n_got; i++)
		close_vcpu(&v[i]);
	check_ok(ep_soft_reader_drain(reader, &sink, false));
	open_vcpu(&v[0], 1);
	close_vcpu(&v[0]);
	check_ok(ep_soft_reader_drain(reader, &sink, true));
	ep_soft_reader_totals(reader, &totals);
	check_u64_eq(totals.n_unrecorded, N - n_got);
	check_u64_eq(seen.n_not_followed, N - n_got);
	check_u64_eq(totals.n_threads, n_got + 1);
	detach();
	free(v);
}

/* A writer killed between taking a number and finishing: the others go on, the torn end is given
 * up. */
static void test_killed_writer(void **state)
{
	static struct ep_sb_vcpu a, b;
	struct seen seen = {0};
	struct ep_event_sink sink = {see, &seen};

	(void)state;
	attach();
	open_vcpu(&a, 1);
	open_vcpu(&b, 2);
	write_sample(&a, 1);
	a.slot->pending_seq = ep_sb.shared->seq;
	ep_sb.shared->seq++;
	write_sample(&b, 1);
	check_ok(ep_soft_reader_drain(reader, &sink, false));
	check_u64_eq(seen.n_samples, 1); /* b's might not be the next */
	for (int i = 0; i < 100 && seen.n_samples < 2; i++) {
		usleep(10000);
		check_ok(ep_soft_reader_drain(reader, &sink, false));
	}
	check_u64_eq(seen.n_samples, 2);
	check_ok(ep_soft_reader_drain(reader, &sink, true));
	check_u64_eq(seen.n_samples, 2);
	detach();
}

static void count_some(struct ep_sb_vcpu *v, uint64_t n_keys, uint64_t n_times)
{
	for (uint64_t k = 0; k < n_times; k++)
		for (uint64_t i = 0; i < n_keys; i++)
			ep_sb_count(v, i * 16, i * 16 + 8, i * 32, EP_BRANCH_COND);
}

/* Counts that outgrow a table several times, and a process that dies without giving them up. */
static void test_counts(void **state)
{
	static struct ep_sb_vcpu v;
	struct seen seen = {0};
	struct ep_event_sink sink = {see, &seen};

	(void)state;
	attach();
	ep_sb.exact = true;
	open_vcpu(&v, 1);
	count_some(&v, 100000, 3);
	check_ok(ep_soft_reader_drain(reader, &sink, false));
	assert_true(seen.n_edge_counts > 0 && seen.n_edge_counts < 300000);
	count_some(&v, 10, 1);
	check_ok(ep_soft_reader_drain(reader, &sink, true));
	check_u64_eq(seen.n_edge_counts, 300010);
	assert_true(seen.n_ranges >= 100000);
	check_u64_eq(v.slot->n_lost_counts, 0);
	for (uint32_t i = 0; i < ep_sb.shared->n_chunks; i++)
		assert_int_equal(ep_sb.shared->chunk_owner[i], 0);
	ep_sb_table_forget(&v);
	detach();
}

static struct ep_error *ignore(void *payload, const struct ep_event *e)
{
	(void)payload, (void)e;
	return NULL;
}

static void scribble(unsigned char *slot, uint64_t *x)
{
	for (int i = 0; i < 20; i++) {
		*x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17;
		size_t at = *x >> 8 & 63 ? *x % (EP_SB_PAGE + RING) : *x % 96;
		if (at >= 4) /* not its state: a slot that seems free is lost to all, no more */
			slot[at] = (unsigned char)(*x >> 40);
	}
}

/* The program writes over everything: nothing crashes, and the slot can be used again. */
static void test_hostile(void **state)
{
	static struct ep_sb_vcpu v;
	struct ep_event_sink sink = {ignore, NULL};
	uint64_t x = 88172645463325252;

	(void)state;
	attach();
	for (int round = 0; round < 300; round++) {
		ep_sb.exact = round & 1;
		open_vcpu(&v, 1);
		for (uint64_t i = 0; i < 50; i++)
			write_sample(&v, i);
		count_some(&v, ep_sb.exact ? 20 : 0, 1);
		scribble((unsigned char *)v.slot, &x);
		v.slot->pid = ep_sb.pid;
		close_vcpu(&v);
		check_ok(ep_soft_reader_drain(reader, &sink, true));
		ep_sb_table_forget(&v);
	}
	detach();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_full_ring),    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_many_threads), cmocka_unit_test(test_killed_writer),
	    cmocka_unit_test(test_counts),       cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
