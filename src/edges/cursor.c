/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks become rows, each checked to be well-formed and behind the one before. */
#include "edges/cursor.h"

#include <string.h>

#include "edges/rows.h"

static const char bad_row[] = "bad row", not_in_order[] = "rows out of order";

struct ep_error *ep_edges_cursor_init(const void *data, size_t n, int fd, const char *name,
                                      struct ZSTD_DCtx_s *dctx, struct ep_edges_cursor *ret)
{
	struct ep_edges_cursor cursor = {0};

	EP_TRY(ep_edges_block_reader_init(data, n, fd, name, dctx, &cursor.blocks));
	*ret = cursor;
	return NULL;
}

static unsigned n_columns_of(unsigned table)
{
	if (table == EP_EDGES_TABLE_EDGES)
		return EP_EDGES_N_EDGE_COLUMNS;
	return table == EP_EDGES_TABLE_RANGES ? EP_EDGES_N_RANGE_COLUMNS : 1;
}

/* Prepares the rows of the block just read. */
static struct ep_error *begin_block(struct ep_edges_cursor *cursor)
{
	struct ep_edges_block_reader *blocks = &cursor->blocks;

	cursor->n_left = 0;
	if (blocks->table == EP_EDGES_TABLE_END)
		return NULL;
	if (blocks->n_columns != n_columns_of(blocks->table))
		return ep_edges_block_bad(blocks, "wrong number of columns");
	cursor->n_left = blocks->n_block_rows;
	cursor->n_group_left = 0;
	for (unsigned i = 1; i < blocks->n_columns; i++)
		cursor->columns[i] = ep_edges_column_init(blocks->columns[i]);
	return NULL;
}

static const char *read_provenance(struct ep_edges_cursor *cursor)
{
	struct ep_bytes *b = &cursor->blocks.columns[0];
	struct ep_provenance row = {0};
	const char **texts[] = {&row.host, &row.kernel, &row.cpu, &row.event, &row.tool};
	uint64_t *numbers[] = {&row.period,    &row.t_start_ns, &row.t_end_ns, &row.n_samples,
	                       &row.n_records, &row.weight,     &row.n_copies};
	const struct ep_provenance last = cursor->row.u.provenance;
	const unsigned char *digest = ep_bytes_take(b, EP_DIGEST_SIZE);

	if (digest)
		memcpy(row.digest, digest, EP_DIGEST_SIZE);
	for (size_t i = 0; i < EP_ARRAY_LEN(texts); i++) {
		size_t n = 0;
		*texts[i] = ep_bytes_cstr(b, &n);
		if (n > EP_EDGES_STRING_MAX)
			return bad_row;
	}
	uint64_t sampling = ep_bytes_uleb(b), flags = ep_bytes_uleb(b);
	for (size_t i = 0; i < EP_ARRAY_LEN(numbers); i++)
		*numbers[i] = ep_bytes_uleb(b);
	if (b->failed || sampling > UINT32_MAX || flags > 3 || !row.n_copies)
		return bad_row;
	row.sampling = (uint32_t)sampling;
	row.exact = flags & 1;
	row.weighted = flags >> 1;
	cursor->row.u.provenance = row;
	return cursor->any && ep_edges_compare_captures(&last, &row) >= 0 ? not_in_order : NULL;
}

static const char *read_reason(struct ep_edges_cursor *cursor)
{
	struct ep_bytes *b = &cursor->blocks.columns[0];
	unsigned is_note = ep_bytes_u8(b);
	uint64_t number = ep_bytes_uleb(b), n = ep_bytes_uleb(b);

	struct ep_edges_reason row = {.number = (uint32_t)number, .is_note = is_note != 0, .n = n};
	const struct ep_edges_reason last = cursor->row.u.reason;

	if (b->failed || is_note > 1 || number > UINT32_MAX || !n)
		return bad_row;
	cursor->row.u.reason = row;
	return cursor->any && ep_edges_compare_reasons(&last, &row) >= 0 ? not_in_order : NULL;
}

static const char *read_binary(struct ep_edges_cursor *cursor)
{
	struct ep_bytes *b = &cursor->blocks.columns[0];
	struct ep_edges_binary row = {.paths = cursor->paths}, last = cursor->row.u.identity;
	struct ep_build_id *id = &row.build_id;

	id->kind = ep_bytes_u8(b);
	id->size = ep_bytes_u8(b);
	if (id->size > EP_BUILD_ID_MAX || !id->size != (id->kind == EP_BUILD_ID_NONE))
		return bad_row;
	const unsigned char *bytes = ep_bytes_take(b, id->size);
	if (bytes)
		memcpy(id->bytes, bytes, id->size);
	unsigned space = ep_bytes_u8(b);
	uint64_t machine = ep_bytes_uleb(b), n_paths = ep_bytes_uleb(b);
	if (b->failed || space > EP_SPACE_VADDR || machine > UINT16_MAX ||
	    n_paths > (id->size ? EP_EDGES_PATHS_MAX : 1u))
		return bad_row;
	row.space = (enum ep_space)space;
	row.machine = (uint16_t)machine;
	row.n_paths = (uint32_t)n_paths;
	/* The row before keeps its first path, which may be part of its place in the order. */
	cursor->last_paths[0] = cursor->paths[0];
	for (uint32_t i = 0; i < row.n_paths; i++) {
		size_t n = 0;
		cursor->paths[i] = ep_bytes_cstr(b, &n);
		if (b->failed || n > EP_EDGES_STRING_MAX ||
		    (i && ep_edges_compare_paths(cursor->paths[i - 1], cursor->paths[i]) >= 0))
			return bad_row;
	}
	last.paths = cursor->last_paths;
	cursor->row.u.identity = row;
	cursor->row.binary = cursor->any ? cursor->row.binary + 1 : 0;
	return cursor->any && ep_edges_compare_binaries(&last, &row) >= 0 ? not_in_order : NULL;
}

/* Starts a group of edges or ranges if the last one ended: sets binary (and kind, peer). */
static bool begin_group(struct ep_edges_cursor *cursor)
{
	struct ep_bytes *b = &cursor->blocks.columns[0];
	bool edges = cursor->blocks.table == EP_EDGES_TABLE_EDGES;
	uint64_t step = ep_bytes_uleb(b);
	uint64_t kind = edges ? ep_bytes_uleb(b) : 0, peer = edges ? ep_bytes_uleb(b) : 0;
	uint64_t n_binaries = cursor->blocks.n_rows[EP_EDGES_TABLE_BINARIES - 1];
	/* Binaries of a block's groups count from 0. */
	bool first = cursor->n_left == cursor->blocks.n_block_rows;
	uint32_t from = first ? 0 : cursor->row.binary;

	cursor->n_group_left = ep_bytes_uleb(b);
	if (b->failed || step >= n_binaries || from + step >= n_binaries || !cursor->n_group_left ||
	    cursor->n_group_left > cursor->n_left || kind > EP_EDGE_IN || peer > n_binaries ||
	    (kind == EP_EDGE_INTERNAL && peer))
		return false;
	cursor->row.binary = from + (uint32_t)step;
	if (edges)
		cursor->row.u.edge = (struct ep_edge){.kind = (uint32_t)kind & 3,
		                                      .peer = (uint32_t)peer & 0x3fffffff};
	else
		cursor->row.u.range = (struct ep_range){0};
	return true;
}

static bool decode_types(uint64_t code, uint32_t *ret)
{
	if (code <= 32) {
		*ret = code ? UINT32_C(1) << (code - 1) : 0;
		return true;
	}
	*ret = (uint32_t)(code - 33);
	return code - 33 <= UINT32_MAX && (*ret & (*ret - 1));
}

static uint64_t read_target(struct ep_edges_column *columns, uint64_t from)
{
	struct ep_edges_column *near = &columns[EP_EDGES_COLUMN_NEAR];
	uint64_t code = ep_edges_column_raw(near);

	return code ? from + ep_edges_unzigzag(code - 1, near->shift)
	            : ep_edges_column_next(&columns[EP_EDGES_COLUMN_FAR]);
}

static const char *read_edge(struct ep_edges_cursor *cursor)
{
	struct ep_edges_column *columns = cursor->columns;
	struct ep_edge *edge = &cursor->row.u.edge;
	const struct ep_edge last = *edge;
	uint32_t last_binary = cursor->row.binary;

	if (!cursor->n_group_left && !begin_group(cursor))
		return bad_row;
	uint64_t site = ep_edges_column_next(&columns[EP_EDGES_COLUMN_SITE]);
	site += edge->kind == EP_EDGE_IN ? edge->to : edge->from;
	if (edge->kind == EP_EDGE_INTERNAL)
		edge->to = read_target(columns, site);
	else if (edge->kind == EP_EDGE_IN)
		edge->to = site;
	if (edge->kind != EP_EDGE_IN)
		edge->from = site;
	edge->count = ep_edges_column_next(&columns[EP_EDGES_COLUMN_EDGE_COUNT]);
	edge->mispreds = ep_edges_column_next(&columns[EP_EDGES_COLUMN_MISPREDS]);
	cursor->n_group_left--;
	if (!decode_types(ep_edges_column_next(&columns[EP_EDGES_COLUMN_TYPES]), &edge->types))
		return bad_row;
	return cursor->any &&
	               ep_edges_order_edges(last_binary, &last, cursor->row.binary, edge) >= 0
	           ? not_in_order
	           : NULL;
}

static const char *read_range(struct ep_edges_cursor *cursor)
{
	struct ep_edges_column *columns = cursor->columns;
	struct ep_range *range = &cursor->row.u.range;
	const struct ep_range last = *range;
	uint32_t last_binary = cursor->row.binary;

	if (!cursor->n_group_left && !begin_group(cursor))
		return bad_row;
	range->start += ep_edges_column_next(&columns[EP_EDGES_COLUMN_START]);
	range->end = range->start + ep_edges_column_next_signed(&columns[EP_EDGES_COLUMN_LENGTH]);
	uint64_t open_end = ep_edges_column_next(&columns[EP_EDGES_COLUMN_OPEN_END]);
	range->open_end = open_end != 0;
	range->count = ep_edges_column_next(&columns[EP_EDGES_COLUMN_RANGE_COUNT]);
	cursor->n_group_left--;
	if (open_end > 1)
		return bad_row;
	return cursor->any &&
	               ep_edges_order_ranges(last_binary, &last, cursor->row.binary, range) >= 0
	           ? not_in_order
	           : NULL;
}

/* True if all bytes of the block belonged to its rows. */
static bool block_used_up(const struct ep_edges_cursor *cursor)
{
	const struct ep_edges_block_reader *blocks = &cursor->blocks;

	if (blocks->columns[0].failed || ep_bytes_left(&blocks->columns[0]))
		return false;
	if (blocks->table < EP_EDGES_TABLE_EDGES)
		return true;
	for (unsigned i = 1; i < blocks->n_columns; i++)
		if (!ep_edges_column_ended(&cursor->columns[i]))
			return false;
	return true;
}

static struct ep_error *read_row(struct ep_edges_cursor *cursor, unsigned table)
{
	const char *wrong;

	switch (table) {
	case EP_EDGES_TABLE_PROVENANCE:
		wrong = read_provenance(cursor);
		break;
	case EP_EDGES_TABLE_REASONS:
		wrong = read_reason(cursor);
		break;
	case EP_EDGES_TABLE_BINARIES:
		wrong = read_binary(cursor);
		break;
	case EP_EDGES_TABLE_EDGES:
		wrong = read_edge(cursor);
		break;
	default:
		wrong = read_range(cursor);
	}
	if (wrong)
		return ep_edges_block_bad(&cursor->blocks, wrong);
	cursor->any = true;
	if (!--cursor->n_left && !block_used_up(cursor))
		return ep_edges_block_bad(&cursor->blocks, "the block does not fit its rows");
	return NULL;
}

struct ep_error *ep_edges_cursor_next(struct ep_edges_cursor *cursor, unsigned table, bool *ret)
{
	struct ep_edges_block_reader *blocks = &cursor->blocks;

	if (!cursor->n_left && blocks->table <= table) {
		unsigned last = blocks->table;
		EP_TRY(ep_edges_block_read(blocks, last < EP_EDGES_TABLE_EDGES));
		EP_TRY(begin_block(cursor));
		if (blocks->table != last)
			cursor->any = false;
	}
	*ret = cursor->n_left && blocks->table == table;
	return *ret ? read_row(cursor, table) : NULL;
}

void ep_edges_cursor_deinit(struct ep_edges_cursor *cursor)
{
	ep_edges_block_reader_deinit(&cursor->blocks);
}
