/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings: immutable bytes with a hash computed when first asked for. */
#include "heap.h"

#include <string.h>

struct mv_str *mv_str_new(struct mv_heap *heap, const char *p, size_t len)
{
	struct mv_obj *obj = mv_new(heap, MV_STR, sizeof(struct mv_str) + len + 1);
	struct mv_str *str = mv_from_obj(obj).u.str;

	str->len = len;
	if (p && len)
		memcpy(str->text, p, len);
	return str;
}

struct mv_str *mv_str_concat(struct mv_heap *heap, const struct mv_str *a, const struct mv_str *b)
{
	struct mv_str *str = mv_str_new(heap, NULL, a->len + b->len);

	memcpy(str->text, a->text, a->len);
	memcpy(str->text + a->len, b->text, b->len);
	return str;
}

int mv_str_compare(const struct mv_str *a, const struct mv_str *b)
{
	size_t n = a->len < b->len ? a->len : b->len;

	for (size_t i = 0; i < n; i++) {
		unsigned char x = (unsigned char)a->text[i], y = (unsigned char)b->text[i];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return a->len < b->len ? -1 : a->len > b->len;
}

static uint64_t mix(const struct mv_str *str)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < str->len; i++)
		h = (h ^ (unsigned char)str->text[i]) * 0x100000001b3u;
	h ^= h >> 29;
	return h ? h : 1;
}

static uint64_t hash(struct mv_value v)
{
	if (v.u.str->hash == 0)
		v.u.str->hash = mix(v.u.str);
	return v.u.str->hash;
}

static bool equal(struct mv_value a, struct mv_value b)
{
	const struct mv_str *x = a.u.str, *y = b.u.str;

	if (x == y)
		return true;
	if (x->len != y->len || (x->hash && y->hash && x->hash != y->hash))
		return false;
	return memcmp(x->text, y->text, x->len) == 0;
}

static void show(struct mv_text *out, struct mv_value v, unsigned depth)
{
	if (depth > 0)
		mv_text_add(out, "\"", 1);
	mv_text_add(out, v.u.str->text, v.u.str->len);
	if (depth > 0)
		mv_text_add(out, "\"", 1);
}

static void trace(struct mv_heap *heap, struct mv_obj *obj)
{
	(void)heap;
	(void)obj;
}

static void release(struct mv_heap *heap, struct mv_obj *obj)
{
	const struct mv_str *str = mv_from_obj(obj).u.str;

	mv_resize(heap, obj, sizeof(*str) + str->len + 1, 0);
}

const struct mv_type mv_str_type = {
    .name = "str", .hash = hash, .equal = equal, .show = show, .trace = trace, .release = release};
