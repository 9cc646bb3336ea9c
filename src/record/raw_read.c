/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading raw captures: block by block, each checked before any of it is believed. */
#include <zstd.h>

#include "base/vec.h"
#include "record/raw_format.h"

struct reader {
	const struct ep_raw_source *source;
	const struct ep_event_sink *sink;
	ZSTD_DCtx *zstd;
	struct ep_capture_info info;
	uint64_t offset; /* of the next byte of the source */
	uint64_t n_events;
	uint32_t n_blocks;
	bool closed; /* the footer was read */
	/* An END event is kept back until the footer says that nothing is missing. */
	struct ep_event end;
	bool has_end;

	unsigned char *stored, *raw; /* of stored_cap and raw_cap bytes */
	size_t stored_cap, raw_cap;
	EP_VEC(struct ep_branch) branches;
	EP_VEC(const char *) strings;
};

/* A block whose checksum is right. */
struct block {
	uint32_t type;
	const unsigned char *data;
	size_t n;
};

/* An EVENTS block being decoded. */
struct decoder {
	struct ep_bytes columns[EP_RAW_N_COLUMNS];
	const char **strings;
	size_t n_strings;
	struct ep_event last;
	struct ep_sample last_sample;
	uint64_t last_from;
	struct ep_counted last_counted;
	bool failed; /* a number outside its limits */
};

static const char torn[] = "torn-capture";
static const char damaged[] = "damaged-capture";

/* Why the rest of the file is not read; kind NULL: it is well so far. */
struct verdict {
	const char *kind; /* of warning */
	const char *why;
};

static inline uint64_t number(struct decoder *d, unsigned column)
{
	struct ep_bytes *b = &d->columns[column];

	if (EP_LIKELY(b->pos < b->end && *b->pos < 0x80 && !b->failed))
		return *b->pos++;
	return ep_bytes_uleb(b);
}

static inline uint64_t difference(struct decoder *d, unsigned column)
{
	struct ep_bytes *b = &d->columns[column];

	if (EP_LIKELY(b->pos < b->end && *b->pos < 0x40 && !b->failed))
		return *b->pos++;
	return (uint64_t)ep_bytes_sleb(b);
}

static uint32_t number32(struct decoder *d, unsigned column)
{
	uint64_t v = number(d, column);

	d->failed |= v > UINT32_MAX;
	return (uint32_t)v;
}

static bool number_bool(struct decoder *d, unsigned column)
{
	uint64_t v = number(d, column);

	d->failed |= v > 1;
	return v & 1;
}

static int32_t to_i32(struct decoder *d, uint64_t v)
{
	d->failed |= (int64_t)v < INT32_MIN || (int64_t)v > INT32_MAX;
	return (int32_t)v;
}

static const char *string(struct decoder *d)
{
	uint64_t id = number(d, EP_RAW_COLUMN_NUMBERS);

	if (id < d->n_strings)
		return d->strings[id];
	d->failed = true;
	return "";
}

static void build_id(struct decoder *d, struct ep_build_id *ret)
{
	struct ep_bytes *b = &d->columns[EP_RAW_COLUMN_BYTES];

	ret->kind = ep_bytes_u8(b);
	ret->size = ep_bytes_u8(b);
	d->failed |= ret->size > EP_BUILD_ID_MAX;
	const unsigned char *bytes = d->failed ? NULL : ep_bytes_take(b, ret->size);
	if (bytes)
		memcpy(ret->bytes, bytes, ret->size);
}

static void get_map(struct decoder *d, struct ep_map *ret)
{
	ret->start = number(d, EP_RAW_COLUMN_NUMBERS);
	ret->len = number(d, EP_RAW_COLUMN_NUMBERS);
	ret->pgoff = number(d, EP_RAW_COLUMN_NUMBERS);
	uint64_t flags = number(d, EP_RAW_COLUMN_NUMBERS);
	d->failed |= (flags & ~(uint64_t)(EP_RAW_MAP_FILE | EP_RAW_MAP_KERNEL)) != 0;
	ret->is_file = flags & EP_RAW_MAP_FILE;
	ret->is_kernel = flags & EP_RAW_MAP_KERNEL;
	build_id(d, &ret->build_id);
	ret->path = string(d);
}

/* False: no memory. */
static bool get_branches(struct reader *r, struct decoder *d, uint32_t n)
{
	uint64_t last = d->last_from;

	r->branches.n = 0;
	if (!ep_vec_reserve(&r->branches, EP_MAX(n, 1u)))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t to = last - difference(d, EP_RAW_COLUMN_TO);
		last = to - difference(d, EP_RAW_COLUMN_FROM);
		uint64_t low = number(d, EP_RAW_COLUMN_CYCLES);
		uint64_t kind = number(d, EP_RAW_COLUMN_KIND);
		d->failed |= low > EP_RAW_INFO_LOW || kind >> (64 - EP_RAW_INFO_LOW_BITS);
		r->branches.v[i] =
		    (struct ep_branch){.from = last, .to = to, .info = ep_raw_info_join(low, kind)};
	}
	d->last_from = last;
	return true;
}

static bool get_sample(struct reader *r, struct decoder *d, struct ep_sample *ret)
{
	uint64_t depth = number(d, EP_RAW_COLUMN_SAMPLE);

	*ret = d->last_sample;
	ret->repeat = number(d, EP_RAW_COLUMN_SAMPLE);
	ret->period = number(d, EP_RAW_COLUMN_SAMPLE);
	if (number_bool(d, EP_RAW_COLUMN_SAMPLE)) {
		ret->flags = number32(d, EP_RAW_COLUMN_SAMPLE);
		ret->info_mask = number(d, EP_RAW_COLUMN_SAMPLE);
		ret->stream = number32(d, EP_RAW_COLUMN_SAMPLE);
		d->failed |= (ret->flags & EP_SAMPLE_STABLE) != 0;
	}
	ret->ip += difference(d, EP_RAW_COLUMN_IP);
	d->failed |= depth > EP_RAW_BRANCHES_MAX + UINT64_C(1);
	ret->n_branches = depth && !d->failed ? (uint32_t)depth - 1 : 0;
	d->last_sample = *ret;
	if (!depth) {
		ret->branches = NULL;
		return true;
	}
	if (!get_branches(r, d, ret->n_branches))
		return false;
	ret->branches = r->branches.v;
	return true;
}

static void get_counted(struct decoder *d, struct ep_counted *ret)
{
	ret->from = d->last_counted.from + difference(d, EP_RAW_COLUMN_COUNTED);
	ret->to = ret->from + difference(d, EP_RAW_COLUMN_COUNTED);
	ret->count = number(d, EP_RAW_COLUMN_COUNTED);
	ret->mispreds = number(d, EP_RAW_COLUMN_COUNTED);
	uint32_t type = number32(d, EP_RAW_COLUMN_COUNTED);
	ret->type = type >> 1;
	ret->open_end = type & 1;
	d->last_counted = *ret;
}

static void get_stream(struct decoder *d, struct ep_stream_info *ret)
{
	ret->stream = number32(d, EP_RAW_COLUMN_NUMBERS);
	ret->sampling = (enum ep_sampling)number32(d, EP_RAW_COLUMN_NUMBERS);
	ret->period = number(d, EP_RAW_COLUMN_NUMBERS);
	ret->exact = number_bool(d, EP_RAW_COLUMN_NUMBERS);
	ret->name = string(d);
}

static void get_build_id_event(struct decoder *d, struct ep_event *event)
{
	event->u.build_id.is_kernel = number_bool(d, EP_RAW_COLUMN_NUMBERS);
	build_id(d, &event->u.build_id.build_id);
	event->u.build_id.path = string(d);
}

static enum ep_event_type get_type(struct decoder *d)
{
	uint8_t type = ep_bytes_u8(&d->columns[EP_RAW_COLUMN_TYPE]);

	if (type >= EP_EVENT_STREAM && type <= EP_EVENT_CPU)
		return (enum ep_event_type)type;
	d->failed = true;
	return EP_EVENT_EXIT;
}

static void get_common(struct decoder *d, struct ep_event *event)
{
	event->type = get_type(d);
	uint64_t pid = (uint64_t)d->last.pid + difference(d, EP_RAW_COLUMN_PID);
	event->pid = to_i32(d, pid);
	event->tid = to_i32(d, pid + difference(d, EP_RAW_COLUMN_TID));
	uint64_t cpu = number(d, EP_RAW_COLUMN_CPU);
	d->failed |= cpu > UINT32_MAX;
	event->cpu = (uint32_t)cpu - 1; /* 0: unknown, UINT32_MAX */
	event->t_ns = d->last.t_ns + difference(d, EP_RAW_COLUMN_TIME);
	d->last.pid = event->pid;
	d->last.t_ns = event->t_ns;
}

/* False: no memory. What cannot be read sets `failed` of the decoder or of a column. */
static bool get_event(struct reader *r, struct decoder *d, struct ep_event *event)
{
	const unsigned numbers = EP_RAW_COLUMN_NUMBERS;

	memset(event, 0, sizeof(*event));
	get_common(d, event);
	switch (event->type) {
	case EP_EVENT_STREAM:
		get_stream(d, &event->u.stream);
		break;
	case EP_EVENT_MAP:
		get_map(d, &event->u.map);
		break;
	case EP_EVENT_UNMAP:
		event->u.unmap.start = number(d, numbers);
		event->u.unmap.len = number(d, numbers);
		break;
	case EP_EVENT_FORK:
		event->u.fork.ppid = (int32_t)number32(d, numbers);
		event->u.fork.ptid = (int32_t)number32(d, numbers);
		break;
	case EP_EVENT_COMM:
		event->u.comm.name = string(d);
		break;
	case EP_EVENT_SAMPLE:
		return get_sample(r, d, &event->u.sample);
	case EP_EVENT_EDGE:
	case EP_EVENT_RANGE:
		get_counted(d, &event->u.counted);
		break;
	case EP_EVENT_LOST:
		event->u.lost.reason = (enum ep_lost_reason)number32(d, numbers);
		event->u.lost.n = number(d, numbers);
		break;
	case EP_EVENT_END:
		event->u.end.n_samples = number(d, numbers);
		event->u.end.n_events = number(d, numbers);
		break;
	case EP_EVENT_BUILD_ID:
		get_build_id_event(d, event);
		break;
	case EP_EVENT_CPU:
		event->u.cpu.cpuid = string(d);
		break;
	case EP_EVENT_EXEC:
	case EP_EVENT_EXIT:
		break;
	}
	return true;
}

static bool decoder_failed(const struct decoder *d)
{
	bool failed = d->failed;

	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++)
		failed |= d->columns[i].failed;
	return failed;
}

/* Finds the strings of a block; false if the column does not hold just n of them. */
static bool split_strings(struct reader *r, struct decoder *d, uint32_t n, bool *nomem_ret)
{
	struct ep_bytes *b = &d->columns[EP_RAW_COLUMN_STRINGS];

	if (n > EP_RAW_STRINGS_MAX)
		return false;
	r->strings.n = 0;
	if (!ep_vec_reserve(&r->strings, n)) {
		*nomem_ret = true;
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		r->strings.v[i] = ep_bytes_cstr(b, NULL);
	d->strings = r->strings.v;
	d->n_strings = n;
	return !b->failed && !ep_bytes_left(b);
}

/* Cuts a block into its columns. */
static bool split_columns(const struct block *block, struct decoder *d, uint32_t *n_events_ret,
                          uint32_t *n_strings_ret)
{
	struct ep_bytes b = ep_bytes_init(block->data, block->n, ep_swap_for(false));
	uint32_t sizes[EP_RAW_N_COLUMNS];

	*n_events_ret = ep_bytes_u32(&b);
	*n_strings_ret = ep_bytes_u32(&b);
	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++)
		sizes[i] = ep_bytes_u32(&b);
	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++) {
		const unsigned char *p = ep_bytes_take(&b, sizes[i]);
		if (!p)
			return false;
		d->columns[i] = ep_bytes_init(p, sizes[i], false);
	}
	return !ep_bytes_left(&b) && *n_events_ret == sizes[EP_RAW_COLUMN_TYPE];
}

static void note_time(struct reader *r, const struct ep_event *event)
{
	bool counts = event->type == EP_EVENT_SAMPLE || event->type == EP_EVENT_EDGE ||
	              event->type == EP_EVENT_RANGE;

	if (!counts || !event->t_ns)
		return;
	if (!r->info.t_start_ns || event->t_ns < r->info.t_start_ns)
		r->info.t_start_ns = event->t_ns;
	r->info.t_end_ns = EP_MAX(r->info.t_end_ns, event->t_ns);
}

static struct ep_error *send(struct reader *r, const struct ep_event *event)
{
	r->n_events++;
	if (r->has_end) {
		r->has_end = false;
		EP_TRY(r->sink->event(r->sink->payload, &r->end));
	}
	if (event->type == EP_EVENT_END) {
		r->end = *event;
		r->has_end = true;
		return NULL;
	}
	note_time(r, event);
	return r->sink->event(r->sink->payload, event);
}

static struct ep_error *read_events(struct reader *r, const struct block *block,
                                    struct verdict *verdict)
{
	struct decoder d = {0};
	uint32_t n_events, n_strings;
	bool nomem = false;

	*verdict = (struct verdict){damaged, "malformed block"};
	if (!split_columns(block, &d, &n_events, &n_strings) ||
	    !split_strings(r, &d, n_strings, &nomem))
		return nomem ? ep_error_nomem() : NULL;
	for (uint32_t i = 0; i < n_events; i++) {
		struct ep_event event;
		if (!get_event(r, &d, &event))
			return ep_error_nomem();
		const char *problem =
		    decoder_failed(&d) ? "malformed event" : ep_raw_event_problem(&event);
		if (problem) {
			verdict->why = problem;
			return NULL;
		}
		EP_TRY(send(r, &event));
	}
	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++)
		if (ep_bytes_left(&d.columns[i]))
			return NULL;
	*verdict = (struct verdict){0};
	return NULL;
}

/* The value of a key, NULL if it is none that we know. */
static const char **info_field(struct ep_capture_info *info, const char *key)
{
	static const char *const keys[] = {"host", "kernel", "cpu", "cpuid", "arch", "cmdline"};
	const char **const fields[] = {&info->host,  &info->kernel, &info->cpu,
	                               &info->cpuid, &info->arch,   &info->cmdline};

	for (size_t i = 0; i < EP_ARRAY_LEN(keys); i++)
		if (!strcmp(key, keys[i]))
			return fields[i];
	return NULL;
}

static struct ep_error *read_info(struct reader *r, const struct block *block,
                                  struct ep_arena *arena, struct verdict *verdict)
{
	struct ep_bytes b = ep_bytes_init(block->data, block->n, false);

	*verdict = (struct verdict){0};
	while (ep_bytes_left(&b)) {
		size_t n;
		const char *key = ep_bytes_cstr(&b, NULL);
		const char *value = ep_bytes_cstr(&b, &n);
		if (!value || n > EP_RAW_STRING_MAX) {
			*verdict = (struct verdict){damaged, "malformed block"};
			return NULL;
		}
		const char **field = info_field(&r->info, key);
		if (!field || **field)
			continue;
		char *copy = ep_arena_strndup(arena, value, n);
		if (!copy)
			return ep_error_nomem();
		*field = copy;
	}
	return NULL;
}

/* `start`: where the footer begins. */
static struct verdict check_end(const struct reader *r, uint64_t start, const struct block *block)
{
	struct ep_bytes b = ep_bytes_init(block->data, block->n, ep_swap_for(false));
	uint64_t n_events = ep_bytes_u64(&b), size = ep_bytes_u64(&b);

	if (block->n != EP_RAW_END_SIZE || n_events != r->n_events || size != start)
		return (struct verdict){damaged, "footer does not agree with the blocks"};
	return (struct verdict){0};
}

static struct ep_error *read_bytes(struct reader *r, void *buf, size_t n, size_t *n_ret)
{
	*n_ret = 0;
	EP_TRY(r->source->read(r->source->payload, buf, n, n_ret));
	r->offset += *n_ret;
	return NULL;
}

/* Room for n bytes, the old ones not kept. */
static bool grow(unsigned char **buf, size_t *cap, size_t n)
{
	if (n <= *cap)
		return true;
	free(*buf);
	*buf = malloc(n);
	*cap = *buf ? n : 0;
	return *buf != NULL;
}

static struct ep_error *unpack(struct reader *r, size_t stored, size_t raw, struct block *block,
                               struct verdict *verdict)
{
	if (!grow(&r->raw, &r->raw_cap, EP_MAX(raw, (size_t)1)))
		return ep_error_nomem();
	size_t n = ZSTD_decompressDCtx(r->zstd, r->raw, raw, r->stored, stored);
	if (ZSTD_isError(n) || n != raw)
		*verdict = (struct verdict){damaged, "block cannot be decompressed"};
	block->data = r->raw;
	block->n = raw;
	return NULL;
}

/* The next block into memory; without one the verdict says why. */
static struct ep_error *read_block(struct reader *r, struct block *block, struct verdict *verdict)
{
	unsigned char header[EP_RAW_BLOCK_HEADER_SIZE];
	bool swap = ep_swap_for(false);
	size_t got;

	*verdict = (struct verdict){torn, "ends without its footer"};
	EP_TRY(read_bytes(r, header, sizeof(header), &got));
	if (got < sizeof(header))
		return NULL;
	block->type = ep_load_u32(header, swap);
	uint32_t index = ep_load_u32(header + 4, swap);
	uint32_t raw = ep_load_u32(header + 8, swap), stored = ep_load_u32(header + 12, swap);
	if (index != r->n_blocks || raw > EP_RAW_BLOCK_MAX || stored > EP_RAW_STORED_MAX) {
		*verdict = (struct verdict){damaged, "block header makes no sense"};
		return NULL;
	}
	if (!grow(&r->stored, &r->stored_cap, EP_MAX(stored, 1u)))
		return ep_error_nomem();
	EP_TRY(read_bytes(r, r->stored, stored, &got));
	if (got < stored)
		return NULL;
	if (ep_raw_checksum(header, r->stored, stored) !=
	    ep_load_u64(header + EP_RAW_HASHED_SIZE, swap)) {
		*verdict = (struct verdict){damaged, "checksum of a block is wrong"};
		return NULL;
	}
	*verdict = (struct verdict){0};
	r->n_blocks++;
	return unpack(r, stored, raw, block, verdict);
}

static struct ep_error *read_header(struct reader *r)
{
	unsigned char header[EP_RAW_HEADER_SIZE];
	bool swap = ep_swap_for(false);
	size_t got;

	EP_TRY(read_bytes(r, header, sizeof(header), &got));
	if (!ep_raw_detect(header, got))
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: not a raw capture", r->source->name);
	if (got < sizeof(header) ||
	    ep_raw_checksum(header, NULL, 0) != ep_load_u64(header + EP_RAW_HASHED_SIZE, swap))
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: header is damaged", r->source->name);
	uint32_t version = ep_load_u32(header + 8, swap);
	if (version != EP_RAW_VERSION)
		return ep_error_hint(ep_error_create(EP_ERROR_UNSUPPORTED,
		                                     "%s: raw capture of version %u",
		                                     r->source->name, version),
		                     "this program reads version %u", EP_RAW_VERSION);
	return NULL;
}

/* Nothing may follow the footer. */
static struct ep_error *check_eof(struct reader *r, struct verdict *verdict)
{
	unsigned char byte;
	size_t got;

	EP_TRY(read_bytes(r, &byte, 1, &got));
	if (got)
		*verdict = (struct verdict){damaged, "data behind the footer"};
	return NULL;
}

static struct ep_error *read_one(struct reader *r, struct ep_arena *arena, struct verdict *verdict)
{
	struct block block = {0};
	uint64_t start = r->offset;

	EP_TRY(read_block(r, &block, verdict));
	if (verdict->kind)
		return NULL;
	bool first = r->n_blocks == 1;
	if (first != (block.type == EP_RAW_BLOCK_INFO)) {
		*verdict = (struct verdict){damaged, "block out of place"};
		return NULL;
	}
	switch (block.type) {
	case EP_RAW_BLOCK_INFO:
		return read_info(r, &block, arena, verdict);
	case EP_RAW_BLOCK_EVENTS:
		return read_events(r, &block, verdict);
	case EP_RAW_BLOCK_END:
		*verdict = check_end(r, start, &block);
		r->closed = !verdict->kind;
		return r->closed ? check_eof(r, verdict) : NULL;
	default:
		*verdict = (struct verdict){damaged, "block of an unknown type"};
		return NULL;
	}
}

static struct ep_error *report(struct reader *r, uint64_t offset, const struct verdict *verdict,
                               struct ep_warnings *warnings)
{
	struct ep_event event = {
	    .type = EP_EVENT_LOST, .pid = EP_PID_UNKNOWN, .tid = -1, .cpu = UINT32_MAX};

	if (!r->n_blocks)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: offset 0x%llx: %s", r->source->name,
		                       (unsigned long long)offset, verdict->why);
	ep_warn(warnings, verdict->kind, "%s: offset 0x%llx: %s; the %llu events before are used",
	        r->source->name, (unsigned long long)offset, verdict->why,
	        (unsigned long long)r->n_events);
	event.u.lost.reason = EP_LOST_CORRUPT;
	event.u.lost.n = 1;
	return r->sink->event(r->sink->payload, &event);
}

static struct ep_error *read_all(struct reader *r, struct ep_warnings *warnings,
                                 struct ep_arena *arena)
{
	struct verdict verdict = {0};
	uint64_t start = 0;

	EP_TRY(read_header(r));
	while (!r->closed && !verdict.kind) {
		start = r->offset;
		EP_TRY(read_one(r, arena, &verdict));
	}
	if (verdict.kind)
		return report(r, start, &verdict, warnings);
	return r->has_end ? r->sink->event(r->sink->payload, &r->end) : NULL;
}

struct ep_error *ep_raw_read(const struct ep_raw_source *source, const struct ep_event_sink *sink,
                             struct ep_warnings *warnings, struct ep_arena *arena,
                             struct ep_capture_info *ret)
{
	struct reader r = {.source = source, .sink = sink, .zstd = ZSTD_createDCtx()};

	r.info = (struct ep_capture_info){
	    .host = "", .kernel = "", .cpu = "", .cpuid = "", .arch = "", .cmdline = ""};
	struct ep_error *err = r.zstd ? read_all(&r, warnings, arena) : ep_error_nomem();
	ZSTD_freeDCtx(r.zstd);
	free(r.stored);
	free(r.raw);
	ep_vec_deinit(&r.branches);
	ep_vec_deinit(&r.strings);
	if (!err)
		*ret = r.info;
	return err;
}

static struct ep_error *read_memory(void *payload, void *buf, size_t n, size_t *n_ret)
{
	struct ep_bytes *b = payload;

	*n_ret = EP_MIN(n, ep_bytes_left(b));
	if (*n_ret)
		memcpy(buf, ep_bytes_take(b, *n_ret), *n_ret);
	return NULL;
}

struct ep_error *ep_raw_read_memory(const char *name, const void *data, size_t n,
                                    const struct ep_event_sink *sink, struct ep_warnings *warnings,
                                    struct ep_arena *arena, struct ep_capture_info *ret)
{
	struct ep_bytes b = ep_bytes_init(data, n, false);
	struct ep_raw_source source = {.name = name, .read = read_memory, .payload = &b};

	return ep_raw_read(&source, sink, warnings, arena, ret);
}
