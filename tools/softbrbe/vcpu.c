/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens at each executed block: finding taken branches, sampling, counting. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin.h"

/* Initial-exec: one load through the thread register instead of a call for each block. */
static __thread struct ep_sb_vcpu *self __attribute__((tls_model("initial-exec")));

static const struct ep_sb_block block_start = {.start = EP_SB_NO_ADDR,
                                               .next = EP_SB_NO_ADDR,
                                               .target = EP_SB_NO_ADDR,
                                               .last = EP_SB_NO_ADDR,
                                               .end = EP_SB_NO_ADDR,
                                               .kind = EP_SB_START};

/* splitmix64 */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Uniform from P/2 to 3P/2, both included: mean P, and no lockstep with the program's loops. */
static void next_period(struct ep_sb_vcpu *v)
{
	uint64_t half = ep_sb.period / 2, n = 2 * half + 1;
	unsigned __int128 scaled = (unsigned __int128)random_next(&v->random) * n;

	v->period = ep_sb.period - half + (uint64_t)(scaled >> 64);
	v->left += (int64_t)v->period;
}

static void vcpu_attach(struct ep_sb_vcpu *v)
{
	uint32_t number = __atomic_fetch_add(&ep_sb.shared->n_attached, 1, __ATOMIC_RELAXED);

	v->tid = (uint32_t)syscall(SYS_gettid);
	v->slot = ep_sb_slot_claim(v->tid, &v->ring);
	v->random = ep_sb.seed + number * UINT64_C(0xd1342543de82ef95);
	v->left = 0;
	next_period(v);
}

struct ep_sb_vcpu *ep_sb_vcpu_self(unsigned index)
{
	if (self)
		return self;
	struct ep_sb_vcpu *v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	v->prev = &block_start;
	v->index = index;
	pthread_mutex_lock(&ep_sb.lock);
	bool first = !ep_sb.started;
	ep_sb.started = true;
	v->next = ep_sb.vcpus;
	ep_sb.vcpus = v;
	pthread_mutex_unlock(&ep_sb.lock);
	vcpu_attach(v);
	self = v;
	struct ep_sb_fork fork = {ep_sb.pid, ep_sb.pid};
	if (first)
		ep_sb_maps_start(v);
	else
		ep_sb_ring_write(v, EP_SB_FORK, &fork, sizeof(fork), NULL, 0);
	return v;
}

void ep_sb_vcpu_publish(struct ep_sb_vcpu *v)
{
	if (!v->slot)
		return;
	__atomic_store_n(&v->slot->n_branches, v->n_branches, __ATOMIC_RELAXED);
	__atomic_store_n(&v->slot->n_insns, v->n_insns, __ATOMIC_RELAXED);
}

/* After a record got lost for want of room, the reader's idea of our maps may be wrong. */
static void refresh_maps(struct ep_sb_vcpu *v)
{
	pthread_mutex_lock(&ep_sb.lock);
	ep_sb_maps_send(v);
	pthread_mutex_unlock(&ep_sb.lock);
}

static __attribute__((noinline)) void take_sample(struct ep_sb_vcpu *v, uint64_t ip)
{
	struct {
		struct ep_sb_sample head;
		uint64_t from_to[2 * EP_SB_MAX_DEPTH];
	} body;
	uint16_t info[EP_SB_MAX_DEPTH];
	uint64_t n_held = v->n_branches - v->n_stack_base;
	size_t n = n_held < ep_sb.depth ? n_held : ep_sb.depth;

	for (size_t i = 0; i < n; i++) {
		const struct ep_sb_stack_entry *e =
		    &v->stack[(v->n_branches - 1 - i) & (ep_sb.depth - 1)];
		body.from_to[i] = e->from;
		body.from_to[n + i] = e->to;
		info[i] = (uint16_t)e->info;
	}
	/* What lies between the last record and the sample is in no record: not a range's end. */
	body.head = (struct ep_sb_sample){ip, v->period - (uint64_t)v->left, (uint32_t)n, 0};
	if (__atomic_load_n(&ep_sb.regions_stale, __ATOMIC_RELAXED))
		refresh_maps(v);
	ep_sb_vcpu_publish(v);
	if (ep_sb_ring_write(v, EP_SB_SAMPLE, &body, sizeof(body.head) + n * 16, info, n * 2))
		v->slot->n_samples++;
	else if (v->slot)
		v->slot->n_lost++;
	next_period(v);
}

static inline void record_sampled(struct ep_sb_vcpu *v, const struct ep_sb_block *from,
                                  const struct ep_sb_block *to)
{
	struct ep_sb_stack_entry *e = &v->stack[v->n_branches++ & (ep_sb.depth - 1)];

	e->from = from->last;
	e->to = to->start;
	e->info = from->info | v->pending;
	v->pending = 0;
}

/* How often, in branches, the exact mode brings the totals up to date: a power of two. */
#define PUBLISH_BRANCHES 65536u

static inline void record_exact(struct ep_sb_vcpu *v, const struct ep_sb_block *from,
                                const struct ep_sb_block *to)
{
	if (!(++v->n_branches & (PUBLISH_BRANCHES - 1)))
		ep_sb_vcpu_publish(v);
	ep_sb_count(v, v->line_start, from->last, to->start, from->info);
	v->line_start = to->start;
}

static bool within(const struct ep_sb_block *b, uint64_t addr)
{
	return addr - b->start <= b->last - b->start;
}

/* The PC changed without a branch: a signal was delivered or returned from, rseq, ptrace. */
static bool pc_moved(struct ep_sb_vcpu *v, const struct ep_sb_block *from,
                     const struct ep_sb_block *to)
{
	v->pending |= EP_SB_INFO_DISCONTINUITY | EP_SB_INFO_MOVED;
	v->line_start = to->start;
	if (v->slot) {
		v->slot->n_moved++;
		if (from->kind != EP_SB_TRAP && from->kind != EP_SB_NONE)
			v->slot->n_interrupted++;
	}
	return false;
}

/*
 * `to` follows `from` in another way than straight on or to its fixed target. True: by a taken
 * branch. QEMU also leaves a block in its middle (faults; atomics it cannot emulate in parallel;
 * code that writes to its own page) and goes on at the handler or at the same instruction, which
 * is then alone in a block of its own.
 */
static __attribute__((noinline)) bool
is_branch(struct ep_sb_vcpu *v, const struct ep_sb_block *from, const struct ep_sb_block *to)
{
	switch ((enum ep_sb_kind)from->kind) {
	case EP_SB_START:
		v->line_start = to->start;
		return false;
	case EP_SB_INDIRECT:
		/* A jump into one's own block is followed by all the rest of it. */
		if (within(from, to->start) && to->last != from->last)
			return false;
		if (__atomic_load_n(&to->is_handler, __ATOMIC_RELAXED))
			return pc_moved(v, from, to);
		return true;
	case EP_SB_REP:
		if (to->start != from->last)
			break;
		v->n_insns -= to->n_insns;
		return false;
	case EP_SB_TRAP:
		if (to->start != from->end && to->start != from->last)
			break;
		v->pending |= EP_SB_INFO_DISCONTINUITY;
		return false;
	case EP_SB_NONE:
	case EP_SB_COND:
	case EP_SB_DIRECT:
		break;
	}
	return within(from, to->start) ? false : pc_moved(v, from, to);
}

/* True if `to` was reached by a taken branch at the end of the block before it. */
static inline bool enter(struct ep_sb_vcpu *v, const struct ep_sb_block *to)
{
	const struct ep_sb_block *from = v->prev;

	v->prev = to;
	v->n_insns += to->n_insns;
	if (from->next == to->start)
		return false;
	return EP_SB_LIKELY(from->target == to->start) || is_branch(v, from, to);
}

static inline struct ep_sb_vcpu *current(unsigned index)
{
	return EP_SB_LIKELY(self != NULL) ? self : ep_sb_vcpu_self(index);
}

void ep_sb_run_taken(unsigned index, void *payload)
{
	struct ep_sb_vcpu *v = current(index);

	if (EP_SB_UNLIKELY(!v))
		return;
	const struct ep_sb_block *from = v->prev, *to = payload;

	if (!enter(v, to))
		return;
	record_sampled(v, from, to);
	if (EP_SB_UNLIKELY(--v->left <= 0))
		take_sample(v, to->start);
}

void ep_sb_run_insns(unsigned index, void *payload)
{
	struct ep_sb_vcpu *v = current(index);

	if (EP_SB_UNLIKELY(!v))
		return;
	const struct ep_sb_block *from = v->prev, *to = payload;
	uint64_t n_before = v->n_insns;

	if (enter(v, to))
		record_sampled(v, from, to);
	v->left -= (int64_t)(v->n_insns - n_before);
	if (EP_SB_UNLIKELY(v->left <= 0))
		take_sample(v, to->start);
}

void ep_sb_run_exact(unsigned index, void *payload)
{
	struct ep_sb_vcpu *v = current(index);

	if (EP_SB_UNLIKELY(!v))
		return;
	const struct ep_sb_block *from = v->prev, *to = payload;

	if (enter(v, to))
		record_exact(v, from, to);
}

void ep_sb_vcpu_forget(struct ep_sb_vcpu *v)
{
	v->n_stack_base = v->n_branches;
}

static void vcpu_end(struct ep_sb_vcpu *v, struct ep_sb_vcpu *writer)
{
	ep_sb_vcpu_publish(v);
	if (ep_sb.exact)
		ep_sb_table_seal(v, writer);
}

void ep_sb_vcpu_exit(void)
{
	struct ep_sb_vcpu *v = self;

	if (!v)
		return;
	self = NULL;
	pthread_mutex_lock(&ep_sb.lock);
	vcpu_end(v, v);
	for (struct ep_sb_vcpu **p = &ep_sb.vcpus; *p; p = &(*p)->next)
		if (*p == v) {
			*p = v->next;
			break;
		}
	pthread_mutex_unlock(&ep_sb.lock);
	ep_sb_ring_write(v, EP_SB_THREAD_EXIT, NULL, 0, NULL, 0);
	if (v->slot)
		__atomic_store_n(&v->slot->state, EP_SB_SLOT_CLOSED, __ATOMIC_RELEASE);
	ep_sb_table_forget(v);
	ep_sb_regions_clear(&v->sys_removed);
	free(v);
}

void ep_sb_vcpu_exit_all(void)
{
	struct ep_sb_vcpu *me = self;

	if (!me)
		return;
	pthread_mutex_lock(&ep_sb.lock);
	for (struct ep_sb_vcpu *v = ep_sb.vcpus; v; v = v->next)
		vcpu_end(v, me);
	pthread_mutex_unlock(&ep_sb.lock);
	ep_sb_ring_write(me, EP_SB_EXIT, NULL, 0, NULL, 0);
	if (me->slot)
		__atomic_store_n(&me->slot->state, EP_SB_SLOT_CLOSED, __ATOMIC_RELEASE);
	self = NULL;
}

void ep_sb_vcpu_before_exec(struct ep_sb_vcpu *v)
{
	for (struct ep_sb_vcpu *o = ep_sb.vcpus; o; o = o->next)
		vcpu_end(o, v);
	v->slot->continued = 1;
	__atomic_store_n(&v->slot->state, EP_SB_SLOT_CLOSED, __ATOMIC_RELEASE);
}

void ep_sb_vcpu_after_failed_exec(struct ep_sb_vcpu *v)
{
	v->n_branches = v->n_insns = v->n_stack_base = 0;
	v->slot = ep_sb_slot_claim(v->tid, &v->ring);
}

void ep_sb_vcpu_forked(uint32_t ppid, uint32_t ptid)
{
	struct ep_sb_vcpu *v = self;
	struct ep_sb_fork fork = {ppid, ptid};

	/* The others' memory is left alone: their threads do not exist here. */
	ep_sb.vcpus = v;
	if (!v)
		return;
	v->next = NULL;
	ep_sb_table_forget(v);
	v->n_branches = v->n_insns = v->n_stack_base = 0;
	vcpu_attach(v);
	if (v->slot)
		ep_sb_ring_write(v, EP_SB_FORK, &fork, sizeof(fork), NULL, 0);
	else
		__atomic_fetch_add(&ep_sb.shared->n_forks_lost, 1, __ATOMIC_RELAXED);
}
