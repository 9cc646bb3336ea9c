/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing raw captures: events become columns, columns become compressed blocks. */
#include <errno.h>
#include <inttypes.h>
#include <zstd.h>

#include "base/out.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "record/raw_format.h"

struct ep_raw_writer {
	struct ep_out out;
	struct ep_digester *digester;
	struct ep_event_sink tee;
	ZSTD_CCtx *zstd;
	struct ep_buf raw, stored;
	uint64_t size, n_events;
	uint32_t n_blocks;

	/* The block being filled. */
	struct ep_buf columns[EP_RAW_N_COLUMNS];
	struct ep_strtab strings;
	uint32_t n_block_events;
	/* What differences refer to: all 0 at the start of a block. */
	struct ep_event last;
	struct ep_sample last_sample;
	uint64_t last_from;
	struct ep_counted last_counted;
};

/* At most this many bytes a number. */
#define NUMBER_MAX 10

static unsigned char *put_uleb(unsigned char *p, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		*p++ = (unsigned char)(v | 0x80);
	*p++ = (unsigned char)v;
	return p;
}

static unsigned char *put_sleb(unsigned char *p, uint64_t difference)
{
	int64_t v = (int64_t)difference;

	for (; v > 63 || v < -64; v >>= 7)
		*p++ = (unsigned char)(v | 0x80);
	*p++ = (unsigned char)(v & 0x7f);
	return p;
}

static void number(struct ep_raw_writer *w, unsigned column, uint64_t v)
{
	ep_buf_uleb(&w->columns[column], v);
}

static void difference(struct ep_raw_writer *w, unsigned column, uint64_t v)
{
	ep_buf_sleb(&w->columns[column], (int64_t)v);
}

/* Writes all of stored[0 .. n) to the file. */
static struct ep_error *write_bytes(struct ep_raw_writer *w, const void *data, size_t n)
{
	if (fwrite(data, 1, n, w->out.file) != n)
		return ep_error_os(errno, "%s: write",
		                   w->out.path ? w->out.path : "standard output");
	ep_digester_add(w->digester, data, n);
	w->size += n;
	return NULL;
}

static void store_u32(unsigned char *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static void store_u64(unsigned char *p, uint64_t v)
{
	for (unsigned i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static struct ep_error *write_header(struct ep_raw_writer *w)
{
	unsigned char header[EP_RAW_HEADER_SIZE] = {0};

	memcpy(header, ep_raw_magic, EP_RAW_DETECT_SIZE);
	store_u32(header + 8, EP_RAW_VERSION);
	store_u64(header + EP_RAW_HASHED_SIZE, ep_raw_checksum(header, NULL, 0));
	return write_bytes(w, header, sizeof(header));
}

/* Writes what is in w->raw as one block and hands it to the system. */
static struct ep_error *write_block(struct ep_raw_writer *w, enum ep_raw_block_type type)
{
	unsigned char header[EP_RAW_BLOCK_HEADER_SIZE];
	size_t bound = ZSTD_compressBound(w->raw.n);

	if (w->raw.failed || !ep_vec_reserve(&w->stored, bound))
		return ep_error_nomem();
	size_t n = ZSTD_compressCCtx(w->zstd, w->stored.v, w->stored.cap, w->raw.v, w->raw.n,
	                             EP_RAW_ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return ep_error_nomem();
	store_u32(header, type);
	store_u32(header + 4, w->n_blocks);
	store_u32(header + 8, (uint32_t)w->raw.n);
	store_u32(header + 12, (uint32_t)n);
	store_u64(header + EP_RAW_HASHED_SIZE, ep_raw_checksum(header, w->stored.v, n));
	EP_TRY(write_bytes(w, header, sizeof(header)));
	EP_TRY(write_bytes(w, w->stored.v, n));
	w->raw.n = 0;
	w->n_blocks++;
	if (fflush(w->out.file))
		return ep_error_os(errno, "%s: write",
		                   w->out.path ? w->out.path : "standard output");
	return NULL;
}

static void put_info(struct ep_buf *buf, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	ep_buf_put(buf, key, strlen(key) + 1);
	ep_buf_put(buf, value, strnlen(value, EP_RAW_STRING_MAX));
	ep_buf_u8(buf, 0);
}

static struct ep_error *write_info(struct ep_raw_writer *w, const struct ep_capture_info *info)
{
	put_info(&w->raw, "host", info->host);
	put_info(&w->raw, "kernel", info->kernel);
	put_info(&w->raw, "cpu", info->cpu);
	put_info(&w->raw, "cpuid", info->cpuid);
	put_info(&w->raw, "arch", info->arch);
	put_info(&w->raw, "cmdline", info->cmdline);
	return write_block(w, EP_RAW_BLOCK_INFO);
}

static size_t block_size(const struct ep_raw_writer *w)
{
	size_t n = EP_RAW_EVENTS_HEADER_SIZE;

	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++)
		n += w->columns[i].n;
	return n;
}

static void start_block(struct ep_raw_writer *w)
{
	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++)
		w->columns[i].n = 0;
	ep_strtab_deinit(&w->strings);
	w->n_block_events = 0;
	w->last = (struct ep_event){0};
	w->last_sample = (struct ep_sample){0};
	w->last_from = 0;
	w->last_counted = (struct ep_counted){0};
}

struct ep_error *ep_raw_writer_flush(struct ep_raw_writer *w)
{
	if (!w->n_block_events)
		return NULL;
	ep_buf_u32(&w->raw, w->n_block_events);
	ep_buf_u32(&w->raw, w->strings.n);
	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++)
		ep_buf_u32(&w->raw, (uint32_t)w->columns[i].n);
	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++)
		ep_buf_put(&w->raw, w->columns[i].v, w->columns[i].n);
	w->n_events += w->n_block_events;
	start_block(w);
	return write_block(w, EP_RAW_BLOCK_EVENTS);
}

/* The number of a string in this block. */
static struct ep_error *string(struct ep_raw_writer *w, const char *s)
{
	size_t n = strlen(s);
	uint32_t id;

	if (!ep_strtab_find(&w->strings, s, n, &id)) {
		EP_TRY(ep_strtab_add(&w->strings, s, n, &id));
		ep_buf_put(&w->columns[EP_RAW_COLUMN_STRINGS], s, n + 1);
	}
	number(w, EP_RAW_COLUMN_NUMBERS, id);
	return NULL;
}

static void build_id(struct ep_raw_writer *w, const struct ep_build_id *id)
{
	ep_buf_u8(&w->columns[EP_RAW_COLUMN_BYTES], id->kind);
	ep_buf_u8(&w->columns[EP_RAW_COLUMN_BYTES], id->size);
	ep_buf_put(&w->columns[EP_RAW_COLUMN_BYTES], id->bytes, id->size);
}

static struct ep_error *put_map(struct ep_raw_writer *w, const struct ep_map *map)
{
	number(w, EP_RAW_COLUMN_NUMBERS, map->start);
	number(w, EP_RAW_COLUMN_NUMBERS, map->len);
	number(w, EP_RAW_COLUMN_NUMBERS, map->pgoff);
	number(w, EP_RAW_COLUMN_NUMBERS,
	       (map->is_file ? EP_RAW_MAP_FILE : 0) | (map->is_kernel ? EP_RAW_MAP_KERNEL : 0));
	build_id(w, &map->build_id);
	return string(w, map->path);
}

static struct ep_error *put_branches(struct ep_raw_writer *w, const struct ep_sample *sample)
{
	static const unsigned columns[4] = {EP_RAW_COLUMN_TO, EP_RAW_COLUMN_FROM,
	                                    EP_RAW_COLUMN_CYCLES, EP_RAW_COLUMN_KIND};
	unsigned char *p[4];
	uint64_t last = w->last_from;

	for (size_t i = 0; i < 4; i++) {
		struct ep_buf *column = &w->columns[columns[i]];
		if (!ep_vec_reserve(column, (size_t)sample->n_branches * NUMBER_MAX))
			return ep_error_nomem();
		p[i] = column->v + column->n;
	}
	for (size_t i = 0; i < sample->n_branches; i++) {
		struct ep_branch b;
		memcpy(&b, (const unsigned char *)sample->branches + i * sizeof(b), sizeof(b));
		p[0] = put_sleb(p[0], last - b.to);
		p[1] = put_sleb(p[1], b.to - b.from);
		p[2] = put_uleb(p[2], b.info & EP_RAW_INFO_LOW);
		p[3] = put_uleb(p[3], ep_raw_info_kind(b.info));
		last = b.from;
	}
	w->last_from = last;
	for (size_t i = 0; i < 4; i++)
		w->columns[columns[i]].n = (size_t)(p[i] - w->columns[columns[i]].v);
	return NULL;
}

static struct ep_error *put_sample(struct ep_raw_writer *w, const struct ep_sample *sample)
{
	uint32_t flags = sample->flags & ~EP_SAMPLE_STABLE;
	struct ep_sample *last = &w->last_sample;
	bool same = flags == last->flags && sample->info_mask == last->info_mask &&
	            sample->stream == last->stream;

	number(w, EP_RAW_COLUMN_SAMPLE, sample->branches ? sample->n_branches + UINT64_C(1) : 0);
	number(w, EP_RAW_COLUMN_SAMPLE, sample->repeat);
	number(w, EP_RAW_COLUMN_SAMPLE, sample->period);
	number(w, EP_RAW_COLUMN_SAMPLE, same ? 0 : 1);
	if (!same) {
		number(w, EP_RAW_COLUMN_SAMPLE, flags);
		number(w, EP_RAW_COLUMN_SAMPLE, sample->info_mask);
		number(w, EP_RAW_COLUMN_SAMPLE, sample->stream);
	}
	difference(w, EP_RAW_COLUMN_IP, sample->ip - last->ip);
	*last = *sample;
	last->flags = flags;
	return sample->branches ? put_branches(w, sample) : NULL;
}

static void put_counted(struct ep_raw_writer *w, const struct ep_counted *counted)
{
	difference(w, EP_RAW_COLUMN_COUNTED, counted->from - w->last_counted.from);
	difference(w, EP_RAW_COLUMN_COUNTED, counted->to - counted->from);
	number(w, EP_RAW_COLUMN_COUNTED, counted->count);
	number(w, EP_RAW_COLUMN_COUNTED, counted->mispreds);
	number(w, EP_RAW_COLUMN_COUNTED, counted->type << 1 | counted->open_end);
	w->last_counted = *counted;
}

static struct ep_error *put_stream(struct ep_raw_writer *w, const struct ep_stream_info *stream)
{
	number(w, EP_RAW_COLUMN_NUMBERS, stream->stream);
	number(w, EP_RAW_COLUMN_NUMBERS, stream->sampling);
	number(w, EP_RAW_COLUMN_NUMBERS, stream->period);
	number(w, EP_RAW_COLUMN_NUMBERS, stream->exact);
	return string(w, stream->name);
}

static struct ep_error *put_build_id_event(struct ep_raw_writer *w, const struct ep_event *event)
{
	number(w, EP_RAW_COLUMN_NUMBERS, event->u.build_id.is_kernel);
	build_id(w, &event->u.build_id.build_id);
	return string(w, event->u.build_id.path);
}

static void put_two(struct ep_raw_writer *w, uint64_t a, uint64_t b)
{
	number(w, EP_RAW_COLUMN_NUMBERS, a);
	number(w, EP_RAW_COLUMN_NUMBERS, b);
}

static struct ep_error *put_body(struct ep_raw_writer *w, const struct ep_event *event)
{
	switch (event->type) {
	case EP_EVENT_STREAM:
		return put_stream(w, &event->u.stream);
	case EP_EVENT_MAP:
		return put_map(w, &event->u.map);
	case EP_EVENT_UNMAP:
		put_two(w, event->u.unmap.start, event->u.unmap.len);
		return NULL;
	case EP_EVENT_FORK:
		put_two(w, (uint32_t)event->u.fork.ppid, (uint32_t)event->u.fork.ptid);
		return NULL;
	case EP_EVENT_COMM:
		return string(w, event->u.comm.name);
	case EP_EVENT_SAMPLE:
		return put_sample(w, &event->u.sample);
	case EP_EVENT_EDGE:
	case EP_EVENT_RANGE:
		put_counted(w, &event->u.counted);
		return NULL;
	case EP_EVENT_LOST:
		put_two(w, event->u.lost.reason, event->u.lost.n);
		return NULL;
	case EP_EVENT_END:
		put_two(w, event->u.end.n_samples, event->u.end.n_events);
		return NULL;
	case EP_EVENT_BUILD_ID:
		return put_build_id_event(w, event);
	case EP_EVENT_CPU:
		return string(w, event->u.cpu.cpuid);
	case EP_EVENT_EXEC:
	case EP_EVENT_EXIT:
		break;
	}
	return NULL;
}

static void put_common(struct ep_raw_writer *w, const struct ep_event *event)
{
	ep_buf_u8(&w->columns[EP_RAW_COLUMN_TYPE], (uint8_t)event->type);
	difference(w, EP_RAW_COLUMN_PID, (uint64_t)event->pid - (uint64_t)w->last.pid);
	difference(w, EP_RAW_COLUMN_TID, (uint64_t)event->tid - (uint64_t)event->pid);
	number(w, EP_RAW_COLUMN_CPU, event->cpu == UINT32_MAX ? 0 : event->cpu + UINT64_C(1));
	difference(w, EP_RAW_COLUMN_TIME, event->t_ns - w->last.t_ns);
	w->last.pid = event->pid;
	w->last.t_ns = event->t_ns;
}

static struct ep_error *write_event(void *payload, const struct ep_event *event)
{
	struct ep_raw_writer *w = payload;

	if (w->tee.event)
		EP_TRY(w->tee.event(w->tee.payload, event));
	const char *problem = ep_raw_event_problem(event);
	if (problem)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: event %" PRIu64 ": %s",
		                       w->out.path ? w->out.path : "standard output",
		                       w->n_events + w->n_block_events, problem);
	put_common(w, event);
	EP_TRY(put_body(w, event));
	w->n_block_events++;
	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++)
		if (w->columns[i].failed)
			return ep_error_nomem();
	if (block_size(w) >= EP_RAW_BLOCK_CUT || w->strings.n >= EP_RAW_STRINGS_MAX)
		return ep_raw_writer_flush(w);
	return NULL;
}

struct ep_error *ep_raw_writer_create(const char *path, const struct ep_capture_info *info,
                                      const struct ep_event_sink *tee, struct ep_raw_writer **ret)
{
	struct ep_raw_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return ep_error_nomem();
	if (tee)
		w->tee = *tee;
	w->zstd = ZSTD_createCCtx();
	struct ep_error *err = w->zstd ? ep_digester_create(&w->digester) : ep_error_nomem();
	if (!err)
		err = ep_out_open(path, &w->out);
	if (!err)
		err = write_header(w);
	if (!err)
		err = write_info(w, info);
	if (err) {
		ep_raw_writer_abort(w);
		return err;
	}
	*ret = w;
	return NULL;
}

struct ep_event_sink ep_raw_writer_sink(struct ep_raw_writer *w)
{
	return (struct ep_event_sink){.event = write_event, .payload = w};
}

static struct ep_error *write_end(struct ep_raw_writer *w)
{
	EP_TRY(ep_raw_writer_flush(w));
	ep_buf_u64(&w->raw, w->n_events);
	ep_buf_u64(&w->raw, w->size);
	EP_TRY(write_block(w, EP_RAW_BLOCK_END));
	return ep_out_commit(&w->out);
}

struct ep_error *ep_raw_writer_commit(struct ep_raw_writer *w, uint8_t digest_ret[EP_DIGEST_SIZE])
{
	struct ep_error *err = write_end(w);

	if (!err && digest_ret) {
		ep_digester_finish(w->digester, digest_ret);
		w->digester = NULL;
	}
	ep_raw_writer_abort(w);
	return err;
}

void ep_raw_writer_abort(struct ep_raw_writer *w)
{
	if (!w)
		return;
	ep_out_abort(&w->out);
	ep_digester_destroy(w->digester);
	ZSTD_freeCCtx(w->zstd);
	for (size_t i = 0; i < EP_RAW_N_COLUMNS; i++)
		ep_buf_deinit(&w->columns[i]);
	ep_strtab_deinit(&w->strings);
	ep_buf_deinit(&w->raw);
	ep_buf_deinit(&w->stored);
	free(w);
}
