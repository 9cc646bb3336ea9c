/* SPDX-License-Identifier: BSD-2-Clause */
/* SAMPLE records: the way past all other fields to the branch stack. The hot path of the import. */
#include "import/perf_data_reader.h"

/* Moves over n elements of `size` bytes; fails on a count that does not fit. */
static void skip_array(struct ep_bytes *b, uint64_t n, size_t size)
{
	if (n > ep_bytes_left(b) / size)
		b->failed = true;
	else
		(void)ep_bytes_take(b, (size_t)n * size);
}

static void skip_read(struct ep_bytes *b, unsigned format)
{
	uint64_t n = format & PERF_FORMAT_GROUP ? ep_bytes_u64(b) : 1;
	size_t times = !!(format & PERF_FORMAT_ENABLED) + !!(format & PERF_FORMAT_RUNNING);
	size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);

	(void)ep_bytes_take(b, 8 * times);
	skip_array(b, n, 8 * each);
}

/* Finds the branch stack; false: a field is larger than the record. */
static bool find_stack(const struct ep_perf_layout *l, struct ep_bytes *b,
                       const unsigned char **stack_ret, uint32_t *n_ret)
{
	uint64_t n;

	if (EP_UNLIKELY(l->has_read))
		skip_read(b, l->read_format);
	if (l->has_callchain)
		skip_array(b, ep_bytes_u64(b), 8);
	if (EP_UNLIKELY(l->has_raw))
		skip_array(b, ep_bytes_u32(b), 1);
	n = ep_bytes_u64(b);
	if (l->has_hw_index)
		(void)ep_bytes_take(b, 8);
	if (b->failed || n > ep_bytes_left(b) / PERF_BRANCH_SIZE)
		return false;
	*stack_ret = b->pos;
	*n_ret = (uint32_t)n;
	return true;
}

/*
 * Bit-fields start at the top bit on big-endian machines: turns the flags of a branch around, field
 * by field.
 */
static uint64_t info_from_big(uint64_t v)
{
	uint64_t info =
	    (v >> 63 & 1) | (v >> 62 & 1) << 1 | (v >> 61 & 1) << 2 | (v >> 60 & 1) << 3;

	return info | (v >> 44 & 0xffff) << EP_INFO_CYCLES_SHIFT |
	       (v >> 40 & 15) << EP_INFO_TYPE_SHIFT | (v >> 38 & 3) << EP_INFO_SPEC_SHIFT |
	       (v >> 34 & 15) << EP_INFO_NEW_TYPE_SHIFT | (v >> 31 & 7) << EP_INFO_PRIV_SHIFT;
}

static bool is_not_taken(const struct ep_perf_reader *r, const unsigned char *entry)
{
	unsigned bit = r->big_endian ? 63 - PERF_BRANCH_NOT_TAKEN_BIT : PERF_BRANCH_NOT_TAKEN_BIT;

	return ep_load_u64(entry + 16, r->swap) >> bit & 1;
}

/* A trace of Arm's SPE also tells of branches that were not taken: no records, and no gaps. */
static bool has_not_taken(const struct ep_perf_reader *r, const unsigned char *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_not_taken(r, p + (size_t)i * PERF_BRANCH_SIZE))
			return true;
	return false;
}

static struct ep_error *convert_stack(struct ep_perf_reader *r, const struct ep_perf_attr *attr,
                                      const unsigned char *p, uint32_t n)
{
	r->branches.n = 0;
	if (!ep_vec_reserve(&r->branches, (size_t)n + 1))
		return ep_error_nomem();
	for (uint32_t i = 0; i < n; i++, p += PERF_BRANCH_SIZE) {
		uint64_t info = ep_load_u64(p + 16, r->swap);
		if (attr->is_synthesised && is_not_taken(r, p)) {
			ep_warn(r->warnings, "not-taken",
			        "%s: stacks list branches that were not taken; they are left out",
			        r->in->name);
			continue;
		}
		r->branches.v[r->branches.n++] = (struct ep_branch){
		    .from = ep_load_u64(p, r->swap),
		    .to = ep_load_u64(p + 8, r->swap),
		    .info = r->big_endian ? info_from_big(info) : info,
		};
	}
	return NULL;
}

static int32_t sample_pid(uint16_t misc, int32_t pid)
{
	unsigned mode = misc & PERF_CPUMODE_MASK;

	if (EP_UNLIKELY(mode == PERF_CPUMODE_GUEST_KERNEL || mode == PERF_CPUMODE_GUEST_USER))
		return EP_PID_GUEST;
	return EP_UNLIKELY(pid < 0) ? EP_PID_UNKNOWN : pid;
}

/* The fields of fixed size; the caller has checked that they are there. */
static void read_fixed(struct ep_perf_reader *r, const struct ep_perf_attr *attr,
                       const unsigned char *rec)
{
	const struct ep_perf_layout *l = &attr->layout;
	struct ep_event *event = &r->event;
	int32_t pid = EP_PID_UNKNOWN;

	event->tid = -1;
	if (l->tid) {
		pid = (int32_t)ep_load_u32(rec + l->tid, r->swap);
		event->tid = (int32_t)ep_load_u32(rec + l->tid + 4, r->swap);
	}
	event->pid = sample_pid(ep_load_u16(rec + 4, r->swap), pid);
	event->cpu = l->cpu ? ep_load_u32(rec + l->cpu, r->swap) : UINT32_MAX;
	event->u.sample.ip = l->ip ? ep_load_u64(rec + l->ip, r->swap) : 0;
	event->u.sample.period = l->period ? ep_load_u64(rec + l->period, r->swap) : attr->period;
}

static void note_time(struct ep_capture_info *info, uint64_t t_ns)
{
	if (!t_ns)
		return;
	if (!info->t_start_ns || t_ns < info->t_start_ns)
		info->t_start_ns = t_ns;
	if (t_ns > info->t_end_ns)
		info->t_end_ns = t_ns;
}

struct ep_error *ep_perf_sample(struct ep_perf_reader *r, const struct ep_perf_item *item,
                                size_t size)
{
	struct ep_perf_attr *attr = &r->attrs.attrs.v[item->attr];
	const struct ep_perf_layout *l = &attr->layout;
	struct ep_sample *sample = &r->event.u.sample;
	struct ep_bytes b = ep_bytes_init(item->rec, size, r->swap);
	const unsigned char *stack = NULL;
	uint32_t n = 0;

	b.pos += l->fixed_end;
	if (l->has_branches && EP_UNLIKELY(!find_stack(l, &b, &stack, &n)))
		return ep_perf_corrupt(r, "bad-sample", "a field is larger than its SAMPLE record");
	if (EP_UNLIKELY(!attr->announced))
		EP_TRY(ep_perf_attr_announce(r, attr));
	read_fixed(r, attr, item->rec);
	r->event.type = EP_EVENT_SAMPLE;
	r->event.t_ns = item->t_ns;
	note_time(r->info, item->t_ns);
	sample->branches = (const void *)stack;
	sample->n_branches = n;
	sample->flags = attr->sample_flags;
	if (EP_UNLIKELY(r->swap || r->big_endian) ||
	    (EP_UNLIKELY(attr->is_synthesised) && has_not_taken(r, stack, n))) {
		EP_TRY(convert_stack(r, attr, stack, n));
		sample->branches = stack ? r->branches.v : NULL;
		sample->n_branches = (uint32_t)r->branches.n;
	} else if (item->chunk == EP_PERF_NO_CHUNK) {
		sample->flags |= EP_SAMPLE_STABLE;
	}
	sample->info_mask = attr->info_mask;
	sample->repeat = 1;
	sample->stream = item->attr;
	return r->sink->event(r->sink->payload, &r->event);
}
