/* SPDX-License-Identifier: BSD-2-Clause */
/* Values and heap objects of the mini language, and the table of what each type can do. */
#ifndef MINIVM_VALUE_H
#define MINIVM_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mv_tag { MV_NIL, MV_BOOL, MV_INT, MV_NUM, MV_STR, MV_ARR, MV_MAP, MV_FN, MV_N_TAGS };

/* Head of every heap object; the collector owns the object and links all of them by next. */
struct mv_obj {
	struct mv_obj *next;
	enum mv_tag tag;
	bool marked;
};

struct mv_value {
	enum mv_tag tag;
	union {
		bool b;
		int64_t i;
		double d;
		struct mv_obj *obj;
		struct mv_str *str;
		struct mv_arr *arr;
		struct mv_map *map;
		struct mv_fn *fn;
	} u;
};

/* Bytes, not NUL terminated for the language; a NUL follows them for C. hash 0 = not yet known. */
struct mv_str {
	struct mv_obj obj;
	uint64_t hash;
	size_t len;
	char text[];
};

struct mv_arr {
	struct mv_obj obj;
	size_t n, cap;
	struct mv_value *v;
};

struct mv_entry {
	struct mv_value key; /* MV_NIL: free */
	struct mv_value value;
};

/* Open addressing; cap is 0 or a power of two, at most three quarters full. */
struct mv_map {
	struct mv_obj obj;
	size_t n, cap;
	struct mv_entry *e;
};

/* A compiled function. n_slots: locals and temporaries together, the room a call needs. */
struct mv_fn {
	struct mv_obj obj;
	char name[32];
	uint32_t n_params, n_locals, n_slots;
	size_t n_code, cap_code;
	uint32_t *code;
	uint32_t *lines; /* of each instruction */
	size_t n_consts, cap_consts;
	struct mv_value *consts;
};

/* Growing text, for conversions and checksums. */
struct mv_text {
	char *p;
	size_t n, cap;
};

struct mv_heap;

/*
 * What a type can do. hash and equal are NULL where a value cannot be a key; equal gets two values
 * of this type; trace and release are NULL for values that are no heap object.
 */
struct mv_type {
	const char *name;
	uint64_t (*hash)(struct mv_value v);
	bool (*equal)(struct mv_value a, struct mv_value b);
	void (*show)(struct mv_text *out, struct mv_value v, unsigned depth);
	void (*trace)(struct mv_heap *heap, struct mv_obj *obj);
	void (*release)(struct mv_heap *heap, struct mv_obj *obj);
};

extern const struct mv_type mv_nil_type, mv_bool_type, mv_int_type, mv_num_type;
extern const struct mv_type mv_str_type, mv_arr_type, mv_map_type, mv_fn_type;
extern const struct mv_type *const mv_types[MV_N_TAGS];

static inline struct mv_value mv_nil(void)
{
	return (struct mv_value){.tag = MV_NIL};
}

static inline struct mv_value mv_bool(bool b)
{
	return (struct mv_value){.tag = MV_BOOL, .u.b = b};
}

static inline struct mv_value mv_int(int64_t i)
{
	return (struct mv_value){.tag = MV_INT, .u.i = i};
}

static inline struct mv_value mv_num(double d)
{
	return (struct mv_value){.tag = MV_NUM, .u.d = d};
}

static inline struct mv_value mv_from_obj(struct mv_obj *obj)
{
	return (struct mv_value){.tag = obj->tag, .u.obj = obj};
}

static inline bool mv_truthy(struct mv_value v)
{
	return v.tag == MV_BOOL ? v.u.b : v.tag != MV_NIL;
}

/* Equality of the language: 1 == 1.0, strings by content, arrays and maps by identity. */
bool mv_equal(struct mv_value a, struct mv_value b);
/* Text of v appended to out. */
void mv_show(struct mv_text *out, struct mv_value v);

void mv_text_add(struct mv_text *out, const char *p, size_t n);
void mv_text_addf(struct mv_text *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void mv_text_deinit(struct mv_text *out);

#endif
