/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .edges files: no input crashes the reader, and what it takes is written in the one canonical way.
 * Each input is read as it is, and once more with its checksums and footer put right, as no fuzzer
 * guesses those.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/bytes.h"
#include "edges/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void encode(const struct ep_edges *edges, struct ep_buf *ret)
{
	struct ep_error *err = ep_edges_encode(edges, ret);

	must(!err);
}

static void check(const uint8_t *data, size_t size)
{
	struct ep_buf once = {0}, twice = {0};
	struct ep_edges edges, again;
	struct ep_error *err = ep_edges_decode(data, size, "fuzz", &edges);

	if (err) {
		must(err->message && *err->message);
		ep_error_destroy(err);
		return;
	}
	encode(&edges, &once);
	err = ep_edges_decode(once.v, once.n, "fuzz", &again);
	must(!err);
	encode(&again, &twice);
	must(once.n == twice.n && !memcmp(once.v, twice.v, once.n));
	ep_edges_deinit(&again);
	/* Nothing is left to do for what was read. */
	err = ep_edges_normalise(&edges);
	must(!err);
	twice.n = 0;
	encode(&edges, &twice);
	must(once.n == twice.n && !memcmp(once.v, twice.v, once.n));
	ep_edges_deinit(&edges);
	ep_buf_deinit(&once);
	ep_buf_deinit(&twice);
}

static void put_le(uint8_t *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* Adds a block's part of the content that the END block digests; false if it is no block. */
static bool digest_block(struct ep_digester *digester, const uint8_t *block, size_t n)
{
	struct ep_bytes b = ep_bytes_init(block + EP_EDGES_BLOCK_HEADER_SIZE,
	                                  n - EP_EDGES_BLOCK_HEADER_SIZE, ep_swap_for(false));
	uint8_t head[6] = {block[0], block[2], block[4], block[5], block[6], block[7]};
	bool ok = true;

	ep_digester_add(digester, head, sizeof(head));
	for (unsigned i = 0; ok && i < block[2]; i++) {
		unsigned codec = ep_bytes_u8(&b);
		uint64_t n_raw = ep_bytes_uleb(&b);
		uint64_t n_stored = codec ? ep_bytes_uleb(&b) : n_raw;
		uint8_t size[4];
		if (n_raw > EP_EDGES_COLUMN_MAX || n_stored > n)
			return false;
		const uint8_t *p = ep_bytes_take(&b, (size_t)n_stored);
		uint8_t *raw = malloc((size_t)n_raw + 1);
		must(raw != NULL);
		ok = p && (codec ? ZSTD_decompress(raw, n_raw, p, n_stored) == n_raw
		                 : (memcpy(raw, p, n_raw), true));
		put_le(size, n_raw, 4);
		ep_digester_add(digester, size, sizeof(size));
		if (ok)
			ep_digester_add(digester, raw, (size_t)n_raw);
		free(raw);
	}
	return ok;
}

/* Puts checksums and the footer right, as far as the bytes have the shape of blocks. */
static void repair(uint8_t *data, size_t size)
{
	uint64_t n_rows[256] = {0};
	struct ep_digester *digester;
	size_t at = EP_EDGES_HEADER_SIZE, n;

	if (size < at || ep_digester_create(&digester))
		return;
	put_le(data + 16, XXH3_64bits(data, 16), 8);
	for (;; at += n + EP_EDGES_CHECKSUM_SIZE) {
		if (size - at < EP_EDGES_BLOCK_HEADER_SIZE + EP_EDGES_CHECKSUM_SIZE)
			break;
		n = EP_EDGES_BLOCK_HEADER_SIZE +
		    (size_t)ep_load_u32(data + at + 8, ep_swap_for(false));
		if (size - at - EP_EDGES_CHECKSUM_SIZE < n)
			break;
		uint8_t *footer = data + at + EP_EDGES_BLOCK_HEADER_SIZE + 2;
		bool end = data[at] == EP_EDGES_TABLE_END &&
		           n == EP_EDGES_BLOCK_HEADER_SIZE + 2 + EP_EDGES_FOOTER_SIZE;
		if (end) {
			ep_digester_finish(ep_take(digester), footer);
			for (unsigned i = 0; i < EP_EDGES_N_TABLES; i++)
				put_le(footer + EP_DIGEST_SIZE + 8 * i, n_rows[i + 1], 8);
			put_le(footer + EP_EDGES_FOOTER_SIZE - 8, at, 8);
		} else if (!digest_block(digester, data + at, n)) {
			break;
		}
		n_rows[data[at]] += ep_load_u32(data + at + 4, ep_swap_for(false));
		put_le(data + at + n, XXH3_64bits(data + at, n), 8);
		if (end)
			break;
	}
	ep_digester_destroy(digester);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + !size);

	must(copy != NULL);
	check(data, size);
	if (size)
		memcpy(copy, data, size);
	repair(copy, size);
	check(copy, size);
	free(copy);
	return 0;
}
