/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays: growing vectors of values. */
#include "heap.h"

enum { MAX_SHOW_DEPTH = 8 };

static void grow(struct mv_heap *heap, struct mv_arr *arr, size_t cap)
{
	arr->v = mv_resize(heap, arr->v, arr->cap * sizeof(*arr->v), cap * sizeof(*arr->v));
	arr->cap = cap;
}

struct mv_arr *mv_arr_new(struct mv_heap *heap, size_t n_room)
{
	struct mv_arr *arr = mv_from_obj(mv_new(heap, MV_ARR, sizeof(*arr))).u.arr;

	if (n_room)
		grow(heap, arr, n_room);
	return arr;
}

void mv_arr_push(struct mv_heap *heap, struct mv_arr *arr, struct mv_value v)
{
	if (arr->n == arr->cap)
		grow(heap, arr, arr->cap ? arr->cap * 2 : 4);
	arr->v[arr->n++] = v;
}

static bool equal(struct mv_value a, struct mv_value b)
{
	return a.u.arr == b.u.arr;
}

static void show(struct mv_text *out, struct mv_value v, unsigned depth)
{
	if (depth >= MAX_SHOW_DEPTH) {
		mv_text_add(out, "[...]", 5);
		return;
	}
	mv_text_add(out, "[", 1);
	for (size_t i = 0; i < v.u.arr->n; i++) {
		struct mv_value item = v.u.arr->v[i];

		if (i)
			mv_text_add(out, ", ", 2);
		mv_types[item.tag]->show(out, item, depth + 1);
	}
	mv_text_add(out, "]", 1);
}

static void trace(struct mv_heap *heap, struct mv_obj *obj)
{
	const struct mv_arr *arr = mv_from_obj(obj).u.arr;

	mv_mark_all(heap, arr->v, arr->n);
}

static void release(struct mv_heap *heap, struct mv_obj *obj)
{
	struct mv_arr *arr = mv_from_obj(obj).u.arr;

	grow(heap, arr, 0);
	mv_resize(heap, obj, sizeof(*arr), 0);
}

const struct mv_type mv_arr_type = {
    .name = "array", .equal = equal, .show = show, .trace = trace, .release = release};
