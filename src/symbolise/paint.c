/* SPDX-License-Identifier: BSD-2-Clause */
/* From overlapping address ranges in the order of DWARF to the innermost context of an address. */
#include "base/search.h"
#include "symbolise/internal.h"

/*
 * The rule is that of LLVM's map from address to DIE, also where ranges do not nest: an entry holds
 * from its key to its end or to the next key; a new range splits the entry in which it begins and
 * no other. All keys are known before, so the map is an array, and "the last key up to here" a set
 * of bits with a bit above each 64.
 */
#define MAP_LEVELS 6

struct map {
	uint64_t *keys, *ends;
	uint32_t *contexts;
	uint64_t *bits[MAP_LEVELS];
	size_t n;
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void map_deinit(struct map *map)
{
	free(map->keys);
	free(map->ends);
	free(map->contexts);
	for (int i = 0; i < MAP_LEVELS; i++)
		free(map->bits[i]);
}

static bool map_init(struct map *map, const ep_sym_paints *paints)
{
	size_t n = 0;

	if (paints->n > SIZE_MAX / 64)
		return false;
	map->keys = calloc(2 * paints->n + 1, sizeof(*map->keys));
	map->ends = calloc(2 * paints->n + 1, sizeof(*map->ends));
	map->contexts = calloc(2 * paints->n + 1, sizeof(*map->contexts));
	if (!map->keys || !map->ends || !map->contexts)
		return false;
	for (size_t i = 0; i < paints->n; i++) {
		map->keys[n++] = paints->v[i].at.lo;
		map->keys[n++] = paints->v[i].at.hi;
	}
	qsort(map->keys, n, sizeof(*map->keys), compare_u64);
	for (size_t i = 0; i < n; i++)
		if (!i || map->keys[i] != map->keys[map->n - 1])
			map->keys[map->n++] = map->keys[i];
	n = map->n;
	for (int i = 0; i < MAP_LEVELS; i++) {
		n = n / 64 + 1;
		map->bits[i] = calloc(n, sizeof(*map->bits[i]));
		if (!map->bits[i])
			return false;
	}
	return true;
}

static size_t map_index(const struct map *map, uint64_t key)
{
	return ep_search(i, 1, map->n, map->keys[i] <= key) - 1;
}

static void map_set(struct map *map, size_t i, uint64_t end, uint32_t context)
{
	map->ends[i] = end;
	map->contexts[i] = context;
	for (int level = 0; level < MAP_LEVELS; level++) {
		map->bits[level][i / 64] |= UINT64_C(1) << i % 64;
		i /= 64;
	}
}

/* The last set index <= i; false: none. */
static bool map_before(const struct map *map, size_t i, size_t *ret)
{
	for (int level = 0; level < MAP_LEVELS; level++) {
		/* Below the lowest level a word counts only if it lies before the one left. */
		uint64_t mask =
		    level && !(i % 64) ? 0 : UINT64_MAX >> (63 - (i - (level > 0)) % 64);
		uint64_t word = map->bits[level][i / 64] & mask;

		if (!word) {
			i /= 64;
			continue;
		}
		i = i / 64 * 64 + (63 - (size_t)__builtin_clzll(word));
		while (level--)
			i = i * 64 + (63 - (size_t)__builtin_clzll(map->bits[level][i]));
		*ret = i;
		return true;
	}
	return false;
}

static void map_paint(struct map *map, const struct ep_sym_paint *paint)
{
	size_t lo = map_index(map, paint->at.lo), hi = map_index(map, paint->at.hi), before;

	if (map_before(map, lo, &before) && paint->at.lo < map->ends[before]) {
		if (paint->at.hi < map->ends[before])
			map_set(map, hi, map->ends[before], map->contexts[before]);
		if (lo > before)
			map->ends[before] = paint->at.lo;
	}
	map_set(map, lo, paint->at.hi, paint->context);
}

static bool map_has(const struct map *map, size_t i)
{
	return map->bits[0][i / 64] >> i % 64 & 1;
}

struct ep_error *ep_sym_paint_flatten(ep_sym_paints *paints)
{
	struct map map = {0};
	ep_sym_paints out = {0};

	if (!map_init(&map, paints) || !ep_vec_reserve(&out, map.n)) {
		map_deinit(&map);
		return ep_error_nomem();
	}
	for (size_t i = 0; i < paints->n; i++)
		map_paint(&map, &paints->v[i]);
	for (size_t i = 0; i < map.n;) {
		size_t next = i + 1;

		while (next < map.n && !map_has(&map, next))
			next++;
		if (map_has(&map, i)) {
			uint64_t end = map.ends[i];

			if (next < map.n)
				end = EP_MIN(end, map.keys[next]);
			if (end > map.keys[i])
				out.v[out.n++] = (struct ep_sym_paint){.at = {map.keys[i], end},
				                                       .context = map.contexts[i]};
		}
		i = next;
	}
	map_deinit(&map);
	free(paints->v);
	*paints = out;
	return NULL;
}
