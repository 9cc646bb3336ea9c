/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact mode: a hash table of counts for each thread, in shared memory, so that what was counted
 * survives any death of the program. A full table is given to the reader and a larger one begun;
 * counts only add up, so nothing is rehashed.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "plugin.h"

/* A chunk counts as full at this many entries. */
#define CHUNK_FULL (EP_SB_CHUNK_ENTRIES / 4 * 3)

struct ep_sb_table_mem {
	uint64_t mask; /* number of chunks - 1 */
	struct ep_sb_entry *chunks[EP_SB_TABLE_CHUNKS];
	uint32_t n_used[EP_SB_TABLE_CHUNKS];
	uint16_t numbers[EP_SB_TABLE_CHUNKS];
};

static struct ep_sb_entry *chunk_at(uint32_t i)
{
	return (struct ep_sb_entry *)(ep_sb.chunks + (size_t)i * EP_SB_CHUNK_BYTES);
}

static bool chunk_claim(uint16_t *ret)
{
	static uint32_t hint;
	uint32_t n = ep_sb.shared->n_chunks;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (hint + k) % n, want = 0;

		if (__atomic_compare_exchange_n(&ep_sb.shared->chunk_owner[i], &want, ep_sb.pid,
		                                false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			hint = i + 1;
			*ret = (uint16_t)i;
			return true;
		}
	}
	return false;
}

static void chunks_release(const uint16_t *numbers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		__atomic_store_n(&ep_sb.shared->chunk_owner[numbers[i]], 0, __ATOMIC_RELEASE);
}

/* A table of n chunks, or of fewer when there are not so many; NULL: of none. */
static struct ep_sb_table_mem *table_create(uint32_t n)
{
	struct ep_sb_table_mem *t = calloc(1, sizeof(*t));
	uint32_t n_got = 0;

	if (!t)
		return NULL;
	while (n_got < n && chunk_claim(&t->numbers[n_got]))
		n_got++;
	uint32_t n_use = 1;
	while (n_use * 2 <= n_got)
		n_use *= 2;
	if (!n_got) {
		free(t);
		return NULL;
	}
	chunks_release(t->numbers + n_use, n_got - n_use);
	t->mask = n_use - 1;
	for (uint32_t i = 0; i < n_use; i++)
		t->chunks[i] = chunk_at(t->numbers[i]);
	return t;
}

static void table_replace(struct ep_sb_vcpu *v, struct ep_sb_vcpu *writer, uint32_t n_chunks)
{
	struct ep_sb_table_mem *old = v->table;
	struct ep_sb_table_mem *t = n_chunks ? table_create(n_chunks) : NULL;

	__atomic_store_n(&v->table, t, __ATOMIC_RELEASE);
	if (!old)
		return;
	struct ep_sb_table body = {.tid = v->tid, .n_chunks = (uint32_t)old->mask + 1};
	for (uint32_t i = 0; i < body.n_chunks; i++)
		body.chunks[i] = old->numbers[i];
	/* If it finds no room, the reader comes by these chunks when the process has ended. */
	(void)ep_sb_ring_write(writer, EP_SB_TABLE, &body, sizeof(body), NULL, 0);
	/* The table of another thread is not freed: it may be adding to it at this moment. */
	if (v == writer)
		free(old);
}

void ep_sb_table_seal(struct ep_sb_vcpu *v, struct ep_sb_vcpu *writer)
{
	table_replace(v, writer, 0);
}

void ep_sb_table_forget(struct ep_sb_vcpu *v)
{
	free(v->table);
	v->table = NULL;
}

static struct ep_sb_table_mem *table_grow(struct ep_sb_vcpu *v)
{
	static const struct timespec step = {0, 1000000};
	static bool gave_up;

	for (int i = 0; i < 10000; i++) {
		pthread_mutex_lock(&ep_sb.lock);
		uint32_t n = v->table ? (uint32_t)v->table->mask * 2 + 2 : 1;
		table_replace(v, v, n < EP_SB_TABLE_CHUNKS ? n : EP_SB_TABLE_CHUNKS);
		pthread_mutex_unlock(&ep_sb.lock);
		if (v->table || gave_up || kill((pid_t)ep_sb.shared->reader_pid, 0) < 0)
			return v->table;
		nanosleep(&step, NULL);
	}
	gave_up = true;
	return NULL;
}

static uint64_t hash(uint64_t start, uint64_t from, uint64_t to)
{
	uint64_t h = (start * 3 + from) * UINT64_C(0x9e3779b97f4a7c15) + to;

	h ^= h >> 32;
	return h * UINT64_C(0xd6e8feb86659fd93);
}

void ep_sb_count(struct ep_sb_vcpu *v, uint64_t start, uint64_t from, uint64_t to, uint64_t info)
{
	struct ep_sb_table_mem *t = __atomic_load_n(&v->table, __ATOMIC_RELAXED);
	uint64_t h = hash(start, from, to);

	if (!v->slot)
		return;
	while (t || (t = table_grow(v))) {
		uint64_t c = h & t->mask;
		for (uint64_t i = h >> 32;; i++) {
			struct ep_sb_entry *e = &t->chunks[c][i & (EP_SB_CHUNK_ENTRIES - 1)];
			if (e->from == from && e->to == to && e->start == start && e->count) {
				__atomic_store_n(&e->count, e->count + 1, __ATOMIC_RELAXED);
				return;
			}
			if (e->count)
				continue;
			if (t->n_used[c] >= CHUNK_FULL)
				break;
			t->n_used[c]++;
			*e = (struct ep_sb_entry){start, from, to, 0, info};
			__atomic_store_n(&e->count, 1, __ATOMIC_RELEASE);
			return;
		}
		t = table_grow(v);
		if (!t)
			break;
	}
	v->slot->n_lost_counts++;
}
