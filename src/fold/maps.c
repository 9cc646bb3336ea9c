/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorted sets of maps. */
#include "fold/maps.h"

#include <string.h>

#include "base/search.h"
#include "base/vec.h"

typedef EP_VEC(struct ep_fold_map) map_vec;

static const struct ep_fold_maps no_maps;

struct ep_fold_maps *ep_fold_maps_ref(struct ep_fold_maps *maps)
{
	if (maps)
		__atomic_add_fetch(&maps->n_refs, 1, __ATOMIC_RELAXED);
	return maps;
}

void ep_fold_maps_unref(struct ep_fold_maps *maps)
{
	if (!maps || __atomic_sub_fetch(&maps->n_refs, 1, __ATOMIC_ACQ_REL))
		return;
	__atomic_sub_fetch(&maps->room->n_maps, maps->cap, __ATOMIC_RELAXED);
	free(maps);
}

/* A set to look at, also where there is none. */
static const struct ep_fold_maps *view(const struct ep_fold_maps *maps)
{
	return maps ? maps : &no_maps;
}

/* The first map that ends behind ip. */
static size_t first_behind(const struct ep_fold_maps *maps, uint64_t ip)
{
	const struct ep_fold_map *v = maps->v;

	return ep_search(i, 0, maps->n, ip >= v[i].start && ip - v[i].start >= v[i].len);
}

const struct ep_fold_map *ep_fold_maps_find(const struct ep_fold_maps *maps, uint64_t ip)
{
	if (!maps)
		return NULL;
	size_t i = first_behind(maps, ip);
	return i < maps->n && ip >= maps->v[i].start ? &maps->v[i] : NULL;
}

/* The number of maps from `first` on that begin at or before ip `last`. */
static size_t n_overlapped(const struct ep_fold_maps *maps, size_t first, uint64_t last)
{
	return ep_search(i, first, maps->n, maps->v[i].start <= last) - first;
}

bool ep_fold_maps_has_any(const struct ep_fold_maps *maps, uint64_t start, uint64_t len)
{
	return len && n_overlapped(view(maps), first_behind(view(maps), start), start + (len - 1));
}

bool ep_fold_maps_has_binary(const struct ep_fold_maps *maps, uint64_t start, uint64_t len)
{
	size_t first = first_behind(view(maps), start);
	size_t n = len ? n_overlapped(view(maps), first, start + (len - 1)) : 0;

	for (size_t i = first; i < first + n; i++)
		if (maps->v[i].mask)
			return true;
	return false;
}

static bool is_shared(const struct ep_fold_maps *maps)
{
	return maps && __atomic_load_n(&maps->n_refs, __ATOMIC_ACQUIRE) > 1;
}

/* Makes the set ours alone, with space for n_more maps. Nothing is changed if room->full. */
static struct ep_error *make_own(struct ep_fold_maps **maps, size_t n_more,
                                 struct ep_fold_room *room)
{
	struct ep_fold_maps *old = *maps;
	size_t n = old ? old->n : 0, want = n + n_more;
	bool shared = is_shared(old);

	if (old && !shared && want <= old->cap)
		return NULL;
	size_t cap = EP_MAX(want, n + n / 2);
	cap = EP_MIN(EP_MAX(cap, (size_t)8), (size_t)EP_FOLD_MAPS_MAX);
	size_t added = cap - (old && !shared ? old->cap : 0);
	if (want > EP_FOLD_MAPS_MAX ||
	    __atomic_load_n(&room->n_maps, __ATOMIC_RELAXED) + added > EP_FOLD_ROOM_MAX) {
		room->full = true;
		return NULL;
	}
	size_t bytes = sizeof(*old) + cap * sizeof(old->v[0]);
	struct ep_fold_maps *new = shared ? malloc(bytes) : realloc(old, bytes);
	if (!new)
		return ep_error_nomem();
	if (shared)
		memcpy(new, old, sizeof(*old) + n * sizeof(old->v[0]));
	if (shared || !old) {
		new->n = (uint32_t)n;
		new->n_refs = 1;
		new->stamp = 0;
		new->room = room;
	}
	new->cap = (uint32_t)cap;
	__atomic_add_fetch(&room->n_maps, added, __ATOMIC_RELAXED);
	if (shared)
		ep_fold_maps_unref(old);
	*maps = new;
	return NULL;
}

/* In want of room: what was to be changed is wrong from now on, so it goes. */
static void give_up(struct ep_fold_maps **maps, size_t first, size_t n_old)
{
	struct ep_fold_maps *have = *maps;

	if (!have || is_shared(have)) {
		ep_fold_maps_unref(have);
		*maps = NULL;
		return;
	}
	memmove(&have->v[first], &have->v[first + n_old],
	        (have->n - first - n_old) * sizeof(have->v[0]));
	have->n -= (uint32_t)n_old;
}

/* Puts n pieces in the place of the n_old maps from `first` on. */
static struct ep_error *splice(struct ep_fold_maps **maps, size_t first, size_t n_old,
                               const struct ep_fold_map *pieces, size_t n,
                               struct ep_fold_room *room)
{
	size_t have = *maps ? (*maps)->n : 0;

	if (n == n_old && (!n || !memcmp(&view(*maps)->v[first], pieces, n * sizeof(*pieces))))
		return NULL;
	EP_TRY(make_own(maps, n > n_old ? n - n_old : 0, room));
	if (room->full) {
		give_up(maps, first, n_old);
		return NULL;
	}
	struct ep_fold_map *v = (*maps)->v;
	memmove(&v[first + n], &v[first + n_old], (have - first - n_old) * sizeof(*v));
	if (n)
		memcpy(&v[first], pieces, n * sizeof(*v));
	(*maps)->n = (uint32_t)(have - n_old + n);
	return NULL;
}

static struct ep_fold_map cut(const struct ep_fold_map *m, uint64_t start, uint64_t last)
{
	struct ep_fold_map piece = *m;

	piece.start = start;
	piece.len = last - start + 1;
	return piece;
}

/* What is left of the overlapped maps on both sides of [start, last], `between` in the middle. */
static struct ep_error *replace(struct ep_fold_maps **maps, uint64_t start, uint64_t last,
                                const struct ep_fold_map *between, struct ep_fold_room *room)
{
	const struct ep_fold_maps *have = view(*maps);
	const struct ep_fold_map *v = have->v;
	struct ep_fold_map pieces[3];
	size_t first = first_behind(have, start), n = 0;
	size_t n_old = n_overlapped(have, first, last);

	if (n_old && v[first].start < start)
		pieces[n++] = cut(&v[first], v[first].start, start - 1);
	if (between)
		pieces[n++] = *between;
	if (n_old) {
		const struct ep_fold_map *m = &v[first + n_old - 1];
		uint64_t m_last = m->start + (m->len - 1);
		if (m_last > last)
			pieces[n++] = cut(m, last + 1, m_last);
	}
	return splice(maps, first, n_old, pieces, n, room);
}

static bool continues(const struct ep_fold_map *a, const struct ep_fold_map *b)
{
	return a->start + a->len == b->start && a->base == b->base && a->mask == b->mask;
}

/* Joins map i with the next one if that only continues it: JIT memory grows in small steps. */
static void join_next(struct ep_fold_maps *maps, size_t i)
{
	if (i + 1 >= maps->n || !continues(&maps->v[i], &maps->v[i + 1]))
		return;
	maps->v[i].len += maps->v[i + 1].len;
	memmove(&maps->v[i + 1], &maps->v[i + 2], (maps->n - i - 2) * sizeof(maps->v[0]));
	maps->n--;
}

struct ep_error *ep_fold_maps_add(struct ep_fold_maps **maps, const struct ep_fold_map *map,
                                  struct ep_fold_room *room)
{
	room->full = false;
	if (!map->len)
		return NULL;
	const struct ep_fold_map *have = ep_fold_maps_find(*maps, map->start);
	/* Nothing new, and so no copy of a shared set: perf repeats maps after mprotect(2). */
	if (have && have->base == map->base && have->mask == map->mask &&
	    map->start - have->start <= have->len - map->len && map->len <= have->len)
		return NULL;
	EP_TRY(replace(maps, map->start, map->start + (map->len - 1), map, room));
	/* Nothing to join where it did not fit, or changed nothing in a set of others. */
	if (room->full || !*maps || is_shared(*maps))
		return NULL;
	size_t i = first_behind(*maps, map->start);
	join_next(*maps, i);
	if (i)
		join_next(*maps, i - 1);
	return NULL;
}

struct ep_error *ep_fold_maps_remove(struct ep_fold_maps **maps, uint64_t start, uint64_t len,
                                     struct ep_fold_room *room)
{
	room->full = false;
	return len ? replace(maps, start, start + (len - 1), NULL, room) : NULL;
}

/* Appends the overlap of m and x, ambiguous where they differ. */
static bool push_overlap(map_vec *pieces, const struct ep_fold_map *m, const struct ep_fold_map *x,
                         uint64_t start, uint64_t last)
{
	struct ep_fold_map piece = cut(x, start, last);

	if (m->base != x->base || m->mask != x->mask)
		piece = ep_fold_map_make(start, last - start + 1, EP_FOLD_BIN_AMBIGUOUS, 0);
	return ep_vec_push(pieces, piece);
}

struct ep_error *ep_fold_maps_unite(struct ep_fold_maps **maps, const struct ep_fold_map *map,
                                    struct ep_fold_room *room)
{
	map_vec pieces = {0};
	bool ok = true;

	room->full = false;
	if (!map->len)
		return NULL;
	uint64_t next = map->start, last = map->start + (map->len - 1);
	const struct ep_fold_maps *have = view(*maps);
	size_t first = first_behind(have, next), n_old = n_overlapped(have, first, last);
	for (size_t i = first; i < first + n_old; i++) {
		const struct ep_fold_map *x = &have->v[i];
		uint64_t x_last = x->start + (x->len - 1);
		if (x->start < next)
			ok = ok && ep_vec_push(&pieces, cut(x, x->start, next - 1));
		else if (x->start > next)
			ok = ok && ep_vec_push(&pieces, cut(map, next, x->start - 1));
		ok = ok &&
		     push_overlap(&pieces, map, x, EP_MAX(x->start, next), EP_MIN(x_last, last));
		if (x_last > last)
			ok = ok && ep_vec_push(&pieces, cut(x, last + 1, x_last));
		next = x_last + 1;
	}
	if (!n_old || (next && next <= last))
		ok = ok && ep_vec_push(&pieces, cut(map, next, last));
	struct ep_error *err =
	    ok ? splice(maps, first, n_old, pieces.v, pieces.n, room) : ep_error_nomem();
	ep_vec_deinit(&pieces);
	return err;
}
