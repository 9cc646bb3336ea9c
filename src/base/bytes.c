/* SPDX-License-Identifier: BSD-2-Clause */
/* LEB128, strings and the output buffer. */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/vec.h"

uint64_t ep_bytes_uleb_long(struct ep_bytes *b)
{
	const unsigned char *start = b->pos;
	uint64_t v = 0;

	for (unsigned shift = 0; !b->failed; shift += 7) {
		uint8_t byte = ep_bytes_u8(b);
		uint64_t bits = byte & 0x7f;
		if (shift < 64)
			v |= bits << shift;
		if ((shift >= 64 && bits) || (shift == 63 && bits > 1))
			b->failed = true;
		if (!(byte & 0x80) && !b->failed)
			return v;
	}
	b->pos = start;
	return 0;
}

int64_t ep_bytes_sleb(struct ep_bytes *b)
{
	const unsigned char *start = b->pos;
	uint64_t v = 0;

	for (unsigned shift = 0; !b->failed && shift < 70; shift += 7) {
		uint8_t byte = ep_bytes_u8(b);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (shift == 63 && (byte & 0x7f) != 0 && (byte & 0x7f) != 0x7f)
			break;
		if (!(byte & 0x80) && !b->failed) {
			if (shift + 7 < 64 && (byte & 0x40))
				v |= ~UINT64_C(0) << (shift + 7);
			return (int64_t)v;
		}
	}
	b->failed = true;
	b->pos = start;
	return 0;
}

const char *ep_bytes_cstr(struct ep_bytes *b, size_t *n_ret)
{
	const unsigned char *nul = b->failed ? NULL : memchr(b->pos, 0, ep_bytes_left(b));

	if (!nul) {
		b->failed = true;
		return NULL;
	}
	const char *s = (const char *)b->pos;
	if (n_ret)
		*n_ret = (size_t)(nul - b->pos);
	b->pos = nul + 1;
	return s;
}

void ep_buf_put(struct ep_buf *buf, const void *data, size_t n)
{
	if (buf->failed || !n)
		return;
	if (!ep_vec_reserve(buf, n)) {
		buf->failed = true;
		return;
	}
	memcpy(buf->v + buf->n, data, n);
	buf->n += n;
}

void ep_buf_u8(struct ep_buf *buf, uint8_t v)
{
	ep_buf_put(buf, &v, 1);
}

static void put_le(struct ep_buf *buf, uint64_t v, size_t n)
{
	unsigned char le[8];

	for (size_t i = 0; i < n; i++)
		le[i] = (unsigned char)(v >> (8 * i));
	ep_buf_put(buf, le, n);
}

void ep_buf_u16(struct ep_buf *buf, uint16_t v)
{
	put_le(buf, v, 2);
}

void ep_buf_u32(struct ep_buf *buf, uint32_t v)
{
	put_le(buf, v, 4);
}

void ep_buf_u64(struct ep_buf *buf, uint64_t v)
{
	put_le(buf, v, 8);
}

void ep_buf_uleb_long(struct ep_buf *buf, uint64_t v)
{
	unsigned char out[10];
	size_t n = 0;

	do {
		out[n++] = (unsigned char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
	ep_buf_put(buf, out, n);
}

void ep_buf_sleb(struct ep_buf *buf, int64_t v)
{
	unsigned char out[10];
	size_t n = 0;
	bool more;

	do {
		unsigned char byte = v & 0x7f;
		v >>= 7;
		more = !((v == 0 && !(byte & 0x40)) || (v == -1 && (byte & 0x40)));
		out[n++] = (unsigned char)(byte | (more ? 0x80 : 0));
	} while (more);
	ep_buf_put(buf, out, n);
}

void ep_buf_printf(struct ep_buf *buf, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	int n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0) {
		buf->failed = true;
		return;
	}
	ep_buf_put(buf, text, (size_t)n);
	free(text);
}

void ep_buf_decimal(struct ep_buf *buf, uint64_t v)
{
	char out[20];
	size_t i = sizeof(out);

	do {
		out[--i] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	ep_buf_put(buf, out + i, sizeof(out) - i);
}

void ep_buf_deinit(struct ep_buf *buf)
{
	free(buf->v);
	*buf = (struct ep_buf){0};
}
