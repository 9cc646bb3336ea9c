/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal: the frame of a `.edges` file: header, checksummed blocks of columns, END block. */
#ifndef EP_EDGES_BLOCK_H
#define EP_EDGES_BLOCK_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "edges/format.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

/* Writes to `file`, or keeps everything in `out` where that is NULL. */
struct ep_edges_block_writer {
	FILE *file;
	const char *name;
	struct ep_buf out;
	struct ep_digester *digester;
	struct ZSTD_CCtx_s *cctx;
	uint64_t size; /* of all that was written */
	uint64_t n_rows[EP_EDGES_N_TABLES];
};

/* Starts with the file header. `file` (may be NULL) and `name` are borrowed. Errors: NOMEM, OS. */
struct ep_error *ep_edges_block_writer_init(FILE *file, const char *name,
                                            struct ep_edges_block_writer *ret) EP_MUST_CHECK;

/* Writes one block of a table. Errors: NOMEM; OS; BAD_DATA when a column is too large. */
struct ep_error *ep_edges_block_write(struct ep_edges_block_writer *writer, unsigned table,
                                      uint32_t n_rows, const struct ep_buf *columns,
                                      unsigned n_columns) EP_MUST_CHECK;

/* Writes the END block; `digest_ret` (may be NULL) gets the digest of the content. */
struct ep_error *ep_edges_block_writer_finish(struct ep_edges_block_writer *writer,
                                              uint8_t *digest_ret) EP_MUST_CHECK;

/* Ends the writer, finished or not; harmless on a zeroed one. */
void ep_edges_block_writer_deinit(struct ep_edges_block_writer *writer);

/* Reads from the bytes at `data`, or from a descriptor where that is NULL. */
struct ep_edges_block_reader {
	int fd;
	struct ep_bytes data; /* begin NULL: read from fd */
	const char *name;
	uint64_t offset; /* of the next block */
	struct ep_buf stored;
	struct ep_buf raw, last_raw; /* of the current block, and of the one before if kept */
	struct ep_digester *digester;
	struct ZSTD_DCtx_s *dctx;
	uint64_t n_rows[EP_EDGES_N_TABLES];
	uint64_t n_unknown; /* optional blocks of unknown type: skipped */
	struct ep_edges_footer footer;

	/* The current block. Columns are borrowed from `raw`. */
	uint64_t block_offset;
	unsigned table; /* EP_EDGES_TABLE_END: all blocks were read and the file is whole */
	uint32_t n_block_rows;
	unsigned n_columns;
	struct ep_bytes columns[EP_EDGES_COLUMNS_MAX];
};

/*
 * Starts and checks the file header. `data`, `name` and `dctx` are borrowed; the descriptor stays
 * the caller's. Errors: NOMEM; OS; BAD_DATA: not a `.edges` file, or damaged; UNSUPPORTED: of a
 * newer version.
 */
struct ep_error *ep_edges_block_reader_init(const void *data, size_t n, int fd, const char *name,
                                            struct ZSTD_DCtx_s *dctx,
                                            struct ep_edges_block_reader *ret) EP_MUST_CHECK;

/*
 * Reads the next block of a known table, checked. With `keep`, the last block's bytes stay valid
 * for one more call. At the END block the whole file is checked, and `table` stays END.
 */
struct ep_error *ep_edges_block_read(struct ep_edges_block_reader *reader, bool keep) EP_MUST_CHECK;

/* A BAD_DATA error that names the file and the current block. */
struct ep_error *ep_edges_block_bad(const struct ep_edges_block_reader *reader, const char *what)
    EP_MUST_CHECK;

/* Ends the reader; harmless on a zeroed one. */
void ep_edges_block_reader_deinit(struct ep_edges_block_reader *reader);

#endif
