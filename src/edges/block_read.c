/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading blocks: nothing of a block is used before its checksum was found right. */
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/file.h"
#include "base/vec.h"
#include "edges/block.h"

struct ep_error *ep_edges_block_bad(const struct ep_edges_block_reader *reader, const char *what)
{
	return ep_error_create(EP_ERROR_BAD_DATA, "%s: offset 0x%llx: %s", reader->name,
	                       (unsigned long long)reader->block_offset, what);
}

static struct ep_error *torn(const struct ep_edges_block_reader *reader)
{
	return ep_error_hint(ep_edges_block_bad(reader, "the file is cut short"),
	                     "it was not written to its end: copy or capture it again");
}

/* Appends the next n bytes of the file to `stored`. */
static struct ep_error *fetch(struct ep_edges_block_reader *reader, size_t n)
{
	struct ep_buf *stored = &reader->stored;
	size_t got = 0;

	if (reader->data.begin) {
		const unsigned char *p = ep_bytes_take(&reader->data, n);
		if (!p)
			return torn(reader);
		ep_buf_put(stored, p, n);
		if (stored->failed)
			return ep_error_nomem();
	} else {
		if (!ep_vec_reserve(stored, n))
			return ep_error_nomem();
		EP_TRY(ep_read_full(reader->fd, reader->name, stored->v + stored->n, n, &got));
		if (got < n)
			return torn(reader);
		stored->n += n;
	}
	reader->offset += n;
	return NULL;
}

/* True if the last 8 of the stored bytes are the checksum of those before. */
static bool sum_is_right(const struct ep_buf *stored)
{
	size_t n = stored->n - EP_EDGES_CHECKSUM_SIZE;

	return ep_load_u64(stored->v + n, ep_swap_for(false)) == XXH3_64bits(stored->v, n);
}

static struct ep_error *not_edges(const struct ep_edges_block_reader *reader)
{
	return ep_error_hint(
	    ep_error_create(EP_ERROR_BAD_DATA, "%s: not a .edges file", reader->name),
	    "captures become .edges files by 'edgeprof fold'");
}

static struct ep_error *check_header(struct ep_edges_block_reader *reader)
{
	struct ep_error *err = fetch(reader, EP_EDGES_MAGIC_SIZE);

	if (err && err->code == EP_ERROR_BAD_DATA) {
		ep_error_destroy(err);
		return not_edges(reader);
	}
	EP_TRY(err);
	if (!ep_edges_detect(reader->stored.v, reader->stored.n))
		return not_edges(reader);
	EP_TRY(fetch(reader, EP_EDGES_HEADER_SIZE - EP_EDGES_MAGIC_SIZE));
	if (!sum_is_right(&reader->stored))
		return ep_edges_block_bad(reader, "the file header is damaged (checksum)");
	struct ep_bytes b = ep_bytes_init(reader->stored.v, reader->stored.n, ep_swap_for(false));
	(void)ep_bytes_take(&b, EP_EDGES_MAGIC_SIZE);
	uint32_t version = ep_bytes_u32(&b);
	uint32_t features = ep_bytes_u32(&b);
	if (version == EP_EDGES_VERSION && !(features & ~EP_EDGES_FEATURES))
		return NULL;
	if (version != EP_EDGES_VERSION)
		err = ep_error_create(EP_ERROR_UNSUPPORTED,
		                      "%s: format version %u; this program reads version %u",
		                      reader->name, version, EP_EDGES_VERSION);
	else
		err = ep_error_create(EP_ERROR_UNSUPPORTED, "%s: needs unknown features 0x%x",
		                      reader->name, features & ~EP_EDGES_FEATURES);
	return ep_error_hint(err, "it was written by a newer edgeprof: use that one or later");
}

struct ep_error *ep_edges_block_reader_init(const void *data, size_t n, int fd, const char *name,
                                            struct ZSTD_DCtx_s *dctx,
                                            struct ep_edges_block_reader *ret)
{
	struct ep_edges_block_reader reader = {.fd = fd, .name = name, .dctx = dctx};

	if (data)
		reader.data = ep_bytes_init(data, n, false);
	struct ep_error *err = check_header(&reader);
	if (!err)
		err = ep_digester_create(&reader.digester);
	if (err) {
		ep_edges_block_reader_deinit(&reader);
		return err;
	}
	*ret = reader;
	return NULL;
}

/* A column's place in `raw`; columns are borrowed only once `raw` no longer moves. */
struct extent {
	size_t start, n;
};

static struct ep_error *read_column(struct ep_edges_block_reader *reader, struct ep_bytes *b,
                                    struct extent *ret)
{
	unsigned codec = ep_bytes_u8(b);
	uint64_t n_raw = ep_bytes_uleb(b);
	uint64_t n_stored = codec == EP_EDGES_ZSTD ? ep_bytes_uleb(b) : n_raw;
	unsigned char size[4];

	if (codec > EP_EDGES_ZSTD || n_raw > EP_EDGES_COLUMN_MAX || n_stored > EP_EDGES_PAYLOAD_MAX)
		return ep_edges_block_bad(reader, "bad column");
	const unsigned char *p = ep_bytes_take(b, (size_t)n_stored);
	if (!p)
		return ep_edges_block_bad(reader, "a column is longer than its block");
	if (!ep_vec_reserve(&reader->raw, (size_t)n_raw))
		return ep_error_nomem();
	unsigned char *to = reader->raw.v + reader->raw.n;
	if (codec == EP_EDGES_ZSTD) {
		size_t got =
		    ZSTD_decompressDCtx(reader->dctx, to, (size_t)n_raw, p, (size_t)n_stored);
		if (ZSTD_isError(got) || got != n_raw)
			return ep_edges_block_bad(reader, "bad zstd frame");
	} else if (n_raw) {
		memcpy(to, p, (size_t)n_raw);
	}
	for (unsigned i = 0; i < 4; i++)
		size[i] = (unsigned char)(n_raw >> 8 * i);
	if (reader->table != EP_EDGES_TABLE_END) {
		ep_digester_add(reader->digester, size, sizeof(size));
		ep_digester_add(reader->digester, to, (size_t)n_raw);
	}
	*ret = (struct extent){reader->raw.n, (size_t)n_raw};
	reader->raw.n += (size_t)n_raw;
	return NULL;
}

static struct ep_error *read_columns(struct ep_edges_block_reader *reader, struct ep_bytes b)
{
	struct extent extents[EP_EDGES_COLUMNS_MAX];

	reader->raw.n = 0;
	/* So that a block of empty columns has an address too. */
	if (!ep_vec_reserve(&reader->raw, 1))
		return ep_error_nomem();
	for (unsigned i = 0; i < reader->n_columns; i++)
		EP_TRY(read_column(reader, &b, &extents[i]));
	if (ep_bytes_left(&b))
		return ep_edges_block_bad(reader, "bytes behind the last column");
	for (unsigned i = 0; i < reader->n_columns; i++)
		reader->columns[i] = ep_bytes_init(reader->raw.v + extents[i].start, extents[i].n,
		                                   ep_swap_for(false));
	return NULL;
}

/* The END block was read: its totals must be those found, and nothing may follow. */
static struct ep_error *check_end(struct ep_edges_block_reader *reader)
{
	struct ep_edges_footer *footer = &reader->footer;
	struct ep_bytes *b = &reader->columns[0];
	uint8_t digest[EP_DIGEST_SIZE];
	unsigned char byte;
	size_t got = 0;

	if (reader->n_columns != 1 || ep_bytes_left(b) != EP_EDGES_FOOTER_SIZE)
		return ep_edges_block_bad(reader, "bad footer");
	memcpy(footer->digest, ep_bytes_take(b, EP_DIGEST_SIZE), EP_DIGEST_SIZE);
	for (size_t i = 0; i < EP_EDGES_N_TABLES; i++)
		footer->n_rows[i] = ep_bytes_u64(b);
	footer->size = ep_bytes_u64(b);
	ep_digester_finish(ep_take(reader->digester), digest);
	if (memcmp(digest, footer->digest, sizeof(digest)) != 0 ||
	    memcmp(reader->n_rows, footer->n_rows, sizeof(reader->n_rows)) != 0 ||
	    footer->size != reader->block_offset)
		return ep_edges_block_bad(reader, "the footer does not fit the blocks before it");
	if (reader->data.begin)
		got = ep_bytes_left(&reader->data);
	else
		EP_TRY(ep_read_full(reader->fd, reader->name, &byte, 1, &got));
	reader->block_offset = reader->offset;
	return got ? ep_edges_block_bad(reader, "bytes behind the footer") : NULL;
}

/* Reads one block of any type; *skip_ret is set for an optional one of unknown type. */
static struct ep_error *read_block(struct ep_edges_block_reader *reader, bool *skip_ret)
{
	unsigned last = reader->table;

	reader->block_offset = reader->offset;
	reader->stored.n = 0;
	EP_TRY(fetch(reader, EP_EDGES_BLOCK_HEADER_SIZE));
	uint32_t n_payload = ep_load_u32(reader->stored.v + 8, ep_swap_for(false));
	if (n_payload > EP_EDGES_PAYLOAD_MAX)
		return ep_edges_block_bad(reader, "bad block size");
	EP_TRY(fetch(reader, n_payload + EP_EDGES_CHECKSUM_SIZE));
	if (!sum_is_right(&reader->stored))
		return ep_edges_block_bad(reader, "the block is damaged (checksum)");
	const unsigned char *p = reader->stored.v;
	unsigned table = p[0], flags = p[1];
	bool known = (table >= 1 && table <= EP_EDGES_N_TABLES) || table == EP_EDGES_TABLE_END;
	if (!known && !(flags & EP_EDGES_FLAG_OPTIONAL))
		return ep_error_hint(ep_error_create(EP_ERROR_UNSUPPORTED,
		                                     "%s: block of unknown type %u", reader->name,
		                                     table),
		                     "it was written by a newer edgeprof: use that one or later");
	reader->n_columns = p[2];
	reader->n_block_rows = ep_load_u32(p + 4, ep_swap_for(false));
	if (reader->n_columns > EP_EDGES_COLUMNS_MAX || !reader->n_columns ||
	    reader->n_block_rows > EP_EDGES_ROWS_MAX || !reader->n_block_rows ||
	    (flags & ~EP_EDGES_FLAG_OPTIONAL) || p[3])
		return ep_edges_block_bad(reader, "bad block header");
	reader->table = table;
	if (table != EP_EDGES_TABLE_END) {
		unsigned char head[6] = {p[0], p[2], p[4], p[5], p[6], p[7]};
		ep_digester_add(reader->digester, head, sizeof(head));
	}
	EP_TRY(read_columns(
	    reader, ep_bytes_init(p + EP_EDGES_BLOCK_HEADER_SIZE, n_payload, ep_swap_for(false))));
	if (!known) {
		reader->n_unknown++;
		reader->table = last;
	} else if (table < last) {
		return ep_edges_block_bad(reader, "blocks out of order");
	} else if (table != EP_EDGES_TABLE_END) {
		reader->n_rows[table - 1] += reader->n_block_rows;
	}
	*skip_ret = !known;
	return NULL;
}

struct ep_error *ep_edges_block_read(struct ep_edges_block_reader *reader, bool keep)
{
	bool skip = true;

	if (reader->table == EP_EDGES_TABLE_END)
		return NULL;
	if (keep) {
		struct ep_buf raw = reader->last_raw;
		reader->last_raw = reader->raw;
		reader->raw = raw;
	}
	while (skip)
		EP_TRY(read_block(reader, &skip));
	return reader->table == EP_EDGES_TABLE_END ? check_end(reader) : NULL;
}

void ep_edges_block_reader_deinit(struct ep_edges_block_reader *reader)
{
	ep_digester_destroy(reader->digester);
	ep_buf_deinit(&reader->stored);
	ep_buf_deinit(&reader->raw);
	ep_buf_deinit(&reader->last_raw);
	*reader = (struct ep_edges_block_reader){0};
}
