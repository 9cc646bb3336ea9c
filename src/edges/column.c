/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of numbers: the common trailing zero bits are stored once. */
#include "edges/column.h"

/* Trailing zero bits that all values share; 0 if all are zero. */
static unsigned common_shift(const uint64_t *values, size_t n)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= values[i];
	return bits ? (unsigned)__builtin_ctzll(bits) : 0;
}

void ep_edges_column_put(struct ep_buf *buf, const uint64_t *values, size_t n)
{
	unsigned shift = common_shift(values, n);

	ep_buf_u8(buf, (uint8_t)shift);
	for (size_t i = 0; i < n; i++)
		ep_buf_uleb(buf, values[i] >> shift);
}

void ep_edges_column_put_signed(struct ep_buf *buf, const uint64_t *values, size_t n)
{
	unsigned shift = common_shift(values, n);

	ep_buf_u8(buf, (uint8_t)shift);
	for (size_t i = 0; i < n; i++) {
		/* Arithmetic shift and zigzag without leaving unsigned arithmetic. */
		uint64_t sign = -(values[i] >> 63);
		uint64_t magnitude = (values[i] ^ sign) >> shift;
		ep_buf_uleb(buf, magnitude << 1 | (sign & 1));
	}
}

struct ep_edges_column ep_edges_column_init(struct ep_bytes bytes)
{
	struct ep_edges_column column = {.bytes = bytes};

	column.shift = ep_bytes_u8(&column.bytes);
	if (column.shift > 63)
		column.bytes.failed = true;
	column.shift &= 63;
	return column;
}
