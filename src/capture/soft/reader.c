/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draining the rings. Each call copies what the slots hold, then merges the copies by sequence
 * number up to a bound below which nothing can be missing; the rest waits for the next call.
 */
#include "capture/soft/reader.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/count.h"
#include "object/object.h"

#define N_SLOTS ((size_t)512)
#define N_CHUNKS EP_SB_MAX_CHUNKS
/* A writer that does not finish a record in this time is stopped or dead. */
#define STUCK_NS UINT64_C(200000000)
/* How often slots of processes that were killed are looked for. */
#define REAP_NS UINT64_C(250000000)

/* The reader's own side of a slot. */
struct queue {
	unsigned char *v; /* bytes copied from the ring, unsent ones from `pos` */
	size_t pos, n, cap;
	struct ep_soft_record next; /* the record at `pos`, if has_next; in the heap then */
	bool has_next;
	bool corrupt; /* until the slot is free again */
	uint64_t n_lost_seen;
	uint64_t pending_seen, t_pending_ns;
	bool exec_try; /* execve(2) was called and has not returned */
	int32_t pid;   /* of the records, for LOST */
};

/* What the file at a path is, as long as it is the same file. */
struct identity {
	char *path;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
	struct ep_build_id id;
};

struct ep_soft_reader {
	struct ep_sb_header *shared;
	unsigned char *chunks;
	size_t n_bytes, slot_bytes, ring_bytes; /* not read back from the header: it is hostile */
	struct queue queues[N_SLOTS];
	uint32_t heap[N_SLOTS]; /* queues that have a next record, least sequence number first */
	uint32_t n_heap;
	uint64_t t_reap_ns;
	struct ep_capture_totals done; /* of slots that are free again */
	uint64_t n_counted;            /* exact mode: branches of the counts passed on */
	EP_VEC(struct identity) identities;
	struct ep_soft_scratch scratch;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct ep_sb_slot *slot_at(const struct ep_soft_reader *r, uint32_t i)
{
	return (struct ep_sb_slot *)((char *)r->shared + EP_SB_HEADER_BYTES + i * r->slot_bytes);
}

struct ep_error *ep_soft_shared_memory(int *fd_ret)
{
	int fd = memfd_create("edgeprof", MFD_CLOEXEC);

	if (fd < 0)
		return ep_error_os(errno, "shared memory");
	*fd_ret = fd;
	return NULL;
}

struct ep_error *ep_soft_reader_create(int fd, uint32_t ring_bytes, struct ep_soft_reader **ret)
{
	size_t n_slot = EP_SB_PAGE + (size_t)ring_bytes;
	size_t n = EP_SB_HEADER_BYTES + N_SLOTS * n_slot + (size_t)N_CHUNKS * EP_SB_CHUNK_BYTES;
	struct ep_soft_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return ep_error_nomem();
	if (ftruncate(fd, (off_t)n) < 0) {
		free(r);
		return ep_error_os(errno, "shared memory: %zu bytes", n);
	}
	r->shared = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->shared == MAP_FAILED) {
		free(r);
		return ep_error_os(errno, "shared memory: mapping of %zu bytes", n);
	}
	r->n_bytes = n;
	r->slot_bytes = n_slot;
	r->ring_bytes = ring_bytes;
	*r->shared = (struct ep_sb_header){.magic = EP_SB_MAGIC,
	                                   .version = EP_SB_VERSION,
	                                   .n_slots = N_SLOTS,
	                                   .slot_bytes = (uint32_t)n_slot,
	                                   .ring_bytes = ring_bytes,
	                                   .n_chunks = N_CHUNKS,
	                                   .reader_pid = (uint32_t)getpid(),
	                                   .reader_fd = (uint32_t)fd,
	                                   .total_bytes = n};
	r->chunks = (unsigned char *)r->shared + EP_SB_HEADER_BYTES + N_SLOTS * n_slot;
	*ret = r;
	return NULL;
}

void ep_soft_reader_destroy(struct ep_soft_reader *r)
{
	if (!r)
		return;
	munmap(r->shared, r->n_bytes);
	for (uint32_t i = 0; i < N_SLOTS; i++)
		free(r->queues[i].v);
	for (size_t i = 0; i < r->identities.n; i++)
		free(r->identities.v[i].path);
	ep_vec_deinit(&r->identities);
	free(r);
}

const struct ep_sb_header *ep_soft_reader_header(const struct ep_soft_reader *r)
{
	return r->shared;
}

/* -- copying -- */

static bool queue_reserve(struct queue *q, size_t n_more)
{
	if (q->pos) {
		memmove(q->v, q->v + q->pos, q->n - q->pos);
		q->n -= q->pos;
		q->pos = 0;
	}
	if (q->n + n_more <= q->cap)
		return true;
	size_t cap = EP_MAX(q->cap * 2, q->n + n_more);
	unsigned char *v = realloc(q->v, cap);
	if (!v)
		return false;
	q->v = v;
	q->cap = cap;
	return true;
}

/* Moves what is in the ring to the queue. False: no memory, all stays in the ring. */
static bool queue_fill(struct ep_soft_reader *r, uint32_t i)
{
	struct ep_sb_slot *slot = slot_at(r, i);
	struct queue *q = &r->queues[i];
	size_t size = r->ring_bytes;
	uint64_t head = __atomic_load_n(&slot->head, __ATOMIC_ACQUIRE), tail = slot->tail;
	uint64_t n = head - tail;

	if (!n || q->corrupt)
		return true;
	if (n > size) {
		q->corrupt = true;
		return true;
	}
	if (!queue_reserve(q, n))
		return false;
	const unsigned char *ring = (const unsigned char *)slot + EP_SB_PAGE;
	size_t at = tail & (size - 1), first = EP_MIN(n, size - at);
	memcpy(q->v + q->n, ring + at, first);
	memcpy(q->v + q->n + first, ring, n - first);
	q->n += n;
	__atomic_store_n(&slot->tail, head, __ATOMIC_RELEASE);
	return true;
}

/* -- the order -- */

static bool before(const struct ep_soft_reader *r, uint32_t a, uint32_t b)
{
	return r->queues[a].next.head.seq < r->queues[b].next.head.seq;
}

static void heap_push(struct ep_soft_reader *r, uint32_t i)
{
	uint32_t k = r->n_heap++;

	while (k && before(r, i, r->heap[(k - 1) / 2])) {
		r->heap[k] = r->heap[(k - 1) / 2];
		k = (k - 1) / 2;
	}
	r->heap[k] = i;
}

static uint32_t heap_pop(struct ep_soft_reader *r)
{
	uint32_t top = r->heap[0], last = r->heap[--r->n_heap], k = 0;

	for (;;) {
		uint32_t child = 2 * k + 1;
		if (child >= r->n_heap)
			break;
		if (child + 1 < r->n_heap && before(r, r->heap[child + 1], r->heap[child]))
			child++;
		if (!before(r, r->heap[child], last))
			break;
		r->heap[k] = r->heap[child];
		k = child;
	}
	r->heap[k] = last;
	return top;
}

/* Looks at the record at `pos`, again if the bytes have moved. */
static void queue_look(struct ep_soft_reader *r, uint32_t i)
{
	struct queue *q = &r->queues[i];
	struct ep_bytes bytes = ep_bytes_init(q->v + q->pos, q->n - q->pos, false);
	bool in_heap = q->has_next;

	q->has_next = q->n > q->pos && ep_soft_record_next(&bytes, &q->next);
	if (q->has_next && !in_heap)
		heap_push(r, i);
	q->corrupt |= bytes.failed;
}

/* True while the slot's writer is between taking a number and finishing its record. */
static uint64_t slot_bound(struct ep_soft_reader *r, uint32_t i, uint64_t now)
{
	struct ep_sb_slot *slot = slot_at(r, i);
	struct queue *q = &r->queues[i];
	uint64_t pending = __atomic_load_n(&slot->pending_seq, __ATOMIC_SEQ_CST);

	if (pending != q->pending_seen) {
		q->pending_seen = pending;
		q->t_pending_ns = now;
	}
	return now - q->t_pending_ns < STUCK_NS ? pending : EP_SB_NO_SEQ;
}

static bool slot_in_use(const struct ep_soft_reader *r, uint32_t i)
{
	struct ep_sb_slot *slot = slot_at(r, i);

	return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != EP_SB_SLOT_FREE &&
	       __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE);
}

/* -- sending -- */

static struct ep_error *send_lost(const struct ep_event_sink *sink, int32_t pid,
                                  enum ep_lost_reason reason, uint64_t n)
{
	struct ep_event e = {
	    .type = EP_EVENT_LOST, .pid = pid, .tid = -1, .cpu = UINT32_MAX, .t_ns = now_ns()};

	e.u.lost.reason = reason;
	e.u.lost.n = n;
	return n ? sink->event(sink->payload, &e) : NULL;
}

static bool same_file(const struct identity *i, const struct stat *st)
{
	return i->dev == st->st_dev && i->ino == st->st_ino && i->size == st->st_size &&
	       i->mtime.tv_sec == st->st_mtim.tv_sec && i->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

/* The entry of a path, made when it is new; NULL: out of memory. */
static struct identity *identity_of(struct ep_soft_reader *r, const char *path)
{
	for (size_t i = 0; i < r->identities.n; i++)
		if (!strcmp(r->identities.v[i].path, path))
			return &r->identities.v[i];
	struct identity identity = {.path = strdup(path), .size = -1};
	if (!identity.path || !ep_vec_push(&r->identities, identity)) {
		free(identity.path);
		return NULL;
	}
	return &r->identities.v[r->identities.n - 1];
}

/* The build-id of a file, or none if it is gone or no binary. A file is looked at once. */
static struct ep_build_id identify(struct ep_soft_reader *r, const char *path)
{
	struct identity *i = identity_of(r, path);
	struct stat st;

	if (!i || stat(path, &st) < 0)
		return (struct ep_build_id){0};
	if (same_file(i, &st))
		return i->id;
	i->dev = st.st_dev;
	i->ino = st.st_ino;
	i->size = st.st_size;
	i->mtime = st.st_mtim;
	ep_autoerr err = ep_object_build_id(path, &i->id, NULL);
	if (err)
		i->id = (struct ep_build_id){0};
	return i->id;
}

static struct ep_error *send_counts(struct ep_soft_reader *r, const struct ep_event_sink *sink,
                                    const unsigned char *chunk, int32_t pid, int32_t tid)
{
	for (uint32_t i = 0; i < EP_SB_CHUNK_ENTRIES; i++) {
		struct ep_sb_entry entry;
		struct ep_event e = {.pid = pid, .tid = tid, .cpu = UINT32_MAX};
		struct ep_counted range;

		memcpy(&entry, chunk + i * sizeof(entry), sizeof(entry));
		if (!ep_soft_decode_entry(&entry, &e.u.counted, &range))
			continue;
		r->n_counted = ep_count_add(r->n_counted, e.u.counted.count);
		e.type = EP_EVENT_EDGE;
		EP_TRY(sink->event(sink->payload, &e));
		e.type = EP_EVENT_RANGE;
		e.u.counted = range;
		EP_TRY(sink->event(sink->payload, &e));
	}
	return NULL;
}

/* Sends the counts of a chunk and gives it back, zeroed. */
static struct ep_error *take_chunk(struct ep_soft_reader *r, const struct ep_event_sink *sink,
                                   uint32_t i, int32_t tid)
{
	unsigned char *chunk = r->chunks + (size_t)i * EP_SB_CHUNK_BYTES;
	uint32_t *owner = &r->shared->chunk_owner[i];
	int32_t pid = (int32_t)(__atomic_load_n(owner, __ATOMIC_ACQUIRE) & INT32_MAX);

	EP_TRY(send_counts(r, sink, chunk, pid, tid));
	memset(chunk, 0, EP_SB_CHUNK_BYTES);
	__atomic_store_n(owner, 0, __ATOMIC_RELEASE);
	return NULL;
}

static struct ep_error *send_table(struct ep_soft_reader *r, const struct ep_event_sink *sink,
                                   struct queue *q)
{
	struct ep_sb_table table;

	if (!ep_soft_decode_table(&q->next, &table)) {
		q->corrupt = true;
		return NULL;
	}
	for (uint32_t i = 0; i < table.n_chunks; i++)
		if (table.chunks[i] < N_CHUNKS &&
		    r->shared->chunk_owner[table.chunks[i]] == q->next.head.pid)
			EP_TRY(take_chunk(r, sink, table.chunks[i], (int32_t)table.tid));
	return NULL;
}

static struct ep_error *send_record(struct ep_soft_reader *r, const struct ep_event_sink *sink,
                                    struct queue *q)
{
	struct ep_event e;

	q->exec_try = q->next.head.type == EP_SB_EXEC_TRY;
	if (q->next.head.type == EP_SB_TABLE)
		return send_table(r, sink, q);
	if (!ep_soft_decode(&q->next, &r->scratch, &e)) {
		q->corrupt = true;
		return NULL;
	}
	q->pid = e.pid;
	if (!e.type)
		return NULL;
	if (e.type == EP_EVENT_MAP && e.u.map.is_file)
		e.u.map.build_id = identify(r, e.u.map.path);
	return sink->event(sink->payload, &e);
}

static struct ep_error *send_until(struct ep_soft_reader *r, const struct ep_event_sink *sink,
                                   uint64_t bound)
{
	while (r->n_heap && r->queues[r->heap[0]].next.head.seq < bound) {
		uint32_t i = heap_pop(r);
		struct queue *q = &r->queues[i];

		q->has_next = false;
		EP_TRY(send_record(r, sink, q));
		q->pos += q->next.head.size;
		if (!q->corrupt)
			queue_look(r, i);
	}
	return NULL;
}

/* -- the life of slots -- */

static void add_slot(const struct ep_sb_slot *slot, struct ep_capture_totals *to)
{
	to->n_branches += __atomic_load_n(&slot->n_branches, __ATOMIC_RELAXED);
	to->n_insns += __atomic_load_n(&slot->n_insns, __ATOMIC_RELAXED);
	to->n_samples += __atomic_load_n(&slot->n_samples, __ATOMIC_RELAXED);
	to->n_lost_samples += __atomic_load_n(&slot->n_lost, __ATOMIC_RELAXED);
	to->n_lost_counts += __atomic_load_n(&slot->n_lost_counts, __ATOMIC_RELAXED);
	to->n_lost_control += __atomic_load_n(&slot->n_lost_control, __ATOMIC_RELAXED);
	to->n_moved += __atomic_load_n(&slot->n_moved, __ATOMIC_RELAXED);
	to->n_interrupted += __atomic_load_n(&slot->n_interrupted, __ATOMIC_RELAXED);
	to->n_threads += !slot->continued;
	to->n_processes += slot->pid == slot->tid && !slot->continued;
}

static struct ep_error *report_lost(struct ep_soft_reader *r, const struct ep_event_sink *sink,
                                    uint32_t i)
{
	struct ep_sb_slot *slot = slot_at(r, i);
	struct queue *q = &r->queues[i];
	uint64_t n_lost = __atomic_load_n(&slot->n_lost, __ATOMIC_RELAXED);
	uint64_t n_new = n_lost - q->n_lost_seen;

	q->n_lost_seen = n_lost;
	return send_lost(sink, (int32_t)(slot->pid & INT32_MAX), EP_LOST_RECORDER, n_new);
}

/* A thread that ended without saying so: its process is gone. */
static bool slot_is_dead(const struct ep_sb_slot *slot)
{
	return kill((pid_t)slot->pid, 0) < 0 && errno == ESRCH;
}

static struct ep_error *slot_free(struct ep_soft_reader *r, const struct ep_event_sink *sink,
                                  uint32_t i)
{
	struct ep_sb_slot *slot = slot_at(r, i);
	struct queue *q = &r->queues[i];
	bool open = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == EP_SB_SLOT_USED;

	if (open && slot->pid == slot->tid && !q->exec_try && !slot_is_dead(slot)) {
		r->done.n_running++;
		EP_TRY(send_lost(sink, q->pid, EP_LOST_NOT_FOLLOWED, 1));
	}
	EP_TRY(report_lost(r, sink, i));
	if (q->corrupt) {
		r->done.n_corrupt++;
		EP_TRY(send_lost(sink, q->pid, EP_LOST_CORRUPT, 1));
	}
	if (q->exec_try) {
		r->done.n_not_followed++;
		EP_TRY(send_lost(sink, q->pid, EP_LOST_NOT_FOLLOWED, 1));
	}
	add_slot(slot, &r->done);
	free(q->v);
	*q = (struct queue){0};
	memset((char *)slot + sizeof(slot->state), 0, sizeof(*slot) - sizeof(slot->state));
	__atomic_store_n(&slot->state, EP_SB_SLOT_FREE, __ATOMIC_RELEASE);
	return NULL;
}

static struct ep_error *free_slots(struct ep_soft_reader *r, const struct ep_event_sink *sink,
                                   uint64_t now, bool last)
{
	bool reap = now - r->t_reap_ns >= REAP_NS;

	if (reap)
		r->t_reap_ns = now;
	for (uint32_t i = 0; i < N_SLOTS; i++) {
		struct ep_sb_slot *slot = slot_at(r, i);
		struct queue *q = &r->queues[i];

		if (!slot_in_use(r, i))
			continue;
		EP_TRY(report_lost(r, sink, i));
		bool closed = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == EP_SB_SLOT_CLOSED;
		if (!last && !closed && !(reap && slot_is_dead(slot)))
			continue;
		/* Whatever was written before the state was seen has to be out. */
		bool empty =
		    !q->has_next && __atomic_load_n(&slot->head, __ATOMIC_ACQUIRE) == slot->tail;
		if (empty || (q->corrupt && !q->has_next))
			EP_TRY(slot_free(r, sink, i));
	}
	return NULL;
}

/* All counts that nobody gave to us, of processes that were killed or still run. */
static struct ep_error *take_all_chunks(struct ep_soft_reader *r, const struct ep_event_sink *sink)
{
	for (uint32_t i = 0; i < N_CHUNKS; i++)
		if (r->shared->chunk_owner[i])
			EP_TRY(take_chunk(r, sink, i, -1));
	return NULL;
}

/* Threads and processes that found no slot. */
static struct ep_error *report_unseen(struct ep_soft_reader *r, const struct ep_event_sink *sink)
{
	uint64_t n_forks = r->shared->n_forks_lost, n = r->shared->n_no_slot;

	r->done.n_not_followed += n_forks;
	r->done.n_unrecorded = n > n_forks ? n - n_forks : 0;
	return send_lost(sink, EP_PID_UNKNOWN, EP_LOST_NOT_FOLLOWED, EP_MAX(n, n_forks));
}

struct ep_error *ep_soft_reader_drain(struct ep_soft_reader *r, const struct ep_event_sink *sink,
                                      bool last)
{
	uint64_t now = now_ns(), bound = __atomic_load_n(&r->shared->seq, __ATOMIC_SEQ_CST);

	for (uint32_t i = 0; i < N_SLOTS; i++)
		if (slot_in_use(r, i))
			bound = EP_MIN(bound, slot_bound(r, i, now));
	for (uint32_t i = 0; i < N_SLOTS; i++) {
		if (!slot_in_use(r, i))
			continue;
		if (!queue_fill(r, i))
			return ep_error_nomem();
		if (!r->queues[i].corrupt)
			queue_look(r, i);
	}
	EP_TRY(send_until(r, sink, last ? EP_SB_NO_SEQ : bound));
	if (last)
		EP_TRY(take_all_chunks(r, sink));
	EP_TRY(free_slots(r, sink, now, last));
	return last ? report_unseen(r, sink) : NULL;
}

void ep_soft_reader_totals(const struct ep_soft_reader *r, struct ep_capture_totals *ret)
{
	*ret = r->done;
	for (uint32_t i = 0; i < N_SLOTS; i++)
		if (slot_in_use(r, i))
			add_slot(slot_at(r, i), ret);
	/* A thread that was killed had no time to bring its totals up to date. */
	ret->n_branches = EP_MAX(ret->n_branches, r->n_counted);
}
