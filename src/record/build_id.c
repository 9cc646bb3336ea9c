/* SPDX-License-Identifier: BSD-2-Clause */
/* Build-ids: text form and order. */
#include "record/build_id.h"

#include <stdio.h>
#include <string.h>

static const char hash_prefix[] = "hash:";

const char *ep_build_id_format(const struct ep_build_id *id, char buf[EP_BUILD_ID_TEXT_MAX])
{
	char *p = buf;

	if (!id->size)
		return memcpy(buf, "none", sizeof("none"));
	if (id->kind == EP_BUILD_ID_HASH)
		p = stpcpy(p, hash_prefix);
	for (size_t i = 0; i < id->size; i++)
		p += sprintf(p, "%02x", id->bytes[i]);
	return buf;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool ep_build_id_parse(const char *text, size_t n, struct ep_build_id *ret)
{
	struct ep_build_id id = {.kind = EP_BUILD_ID_GNU};
	size_t n_prefix = sizeof(hash_prefix) - 1;

	if (n > n_prefix && !memcmp(text, hash_prefix, n_prefix)) {
		id.kind = EP_BUILD_ID_HASH;
		text += n_prefix;
		n -= n_prefix;
	}
	if (n > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		text += 2;
		n -= 2;
	}
	if (!n || n % 2 || n / 2 > EP_BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < n; i += 2) {
		int hi = hex_digit(text[i]), lo = hex_digit(text[i + 1]);
		if (hi < 0 || lo < 0)
			return false;
		id.bytes[id.size++] = (uint8_t)(hi << 4 | lo);
	}
	*ret = id;
	return true;
}

int ep_build_id_compare(const struct ep_build_id *a, const struct ep_build_id *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	int order = memcmp(a->bytes, b->bytes, sizeof(a->bytes));
	return order ? order : (int)a->size - (int)b->size;
}

struct ep_build_id ep_build_id_make(enum ep_build_id_kind kind, const void *bytes, size_t n)
{
	struct ep_build_id id = {.kind = (uint8_t)kind,
	                         .size = (uint8_t)EP_MIN(n, (size_t)EP_BUILD_ID_MAX)};

	memcpy(id.bytes, bytes, id.size);
	return id;
}

bool ep_build_id_same(const struct ep_build_id *a, const struct ep_build_id *b)
{
	return a->size && b->size && a->kind == b->kind &&
	       !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}
