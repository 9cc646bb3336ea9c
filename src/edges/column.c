/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of numbers: the common trailing zero bits are stored once. */
#include "edges/column.h"

#include "base/vec.h"

#define ULEB_MAX 10u /* bytes of a 64-bit number */

unsigned ep_edges_column_shift(const uint64_t *values, size_t n)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= values[i];
	return bits ? (unsigned)__builtin_ctzll(bits) : 0;
}

/* Makes room for n numbers behind the shift; NULL: no memory. */
static unsigned char *begin(struct ep_buf *buf, size_t n, unsigned shift)
{
	if (n > SIZE_MAX / ULEB_MAX - 1 || !ep_vec_reserve(buf, n * ULEB_MAX + 1)) {
		buf->failed = true;
		return NULL;
	}
	buf->v[buf->n] = (unsigned char)shift;
	return buf->v + buf->n + 1;
}

static inline unsigned char *put(unsigned char *p, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		*p++ = (unsigned char)(v | 0x80);
	*p++ = (unsigned char)v;
	return p;
}

static void end(struct ep_buf *buf, const unsigned char *p)
{
	if (p)
		buf->n = (size_t)(p - buf->v);
}

void ep_edges_column_put(struct ep_buf *buf, const uint64_t *values, size_t n)
{
	unsigned shift = ep_edges_column_shift(values, n);

	unsigned char *p = begin(buf, n, shift);
	for (size_t i = 0; p && i < n; i++)
		p = put(p, values[i] >> shift);
	end(buf, p);
}

void ep_edges_column_put_signed(struct ep_buf *buf, const uint64_t *values, size_t n)
{
	unsigned shift = ep_edges_column_shift(values, n);

	unsigned char *p = begin(buf, n, shift);
	for (size_t i = 0; p && i < n; i++)
		p = put(p, ep_edges_zigzag(values[i], shift));
	end(buf, p);
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
