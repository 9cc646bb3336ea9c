/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows become blocks: cut after a fixed number of rows, so that equal content gives equal bytes. */
#include <string.h>

#include "edges/cursor.h"
#include "edges/rows.h"

struct ep_error *ep_edges_writer_init(FILE *file, const char *name, struct ep_edges_writer *ret)
{
	struct ep_edges_writer writer = {0};

	EP_TRY(ep_edges_block_writer_init(file, name, &writer.blocks));
	*ret = writer;
	return NULL;
}

/* Groups of rows that share binary, kind and peer: binary as a step, and the number of rows. */
static void put_edge_groups(const struct ep_edges_edge_row *rows, size_t n, struct ep_buf *buf)
{
	uint32_t last_binary = 0;

	for (size_t i = 0, j; i < n; i = j) {
		const struct ep_edges_edge_row *row = &rows[i];
		for (j = i + 1; j < n; j++)
			if (rows[j].binary != row->binary || rows[j].edge.kind != row->edge.kind ||
			    rows[j].edge.peer != row->edge.peer)
				break;
		ep_buf_uleb(buf, row->binary - last_binary);
		ep_buf_uleb(buf, row->edge.kind);
		ep_buf_uleb(buf, row->edge.peer);
		ep_buf_uleb(buf, j - i);
		last_binary = row->binary;
	}
}

static bool same_edge_group(const struct ep_edges_edge_row *a, const struct ep_edges_edge_row *b)
{
	return a->binary == b->binary && a->edge.kind == b->edge.kind &&
	       a->edge.peer == b->edge.peer;
}

/* The end of an edge that lies in its binary: `from`, but `to` of one that comes in. */
static uint64_t edge_site(const struct ep_edge *edge)
{
	return edge->kind == EP_EDGE_IN ? edge->to : edge->from;
}

/* One small number for each usual set of types. */
static uint64_t types_code(uint32_t types)
{
	if (!types)
		return 0;
	if (!(types & (types - 1)))
		return (uint64_t)__builtin_ctz(types) + 1;
	return (uint64_t)types + 33;
}

/*
 * Targets of internal edges: of near ones the distance, of far ones, which are mostly functions
 * called from many places, the address, as that is what repeats.
 */
static void put_targets(struct ep_edges_writer *writer)
{
	const struct ep_edges_edge_row *rows = writer->edges;
	struct ep_buf *near = &writer->columns[EP_EDGES_COLUMN_NEAR];
	uint64_t *v = writer->scratch;
	size_t n = 0, n_far = 0;

	for (size_t i = 0; i < writer->n_rows; i++)
		if (rows[i].edge.kind == EP_EDGE_INTERNAL)
			v[n++] = rows[i].edge.to - rows[i].edge.from;
	unsigned shift = ep_edges_column_shift(v, n);
	ep_buf_u8(near, (uint8_t)shift);
	n = 0;
	for (size_t i = 0; i < writer->n_rows; i++) {
		if (rows[i].edge.kind != EP_EDGE_INTERNAL)
			continue;
		uint64_t code = ep_edges_zigzag(v[n++], shift);
		ep_buf_uleb(near, code < EP_EDGES_NEAR_MAX ? code + 1 : 0);
		if (code >= EP_EDGES_NEAR_MAX)
			v[n_far++] = rows[i].edge.to;
	}
	ep_edges_column_put(&writer->columns[EP_EDGES_COLUMN_FAR], v, n_far);
}

static void put_edges(struct ep_edges_writer *writer)
{
	const struct ep_edges_edge_row *rows = writer->edges;
	struct ep_buf *columns = writer->columns;
	uint64_t *v = writer->scratch;
	size_t n = writer->n_rows;

	put_edge_groups(rows, n, &columns[EP_EDGES_COLUMN_EDGE_GROUPS]);
	for (size_t i = 0; i < n; i++)
		v[i] = edge_site(&rows[i].edge) - (i && same_edge_group(&rows[i - 1], &rows[i])
		                                       ? edge_site(&rows[i - 1].edge)
		                                       : 0);
	ep_edges_column_put(&columns[EP_EDGES_COLUMN_SITE], v, n);
	put_targets(writer);
	for (size_t i = 0; i < n; i++)
		v[i] = rows[i].edge.count;
	ep_edges_column_put(&columns[EP_EDGES_COLUMN_EDGE_COUNT], v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = rows[i].edge.mispreds;
	ep_edges_column_put(&columns[EP_EDGES_COLUMN_MISPREDS], v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = types_code(rows[i].edge.types);
	ep_edges_column_put(&columns[EP_EDGES_COLUMN_TYPES], v, n);
}

static void put_range_groups(const struct ep_edges_range_row *rows, size_t n, struct ep_buf *buf)
{
	uint32_t last_binary = 0;

	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && rows[j].binary == rows[i].binary; j++)
			;
		ep_buf_uleb(buf, rows[i].binary - last_binary);
		ep_buf_uleb(buf, j - i);
		last_binary = rows[i].binary;
	}
}

static void put_ranges(struct ep_edges_writer *writer)
{
	const struct ep_edges_range_row *rows = writer->ranges;
	struct ep_buf *columns = writer->columns;
	uint64_t *v = writer->scratch;
	size_t n = writer->n_rows;

	put_range_groups(rows, n, &columns[EP_EDGES_COLUMN_RANGE_GROUPS]);
	for (size_t i = 0; i < n; i++)
		v[i] = rows[i].range.start -
		       (i && rows[i - 1].binary == rows[i].binary ? rows[i - 1].range.start : 0);
	ep_edges_column_put(&columns[EP_EDGES_COLUMN_START], v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = rows[i].range.end - rows[i].range.start;
	ep_edges_column_put_signed(&columns[EP_EDGES_COLUMN_LENGTH], v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = rows[i].range.open_end;
	ep_edges_column_put(&columns[EP_EDGES_COLUMN_OPEN_END], v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = rows[i].range.count;
	ep_edges_column_put(&columns[EP_EDGES_COLUMN_RANGE_COUNT], v, n);
}

/* Writes the pending rows, if there are any. */
static struct ep_error *flush(struct ep_edges_writer *writer)
{
	unsigned n_columns = 1;

	if (!writer->n_rows)
		return NULL;
	if (writer->table == EP_EDGES_TABLE_EDGES) {
		put_edges(writer);
		n_columns = EP_EDGES_N_EDGE_COLUMNS;
	} else if (writer->table == EP_EDGES_TABLE_RANGES) {
		put_ranges(writer);
		n_columns = EP_EDGES_N_RANGE_COLUMNS;
	}
	EP_TRY(ep_edges_block_write(&writer->blocks, writer->table, writer->n_rows, writer->columns,
	                            n_columns));
	for (unsigned i = 0; i < n_columns; i++)
		writer->columns[i].n = 0;
	writer->n_rows = 0;
	return NULL;
}

/* Makes room for one more row of `table`. */
static struct ep_error *begin_row(struct ep_edges_writer *writer, unsigned table)
{
	if (writer->table != table || writer->n_rows == EP_EDGES_ROWS_MAX ||
	    writer->columns[0].n >= EP_EDGES_TEXT_CUT)
		EP_TRY(flush(writer));
	writer->table = table;
	if (table < EP_EDGES_TABLE_EDGES)
		return NULL;
	if (!writer->scratch)
		writer->scratch = calloc(EP_EDGES_ROWS_MAX, sizeof(*writer->scratch));
	if (table == EP_EDGES_TABLE_EDGES && !writer->edges)
		writer->edges = calloc(EP_EDGES_ROWS_MAX, sizeof(*writer->edges));
	if (table == EP_EDGES_TABLE_RANGES && !writer->ranges)
		writer->ranges = calloc(EP_EDGES_ROWS_MAX, sizeof(*writer->ranges));
	if (!writer->scratch || (table == EP_EDGES_TABLE_EDGES && !writer->edges) ||
	    (table == EP_EDGES_TABLE_RANGES && !writer->ranges))
		return ep_error_nomem();
	return NULL;
}

static struct ep_error *put_string(struct ep_edges_writer *writer, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	if (n > EP_EDGES_STRING_MAX)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: string of %zu bytes: \"%.40s...\"",
		                       writer->blocks.name, n, s);
	ep_buf_put(&writer->columns[0], s, n);
	ep_buf_u8(&writer->columns[0], 0);
	return NULL;
}

struct ep_error *ep_edges_writer_provenance(struct ep_edges_writer *writer,
                                            const struct ep_provenance *row)
{
	const char *texts[] = {row->host, row->kernel, row->cpu, row->event, row->tool};
	const uint64_t numbers[] = {row->sampling,
	                            row->exact | (unsigned)row->weighted << 1,
	                            row->period,
	                            row->t_start_ns,
	                            row->t_end_ns,
	                            row->n_samples,
	                            row->n_records,
	                            row->weight,
	                            EP_MAX(row->n_copies, 1u)};

	EP_TRY(begin_row(writer, EP_EDGES_TABLE_PROVENANCE));
	ep_buf_put(&writer->columns[0], row->digest, EP_DIGEST_SIZE);
	for (size_t i = 0; i < EP_ARRAY_LEN(texts); i++)
		EP_TRY(put_string(writer, texts[i]));
	for (size_t i = 0; i < EP_ARRAY_LEN(numbers); i++)
		ep_buf_uleb(&writer->columns[0], numbers[i]);
	writer->n_rows++;
	return NULL;
}

struct ep_error *ep_edges_writer_reason(struct ep_edges_writer *writer,
                                        const struct ep_edges_reason *row)
{
	EP_TRY(begin_row(writer, EP_EDGES_TABLE_REASONS));
	ep_buf_u8(&writer->columns[0], row->is_note);
	ep_buf_uleb(&writer->columns[0], row->number);
	ep_buf_uleb(&writer->columns[0], row->n);
	writer->n_rows++;
	return NULL;
}

struct ep_error *ep_edges_writer_binary(struct ep_edges_writer *writer,
                                        const struct ep_edges_binary *row)
{
	EP_TRY(begin_row(writer, EP_EDGES_TABLE_BINARIES));
	struct ep_buf *buf = &writer->columns[0];
	ep_buf_u8(buf, row->build_id.kind);
	ep_buf_u8(buf, row->build_id.size);
	ep_buf_put(buf, row->build_id.bytes, row->build_id.size);
	ep_buf_u8(buf, (uint8_t)row->space);
	ep_buf_uleb(buf, row->machine);
	ep_buf_uleb(buf, row->n_paths);
	for (uint32_t i = 0; i < row->n_paths; i++)
		EP_TRY(put_string(writer, row->paths[i]));
	writer->n_rows++;
	return NULL;
}

static struct ep_error *out_of_order(const struct ep_edges_writer *writer)
{
	return ep_error_create(EP_ERROR_BUG, "%s: rows are not in order", writer->blocks.name);
}

struct ep_error *ep_edges_writer_edge(struct ep_edges_writer *writer, uint32_t binary,
                                      const struct ep_edge *row)
{
	EP_TRY(begin_row(writer, EP_EDGES_TABLE_EDGES));
	if (writer->n_rows) {
		const struct ep_edges_edge_row *last = &writer->edges[writer->n_rows - 1];
		if (ep_edges_order_edges(last->binary, &last->edge, binary, row) >= 0)
			return out_of_order(writer);
	}
	writer->edges[writer->n_rows++] = (struct ep_edges_edge_row){binary, *row};
	return NULL;
}

struct ep_error *ep_edges_writer_range(struct ep_edges_writer *writer, uint32_t binary,
                                       const struct ep_range *row)
{
	EP_TRY(begin_row(writer, EP_EDGES_TABLE_RANGES));
	if (writer->n_rows) {
		const struct ep_edges_range_row *last = &writer->ranges[writer->n_rows - 1];
		if (ep_edges_order_ranges(last->binary, &last->range, binary, row) >= 0)
			return out_of_order(writer);
	}
	writer->ranges[writer->n_rows++] = (struct ep_edges_range_row){binary, *row};
	return NULL;
}

struct ep_error *ep_edges_writer_finish(struct ep_edges_writer *writer, uint8_t *digest_ret)
{
	EP_TRY(flush(writer));
	return ep_edges_block_writer_finish(&writer->blocks, digest_ret);
}

void ep_edges_writer_deinit(struct ep_edges_writer *writer)
{
	ep_edges_block_writer_deinit(&writer->blocks);
	for (size_t i = 0; i < EP_EDGES_COLUMNS_MAX; i++)
		ep_buf_deinit(&writer->columns[i]);
	free(writer->edges);
	free(writer->ranges);
	free(writer->scratch);
	*writer = (struct ep_edges_writer){0};
}
