/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal: reading and writing a `.edges` file row by row, with memory for one block. */
#ifndef EP_EDGES_CURSOR_H
#define EP_EDGES_CURSOR_H

#include "edges/block.h"
#include "edges/column.h"

/* A row of whichever table is being read; strings are borrowed. */
struct ep_edges_row {
	uint32_t binary; /* of an edge or range: index; of a binary: its own */
	union {
		struct ep_provenance provenance;
		struct ep_edges_reason reason;
		struct ep_edges_binary identity; /* without edges and ranges */
		struct ep_edge edge;
		struct ep_range range;
	} u;
};

struct ep_edges_cursor {
	struct ep_edges_block_reader blocks;
	struct ep_edges_row row;
	uint32_t n_left; /* rows of the current block not yet read */
	bool any;        /* `row` is a row of the current table */

	struct ep_edges_column columns[EP_EDGES_COLUMNS_MAX];
	uint64_t n_group_left; /* edges and ranges: rows of the same binary, kind and peer */
	const char *paths[EP_EDGES_PATHS_MAX]; /* of `row`, alternating with: */
	const char *last_paths[1];
};

/* Starts reading; parameters and errors are those of ep_edges_block_reader_init(). */
struct ep_error *ep_edges_cursor_init(const void *data, size_t n, int fd, const char *name,
                                      struct ZSTD_DCtx_s *dctx, struct ep_edges_cursor *ret)
    EP_MUST_CHECK;

/*
 * Moves to the next row of `table`; false when it has no more. The row is valid until the next
 * call. Tables are read in the order of the file, each until false, EP_EDGES_TABLE_END at last:
 * that checks the footer. Rows are checked to be well-formed and in order. Errors: NOMEM; OS;
 * BAD_DATA, UNSUPPORTED.
 */
struct ep_error *ep_edges_cursor_next(struct ep_edges_cursor *cursor, unsigned table, bool *ret)
    EP_MUST_CHECK;

void ep_edges_cursor_deinit(struct ep_edges_cursor *cursor);

/* Collects rows in order and writes blocks. */
struct ep_edges_writer {
	struct ep_edges_block_writer blocks;
	unsigned table;
	uint32_t n_rows; /* pending */
	struct ep_buf columns[EP_EDGES_COLUMNS_MAX];
	struct ep_edges_edge_row *edges;   /* pending, as is: */
	struct ep_edges_range_row *ranges; /* either is NULL until it is needed */
	uint64_t *scratch;
};

/* Parameters and errors are those of ep_edges_block_writer_init(). */
struct ep_error *ep_edges_writer_init(FILE *file, const char *name, struct ep_edges_writer *ret)
    EP_MUST_CHECK;

/*
 * Adds a row; tables come in the order of the file, rows in theirs. Errors: NOMEM; OS; BAD_DATA for
 * strings that are too long; BUG for edges and ranges out of order.
 */
struct ep_error *ep_edges_writer_provenance(struct ep_edges_writer *writer,
                                            const struct ep_provenance *row) EP_MUST_CHECK;
struct ep_error *ep_edges_writer_reason(struct ep_edges_writer *writer,
                                        const struct ep_edges_reason *row) EP_MUST_CHECK;
struct ep_error *ep_edges_writer_binary(struct ep_edges_writer *writer,
                                        const struct ep_edges_binary *row) EP_MUST_CHECK;
struct ep_error *ep_edges_writer_edge(struct ep_edges_writer *writer, uint32_t binary,
                                      const struct ep_edge *row) EP_MUST_CHECK;
struct ep_error *ep_edges_writer_range(struct ep_edges_writer *writer, uint32_t binary,
                                       const struct ep_range *row) EP_MUST_CHECK;

/* Writes what is pending and the footer; `digest_ret` (may be NULL): of the content. */
struct ep_error *ep_edges_writer_finish(struct ep_edges_writer *writer, uint8_t *digest_ret)
    EP_MUST_CHECK;

void ep_edges_writer_deinit(struct ep_edges_writer *writer);

#endif
