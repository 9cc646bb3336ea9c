/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing blocks: compress what shrinks, checksum, digest. */
#include <errno.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "edges/block.h"

static void put_checksum(struct ep_buf *buf, size_t start)
{
	if (!buf->failed)
		ep_buf_u64(buf, XXH3_64bits(buf->v + start, buf->n - start));
}

/* Hands the bytes over to the file, if there is one. */
static struct ep_error *flush(struct ep_edges_block_writer *writer, size_t start)
{
	if (writer->out.failed)
		return ep_error_nomem();
	writer->size += writer->out.n - start;
	if (!writer->file)
		return NULL;
	size_t n = fwrite(writer->out.v, 1, writer->out.n, writer->file);
	if (n != writer->out.n)
		return ep_error_os(errno, "%s: write", writer->name);
	writer->out.n = 0;
	return NULL;
}

struct ep_error *ep_edges_block_writer_init(FILE *file, const char *name,
                                            struct ep_edges_block_writer *ret)
{
	struct ep_edges_block_writer writer = {.file = file, .name = name};

	EP_TRY(ep_digester_create(&writer.digester));
	writer.cctx = ZSTD_createCCtx();
	ep_buf_put(&writer.out, EP_EDGES_MAGIC, EP_EDGES_MAGIC_SIZE);
	ep_buf_u32(&writer.out, EP_EDGES_VERSION);
	ep_buf_u32(&writer.out, 0); /* features */
	put_checksum(&writer.out, 0);
	struct ep_error *err = writer.cctx ? flush(&writer, 0) : ep_error_nomem();
	if (err) {
		ep_edges_block_writer_deinit(&writer);
		return err;
	}
	*ret = writer;
	return NULL;
}

/* What the digest of the content covers: independent of the compressor. */
static void digest_block(struct ep_digester *digester, unsigned table, uint32_t n_rows,
                         const struct ep_buf *columns, unsigned n_columns)
{
	unsigned char head[6] = {(unsigned char)table, (unsigned char)n_columns};
	unsigned char size[4];

	for (unsigned i = 0; i < 4; i++)
		head[2 + i] = (unsigned char)(n_rows >> 8 * i);
	ep_digester_add(digester, head, sizeof(head));
	for (unsigned i = 0; i < n_columns; i++) {
		for (unsigned k = 0; k < 4; k++)
			size[k] = (unsigned char)(columns[i].n >> 8 * k);
		ep_digester_add(digester, size, sizeof(size));
		ep_digester_add(digester, columns[i].v, columns[i].n);
	}
}

/* Appends a zstd frame of the column and returns its size, 0 if that is no gain. */
static size_t put_frame(struct ep_edges_block_writer *writer, const struct ep_buf *column,
                        struct ep_buf *frame)
{
	size_t bound = ZSTD_compressBound(column->n);

	if (column->n < EP_EDGES_COMPRESS_MIN)
		return 0;
	frame->n = 0;
	if (frame->cap < bound) {
		free(frame->v);
		*frame = (struct ep_buf){.v = malloc(bound), .cap = bound};
	}
	if (!frame->v) {
		frame->failed = true;
		return 0;
	}
	size_t n = ZSTD_compressCCtx(writer->cctx, frame->v, frame->cap, column->v, column->n,
	                             EP_EDGES_ZSTD_LEVEL);
	if (ZSTD_isError(n)) {
		frame->failed = true;
		return 0;
	}
	return n < column->n ? n : 0;
}

static void put_column(struct ep_edges_block_writer *writer, const struct ep_buf *column,
                       struct ep_buf *frame)
{
	struct ep_buf *out = &writer->out;
	size_t n_frame = put_frame(writer, column, frame);

	if (frame->failed)
		out->failed = true;
	ep_buf_u8(out, n_frame ? EP_EDGES_ZSTD : EP_EDGES_STORED);
	ep_buf_uleb(out, column->n);
	if (n_frame) {
		ep_buf_uleb(out, n_frame);
		ep_buf_put(out, frame->v, n_frame);
	} else {
		ep_buf_put(out, column->v, column->n);
	}
}

struct ep_error *ep_edges_block_write(struct ep_edges_block_writer *writer, unsigned table,
                                      uint32_t n_rows, const struct ep_buf *columns,
                                      unsigned n_columns)
{
	struct ep_buf *out = &writer->out, frame = {0};
	size_t start = out->n;

	for (unsigned i = 0; i < n_columns; i++) {
		if (columns[i].failed)
			return ep_error_nomem();
		if (columns[i].n > EP_EDGES_COLUMN_MAX)
			return ep_error_create(EP_ERROR_BAD_DATA, "%s: entry too large",
			                       writer->name);
	}
	ep_buf_u8(out, (uint8_t)table);
	ep_buf_u8(out, 0);
	ep_buf_u8(out, (uint8_t)n_columns);
	ep_buf_u8(out, 0);
	ep_buf_u32(out, n_rows);
	ep_buf_u32(out, 0); /* size of the columns: set below */
	size_t body = out->n;
	for (unsigned i = 0; i < n_columns; i++)
		put_column(writer, &columns[i], &frame);
	ep_buf_deinit(&frame);
	for (unsigned i = 0; !out->failed && i < 4; i++)
		out->v[body - 4 + i] = (unsigned char)((out->n - body) >> 8 * i);
	put_checksum(out, start);
	if (table != EP_EDGES_TABLE_END) {
		digest_block(writer->digester, table, n_rows, columns, n_columns);
		writer->n_rows[table - 1] += n_rows;
	}
	return flush(writer, start);
}

struct ep_error *ep_edges_block_writer_finish(struct ep_edges_block_writer *writer,
                                              uint8_t *digest_ret)
{
	struct ep_buf column = {0};
	uint8_t digest[EP_DIGEST_SIZE];

	ep_digester_finish(ep_take(writer->digester), digest);
	ep_buf_put(&column, digest, sizeof(digest));
	for (size_t i = 0; i < EP_EDGES_N_TABLES; i++)
		ep_buf_u64(&column, writer->n_rows[i]);
	ep_buf_u64(&column, writer->size);
	struct ep_error *err = ep_edges_block_write(writer, EP_EDGES_TABLE_END, 1, &column, 1);
	ep_buf_deinit(&column);
	if (!err && digest_ret)
		memcpy(digest_ret, digest, sizeof(digest));
	return err;
}

void ep_edges_block_writer_deinit(struct ep_edges_block_writer *writer)
{
	ep_digester_destroy(writer->digester);
	ZSTD_freeCCtx(writer->cctx);
	ep_buf_deinit(&writer->out);
	*writer = (struct ep_edges_block_writer){0};
}
