/* SPDX-License-Identifier: BSD-2-Clause */
/* Event streams: address spaces, stacks, counted edges; the result must be a proper edge table. */
#include "base/bytes.h"
#include "fold/fold.h"

#define DEPTH_MAX 12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Few different addresses, so that events meet; some of them extreme. */
static uint64_t address(struct ep_bytes *b)
{
	static const uint64_t bases[] = {
	    0,
	    0x400000,
	    0x500000,
	    0x7f0000000000,
	    0xffffffff81000000,
	    0xffff800000000000,
	    UINT64_MAX - 0xfff,
	    UINT64_C(1) << 47,
	};
	uint8_t v = ep_bytes_u8(b);

	return bases[v & 7] + (uint64_t)(v >> 3) * (ep_bytes_u8(b) + 1);
}

static int32_t pid_of(struct ep_bytes *b)
{
	return (int32_t)(ep_bytes_u8(b) % 8) + EP_PID_GUEST;
}

static void set_map(struct ep_bytes *b, struct ep_map *map)
{
	static const char *const paths[] = {
	    "/bin/a", "/bin/a (deleted)",       "/bin/b", "//anon",
	    "",       "[kernel.kallsyms]_text", "[vdso]", "/lib/modules/m.ko"};
	uint8_t kind = ep_bytes_u8(b), id = ep_bytes_u8(b);

	map->start = address(b);
	map->len = (uint64_t)ep_bytes_u8(b) << (kind & 15);
	map->pgoff = address(b);
	map->path = paths[kind >> 4 & 7];
	map->is_file = id & 1;
	map->is_kernel = id & 2;
	if (id & 4)
		map->build_id = ep_build_id_make(EP_BUILD_ID_GNU, &id, 1);
}

static void set_sample(struct ep_bytes *b, struct ep_branch *stack, struct ep_sample *sample)
{
	uint8_t kind = ep_bytes_u8(b);

	sample->n_branches = kind % (DEPTH_MAX + 1);
	sample->flags = kind & 16 ? EP_SAMPLE_FILTERED : 0;
	sample->flags |= (kind & 0xe0) == 0xe0 ? EP_SAMPLE_CALL_STACK : 0;
	sample->branches = kind == 255 ? NULL : stack;
	sample->info_mask = UINT64_MAX;
	sample->repeat = kind & 32 ? UINT64_MAX / 3 : kind >> 6;
	sample->stream = kind >> 7;
	for (uint32_t i = 0; i < sample->n_branches; i++) {
		uint16_t info = ep_bytes_u16(b);
		stack[i].from = address(b);
		stack[i].to = address(b);
		stack[i].info = (uint64_t)(info & 0xff) << EP_INFO_TYPE_SHIFT |
		                (uint64_t)(info >> 8 & 3) << 62 | (info >> 10);
	}
}

static void set_event(struct ep_bytes *b, struct ep_branch *stack, struct ep_event *e)
{
	static const char *const cpuids[] = {"GenuineIntel,6,85,7", "0x410fd4f0", "-", ""};

	uint8_t type = ep_bytes_u8(b) % EP_EVENT_CPU;

	*e = (struct ep_event){.type = (enum ep_event_type)(type + 1), .pid = pid_of(b)};
	e->tid = e->pid;
	switch (e->type) {
	case EP_EVENT_MAP:
		set_map(b, &e->u.map);
		break;
	case EP_EVENT_UNMAP:
		e->u.unmap.start = address(b);
		e->u.unmap.len = address(b);
		break;
	case EP_EVENT_FORK:
		e->u.fork.ppid = pid_of(b);
		break;
	case EP_EVENT_STREAM:
		e->u.stream.sampling = ep_bytes_u8(b) % 5;
		e->u.stream.name = "e";
		e->u.stream.stream = ep_bytes_u8(b) % 3;
		break;
	case EP_EVENT_EDGE:
	case EP_EVENT_RANGE:
		e->u.counted.from = address(b);
		e->u.counted.to = address(b);
		e->u.counted.count = ep_bytes_u64(b);
		e->u.counted.mispreds = ep_bytes_u32(b);
		e->u.counted.type = ep_bytes_u8(b);
		e->u.counted.open_end = e->u.counted.type & 1;
		break;
	case EP_EVENT_BUILD_ID:
		e->u.build_id.path = "/bin/a";
		e->u.build_id.build_id = ep_build_id_make(EP_BUILD_ID_GNU, "late", 4);
		break;
	case EP_EVENT_CPU:
		e->u.cpu.cpuid = cpuids[ep_bytes_u8(b) & 3];
		break;
	case EP_EVENT_LOST:
		e->u.lost.n = ep_bytes_u8(b);
		break;
	default:
		set_sample(b, stack, &e->u.sample);
		e->type = EP_EVENT_SAMPLE;
	}
}

static void fold_all(struct ep_bytes b, const struct ep_fold_opts *opts, struct ep_buf *ret)
{
	struct ep_branch stack[DEPTH_MAX];
	struct ep_fold *fold;
	struct ep_edges edges;
	struct ep_event event;

	if (ep_fold_create(opts, NULL, &fold))
		abort();
	struct ep_event_sink sink = ep_fold_sink(fold);
	while (!b.failed && ep_bytes_left(&b)) {
		set_event(&b, stack, &event);
		struct ep_error *err = sink.event(sink.payload, &event);
		if (err)
			abort();
	}
	struct ep_error *err = ep_fold_finish(fold, NULL, &edges);
	if (err && err->code != EP_ERROR_MISSING)
		abort();
	if (!err) {
		/* Refuses what is not in order. */
		if (ep_edges_encode(&edges, ret))
			abort();
		ep_edges_deinit(&edges);
	}
	ep_error_destroy(err);
	ep_fold_destroy(fold);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ep_fold_opts opts = {.n_threads = 1};
	struct ep_bytes b = ep_bytes_init(data, size, false);
	struct ep_buf one = {0}, two = {0};
	uint8_t flags = ep_bytes_u8(&b);

	opts.keep_file_map = flags & 1;
	opts.weights = flags & 2 ? EP_FOLD_WEIGHTS_NONE : EP_FOLD_WEIGHTS_AUTO;
	fold_all(b, &opts, &one);
	/* A thread a run is slow: only now and then. */
	if (flags > 250) {
		opts.n_threads = 2;
		fold_all(b, &opts, &two);
		if (one.n != two.n || (one.n && memcmp(one.v, two.v, one.n) != 0))
			abort();
	}
	ep_buf_deinit(&one);
	ep_buf_deinit(&two);
	return 0;
}
