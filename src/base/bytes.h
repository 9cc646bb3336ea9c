/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounded reading and writing of untrusted bytes. */
#ifndef EP_BASE_BYTES_H
#define EP_BASE_BYTES_H

#include <string.h>

#include "base/error.h"

/* Unaligned loads of host order, and with a swap. */
static inline uint16_t ep_load_u16(const void *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t ep_load_u32(const void *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t ep_load_u64(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* True if values of the given byte order must be swapped on this host. */
static inline bool ep_swap_for(bool big_endian)
{
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/*
 * A reader over borrowed bytes. A read past the end, or a malformed number, returns 0, sets
 * `failed` and does not move; all later reads fail too. So a record is read without checks and
 * `failed` looked at once behind it.
 */
struct ep_bytes {
	const unsigned char *begin, *pos, *end;
	bool swap;   /* multi-byte values are of the other byte order */
	bool failed; /* sticky */
};

static inline struct ep_bytes ep_bytes_init(const void *data, size_t n, bool swap)
{
	const unsigned char *p = data;

	return (struct ep_bytes){.begin = p, .pos = p, .end = p + n, .swap = swap};
}

static inline size_t ep_bytes_left(const struct ep_bytes *b)
{
	return (size_t)(b->end - b->pos);
}

/* Offset of the next byte from the start. */
static inline size_t ep_bytes_offset(const struct ep_bytes *b)
{
	return (size_t)(b->pos - b->begin);
}

/* The next n bytes, borrowed, and moves behind them; NULL and failed if there are fewer. */
static inline const unsigned char *ep_bytes_take(struct ep_bytes *b, size_t n)
{
	if (b->failed || n > ep_bytes_left(b)) {
		b->failed = true;
		return NULL;
	}
	b->pos += n;
	return b->pos - n;
}

static inline uint8_t ep_bytes_u8(struct ep_bytes *b)
{
	const unsigned char *p = ep_bytes_take(b, 1);

	return p ? *p : 0;
}

static inline uint16_t ep_bytes_u16(struct ep_bytes *b)
{
	const unsigned char *p = ep_bytes_take(b, 2);

	return p ? ep_load_u16(p, b->swap) : 0;
}

static inline uint32_t ep_bytes_u32(struct ep_bytes *b)
{
	const unsigned char *p = ep_bytes_take(b, 4);

	return p ? ep_load_u32(p, b->swap) : 0;
}

static inline uint64_t ep_bytes_u64(struct ep_bytes *b)
{
	const unsigned char *p = ep_bytes_take(b, 8);

	return p ? ep_load_u64(p, b->swap) : 0;
}

/* The long form of ep_bytes_uleb(). */
uint64_t ep_bytes_uleb_long(struct ep_bytes *b);

/* LEB128; fails on a value over 64 bits. */
static inline uint64_t ep_bytes_uleb(struct ep_bytes *b)
{
	/* Most numbers are of one byte. */
	if (EP_LIKELY(!b->failed && b->pos < b->end && *b->pos < 0x80))
		return *b->pos++;
	return ep_bytes_uleb_long(b);
}

int64_t ep_bytes_sleb(struct ep_bytes *b);

/* A NUL-terminated string, borrowed; its length without the NUL if n_ret is not NULL. NULL and
 * failed: none. */
const char *ep_bytes_cstr(struct ep_bytes *b, size_t *n_ret);

/* A growing output buffer. After a failed allocation `failed` is set and writes do nothing. */
struct ep_buf {
	unsigned char *v;
	size_t n, cap;
	bool failed; /* sticky: out of memory */
};

void ep_buf_put(struct ep_buf *buf, const void *data, size_t n);
void ep_buf_u8(struct ep_buf *buf, uint8_t v);
/* Little-endian, whatever the host. */
void ep_buf_u16(struct ep_buf *buf, uint16_t v);
void ep_buf_u32(struct ep_buf *buf, uint32_t v);
void ep_buf_u64(struct ep_buf *buf, uint64_t v);
/* The long form of ep_buf_uleb(). */
void ep_buf_uleb_long(struct ep_buf *buf, uint64_t v);

static inline void ep_buf_uleb(struct ep_buf *buf, uint64_t v)
{
	if (EP_LIKELY(v < 0x80 && buf->n < buf->cap && !buf->failed))
		buf->v[buf->n++] = (unsigned char)v;
	else
		ep_buf_uleb_long(buf, v);
}

void ep_buf_sleb(struct ep_buf *buf, int64_t v);
void ep_buf_printf(struct ep_buf *buf, const char *fmt, ...) EP_PRINTF(2, 3);
/* A decimal number, faster than ep_buf_printf(). */
void ep_buf_decimal(struct ep_buf *buf, uint64_t v);
void ep_buf_deinit(struct ep_buf *buf);

#endif
