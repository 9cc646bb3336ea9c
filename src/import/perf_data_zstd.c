/* SPDX-License-Identifier: BSD-2-Clause */
/* Compressed records: one zstd stream over all of them, whose content is records again. */
#include <zstd.h>

#include "import/perf_data_reader.h"

struct ep_perf_zstd {
	ZSTD_DCtx *context;
	uint32_t chunk; /* index + 1 of where output goes, 0: none yet */
	size_t parsed;  /* bytes of it that were taken as records */
	bool broken;    /* the stream cannot be continued */
};

static struct ep_error *zstd_create(struct ep_perf_reader *r)
{
	struct ep_perf_zstd *zstd = calloc(1, sizeof(*zstd));

	if (!zstd)
		return ep_error_nomem();
	zstd->context = ZSTD_createDCtx();
	if (!zstd->context) {
		free(zstd);
		return ep_error_nomem();
	}
	r->zstd = zstd;
	return NULL;
}

/* A new chunk that starts with the incomplete record at the end of the old one. */
static struct ep_error *next_chunk(struct ep_perf_reader *r)
{
	struct ep_perf_zstd *zstd = r->zstd;
	uint32_t i;

	EP_TRY(ep_perf_chunk_get(&r->order, &i));
	struct ep_perf_chunk *to = &r->order.chunks.v[i];
	if (zstd->chunk) {
		const struct ep_perf_chunk *from = &r->order.chunks.v[zstd->chunk - 1];
		to->n = from->n - zstd->parsed;
		if (to->n)
			memcpy(to->data, from->data + zstd->parsed, to->n);
		ep_perf_chunk_release(&r->order, zstd->chunk - 1);
	}
	zstd->chunk = i + 1;
	zstd->parsed = 0;
	return NULL;
}

/* Takes the whole records of the chunk. */
static struct ep_error *take_records(struct ep_perf_reader *r)
{
	struct ep_perf_zstd *zstd = r->zstd;
	uint32_t i = zstd->chunk - 1;
	const unsigned char *data = r->order.chunks.v[i].data;
	size_t n = r->order.chunks.v[i].n;

	while (n - zstd->parsed >= PERF_RECORD_HEADER) {
		const unsigned char *rec = data + zstd->parsed;
		size_t size = ep_load_u16(rec + 6, r->swap);
		if (EP_UNLIKELY(size < PERF_RECORD_HEADER)) {
			EP_TRY(
			    ep_perf_corrupt(r, "bad-record", "decompressed record without size"));
			zstd->parsed = ep_perf_resync(r, data, n, zstd->parsed + 1, false);
			continue;
		}
		if (size > n - zstd->parsed)
			break;
		zstd->parsed += size;
		EP_TRY(ep_perf_record(r, rec, size, EP_PERF_IN_CHUNK, i));
	}
	return NULL;
}

struct ep_error *ep_perf_zstd_feed(struct ep_perf_reader *r, const unsigned char *p, size_t n)
{
	ZSTD_inBuffer in = {.src = p, .size = n};
	bool more = true;

	if (!r->zstd)
		EP_TRY(zstd_create(r));
	if (r->zstd->broken)
		return ep_perf_corrupt(r, "bad-compression",
		                       "compressed data behind damage is lost");
	while (more) {
		if (!r->zstd->chunk ||
		    EP_PERF_CHUNK_SIZE - r->order.chunks.v[r->zstd->chunk - 1].n < PERF_RECORD_MAX)
			EP_TRY(next_chunk(r));
		struct ep_perf_chunk *chunk = &r->order.chunks.v[r->zstd->chunk - 1];
		ZSTD_outBuffer out = {
		    .dst = chunk->data, .size = EP_PERF_CHUNK_SIZE, .pos = chunk->n};
		size_t code = ZSTD_decompressStream(r->zstd->context, &out, &in);
		if (ZSTD_isError(code)) {
			r->zstd->broken = true;
			return ep_perf_corrupt(r, "bad-compression", ZSTD_getErrorName(code));
		}
		more = in.pos < in.size || out.pos == out.size;
		chunk->n = out.pos;
		EP_TRY(take_records(r));
	}
	return NULL;
}

struct ep_error *ep_perf_zstd_finish(struct ep_perf_reader *r)
{
	if (!r->zstd || !r->zstd->chunk ||
	    r->order.chunks.v[r->zstd->chunk - 1].n == r->zstd->parsed)
		return NULL;
	r->unfinished = true;
	return ep_perf_corrupt(r, "truncated", "the last compressed record is incomplete");
}

void ep_perf_zstd_destroy(struct ep_perf_zstd *zstd)
{
	if (!zstd)
		return;
	ZSTD_freeDCtx(zstd->context);
	free(zstd);
}
