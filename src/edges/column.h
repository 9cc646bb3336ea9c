/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal: columns of numbers. A column is a shift and then LEB128 numbers, each value >> shift.
 */
#ifndef EP_EDGES_COLUMN_H
#define EP_EDGES_COLUMN_H

#include "base/bytes.h"

/* Trailing zero bits that all n values share; 0 if all are zero. */
unsigned ep_edges_column_shift(const uint64_t *values, size_t n);

/* Small numbers for small distances of either sign: 0, -1, 1, -2, ... in units of 1 << shift. */
static inline uint64_t ep_edges_zigzag(uint64_t distance, unsigned shift)
{
	uint64_t sign = -(distance >> 63);

	return ((distance ^ sign) >> shift) << 1 | (sign & 1);
}

static inline uint64_t ep_edges_unzigzag(uint64_t code, unsigned shift)
{
	return ((code >> 1) ^ -(code & 1)) << shift;
}

/* Appends the n values as a column. The signed form holds two's complement differences. */
void ep_edges_column_put(struct ep_buf *buf, const uint64_t *values, size_t n);
void ep_edges_column_put_signed(struct ep_buf *buf, const uint64_t *values, size_t n);

struct ep_edges_column {
	struct ep_bytes bytes; /* `failed` is set by a bad number */
	unsigned shift;
};

/* Starts reading a column; a malformed one fails at its first value. */
struct ep_edges_column ep_edges_column_init(struct ep_bytes bytes);

static inline uint64_t ep_edges_column_raw(struct ep_edges_column *column)
{
	struct ep_bytes *b = &column->bytes;

	if (EP_LIKELY(b->pos < b->end && *b->pos < 0x80 && !b->failed))
		return *b->pos++;
	return ep_bytes_uleb(b);
}

static inline uint64_t ep_edges_column_next(struct ep_edges_column *column)
{
	uint64_t raw = ep_edges_column_raw(column);

	if (EP_UNLIKELY(raw << column->shift >> column->shift != raw))
		column->bytes.failed = true;
	return raw << column->shift;
}

static inline uint64_t ep_edges_column_next_signed(struct ep_edges_column *column)
{
	return ep_edges_unzigzag(ep_edges_column_raw(column), column->shift);
}

/* True if every value was well-formed and none is left. */
static inline bool ep_edges_column_ended(const struct ep_edges_column *column)
{
	return !column->bytes.failed && column->bytes.pos == column->bytes.end;
}

#endif
