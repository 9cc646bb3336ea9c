/* SPDX-License-Identifier: BSD-2-Clause */
/* A bump allocator for objects that die together. */
#ifndef EP_BASE_ARENA_H
#define EP_BASE_ARENA_H

#include "base/macros.h"

struct ep_arena_chunk;

/* Zero-initialise to start; not for use by two threads at once. */
struct ep_arena {
	struct ep_arena_chunk *chunk;
	size_t used, size;  /* bytes of the current chunk */
	size_t total_bytes; /* of all chunks */
};

/* Memory of `n` bytes, aligned for any type, uninitialised, valid until ep_arena_deinit(). NULL:
 * none. */
void *ep_arena_alloc(struct ep_arena *arena, size_t n) EP_MUST_CHECK;

/* The same for n objects of elem_size bytes each, all zero. */
void *ep_arena_calloc(struct ep_arena *arena, size_t n, size_t elem_size) EP_MUST_CHECK;

/* A NUL-terminated copy of n bytes. */
char *ep_arena_strndup(struct ep_arena *arena, const char *s, size_t n) EP_MUST_CHECK;

/* Frees everything; the arena may be used again. */
void ep_arena_deinit(struct ep_arena *arena);

#endif
