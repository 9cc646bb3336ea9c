/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots and their rings: the writer's side of softbrbe_wire.h. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "plugin.h"

/* How long exact mode waits for a reader that is alive but makes no room. */
#define WAIT_STEP_NS 1000000L
#define WAIT_STEPS 30000

static struct ep_sb_slot *slot_at(uint32_t i)
{
	return (struct ep_sb_slot *)(ep_sb.slots + (size_t)i * ep_sb.shared->slot_bytes);
}

struct ep_sb_slot *ep_sb_slot_claim(uint32_t tid, unsigned char **ring_ret)
{
	for (uint32_t i = 0; i < ep_sb.shared->n_slots; i++) {
		struct ep_sb_slot *slot = slot_at(i);
		uint32_t want = EP_SB_SLOT_FREE;

		if (!__atomic_compare_exchange_n(&slot->state, &want, EP_SB_SLOT_USED, false,
		                                 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		/* The reader left all else zero but pending_seq, which it does not look at before
		 * pid. */
		__atomic_store_n(&slot->pending_seq, EP_SB_NO_SEQ, __ATOMIC_RELEASE);
		slot->tid = tid;
		__atomic_store_n(&slot->pid, ep_sb.pid, __ATOMIC_RELEASE);
		*ring_ret = (unsigned char *)slot + EP_SB_PAGE;
		return slot;
	}
	__atomic_fetch_add(&ep_sb.shared->n_no_slot, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void ring_put(struct ep_sb_vcpu *vcpu, uint64_t *pos, const void *data, size_t n)
{
	size_t size = ep_sb.shared->ring_bytes, at = *pos & (size - 1);
	size_t first = n < size - at ? n : size - at;

	if (!n)
		return;
	memcpy(vcpu->ring + at, data, first);
	memcpy(vcpu->ring, (const char *)data + first, n - first);
	*pos += n;
}

static bool has_room(struct ep_sb_vcpu *vcpu, size_t n)
{
	uint64_t head = vcpu->slot->head;
	uint64_t tail = __atomic_load_n(&vcpu->slot->tail, __ATOMIC_ACQUIRE);

	/* A tail out of range (the program wrote over it) counts as a full ring. */
	return head - tail <= ep_sb.shared->ring_bytes &&
	       n <= ep_sb.shared->ring_bytes - (head - tail);
}

static bool wait_for_room(struct ep_sb_vcpu *vcpu, size_t n)
{
	static const struct timespec step = {0, WAIT_STEP_NS};

	for (int i = 0; i < WAIT_STEPS; i++) {
		if (kill((pid_t)ep_sb.shared->reader_pid, 0) < 0 && errno == ESRCH)
			return false;
		nanosleep(&step, NULL);
		if (has_room(vcpu, n))
			return true;
	}
	return false;
}

static bool make_room(struct ep_sb_vcpu *vcpu, enum ep_sb_record_type type, size_t n)
{
	if (type == EP_SB_SAMPLE)
		return has_room(vcpu, n + ep_sb.shared->ring_bytes / 8);
	return has_room(vcpu, n) || (ep_sb.exact && wait_for_room(vcpu, n));
}

static void lose_control(struct ep_sb_slot *slot)
{
	if (slot)
		slot->n_lost_control++;
	__atomic_store_n(&ep_sb.regions_stale, true, __ATOMIC_RELAXED);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool ep_sb_ring_write(struct ep_sb_vcpu *vcpu, enum ep_sb_record_type type, const void *body,
                      size_t n_body, const void *tail, size_t n_tail)
{
	static const char zeros[8];
	struct ep_sb_slot *slot = vcpu->slot;
	size_t n = sizeof(struct ep_sb_record) + n_body + n_tail, n_pad = -n & 7;

	if (!slot || !make_room(vcpu, type, n + n_pad)) {
		if (type != EP_SB_SAMPLE)
			lose_control(slot);
		return false;
	}
	uint64_t pos = slot->head, *seq = &ep_sb.shared->seq;
	struct ep_sb_record record = {
	    .size = (uint32_t)(n + n_pad), .type = type, .pid = ep_sb.pid, .tid = vcpu->tid};

	__atomic_store_n(&slot->pending_seq, __atomic_load_n(seq, __ATOMIC_SEQ_CST),
	                 __ATOMIC_SEQ_CST);
	record.seq = __atomic_fetch_add(seq, 1, __ATOMIC_SEQ_CST);
	record.t_ns = now_ns();
	ring_put(vcpu, &pos, &record, sizeof(record));
	ring_put(vcpu, &pos, body, n_body);
	ring_put(vcpu, &pos, tail, n_tail);
	ring_put(vcpu, &pos, zeros, n_pad);
	__atomic_store_n(&slot->head, pos, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->pending_seq, EP_SB_NO_SEQ, __ATOMIC_RELEASE);
	return true;
}
