/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocation, marking and sweeping. */
#include "heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_GC = 1 << 20 };

void mv_heap_init(struct mv_heap *heap)
{
	*heap = (struct mv_heap){.next_gc = FIRST_GC};
}

void mv_heap_deinit(struct mv_heap *heap)
{
	mv_heap_sweep(heap); /* nothing is marked */
	free(heap->gray);
	*heap = (struct mv_heap){0};
}

static void out_of_memory(size_t size)
{
	fprintf(stderr, "minivm: no memory for %zu bytes\n", size);
	exit(2);
}

void *mv_resize(struct mv_heap *heap, void *p, size_t old, size_t new)
{
	heap->bytes += new - old;
	if (new == 0) {
		free(p);
		return NULL;
	}
	p = realloc(p, new);
	if (!p)
		out_of_memory(new);
	return p;
}

struct mv_obj *mv_new(struct mv_heap *heap, enum mv_tag tag, size_t size)
{
	struct mv_obj *obj = calloc(1, size);

	if (!obj)
		out_of_memory(size);
	obj->tag = tag;
	obj->next = heap->all;
	heap->all = obj;
	heap->bytes += size;
	return obj;
}

static void grow(struct mv_heap *heap)
{
	size_t cap = heap->cap_gray ? heap->cap_gray * 2 : 64;
	struct mv_obj **gray = realloc(heap->gray, cap * sizeof(*gray));

	if (!gray)
		out_of_memory(cap * sizeof(*gray));
	heap->gray = gray;
	heap->cap_gray = cap;
}

void mv_mark(struct mv_heap *heap, struct mv_value v)
{
	if (v.tag < MV_STR || v.u.obj->marked)
		return;
	v.u.obj->marked = true;
	if (v.tag == MV_STR) /* leaves need no visit */
		return;
	if (heap->n_gray == heap->cap_gray)
		grow(heap);
	heap->gray[heap->n_gray++] = v.u.obj;
}

void mv_mark_all(struct mv_heap *heap, const struct mv_value *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mv_mark(heap, v[i]);
}

void mv_heap_sweep(struct mv_heap *heap)
{
	struct mv_obj **at = &heap->all;

	while (heap->n_gray > 0) {
		struct mv_obj *obj = heap->gray[--heap->n_gray];

		mv_types[obj->tag]->trace(heap, obj);
	}
	while (*at) {
		struct mv_obj *obj = *at;

		if (obj->marked) {
			obj->marked = false;
			at = &obj->next;
		} else {
			*at = obj->next;
			mv_types[obj->tag]->release(heap, obj);
		}
	}
	heap->next_gc = heap->bytes * 2 > FIRST_GC ? heap->bytes * 2 : FIRST_GC;
	heap->n_collections++;
}
