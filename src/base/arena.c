/* SPDX-License-Identifier: BSD-2-Clause */
/* The arena: chunks that double up to 1 MiB; large objects get a chunk of their own. */
#include "base/arena.h"

#include <string.h>

#define CHUNK_MIN 4096u
#define CHUNK_MAX (1u << 20)
#define ALIGN _Alignof(max_align_t)

struct ep_arena_chunk {
	struct ep_arena_chunk *next;
	_Alignas(max_align_t) unsigned char data[];
};

static struct ep_arena_chunk *chunk_create(struct ep_arena *arena, size_t size)
{
	size_t bytes;

	if (!ep_size_add(size, sizeof(struct ep_arena_chunk), &bytes))
		return NULL;
	struct ep_arena_chunk *chunk = malloc(bytes);
	if (chunk)
		arena->total_bytes += bytes;
	return chunk;
}

void *ep_arena_alloc(struct ep_arena *arena, size_t n)
{
	if (n > SIZE_MAX - ALIGN)
		return NULL;
	n = (n + ALIGN - 1) & ~(ALIGN - 1);
	if (n <= arena->size - arena->used && arena->chunk) {
		void *p = arena->chunk->data + arena->used;
		arena->used += n;
		return p;
	}
	if (n >= CHUNK_MAX / 4 && arena->chunk) {
		/* Behind the current chunk, which stays in use. */
		struct ep_arena_chunk *own = chunk_create(arena, n);
		if (!own)
			return NULL;
		own->next = arena->chunk->next;
		arena->chunk->next = own;
		return own->data;
	}
	size_t size = EP_MIN(EP_MAX(arena->size * 2, (size_t)CHUNK_MIN), (size_t)CHUNK_MAX);
	size = EP_MAX(size, n);
	struct ep_arena_chunk *chunk = chunk_create(arena, size);
	if (!chunk)
		return NULL;
	chunk->next = arena->chunk;
	arena->chunk = chunk;
	arena->size = size;
	arena->used = n;
	return chunk->data;
}

void *ep_arena_calloc(struct ep_arena *arena, size_t n, size_t elem_size)
{
	size_t bytes;

	if (!ep_size_mul(n, elem_size, &bytes))
		return NULL;
	void *p = ep_arena_alloc(arena, bytes);
	return p ? memset(p, 0, bytes) : NULL;
}

char *ep_arena_strndup(struct ep_arena *arena, const char *s, size_t n)
{
	char *copy = n < SIZE_MAX ? ep_arena_alloc(arena, n + 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

void ep_arena_deinit(struct ep_arena *arena)
{
	struct ep_arena_chunk *chunk = arena->chunk;

	while (chunk) {
		struct ep_arena_chunk *next = chunk->next;
		free(chunk);
		chunk = next;
	}
	*arena = (struct ep_arena){0};
}
