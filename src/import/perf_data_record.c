/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel records: put in order, then turned into events. */
#include <inttypes.h>
#include <string.h>

#include "base/count.h"
#include "import/names.h"
#include "import/perf_data_reader.h"
#include "record/build_id.h"

struct ep_error *ep_perf_send(struct ep_perf_reader *r, struct ep_event *event)
{
	event->pid = EP_PID_UNKNOWN;
	event->tid = -1;
	event->cpu = UINT32_MAX;
	return r->sink->event(r->sink->payload, event);
}

struct ep_error *ep_perf_corrupt(struct ep_perf_reader *r, const char *kind, const char *what)
{
	struct ep_event event = {.type = EP_EVENT_LOST};

	ep_warn(r->warnings, kind, "%s: near offset 0x%" PRIx64 ": %s", r->in->name, r->in->offset,
	        what);
	event.u.lost.reason = EP_LOST_CORRUPT;
	event.u.lost.n = 1;
	return ep_perf_send(r, &event);
}

/* The body of a record without header and trailer. */
static struct ep_bytes body(const struct ep_perf_reader *r, const struct ep_perf_item *item,
                            size_t size)
{
	size_t trailer = r->attrs.attrs.v[item->attr].layout.trailer;
	struct ep_bytes b = ep_bytes_init(item->rec, size - trailer, r->swap);

	b.pos += PERF_RECORD_HEADER;
	return b;
}

/* The fields that only MMAP2 has; true if the memory can be executed. */
static bool read_mmap2(struct ep_bytes *b, uint16_t misc, struct ep_map *map)
{
	const unsigned char *p = ep_bytes_take(b, 24);
	uint32_t prot = ep_bytes_u32(b);

	(void)ep_bytes_u32(b);
	if (p && (misc & PERF_MISC_MMAP_BUILD_ID) && p[0] && p[0] <= 20)
		map->build_id = ep_build_id_make(EP_BUILD_ID_GNU, p + 4, p[0]);
	return prot & 4;
}

static struct ep_error *deliver_map(struct ep_perf_reader *r, struct ep_event *event,
                                    const struct ep_perf_item *item, size_t size, bool is_mmap2)
{
	uint16_t misc = ep_load_u16(item->rec + 4, r->swap);
	unsigned mode = misc & PERF_CPUMODE_MASK;
	struct ep_bytes b = body(r, item, size);
	struct ep_map map = {.is_kernel = mode == PERF_CPUMODE_KERNEL};
	bool is_exec = !(misc & PERF_MISC_MMAP_DATA);

	event->pid = (int32_t)ep_bytes_u32(&b);
	event->tid = (int32_t)ep_bytes_u32(&b);
	map.start = ep_bytes_u64(&b);
	map.len = ep_bytes_u64(&b);
	map.pgoff = ep_bytes_u64(&b);
	/* Kernel images are listed without any protection bits. */
	if (is_mmap2)
		is_exec = read_mmap2(&b, misc, &map) || map.is_kernel;
	map.path = ep_bytes_cstr(&b, NULL);
	if (b.failed || (event->pid < 0 && !map.is_kernel && mode < PERF_CPUMODE_GUEST_KERNEL) ||
	    map.len > UINT64_MAX - map.start)
		return ep_perf_corrupt(r, "bad-map", "a MMAP record makes no sense");
	if (misc & PERF_MISC_MAP_TIMEOUT)
		ep_warn(r->warnings, "maps-incomplete",
		        "%s: the recorder gave up reading the maps of process %d", r->in->name,
		        event->pid);
	/* A guest's maps; and kernels that hide their addresses have an empty one. */
	if (mode >= PERF_CPUMODE_GUEST_KERNEL || !map.len)
		return NULL;
	if (map.is_kernel)
		event->pid = EP_PID_KERNEL;
	map.is_file = map.is_kernel || map.build_id.size || ep_map_name_is_file(map.path);
	event->type = is_exec ? EP_EVENT_MAP : EP_EVENT_UNMAP;
	if (is_exec) {
		EP_TRY(ep_perf_build_id_apply(r, &map));
		event->u.map = map;
	} else { /* memory that is not code replaces the code it overlaps */
		event->u.unmap.start = map.start;
		event->u.unmap.len = map.len;
	}
	return r->sink->event(r->sink->payload, event);
}

static struct ep_error *deliver_comm(struct ep_perf_reader *r, struct ep_event *event,
                                     const struct ep_perf_item *item, size_t size)
{
	struct ep_bytes b = body(r, item, size);

	event->pid = (int32_t)ep_bytes_u32(&b);
	event->tid = (int32_t)ep_bytes_u32(&b);
	const char *name = ep_bytes_cstr(&b, NULL);
	if (b.failed)
		return ep_perf_corrupt(r, "bad-record", "a COMM record is cut short");
	if (ep_load_u16(item->rec + 4, r->swap) & PERF_MISC_COMM_EXEC) {
		event->type = EP_EVENT_EXEC;
		EP_TRY(r->sink->event(r->sink->payload, event));
	}
	event->type = EP_EVENT_COMM;
	event->u.comm.name = name;
	return r->sink->event(r->sink->payload, event);
}

static struct ep_error *deliver_task(struct ep_perf_reader *r, struct ep_event *event,
                                     const struct ep_perf_item *item, size_t size, bool is_fork)
{
	uint16_t misc = ep_load_u16(item->rec + 4, r->swap);
	struct ep_bytes b = body(r, item, size);

	event->pid = (int32_t)ep_bytes_u32(&b);
	int32_t ppid = (int32_t)ep_bytes_u32(&b);
	event->tid = (int32_t)ep_bytes_u32(&b);
	int32_t ptid = (int32_t)ep_bytes_u32(&b);
	uint64_t time = ep_bytes_u64(&b);
	if (b.failed || event->pid < 0)
		return ep_perf_corrupt(r, "bad-record", "a FORK or EXIT record makes no sense");
	event->type = is_fork ? EP_EVENT_FORK : EP_EVENT_EXIT;
	if (is_fork) {
		event->u.fork.ppid = ppid;
		event->u.fork.ptid = ptid;
	}
	/*
	 * perf lists the processes that ran before it by a FORK each, followed by all their maps:
	 * those of the parent are no part of them. Old versions did not set the bit, but no time.
	 */
	if (is_fork && event->pid != ppid && (!time || (misc & PERF_MISC_FORK_EXEC)))
		event->type = EP_EVENT_EXEC;
	return r->sink->event(r->sink->payload, event);
}

/*
 * LOST records come as the ring overflows. Since Linux 6.1 perf adds up the same losses again at
 * the end, in LOST_SAMPLES without a time; the kernel's own LOST_SAMPLES are losses of the PMU.
 */
static struct ep_error *deliver_lost(struct ep_perf_reader *r, struct ep_event *event,
                                     const struct ep_perf_item *item, size_t size, bool is_samples)
{
	struct ep_bytes b = body(r, item, size);

	if (!is_samples)
		(void)ep_bytes_u64(&b); /* id */
	uint64_t n = ep_bytes_u64(&b);
	if (b.failed)
		return ep_perf_corrupt(r, "bad-record", "a LOST record is cut short");
	if (is_samples && (ep_load_u16(item->rec + 4, r->swap) & PERF_MISC_LOST_BPF))
		return NULL;
	if (is_samples && !item->t_ns) {
		r->n_lost_synth = ep_count_add(r->n_lost_synth, n);
		return NULL;
	}
	if (!is_samples)
		r->n_lost = ep_count_add(r->n_lost, n);
	event->type = EP_EVENT_LOST;
	event->u.lost.reason = EP_LOST_RECORDER;
	event->u.lost.n = n;
	return ep_perf_send(r, event);
}

struct ep_error *ep_perf_deliver(void *payload, const struct ep_perf_item *item)
{
	struct ep_perf_reader *r = payload;
	uint32_t type = ep_load_u32(item->rec, r->swap);
	size_t size = ep_load_u16(item->rec + 6, r->swap);

	if (EP_LIKELY(type == PERF_SAMPLE))
		return ep_perf_sample(r, item, size);
	struct ep_event event = {.t_ns = item->t_ns, .cpu = UINT32_MAX};
	switch (type) {
	case PERF_MMAP:
	case PERF_MMAP2:
		return deliver_map(r, &event, item, size, type == PERF_MMAP2);
	case PERF_COMM:
		return deliver_comm(r, &event, item, size);
	case PERF_FORK:
	case PERF_EXIT:
		return deliver_task(r, &event, item, size, type == PERF_FORK);
	default:
		return deliver_lost(r, &event, item, size, type == PERF_LOST_SAMPLES);
	}
}

/* The event a record belongs to and its time; false: cannot be used. */
static struct ep_perf_attr *locate(struct ep_perf_reader *r, const unsigned char *rec, size_t size,
                                   bool is_sample, uint64_t *t_ret)
{
	struct ep_perf_attr *attr;

	if (EP_LIKELY(is_sample)) {
		attr = ep_perf_attr_of_sample(r, rec, size);
		if (!attr || size < attr->layout.fixed_end)
			return NULL;
		*t_ret = attr->layout.time ? ep_load_u64(rec + attr->layout.time, r->swap) : 0;
		return attr;
	}
	attr = ep_perf_attr_of_other(r, rec, size);
	if (!attr || size < PERF_RECORD_HEADER + (size_t)attr->layout.trailer)
		return NULL;
	if (attr->layout.back_time)
		*t_ret = ep_load_u64(rec + size - attr->layout.back_time, r->swap);
	else /* no trailer: its place in the input is all that is known */
		*t_ret = r->last_t;
	return attr;
}

/* Records of the kernel that matter to us. All but these are only counted. */
static bool is_wanted(uint32_t type)
{
	return type == PERF_SAMPLE || type == PERF_MMAP || type == PERF_MMAP2 ||
	       type == PERF_COMM || type == PERF_FORK || type == PERF_EXIT || type == PERF_LOST ||
	       type == PERF_LOST_SAMPLES;
}

static struct ep_error *undecided(struct ep_perf_reader *r, bool is_sample)
{
	if (!r->attrs.attrs.n)
		return ep_perf_corrupt(r, "no-event", "a record before the event it belongs to");
	if (is_sample && !r->attrs.id && r->attrs.attrs.n > 1 && !r->attrs.same_layout)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_UNSUPPORTED,
		                    "%s: samples of its %zu events cannot be told apart",
		                    r->in->name, r->attrs.attrs.n),
		    "record each event to a file of its own");
	return ep_perf_corrupt(r, "bad-record", "a record is too short or of an unknown event");
}

struct ep_error *ep_perf_record(struct ep_perf_reader *r, const unsigned char *rec, size_t size,
                                enum ep_perf_place place, uint32_t chunk)
{
	uint32_t type = ep_load_u32(rec, r->swap);
	struct ep_perf_item item = {.rec = rec, .chunk = EP_PERF_NO_CHUNK};

	if (EP_UNLIKELY(!is_wanted(type))) {
		if (type == PERF_FINISHED_ROUND)
			return r->no_rounds ? NULL : ep_perf_order_round(&r->order);
		if (type == 0 || (type > PERF_KERNEL_LAST && type < PERF_HEADER_ATTR) ||
		    type > PERF_USER_LAST)
			ep_warn(r->warnings, "unknown-record",
			        "%s: near offset 0x%" PRIx64 ": record of unknown type %u skipped",
			        r->in->name, r->in->offset, type);
		return NULL;
	}
	if (EP_UNLIKELY(!r->attrs.settled))
		EP_TRY(ep_perf_attrs_settle(r));
	struct ep_perf_attr *attr = locate(r, rec, size, type == PERF_SAMPLE, &item.t_ns);
	if (EP_UNLIKELY(!attr))
		return undecided(r, type == PERF_SAMPLE);
	item.attr = (uint32_t)(attr - r->attrs.attrs.v);
	if (EP_UNLIKELY(!item.t_ns || item.t_ns == UINT64_MAX)) {
		/* Synthesised: what it tells was so before the recording began. */
		item.t_ns = 0;
		item.chunk = place == EP_PERF_IN_MAP ? EP_PERF_NO_CHUNK : 0;
		return ep_perf_deliver(r, &item);
	}
	r->last_t = item.t_ns;
	if (place == EP_PERF_IN_WINDOW)
		EP_TRY(ep_perf_order_copy(&r->order, rec, size, &item));
	else if (place == EP_PERF_IN_CHUNK)
		item.chunk = chunk;
	return ep_perf_order_add(&r->order, &item);
}
