/* SPDX-License-Identifier: BSD-2-Clause */
/* What concerns values of every type, and the types that are no heap object. */
#include "value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mv_type *const mv_types[MV_N_TAGS] = {
    [MV_NIL] = &mv_nil_type, [MV_BOOL] = &mv_bool_type, [MV_INT] = &mv_int_type,
    [MV_NUM] = &mv_num_type, [MV_STR] = &mv_str_type,   [MV_ARR] = &mv_arr_type,
    [MV_MAP] = &mv_map_type, [MV_FN] = &mv_fn_type,
};

bool mv_equal(struct mv_value a, struct mv_value b)
{
	if (a.tag != b.tag) {
		if (a.tag == MV_INT && b.tag == MV_NUM)
			return (double)a.u.i == b.u.d;
		if (a.tag == MV_NUM && b.tag == MV_INT)
			return a.u.d == (double)b.u.i;
		return false;
	}
	return mv_types[a.tag]->equal(a, b);
}

void mv_show(struct mv_text *out, struct mv_value v)
{
	mv_types[v.tag]->show(out, v, 0);
}

static void grow(struct mv_text *out, size_t n)
{
	size_t cap = out->cap ? out->cap : 64;
	char *p;

	while (cap - out->n < n)
		cap *= 2;
	p = realloc(out->p, cap);
	if (!p) {
		fputs("minivm: no memory for text\n", stderr);
		exit(2);
	}
	out->p = p;
	out->cap = cap;
}

void mv_text_add(struct mv_text *out, const char *p, size_t n)
{
	if (out->cap - out->n < n)
		grow(out, n);
	if (n)
		memcpy(out->p + out->n, p, n);
	out->n += n;
}

void mv_text_addf(struct mv_text *out, const char *fmt, ...)
{
	char buf[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n > 0)
		mv_text_add(out, buf, (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

void mv_text_deinit(struct mv_text *out)
{
	free(out->p);
	*out = (struct mv_text){0};
}

static bool nil_equal(struct mv_value a, struct mv_value b)
{
	(void)a;
	(void)b;
	return true;
}

static void nil_show(struct mv_text *out, struct mv_value v, unsigned depth)
{
	(void)v;
	(void)depth;
	mv_text_add(out, "nil", 3);
}

static uint64_t bool_hash(struct mv_value v)
{
	return v.u.b ? 0x9e3779b97f4a7c15u : 0x7f4a7c159e3779b9u;
}

static bool bool_equal(struct mv_value a, struct mv_value b)
{
	return a.u.b == b.u.b;
}

static void bool_show(struct mv_text *out, struct mv_value v, unsigned depth)
{
	(void)depth;
	mv_text_addf(out, "%s", v.u.b ? "true" : "false");
}

static uint64_t int_hash(struct mv_value v)
{
	uint64_t h = (uint64_t)v.u.i * 0x9e3779b97f4a7c15u;

	return h ^ h >> 32;
}

static bool int_equal(struct mv_value a, struct mv_value b)
{
	return a.u.i == b.u.i;
}

static void int_show(struct mv_text *out, struct mv_value v, unsigned depth)
{
	(void)depth;
	mv_text_addf(out, "%lld", (long long)v.u.i);
}

static bool num_equal(struct mv_value a, struct mv_value b)
{
	return a.u.d == b.u.d;
}

static void num_show(struct mv_text *out, struct mv_value v, unsigned depth)
{
	(void)depth;
	mv_text_addf(out, "%.14g", v.u.d);
}

const struct mv_type mv_nil_type = {.name = "nil", .equal = nil_equal, .show = nil_show};
const struct mv_type mv_bool_type = {
    .name = "bool", .hash = bool_hash, .equal = bool_equal, .show = bool_show};
const struct mv_type mv_int_type = {
    .name = "int", .hash = int_hash, .equal = int_equal, .show = int_show};
const struct mv_type mv_num_type = {.name = "num", .equal = num_equal, .show = num_show};
