/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of a perf.data input: their record layouts, ids and names. */
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "import/perf_data_reader.h"

/* More than any recording has; a hostile input could ask for memory and time without them. */
#define MAX_ATTRS 8192
#define MAX_IDS ((size_t)1 << 20)

/* The u64 at `offset` of an attr of n bytes, 0 behind its end. */
static uint64_t attr_u64(const struct ep_perf_reader *r, const unsigned char *p, size_t n,
                         size_t offset)
{
	return offset + 8 <= n ? ep_load_u64(p + offset, r->swap) : 0;
}

static bool flag(const struct ep_perf_reader *r, uint64_t flags, unsigned bit)
{
	return flags >> (r->big_endian ? 63 - bit : bit) & 1;
}

/* Gives `*field` the place `*pos` if the bit is set and moves on by 8 bytes. */
static void place(uint64_t sample_type, uint64_t bit, uint16_t *field, uint16_t *pos)
{
	if (!(sample_type & bit))
		return;
	if (field)
		*field = *pos;
	*pos = (uint16_t)(*pos + 8);
}

/* The order of a SAMPLE's fields as in linux/perf_event.h. */
static void layout_sample(struct ep_perf_layout *l, uint64_t st, uint64_t branch_type)
{
	uint16_t pos = PERF_RECORD_HEADER;

	place(st, PERF_SAMPLE_IDENTIFIER, &l->id, &pos);
	place(st, PERF_SAMPLE_IP, &l->ip, &pos);
	place(st, PERF_SAMPLE_TID, &l->tid, &pos);
	place(st, PERF_SAMPLE_TIME, &l->time, &pos);
	place(st, PERF_SAMPLE_ADDR, NULL, &pos);
	place(st, PERF_SAMPLE_ID, l->id ? NULL : &l->id, &pos);
	place(st, PERF_SAMPLE_STREAM_ID, NULL, &pos);
	place(st, PERF_SAMPLE_CPU, &l->cpu, &pos);
	place(st, PERF_SAMPLE_PERIOD, &l->period, &pos);
	l->fixed_end = pos;
	l->has_read = st & PERF_SAMPLE_READ;
	l->has_callchain = st & PERF_SAMPLE_CALLCHAIN;
	l->has_raw = st & PERF_SAMPLE_RAW;
	l->has_branches = st & PERF_SAMPLE_BRANCH_STACK;
	l->has_hw_index = branch_type & PERF_BRANCH_HW_INDEX;
}

/* The trailer of the other records: the same fields, the identifier last. */
static void layout_trailer(struct ep_perf_layout *l, uint64_t st)
{
	uint16_t time = 0, id = 0, pos = 8; /* from 8 on, so that 0 is "not there" */

	place(st, PERF_SAMPLE_TID, NULL, &pos);
	place(st, PERF_SAMPLE_TIME, &time, &pos);
	place(st, PERF_SAMPLE_ID, &id, &pos);
	place(st, PERF_SAMPLE_STREAM_ID, NULL, &pos);
	place(st, PERF_SAMPLE_CPU, NULL, &pos);
	place(st, PERF_SAMPLE_IDENTIFIER, &id, &pos);
	l->trailer = (uint16_t)(pos - 8);
	l->back_time = time ? (uint16_t)(pos - time) : 0;
	l->back_id = id ? (uint16_t)(pos - id) : 0;
}

static void set_branch_rules(struct ep_perf_attr *attr)
{
	uint64_t b = attr->branch_type;

	attr->info_mask = EP_INFO_PERF_MASK;
	if (b & PERF_BRANCH_NO_FLAGS)
		attr->info_mask &= ~UINT64_C(15);
	if (b & PERF_BRANCH_NO_CYCLES)
		attr->info_mask &= ~(UINT64_C(0xffff) << EP_INFO_CYCLES_SHIFT);
	/* Some kernels leave stale privileges behind unless they were asked for them. */
	if (!(b & PERF_BRANCH_PRIV_SAVE))
		attr->info_mask &= ~(UINT64_C(7) << EP_INFO_PRIV_SHIFT);
	/* Those that "perf inject" makes name no kind at all: nothing was left out. */
	attr->is_synthesised =
	    !(b & (PERF_BRANCH_ANY | PERF_BRANCH_KINDS | PERF_BRANCH_TX | PERF_BRANCH_CALL_STACK));
	if (b & PERF_BRANCH_CALL_STACK)
		attr->sample_flags |= EP_SAMPLE_CALL_STACK;
	else if ((b & PERF_BRANCH_TX) || ((b & PERF_BRANCH_KINDS) && !(b & PERF_BRANCH_ANY)))
		attr->sample_flags |= EP_SAMPLE_FILTERED;
}

struct ep_error *ep_perf_attr_add(struct ep_perf_reader *r, const unsigned char *p, size_t n,
                                  bool *ok_ret)
{
	struct ep_perf_attr attr = {0};

	if (n < PERF_ATTR_MIN || r->attrs.attrs.n >= MAX_ATTRS) {
		*ok_ret = false;
		return NULL;
	}
	uint64_t flags = attr_u64(r, p, n, 40), read_format = attr_u64(r, p, n, 32);
	attr.type = ep_load_u32(p, r->swap);
	attr.config = attr_u64(r, p, n, 8);
	attr.period = flag(r, flags, PERF_ATTR_FREQ) ? 0 : attr_u64(r, p, n, 16);
	attr.sample_type = attr_u64(r, p, n, 24);
	attr.branch_type = attr_u64(r, p, n, 72);
	layout_sample(&attr.layout, attr.sample_type, attr.branch_type);
	attr.layout.read_format = (uint8_t)(read_format & 31);
	if (flag(r, flags, PERF_ATTR_SAMPLE_ID_ALL))
		layout_trailer(&attr.layout, attr.sample_type);
	set_branch_rules(&attr);
	if (!ep_vec_push(&r->attrs.attrs, attr))
		return ep_error_nomem();
	r->attrs.settled = false;
	*ok_ret = true;
	return NULL;
}

struct ep_error *ep_perf_id_add(struct ep_perf_reader *r, uint32_t attr, uint64_t id)
{
	if (r->attrs.ids.n >= MAX_IDS) {
		ep_warn(r->warnings, "too-many-ids",
		        "%s: more than %zu event ids, the rest is ignored", r->in->name, MAX_IDS);
		return NULL;
	}
	if (!ep_vec_push(&r->attrs.ids, (struct ep_perf_id){.id = id, .attr = attr}))
		return ep_error_nomem();
	r->attrs.settled = false;
	return NULL;
}

static int compare_ids(const void *a, const void *b)
{
	const struct ep_perf_id *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->attr < y->attr ? -1 : x->attr > y->attr;
}

/* True and the event if the id is known. */
static bool find_id(struct ep_perf_attrs *attrs, uint64_t id, uint32_t *ret)
{
	if (attrs->last.id == id && attrs->last.attr != UINT32_MAX) {
		*ret = attrs->last.attr;
		return true;
	}
	size_t at = ep_search(i, 0, attrs->ids.n, attrs->ids.v[i].id < id);
	if (at == attrs->ids.n || attrs->ids.v[at].id != id)
		return false;
	attrs->last = attrs->ids.v[at];
	*ret = attrs->last.attr;
	return true;
}

static bool same_fields(const struct ep_perf_layout *a, const struct ep_perf_layout *b)
{
	return a->ip == b->ip && a->tid == b->tid && a->time == b->time && a->id == b->id &&
	       a->cpu == b->cpu && a->period == b->period && a->fixed_end == b->fixed_end &&
	       a->has_read == b->has_read && a->has_callchain == b->has_callchain &&
	       a->has_raw == b->has_raw && a->has_branches == b->has_branches &&
	       a->has_hw_index == b->has_hw_index &&
	       (a->read_format == b->read_format || !a->has_read);
}

/* Names from EVENT_DESC: by id where there are ids, else by order. */
static void name_attrs(struct ep_perf_attrs *attrs)
{
	for (size_t i = 0; i < attrs->descs.n; i++) {
		const struct ep_perf_desc *desc = &attrs->descs.v[i];
		uint32_t attr = (uint32_t)i;
		if ((!desc->n_ids || !find_id(attrs, desc->id, &attr)) &&
		    attrs->descs.n != attrs->attrs.n)
			continue;
		attrs->attrs.v[attr].name = desc->name;
	}
	attrs->descs.n = 0;
}

/*
 * Sorts what was added since and merges it with the rest: events may be added in front of every
 * sample.
 */
static struct ep_error *sort_ids(struct ep_perf_attrs *attrs)
{
	size_t n = attrs->ids.n, n_new = n - attrs->n_sorted;

	attrs->last.attr = UINT32_MAX;
	if (!n_new)
		return NULL;
	struct ep_perf_id *added = attrs->ids.v + attrs->n_sorted;
	qsort(added, n_new, sizeof(*added), compare_ids);
	struct ep_perf_id *copy = malloc(n_new * sizeof(*copy));
	if (!copy)
		return ep_error_nomem();
	memcpy(copy, added, n_new * sizeof(*copy));
	/* From the end: the larger of the two lasts to the last free place. */
	for (size_t i = attrs->n_sorted, k = n_new, to = n; k; to--) {
		if (i && compare_ids(&attrs->ids.v[i - 1], &copy[k - 1]) > 0)
			attrs->ids.v[to - 1] = attrs->ids.v[--i];
		else
			attrs->ids.v[to - 1] = copy[--k];
	}
	free(copy);
	attrs->n_sorted = n;
	return NULL;
}

/* Compares the events added since with the first. */
static void compare_layouts(struct ep_perf_attrs *attrs)
{
	const struct ep_perf_layout *first = &attrs->attrs.v[0].layout;

	if (!attrs->n_compared) {
		attrs->same_layout = attrs->same_trailer = true;
		attrs->id = first->id;
		attrs->back_id = first->back_id;
	}
	for (size_t i = attrs->n_compared; i < attrs->attrs.n; i++) {
		const struct ep_perf_layout *l = &attrs->attrs.v[i].layout;
		attrs->same_layout &= same_fields(first, l);
		attrs->same_trailer &=
		    first->trailer == l->trailer && first->back_time == l->back_time;
		attrs->id = attrs->id == l->id ? l->id : 0;
		attrs->back_id = attrs->back_id == l->back_id ? l->back_id : 0;
	}
	attrs->n_compared = attrs->attrs.n;
}

struct ep_error *ep_perf_attrs_settle(struct ep_perf_reader *r)
{
	if (r->attrs.settled || !r->attrs.attrs.n)
		return NULL;
	EP_TRY(sort_ids(&r->attrs));
	compare_layouts(&r->attrs);
	name_attrs(&r->attrs);
	r->attrs.settled = true;
	return NULL;
}

/* The event with this id; synthesised records carry 0 and follow the first event. */
static struct ep_perf_attr *attr_of_id(struct ep_perf_reader *r, uint64_t id, bool layouts_agree)
{
	uint32_t i;

	if (find_id(&r->attrs, id, &i))
		return &r->attrs.attrs.v[i];
	if (id && !layouts_agree)
		return NULL;
	if (id && r->attrs.ids.n)
		ep_warn(r->warnings, "unknown-event-id",
		        "%s: a record has the unknown event id %llu, taken for the first event",
		        r->in->name, (unsigned long long)id);
	return &r->attrs.attrs.v[0];
}

struct ep_perf_attr *ep_perf_attr_of_sample(struct ep_perf_reader *r, const unsigned char *rec,
                                            size_t size)
{
	struct ep_perf_attrs *attrs = &r->attrs;

	if (EP_LIKELY(attrs->attrs.n == 1))
		return &attrs->attrs.v[0];
	if (!attrs->attrs.n)
		return NULL;
	if (attrs->id)
		return attrs->id + 8u <= size ? attr_of_id(r, ep_load_u64(rec + attrs->id, r->swap),
		                                           attrs->same_layout)
		                              : NULL;
	if (!attrs->same_layout)
		return NULL;
	ep_warn(r->warnings, "ambiguous-event",
	        "%s: samples of %zu events cannot be told apart, all are taken for the first",
	        r->in->name, attrs->attrs.n);
	return &attrs->attrs.v[0];
}

struct ep_perf_attr *ep_perf_attr_of_other(struct ep_perf_reader *r, const unsigned char *rec,
                                           size_t size)
{
	struct ep_perf_attrs *attrs = &r->attrs;

	if (!attrs->attrs.n)
		return NULL;
	if (attrs->attrs.n == 1 || attrs->same_trailer)
		return &attrs->attrs.v[0];
	if (!attrs->back_id || size < PERF_RECORD_HEADER + (size_t)attrs->back_id)
		return NULL;
	return attr_of_id(r, ep_load_u64(rec + size - attrs->back_id, r->swap), false);
}

/* A name for events that bring none. */
static void make_name(const struct ep_perf_attr *attr, char *buf, size_t size)
{
	static const char *const hardware[] = {
	    "cycles",   "instructions",  "cache-references", "cache-misses",
	    "branches", "branch-misses", "bus-cycles",       "stalled-cycles-frontend",
	};
	uint32_t config = (uint32_t)attr->config;

	if (attr->type == 0 && config < EP_ARRAY_LEN(hardware))
		snprintf(buf, size, "%s", hardware[config]);
	else if (attr->type == 4)
		snprintf(buf, size, "r%llx", (unsigned long long)attr->config);
	else
		buf[0] = '\0';
}

/* Events that cannot be told apart are one stream: it counts something only if all agree. */
static enum ep_sampling sampling_of(const struct ep_perf_reader *r, const struct ep_perf_attr *attr)
{
	const struct ep_perf_attrs *attrs = &r->attrs;
	bool merged = attrs->attrs.n > 1 && !attrs->id;
	enum ep_sampling first = EP_SAMPLING_UNKNOWN;

	for (size_t i = 0; i < attrs->attrs.n; i++) {
		const struct ep_perf_attr *a = merged ? &attrs->attrs.v[i] : attr;
		enum ep_sampling s = ep_perf_sampling(a->type, a->config, a->name ? a->name : "",
		                                      r->info->arch, r->info->cpuid);
		if (i && s != first)
			return EP_SAMPLING_UNKNOWN;
		first = s;
		if (!merged)
			break;
	}
	return first;
}

struct ep_error *ep_perf_attr_announce(struct ep_perf_reader *r, struct ep_perf_attr *attr)
{
	char name[32];
	struct ep_event event = {.type = EP_EVENT_CPU};

	if (!r->cpu_sent && r->info->cpuid[0]) {
		event.u.cpu.cpuid = r->info->cpuid;
		r->cpu_sent = true;
		EP_TRY(ep_perf_send(r, &event));
	}
	event = (struct ep_event){.type = EP_EVENT_STREAM};
	make_name(attr, name, sizeof(name));
	event.u.stream.stream = (uint32_t)(attr - r->attrs.attrs.v);
	event.u.stream.sampling = sampling_of(r, attr);
	event.u.stream.period = attr->period;
	event.u.stream.name = attr->name ? attr->name : name;
	attr->announced = true;
	return ep_perf_send(r, &event);
}

void ep_perf_attrs_deinit(struct ep_perf_attrs *attrs)
{
	ep_vec_deinit(&attrs->attrs);
	ep_vec_deinit(&attrs->ids);
	ep_vec_deinit(&attrs->descs);
}
