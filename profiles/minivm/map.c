/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps: open addressing with linear probing; removal shifts back, so there are no tombstones. */
#include "heap.h"

enum { MAX_SHOW_DEPTH = 8 };

struct mv_map *mv_map_new(struct mv_heap *heap)
{
	return mv_from_obj(mv_new(heap, MV_MAP, sizeof(struct mv_map))).u.map;
}

static uint64_t hash(struct mv_value key)
{
	return mv_types[key.tag]->hash(key);
}

/* The entry of key, or the free one where it would go; cap is not 0. */
static struct mv_entry *probe(const struct mv_map *map, struct mv_value key)
{
	size_t mask = map->cap - 1;

	for (size_t i = hash(key) & mask;; i = (i + 1) & mask) {
		struct mv_entry *e = &map->e[i];

		if (e->key.tag == MV_NIL)
			return e;
		if (e->key.tag == key.tag && mv_types[key.tag]->equal(e->key, key))
			return e;
	}
}

static void grow(struct mv_heap *heap, struct mv_map *map)
{
	struct mv_map old = *map;

	map->cap = old.cap ? old.cap * 2 : 8;
	map->e = mv_resize(heap, NULL, 0, map->cap * sizeof(*map->e));
	for (size_t i = 0; i < map->cap; i++)
		map->e[i].key = mv_nil();
	for (size_t i = 0; i < old.cap; i++) {
		if (old.e[i].key.tag != MV_NIL)
			*probe(map, old.e[i].key) = old.e[i];
	}
	mv_resize(heap, old.e, old.cap * sizeof(*old.e), 0);
}

struct mv_value *mv_map_find(const struct mv_map *map, struct mv_value key)
{
	struct mv_entry *e;

	if (map->n == 0)
		return NULL;
	e = probe(map, key);
	return e->key.tag == MV_NIL ? NULL : &e->value;
}

void mv_map_put(struct mv_heap *heap, struct mv_map *map, struct mv_value key, struct mv_value v)
{
	struct mv_entry *e;

	if (map->n >= map->cap / 4 * 3)
		grow(heap, map);
	e = probe(map, key);
	if (e->key.tag == MV_NIL) {
		e->key = key;
		map->n++;
	}
	e->value = v;
}

bool mv_map_remove(struct mv_map *map, struct mv_value key)
{
	struct mv_entry *e;
	size_t mask = map->cap - 1, hole, i;

	if (map->n == 0)
		return false;
	e = probe(map, key);
	if (e->key.tag == MV_NIL)
		return false;
	hole = (size_t)(e - map->e);
	for (i = (hole + 1) & mask; map->e[i].key.tag != MV_NIL; i = (i + 1) & mask) {
		size_t home = hash(map->e[i].key) & mask;

		/* an entry may move back only to where its probing still finds it */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->e[hole] = map->e[i];
			hole = i;
		}
	}
	map->e[hole].key = mv_nil();
	map->n--;
	return true;
}

static bool equal(struct mv_value a, struct mv_value b)
{
	return a.u.map == b.u.map;
}

static void show(struct mv_text *out, struct mv_value v, unsigned depth)
{
	const char *sep = "";

	if (depth >= MAX_SHOW_DEPTH) {
		mv_text_add(out, "{...}", 5);
		return;
	}
	mv_text_add(out, "{", 1);
	for (size_t i = 0; i < v.u.map->cap; i++) {
		const struct mv_entry *e = &v.u.map->e[i];

		if (e->key.tag == MV_NIL)
			continue;
		mv_text_addf(out, "%s", sep);
		mv_types[e->key.tag]->show(out, e->key, depth + 1);
		mv_text_add(out, ": ", 2);
		mv_types[e->value.tag]->show(out, e->value, depth + 1);
		sep = ", ";
	}
	mv_text_add(out, "}", 1);
}

static void trace(struct mv_heap *heap, struct mv_obj *obj)
{
	const struct mv_map *map = mv_from_obj(obj).u.map;

	for (size_t i = 0; i < map->cap; i++) {
		if (map->e[i].key.tag == MV_NIL)
			continue;
		mv_mark(heap, map->e[i].key);
		mv_mark(heap, map->e[i].value);
	}
}

static void release(struct mv_heap *heap, struct mv_obj *obj)
{
	struct mv_map *map = mv_from_obj(obj).u.map;

	mv_resize(heap, map->e, map->cap * sizeof(*map->e), 0);
	mv_resize(heap, obj, sizeof(*map), 0);
}

const struct mv_type mv_map_type = {
    .name = "map", .equal = equal, .show = show, .trace = trace, .release = release};
