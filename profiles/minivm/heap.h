/* SPDX-License-Identifier: BSD-2-Clause */
/* Mark-and-sweep heap and the objects in it. Running out of memory ends the program. */
#ifndef MINIVM_HEAP_H
#define MINIVM_HEAP_H

#include "value.h"

struct mv_heap {
	struct mv_obj *all;
	size_t bytes;   /* in use */
	size_t next_gc; /* collect when bytes is over it */
	struct mv_obj **gray;
	size_t n_gray, cap_gray;
	uint64_t n_collections;
};

void mv_heap_init(struct mv_heap *heap);
void mv_heap_deinit(struct mv_heap *heap);

/* realloc with accounting; old and new are sizes in bytes. Never NULL for new > 0. */
void *mv_resize(struct mv_heap *heap, void *p, size_t old, size_t new);
/* Zeroed object of size bytes. Allocating never collects: only mv_heap_sweep() frees. */
struct mv_obj *mv_new(struct mv_heap *heap, enum mv_tag tag, size_t size);

static inline bool mv_heap_full(const struct mv_heap *heap)
{
	return heap->bytes > heap->next_gc;
}

/* A collection: mark every root, then sweep. */
void mv_mark(struct mv_heap *heap, struct mv_value v);
void mv_mark_all(struct mv_heap *heap, const struct mv_value *v, size_t n);
void mv_heap_sweep(struct mv_heap *heap);

/* Strings. p may be NULL: the caller fills text. */
struct mv_str *mv_str_new(struct mv_heap *heap, const char *p, size_t len);
struct mv_str *mv_str_concat(struct mv_heap *heap, const struct mv_str *a, const struct mv_str *b);
int mv_str_compare(const struct mv_str *a, const struct mv_str *b);

/* Arrays and maps. */
struct mv_arr *mv_arr_new(struct mv_heap *heap, size_t n_room);
void mv_arr_push(struct mv_heap *heap, struct mv_arr *arr, struct mv_value v);
struct mv_map *mv_map_new(struct mv_heap *heap);
static inline bool mv_is_key(struct mv_value v)
{
	return v.tag == MV_STR || v.tag == MV_INT || v.tag == MV_BOOL;
}
/* The value under key, borrowed until the next put, or NULL. The key passes mv_is_key(). */
struct mv_value *mv_map_find(const struct mv_map *map, struct mv_value key);
void mv_map_put(struct mv_heap *heap, struct mv_map *map, struct mv_value key, struct mv_value v);
bool mv_map_remove(struct mv_map *map, struct mv_value key);

#endif
