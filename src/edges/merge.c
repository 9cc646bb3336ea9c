/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging open files: a heap of cursors, one table after the other, sums on the way. */
#include "edges/merge.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "base/vec.h"
#include "edges/cursor.h"
#include "edges/rows.h"

/* One input of the merge, and its current row's place in the output's order. */
struct stream {
	uint64_t key[4]; /* edges and ranges: compared in this order */
	uint32_t binary; /* edges and ranges: of the current row, in the output */
	uint32_t n_places;
	uint32_t *places; /* of its binaries: index in the output */
	struct ep_edges_cursor cursor;
};

struct merge {
	struct stream *streams;
	size_t n;
	struct stream **heap; /* least row first; those with a current row */
	size_t n_heap;
	struct stream **group; /* taken from the heap: rows that are the same */
	size_t n_group;
	const char **paths; /* room for those of a group */
	unsigned table;
	uint32_t n_binaries;
	struct ep_edges_writer writer;
	bool allow_duplicates;
	bool any_capture;
	struct stream *last_stream; /* whose capture was written last */
	struct ep_edges_streams_result *result;
};

static int compare_texts(unsigned table, const struct ep_edges_row *x, const struct ep_edges_row *y)
{
	if (table == EP_EDGES_TABLE_PROVENANCE)
		return ep_edges_compare_captures(&x->u.provenance, &y->u.provenance);
	if (table == EP_EDGES_TABLE_REASONS)
		return ep_edges_compare_reasons(&x->u.reason, &y->u.reason);
	return ep_edges_compare_binaries(&x->u.identity, &y->u.identity);
}

static inline int compare(unsigned table, const struct stream *a, const struct stream *b)
{
	if (table < EP_EDGES_TABLE_EDGES)
		return compare_texts(table, &a->cursor.row, &b->cursor.row);
	for (size_t i = 0; i < EP_ARRAY_LEN(a->key); i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

static void heap_push(struct merge *merge, struct stream *stream)
{
	struct stream **heap = merge->heap;
	size_t i = merge->n_heap++;

	while (i && compare(merge->table, stream, heap[(i - 1) / 2]) < 0) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = stream;
}

/* Puts a stream into the place of the top, and from there to where it belongs. */
static void heap_replace(struct merge *merge, struct stream *stream)
{
	struct stream **heap = merge->heap;
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= merge->n_heap)
			break;
		if (child + 1 < merge->n_heap &&
		    compare(merge->table, heap[child + 1], heap[child]) < 0)
			child++;
		if (compare(merge->table, stream, heap[child]) <= 0)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = stream;
}

static struct stream *heap_pop(struct merge *merge)
{
	struct stream *top = merge->heap[0];
	struct stream *last = merge->heap[--merge->n_heap];

	if (merge->n_heap)
		heap_replace(merge, last);
	return top;
}

/* True if no other row is the same as the top's: one that is would be right below it. */
static bool top_is_alone(const struct merge *merge)
{
	for (size_t i = 1; i < 3 && i < merge->n_heap; i++)
		if (!compare(merge->table, merge->heap[0], merge->heap[i]))
			return false;
	return true;
}

/* Moves a stream to its next row of the table, if it has one. */
static struct ep_error *advance(struct merge *merge, struct stream *stream, bool *more_ret)
{
	struct ep_edges_row *row = &stream->cursor.row;

	EP_TRY(ep_edges_cursor_next(&stream->cursor, merge->table, more_ret));
	if (!*more_ret)
		return NULL;
	if (merge->table == EP_EDGES_TABLE_EDGES) {
		const struct ep_edge *edge = &row->u.edge;
		uint32_t peer = edge->peer ? stream->places[edge->peer - 1] + 1 : 0;
		stream->binary = stream->places[row->binary];
		stream->key[0] = (uint64_t)stream->binary << 32 | (uint32_t)edge->kind << 30 | peer;
		stream->key[1] = edge->from;
		stream->key[2] = edge->to;
		stream->key[3] = 0;
	} else if (merge->table == EP_EDGES_TABLE_RANGES) {
		const struct ep_range *range = &row->u.range;
		stream->binary = stream->places[row->binary];
		stream->key[0] = stream->binary;
		stream->key[1] = range->start;
		stream->key[2] = range->end;
		stream->key[3] = range->open_end;
	}
	return NULL;
}

static struct ep_error *advance_and_push(struct merge *merge, struct stream *stream)
{
	bool more;

	EP_TRY(advance(merge, stream, &more));
	if (more)
		heap_push(merge, stream);
	return NULL;
}

static struct ep_error *refuse_duplicate(struct merge *merge, const struct stream *a,
                                         const struct stream *b,
                                         const struct ep_provenance *capture)
{
	merge->result->duplicate = true;
	memcpy(merge->result->capture.digest, capture->digest, EP_DIGEST_SIZE);
	return ep_error_create(EP_ERROR_MISMATCH, "%s and %s hold the same capture",
	                       a->cursor.blocks.name, b->cursor.blocks.name);
}

static struct ep_error *emit_provenance(struct merge *merge)
{
	struct stream **group = merge->group, *other = NULL;
	struct ep_provenance row = group[0]->cursor.row.u.provenance;
	uint8_t *last_digest = merge->result->capture.digest;

	if (merge->n_group > 1)
		other = group[1];
	else if (merge->any_capture && group[0] != merge->last_stream &&
	         !memcmp(last_digest, row.digest, EP_DIGEST_SIZE))
		other = merge->last_stream;
	if (other && !merge->allow_duplicates)
		return refuse_duplicate(merge, group[0], other, &row);
	for (size_t i = 1; i < merge->n_group; i++)
		row.n_copies =
		    ep_count_add(row.n_copies, group[i]->cursor.row.u.provenance.n_copies);
	merge->any_capture = true;
	merge->last_stream = group[0];
	memcpy(last_digest, row.digest, EP_DIGEST_SIZE);
	return ep_edges_writer_provenance(&merge->writer, &row);
}

static struct ep_error *emit_reason(struct merge *merge)
{
	struct ep_edges_reason row = merge->group[0]->cursor.row.u.reason;

	for (size_t i = 1; i < merge->n_group; i++)
		row.n = ep_count_add(row.n, merge->group[i]->cursor.row.u.reason.n);
	return ep_edges_writer_reason(&merge->writer, &row);
}

static bool add_place(struct stream *stream, uint32_t place)
{
	uint32_t n = stream->n_places;

	/* Room doubles whenever the number is a power of two. */
	if (!(n & (n - 1))) {
		void *p =
		    reallocarray(stream->places, n ? 2 * (size_t)n : 1, sizeof(*stream->places));
		if (!p)
			return false;
		stream->places = p;
	}
	stream->places[stream->n_places++] = place;
	return true;
}

static struct ep_error *emit_binary(struct merge *merge)
{
	struct ep_edges_binary row = merge->group[0]->cursor.row.u.identity;
	size_t n_paths = 0;

	for (size_t i = 0; i < merge->n_group; i++) {
		const struct ep_edges_binary *part = &merge->group[i]->cursor.row.u.identity;
		ep_edges_join_identity(&row, part);
		for (uint32_t k = 0; k < part->n_paths; k++)
			merge->paths[n_paths++] = part->paths[k];
		if (!add_place(merge->group[i], merge->n_binaries))
			return ep_error_nomem();
	}
	row.paths = merge->paths;
	row.n_paths = ep_edges_normalise_paths(merge->paths, n_paths);
	if (merge->n_binaries++ == EP_EDGES_BINARIES_MAX)
		return ep_error_nomem();
	return ep_edges_writer_binary(&merge->writer, &row);
}

static struct ep_error *emit_edge(struct merge *merge)
{
	const struct stream *first = merge->group[0];
	struct ep_edge row = first->cursor.row.u.edge;

	row.peer = first->key[0] & 0x3fffffff;
	for (size_t i = 1; i < merge->n_group; i++)
		ep_edges_join_edges(&row, &merge->group[i]->cursor.row.u.edge);
	merge->result->totals.n_saturated += row.count == UINT64_MAX;
	return ep_edges_writer_edge(&merge->writer, first->binary, &row);
}

static struct ep_error *emit_range(struct merge *merge)
{
	const struct stream *first = merge->group[0];
	struct ep_range row = first->cursor.row.u.range;

	for (size_t i = 1; i < merge->n_group; i++)
		row.count = ep_count_add(row.count, merge->group[i]->cursor.row.u.range.count);
	merge->result->totals.n_saturated += row.count == UINT64_MAX;
	return ep_edges_writer_range(&merge->writer, first->binary, &row);
}

/* Writes the least row, which only one stream has. */
static struct ep_error *merge_alone(struct merge *merge,
                                    struct ep_error *(*emit)(struct merge *merge))
{
	bool more;

	merge->group[0] = merge->heap[0];
	merge->n_group = 1;
	EP_TRY(emit(merge));
	EP_TRY(advance(merge, merge->group[0], &more));
	if (more)
		heap_replace(merge, merge->group[0]);
	else
		heap_pop(merge);
	return NULL;
}

/* Writes the sum of the least rows. */
static struct ep_error *merge_same(struct merge *merge,
                                   struct ep_error *(*emit)(struct merge *merge))
{
	merge->n_group = 0;
	do {
		merge->group[merge->n_group++] = heap_pop(merge);
	} while (merge->n_heap && !compare(merge->table, merge->heap[0], merge->group[0]));
	/* Rows borrow from their blocks: write the sum before any stream moves on. */
	EP_TRY(emit(merge));
	for (size_t i = 0; i < merge->n_group; i++)
		EP_TRY(advance_and_push(merge, merge->group[i]));
	return NULL;
}

static struct ep_error *merge_table(struct merge *merge, unsigned table,
                                    struct ep_error *(*emit)(struct merge *merge))
{
	merge->table = table;
	merge->n_heap = 0;
	for (size_t i = 0; i < merge->n; i++)
		EP_TRY(advance_and_push(merge, &merge->streams[i]));
	while (merge->n_heap)
		EP_TRY(top_is_alone(merge) ? merge_alone(merge, emit) : merge_same(merge, emit));
	return NULL;
}

/* Ends a stream: its footer must be right, and nothing may have been skipped. */
static struct ep_error *end_stream(struct ep_edges_cursor *cursor)
{
	bool more;

	EP_TRY(ep_edges_cursor_next(cursor, EP_EDGES_TABLE_END, &more));
	if (!cursor->blocks.n_unknown)
		return NULL;
	return ep_error_hint(
	    ep_error_create(EP_ERROR_UNSUPPORTED,
	                    "%s: holds data of a newer version, which a merge would lose",
	                    cursor->blocks.name),
	    "merge it with the edgeprof that wrote it, or a later one");
}

static struct ep_error *merge_tables(struct merge *merge)
{
	struct ep_edges_merge_report *totals = &merge->result->totals;
	const struct ep_edges_block_writer *blocks = &merge->writer.blocks;

	EP_TRY(merge_table(merge, EP_EDGES_TABLE_PROVENANCE, emit_provenance));
	EP_TRY(merge_table(merge, EP_EDGES_TABLE_REASONS, emit_reason));
	EP_TRY(merge_table(merge, EP_EDGES_TABLE_BINARIES, emit_binary));
	EP_TRY(merge_table(merge, EP_EDGES_TABLE_EDGES, emit_edge));
	EP_TRY(merge_table(merge, EP_EDGES_TABLE_RANGES, emit_range));
	for (size_t i = 0; i < merge->n; i++)
		EP_TRY(end_stream(&merge->streams[i].cursor));
	EP_TRY(ep_edges_writer_finish(&merge->writer, totals->digest));
	totals->n_provenance = blocks->n_rows[EP_EDGES_TABLE_PROVENANCE - 1];
	totals->n_binaries = blocks->n_rows[EP_EDGES_TABLE_BINARIES - 1];
	totals->n_edges = blocks->n_rows[EP_EDGES_TABLE_EDGES - 1];
	totals->n_ranges = blocks->n_rows[EP_EDGES_TABLE_RANGES - 1];
	totals->n_bytes = blocks->size;
	return NULL;
}

static struct ep_error *open_streams(struct merge *merge, const struct ep_edges_source *sources,
                                     struct ZSTD_DCtx_s *dctx)
{
	for (size_t i = 0; i < merge->n; i++) {
		const struct ep_edges_source *source = &sources[i];
		if (lseek(source->fd, 0, SEEK_SET) < 0)
			return ep_error_os(errno, "%s", source->name);
		EP_TRY(ep_edges_cursor_init(NULL, 0, source->fd, source->name, dctx,
		                            &merge->streams[i].cursor));
	}
	return NULL;
}

struct ep_error *ep_edges_merge_streams(const struct ep_edges_source *sources, size_t n,
                                        bool allow_duplicates, FILE *out, const char *out_name,
                                        struct ep_edges_streams_result *ret)
{
	ep_autofree struct stream *streams = calloc(n, sizeof(*streams));
	ep_autofree struct stream **heap = calloc(n, sizeof(struct stream *));
	ep_autofree struct stream **group = calloc(n, sizeof(struct stream *));
	ep_autofree const char **paths = calloc(n, EP_EDGES_PATHS_MAX * sizeof(char *));
	struct merge merge = {.streams = streams,
	                      .n = n,
	                      .heap = heap,
	                      .group = group,
	                      .paths = paths,
	                      .allow_duplicates = allow_duplicates,
	                      .result = ret};
	ZSTD_DCtx *dctx = ZSTD_createDCtx();
	struct ep_error *err = NULL;

	*ret = (struct ep_edges_streams_result){0};
	if (!streams || !heap || !group || !paths || !dctx)
		err = ep_error_nomem();
	if (!err)
		err = ep_edges_writer_init(out, out_name, &merge.writer);
	if (!err)
		err = open_streams(&merge, sources, dctx);
	if (!err)
		err = merge_tables(&merge);
	ep_edges_writer_deinit(&merge.writer);
	for (size_t i = 0; streams && i < n; i++) {
		ep_edges_cursor_deinit(&streams[i].cursor);
		free(streams[i].places);
	}
	ZSTD_freeDCtx(dctx);
	return err;
}

struct ep_error *ep_edges_check_stream(const struct ep_edges_source *source,
                                       const struct ep_provenance *capture, bool *holds_ret)
{
	struct ep_edges_cursor cursor = {0};
	ZSTD_DCtx *dctx = ZSTD_createDCtx();
	struct ep_error *err = NULL;
	bool holds = false;

	if (!dctx)
		return ep_error_nomem();
	if (lseek(source->fd, 0, SEEK_SET) < 0)
		err = ep_error_os(errno, "%s", source->name);
	if (!err)
		err = ep_edges_cursor_init(NULL, 0, source->fd, source->name, dctx, &cursor);
	for (unsigned table = 1; !err && table <= EP_EDGES_N_TABLES; table++) {
		bool more = true;
		while (!err && more) {
			err = ep_edges_cursor_next(&cursor, table, &more);
			if (!err && more && capture && table == EP_EDGES_TABLE_PROVENANCE)
				holds |= !memcmp(cursor.row.u.provenance.digest, capture->digest,
				                 EP_DIGEST_SIZE);
		}
	}
	if (!err)
		err = end_stream(&cursor);
	ep_edges_cursor_deinit(&cursor);
	ZSTD_freeDCtx(dctx);
	if (!err)
		*holds_ret = holds;
	return err;
}
