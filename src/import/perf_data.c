/* SPDX-License-Identifier: BSD-2-Clause */
/* The frame of perf.data: headers, sections and the walk over records. */
#include "import/perf_data.h"

#include <inttypes.h>
#include <string.h>

#include "base/count.h"
#include "import/perf_data_reader.h"

/* Bytes in front of the records (attrs and ids) that a stream must hold at once. */
#define FRONT_MAX ((uint64_t)64 << 20)
/* Header features behind the records of a stream that are kept. */
#define BACK_MAX ((size_t)64 << 20)
/* How much is searched at a time for the next record behind damage. */
#define RESYNC_STEP ((size_t)256 << 10)
/* Limits of what waits for its order: 24 bytes and 1 MiB each. */
#define MAX_ITEMS ((size_t)1 << 20)
#define MAX_CHUNKS ((size_t)64)

struct section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t size, attr_size;
	struct section attrs, data;
	uint64_t features[PERF_FEAT_BITS / 64];
};

/* Bytes of the input that are at hand, from offset `base` on. */
struct view {
	const unsigned char *p;
	uint64_t base, n;
};

static bool is_magic(const unsigned char *p)
{
	return !memcmp(p, "PERFILE2", 8) || !memcmp(p, "2ELIFREP", 8) || !memcmp(p, "PERFFILE", 8);
}

bool ep_perf_data_detect(const void *data, size_t n)
{
	return n >= 8 && is_magic(data);
}

/* The section's bytes in the view; NULL: not all of them are there. */
static const unsigned char *view_at(const struct view *view, uint64_t offset, uint64_t size)
{
	if (offset < view->base || offset - view->base > view->n ||
	    size > view->n - (offset - view->base))
		return NULL;
	return view->p + (offset - view->base);
}

/*
 * Version 2 tells the byte order by its magic. That of version 1 reads the same in both: there the
 * header's size decides.
 */
static struct ep_error *find_byte_order(struct ep_perf_reader *r)
{
	const unsigned char *p = r->in->data;
	uint64_t size;

	r->big_endian = p[0] == '2';
	if (!memcmp(p, "PERFFILE", 8)) {
		size = ep_load_u64(p + 8, ep_swap_for(true));
		r->big_endian = size <= UINT16_MAX;
	}
	r->swap = ep_swap_for(r->big_endian);
	size = ep_load_u64(p + 8, r->swap);
	r->is_pipe = size == PERF_PIPE_HEADER_SIZE;
	if (r->is_pipe || size == PERF_HEADER_SIZE_OLD ||
	    (size >= PERF_HEADER_SIZE && size <= UINT16_MAX))
		return NULL;
	return ep_error_create(EP_ERROR_BAD_DATA, "%s: perf.data header of %" PRIu64 " bytes",
	                       r->in->name, size);
}

static struct ep_error *read_file_header(struct ep_perf_reader *r, struct file_header *ret)
{
	struct file_header h = {0};

	EP_TRY(ep_input_fill(r->in, PERF_HEADER_SIZE));
	struct ep_bytes b = ep_bytes_init(r->in->data, r->in->n, r->swap);
	(void)ep_bytes_u64(&b);
	h.size = ep_bytes_u64(&b);
	h.attr_size = ep_bytes_u64(&b);
	h.attrs.offset = ep_bytes_u64(&b);
	h.attrs.size = ep_bytes_u64(&b);
	h.data.offset = ep_bytes_u64(&b);
	h.data.size = ep_bytes_u64(&b);
	(void)ep_bytes_take(&b, 16); /* event types: obsolete */
	if (h.size >= PERF_HEADER_SIZE)
		for (size_t i = 0; i < EP_ARRAY_LEN(h.features); i++)
			h.features[i] = ep_bytes_u64(&b);
	if (b.failed)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: ends inside its header",
		                       r->in->name);
	/* Written by a 32-bit big-endian machine: the halves are swapped. */
	if (r->big_endian && h.features[0] >> 32 && !(h.features[0] & 0xfffffffe))
		for (size_t i = 0; i < EP_ARRAY_LEN(h.features); i++)
			h.features[i] = h.features[i] << 32 | h.features[i] >> 32;
	*ret = h;
	return NULL;
}

/* The ids of the event last added. */
static struct ep_error *read_ids(struct ep_perf_reader *r, const struct view *view,
                                 struct section ids)
{
	const unsigned char *p = view_at(view, ids.offset, ids.size);

	if (!ids.size)
		return NULL;
	if (!p || ids.size % 8) {
		ep_warn(r->warnings, "bad-ids",
		        "%s: offset 0x%" PRIx64 ": the ids of event %zu "
		        "cannot be read",
		        r->in->name, ids.offset, r->attrs.attrs.n - 1);
		return NULL;
	}
	for (uint64_t i = 0; i < ids.size; i += 8)
		EP_TRY(
		    ep_perf_id_add(r, (uint32_t)r->attrs.attrs.n - 1, ep_load_u64(p + i, r->swap)));
	return NULL;
}

/* An element of the attrs section: an attr as long as it says itself, then its section of ids. */
static struct ep_error *read_attr(struct ep_perf_reader *r, const struct view *view,
                                  const unsigned char *p, size_t n, uint64_t offset)
{
	size_t own = ep_load_u32(p + 4, r->swap);
	bool ok = false;

	own = own ? own : PERF_ATTR_MIN;
	size_t at = own <= n - 16 ? own : n - 16;
	EP_TRY(ep_perf_attr_add(r, p, at, &ok));
	if (!ok) {
		ep_warn(r->warnings, "bad-attr", "%s: offset 0x%" PRIx64 ": event of %zu bytes",
		        r->in->name, offset, own);
		return NULL;
	}
	return read_ids(
	    r, view,
	    (struct section){ep_load_u64(p + at, r->swap), ep_load_u64(p + at + 8, r->swap)});
}

static struct ep_error *read_attrs(struct ep_perf_reader *r, const struct file_header *h,
                                   const struct view *view)
{
	const unsigned char *p = view_at(view, h->attrs.offset, h->attrs.size);

	if (!p || h->attr_size < PERF_ATTR_MIN + 16 || h->attr_size > h->attrs.size) {
		struct ep_error *err = ep_error_create(
		    EP_ERROR_BAD_DATA,
		    "%s: no event descriptions at offset 0x%" PRIx64 " (%" PRIu64 " bytes)",
		    r->in->name, h->attrs.offset, h->attrs.size);
		return view->n < h->attrs.offset && !r->in->map
		           ? ep_error_hint(err, "give the file by its name, not through a pipe")
		           : err;
	}
	for (uint64_t at = 0; h->attrs.size - at >= h->attr_size; at += h->attr_size)
		EP_TRY(read_attr(r, view, p + at, (size_t)h->attr_size, h->attrs.offset + at));
	if (!r->attrs.attrs.n)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: describes no event", r->in->name);
	return NULL;
}

/* The features in the view, whose table of sections stands at `offset`. */
static struct ep_error *read_features(struct ep_perf_reader *r, const struct file_header *h,
                                      const struct view *view, uint64_t offset)
{
	for (unsigned i = 0; i < PERF_FEAT_BITS; i++) {
		if (!(h->features[i / 64] >> i % 64 & 1))
			continue;
		const unsigned char *p = view_at(view, offset, 16);
		struct section s = {0};
		if (p)
			s = (struct section){ep_load_u64(p, r->swap), ep_load_u64(p + 8, r->swap)};
		const unsigned char *body = p ? view_at(view, s.offset, s.size) : NULL;
		if (!body)
			ep_warn(r->warnings, "bad-feature",
			        "%s: header feature %u lies outside the input", r->in->name, i);
		else
			EP_TRY(ep_perf_feature(r, i, body, (size_t)s.size, s.offset));
		if (i == PERF_FEAT_DIR_FORMAT && !r->in->is_dir)
			ep_warn(r->warnings, "directory-part",
			        "%s: is one file of a directory; give the directory to read all",
			        r->in->name);
		offset += 16;
	}
	return NULL;
}

/* Steps over the payload that follows a record and is not counted in its size. */
static struct ep_error *skip_payload(struct ep_perf_reader *r, uint64_t n)
{
	uint64_t done;

	EP_TRY(ep_input_skip(r->in, n, &done));
	if (done == n)
		return NULL;
	r->unfinished = true;
	return ep_perf_corrupt(r, "truncated", "the input ends inside trace data");
}

/* HEADER_ATTR: an attr, then its ids to the record's end. */
static struct ep_error *take_header_attr(struct ep_perf_reader *r, const unsigned char *rec,
                                         size_t size)
{
	size_t n = size - PERF_RECORD_HEADER, own = n >= 8 ? ep_load_u32(rec + 12, r->swap) : 0;
	bool ok = false;

	own = own ? own : PERF_ATTR_MIN;
	if (own <= n)
		EP_TRY(ep_perf_attr_add(r, rec + PERF_RECORD_HEADER, own, &ok));
	if (!ok)
		return ep_perf_corrupt(r, "bad-attr", "an event description that makes no sense");
	for (size_t at = PERF_RECORD_HEADER + own; at + 8 <= size; at += 8)
		EP_TRY(ep_perf_id_add(r, (uint32_t)r->attrs.attrs.n - 1,
		                      ep_load_u64(rec + at, r->swap)));
	return NULL;
}

/* EVENT_UPDATE: a new name for the event with an id. */
static struct ep_error *take_event_update(struct ep_perf_reader *r, const unsigned char *rec,
                                          size_t size)
{
	enum { UPDATE_NAME = 2 };
	struct ep_bytes b = ep_bytes_init(rec, size, r->swap);

	(void)ep_bytes_take(&b, PERF_RECORD_HEADER);
	uint64_t kind = ep_bytes_u64(&b), id = ep_bytes_u64(&b);
	const char *name = kind == UPDATE_NAME ? ep_bytes_cstr(&b, NULL) : NULL;
	if (!name)
		return NULL;
	char *copy = ep_arena_strndup(&r->in->arena, name, strlen(name));
	if (!copy || !ep_vec_push(&r->attrs.descs,
	                          (struct ep_perf_desc){.name = copy, .id = id, .n_ids = 1}))
		return ep_error_nomem();
	r->attrs.settled = false;
	return NULL;
}

/* Records that describe the recording, found among the others in pipes. */
static struct ep_error *take_described(struct ep_perf_reader *r, const unsigned char *rec,
                                       uint32_t type, size_t size)
{
	bool ok = false;

	switch (type) {
	case PERF_HEADER_ATTR:
		return take_header_attr(r, rec, size);
	case PERF_EVENT_UPDATE:
		return take_event_update(r, rec, size);
	case PERF_HEADER_BUILD_ID:
		EP_TRY(ep_perf_build_id_read(r, rec, size, &ok));
		if (!ok)
			ep_warn(r->warnings, "bad-feature",
			        "%s: offset 0x%" PRIx64 ": a build-id record is damaged",
			        r->in->name, r->in->offset);
		return NULL;
	default: /* HEADER_FEATURE: number, body */
		if (size < PERF_RECORD_HEADER + 8)
			return NULL;
		uint64_t feature = ep_load_u64(rec + PERF_RECORD_HEADER, r->swap);
		return feature < PERF_FEAT_BITS ? ep_perf_feature(r, (unsigned)feature, rec + 16,
		                                                  size - 16, r->in->offset + 16)
		                                : NULL;
	}
}

enum { COMPRESSED2_HEADER = 16 };

/*
 * COMPRESSED2 whose size did not fit its 16 bits (perf 6.16 and later): data_size is right. Output
 * that was too much for one record stands in several, one behind the other; the first tells the
 * data size of all, the later ones a right size and no data size. Padding is not written.
 *
 * Returns the bytes of zstd data in the first of them, in p[0..total): each but the last is full,
 * for which two sizes are possible, and the last ends where it should. 0: neither fits.
 */
static size_t find_first_piece(const struct ep_perf_reader *r, const unsigned char *p, size_t total)
{
	static const size_t full[] = {65519, 65527};

	if (total <= COMPRESSED2_HEADER + full[0])
		return total - COMPRESSED2_HEADER;
	for (size_t i = 0; i < EP_ARRAY_LEN(full); i++) {
		size_t at = COMPRESSED2_HEADER + full[i];
		while (at < total && total - at > COMPRESSED2_HEADER &&
		       ep_load_u32(p + at, r->swap) == PERF_COMPRESSED2 &&
		       ep_load_u16(p + at + 6, r->swap) > COMPRESSED2_HEADER)
			at += ep_load_u16(p + at + 6, r->swap);
		if (at == total)
			return full[i];
	}
	return 0;
}

static struct ep_error *feed_pieces(struct ep_perf_reader *r, const unsigned char *p, size_t total)
{
	size_t n = find_first_piece(r, p, total);

	if (!n)
		return ep_perf_corrupt(r, "bad-record",
		                       "compressed record of a size that is wrong");
	for (size_t at = 0; at < total; at += COMPRESSED2_HEADER + n) {
		if (at)
			n = ep_load_u16(p + at + 6, r->swap) - (size_t)COMPRESSED2_HEADER;
		EP_TRY(ep_perf_zstd_feed(r, p + at + COMPRESSED2_HEADER, n));
	}
	return NULL;
}

static struct ep_error *take_oversized(struct ep_perf_reader *r, uint64_t data_size)
{
	size_t total = COMPRESSED2_HEADER + (size_t)data_size, padding = -total & 7;

	ep_warn(r->warnings, "oversized-record",
	        "%s: offset 0x%" PRIx64
	        ": a compressed record with a size that overflowed (a bug of "
	        "some versions of perf), read by its data size",
	        r->in->name, r->in->offset);
	EP_TRY(ep_input_fill(r->in, total + padding + PERF_RECORD_HEADER));
	if (r->in->n < total) {
		r->unfinished = true;
		ep_input_consume(r->in, r->in->n);
		return ep_perf_corrupt(r, "truncated", "the last record is incomplete");
	}
	EP_TRY(feed_pieces(r, r->in->data, total));
	ep_input_consume(r->in, total);
	/* A version in which only that was mended may write the padding. */
	if (r->in->n >= padding + PERF_RECORD_HEADER && !ep_perf_is_likely(r, r->in->data) &&
	    ep_perf_is_likely(r, r->in->data + padding))
		ep_input_consume(r->in, padding);
	return NULL;
}

/* True if the window starts with such a record. */
static bool is_oversized(const struct ep_perf_reader *r, size_t size, uint64_t *data_size_ret)
{
	const struct ep_input *in = r->in;

	if (in->n < COMPRESSED2_HEADER || ep_load_u32(in->data, r->swap) != PERF_COMPRESSED2)
		return false;
	uint64_t data_size = ep_load_u64(in->data + PERF_RECORD_HEADER, r->swap);
	uint64_t total = (COMPRESSED2_HEADER + data_size + 7) & ~UINT64_C(7);
	*data_size_ret = data_size;
	return data_size < EP_INPUT_WINDOW_MAX && total > UINT16_MAX && (total & 0xffff) == size;
}

/* The record at the window's start, which holds all of it. Consumes it. */
static struct ep_error *take_record(struct ep_perf_reader *r, uint32_t type, size_t size)
{
	const unsigned char *rec = r->in->data;
	uint64_t payload = 0, n;

	switch (type) {
	case PERF_HEADER_ATTR:
	case PERF_HEADER_BUILD_ID:
	case PERF_EVENT_UPDATE:
	case PERF_HEADER_FEATURE:
		EP_TRY(take_described(r, rec, type, size));
		break;
	case PERF_COMPRESSED:
		EP_TRY(ep_perf_zstd_feed(r, rec + PERF_RECORD_HEADER, size - PERF_RECORD_HEADER));
		break;
	case PERF_COMPRESSED2:
		n = size >= COMPRESSED2_HEADER ? ep_load_u64(rec + 8, r->swap) : UINT64_MAX;
		if (n > size - COMPRESSED2_HEADER)
			EP_TRY(ep_perf_corrupt(r, "bad-record", "compressed data over its record"));
		else
			EP_TRY(ep_perf_zstd_feed(r, rec + COMPRESSED2_HEADER, (size_t)n));
		break;
	case PERF_AUXTRACE:
		payload = size >= 16 ? ep_load_u64(rec + 8, r->swap) : 0;
		break;
	case PERF_TRACING_DATA:
		payload =
		    size >= 12 ? (ep_load_u32(rec + 8, r->swap) + UINT64_C(7)) & ~UINT64_C(7) : 0;
		break;
	default:
		EP_TRY(ep_perf_record(r, rec, size, r->in->map ? EP_PERF_IN_MAP : EP_PERF_IN_WINDOW,
		                      0));
		break;
	}
	ep_input_consume(r->in, size);
	return payload ? skip_payload(r, payload) : NULL;
}

/* Behind a record without size: the next place that looks like one, or the end of the input. */
static struct ep_error *find_next(struct ep_perf_reader *r)
{
	EP_TRY(ep_perf_corrupt(r, "bad-record", "record of a size under 8 bytes"));
	ep_input_consume(r->in, 1);
	for (;;) {
		EP_TRY(ep_input_fill(r->in, RESYNC_STEP));
		size_t at = ep_perf_resync(r, r->in->data, r->in->n, 0, r->in->eof);
		if (at < r->in->n || r->in->eof) {
			ep_input_consume(r->in, at);
			return NULL;
		}
		/* A chain of headers may begin in the last part. */
		ep_input_consume(r->in, r->in->n - PERF_RECORD_MAX);
	}
}

struct ep_error *ep_perf_read_records(struct ep_perf_reader *r, uint64_t stop, uint64_t end)
{
	while (r->in->offset < stop) {
		uint64_t data_size;

		if (EP_UNLIKELY(r->in->n < COMPRESSED2_HEADER))
			EP_TRY(ep_input_fill(r->in, COMPRESSED2_HEADER));
		if (EP_UNLIKELY(r->in->n < PERF_RECORD_HEADER))
			break;
		uint32_t type = ep_load_u32(r->in->data, r->swap);
		size_t size = ep_load_u16(r->in->data + 6, r->swap);
		if (EP_UNLIKELY(type == PERF_COMPRESSED2) && is_oversized(r, size, &data_size)) {
			EP_TRY(take_oversized(r, data_size));
			continue;
		}
		if (EP_UNLIKELY(size < PERF_RECORD_HEADER)) {
			EP_TRY(find_next(r));
			continue;
		}
		if (EP_UNLIKELY(r->in->n < size))
			EP_TRY(ep_input_fill(r->in, size));
		if (EP_UNLIKELY(r->in->n < size || size > end - r->in->offset))
			break;
		EP_TRY(take_record(r, type, size));
	}
	return NULL;
}

/*
 * The header says how far the records go, but the input ends in front of that: counts as many as
 * there are at the very least.
 */
static struct ep_error *count_missing(struct ep_perf_reader *r, uint64_t end)
{
	struct ep_event event = {.type = EP_EVENT_LOST};
	uint64_t missing = end - r->in->offset;

	ep_warn(r->warnings, "truncated",
	        "%s: is cut at offset 0x%" PRIx64 ", its records should go to 0x%" PRIx64
	        ": %" PRIu64 " bytes are missing, with all the samples in them",
	        r->in->name, r->in->offset, end, missing - EP_MIN(missing, (uint64_t)r->in->n));
	event.u.lost.reason = EP_LOST_CORRUPT;
	event.u.lost.n = missing / PERF_RECORD_MAX + !!(missing % PERF_RECORD_MAX);
	return ep_perf_send(r, &event);
}

struct ep_error *ep_perf_check_end(struct ep_perf_reader *r, uint64_t end)
{
	bool has_end = end != UINT64_MAX, torn = r->in->offset < end && r->in->n;

	if (torn || (has_end && r->in->offset < end)) {
		r->unfinished = true;
		if (has_end && r->in->eof)
			EP_TRY(count_missing(r, end));
		else
			EP_TRY(ep_perf_corrupt(r, "truncated", "the last record is incomplete"));
	}
	return ep_perf_zstd_finish(r);
}

static struct ep_error *read_data(struct ep_perf_reader *r, uint64_t end)
{
	EP_TRY(ep_perf_read_records(r, end, end));
	EP_TRY(ep_perf_check_end(r, end));
	if (r->in->n_parts)
		EP_TRY(ep_perf_read_parts(r));
	return ep_perf_order_flush(&r->order);
}

/* The features behind the records of a stream: names come late, but they come. */
static struct ep_error *read_late_features(struct ep_perf_reader *r, const struct file_header *h)
{
	struct view view;

	EP_TRY(ep_input_fill(r->in, 1));
	while (!r->in->eof && r->in->n < BACK_MAX)
		EP_TRY(ep_input_fill(r->in, r->in->n + 1));
	view = (struct view){r->in->data, r->in->offset, r->in->n};
	EP_TRY(read_features(r, h, &view, r->in->offset));
	EP_TRY(ep_perf_attrs_settle(r));
	for (size_t i = 0; i < r->attrs.attrs.n; i++)
		if (r->attrs.attrs.v[i].announced)
			EP_TRY(ep_perf_attr_announce(r, &r->attrs.attrs.v[i]));
	return NULL;
}

static struct ep_error *read_file(struct ep_perf_reader *r)
{
	struct file_header h;
	uint64_t end, skipped;

	EP_TRY(ep_input_spool(r->in));
	EP_TRY(read_file_header(r, &h));
	struct view view = {r->in->map, 0, r->in->map_size};
	if (!r->in->map) {
		EP_TRY(ep_input_fill(r->in, (size_t)EP_MIN(h.data.offset, FRONT_MAX)));
		view = (struct view){r->in->data, 0, r->in->n};
	}
	EP_TRY(read_attrs(r, &h, &view));
	if (__builtin_add_overflow(h.data.offset, h.data.size, &end))
		end = UINT64_MAX - 1;
	if (!h.data.size) {
		r->unfinished = true;
		end = UINT64_MAX;
		ep_warn(r->warnings, "unfinished",
		        "%s: the recorder was stopped before it could finish the file, read as far "
		        "as it goes",
		        r->in->name);
	} else if (r->in->map && end <= r->in->map_size) {
		EP_TRY(read_features(r, &h, &view, end));
	} else if (!r->in->map) {
		r->late_ids = true;
		ep_warn(
		    r->warnings, "late-header",
		    "%s: has its header at the end and cannot be stored in TMPDIR, so CPU errata "
		    "are not known while it is read",
		    r->in->name);
	}
	EP_TRY(ep_input_skip(r->in, h.data.offset, &skipped));
	EP_TRY(read_data(r, end));
	return r->unfinished || r->in->map ? NULL : read_late_features(r, &h);
}

static struct ep_error *read_pipe(struct ep_perf_reader *r)
{
	r->late_ids = true;
	ep_input_consume(r->in, PERF_PIPE_HEADER_SIZE);
	return read_data(r, UINT64_MAX);
}

/* What is told at the end. */
static struct ep_error *send_end(struct ep_perf_reader *r)
{
	struct ep_event event = {.type = EP_EVENT_LOST};

	if (r->order.n_late)
		ep_warn(r->warnings, "late-records",
		        "%s: %" PRIu64 " records came too late to be put in order", r->in->name,
		        r->order.n_late);
	if (r->n_lost_synth > r->n_lost) {
		event.u.lost.reason = EP_LOST_RECORDER;
		event.u.lost.n = r->n_lost_synth - r->n_lost;
		EP_TRY(ep_perf_send(r, &event));
	}
	EP_TRY(ep_perf_build_ids_send(r));
	if (r->unfinished)
		return NULL;
	event = (struct ep_event){.type = EP_EVENT_END};
	return ep_perf_send(r, &event);
}

static struct ep_error *run(struct ep_perf_reader *r)
{
	EP_TRY(ep_input_fill(r->in, PERF_PIPE_HEADER_SIZE));
	if (r->in->n < PERF_PIPE_HEADER_SIZE || !is_magic(r->in->data))
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: not a perf.data header",
		                       r->in->name);
	EP_TRY(find_byte_order(r));
	EP_TRY(r->is_pipe ? read_pipe(r) : read_file(r));
	return send_end(r);
}

struct ep_error *ep_perf_data_run(struct ep_input *in, const struct ep_event_sink *sink,
                                  struct ep_warnings *warnings, struct ep_capture_info *ret)
{
	struct ep_capture_info info = {"", "", "", "", "", "", 0, 0};
	struct ep_perf_reader r = {.in = in,
	                           .sink = sink,
	                           .warnings = warnings,
	                           .info = &info,
	                           .no_rounds = in->n_parts > 0};

	r.order = (struct ep_perf_order){.max_items = MAX_ITEMS,
	                                 .max_chunks = MAX_CHUNKS,
	                                 .deliver = ep_perf_deliver,
	                                 .payload = &r};
	struct ep_error *err = run(&r);
	ep_perf_order_deinit(&r.order);
	ep_perf_zstd_destroy(r.zstd);
	ep_perf_attrs_deinit(&r.attrs);
	ep_perf_build_ids_deinit(&r.build_ids);
	ep_vec_deinit(&r.branches);
	if (!err)
		*ret = info;
	return err;
}
