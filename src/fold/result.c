/* SPDX-License-Identifier: BSD-2-Clause */
/* From counting tables to an edge table. */
#include "fold/result.h"

#include <string.h>

#include "base/pages.h"
#include "base/parallel.h"
#include "fold/radix.h"

/* Place of a binary that is not listed. */
#define NO_PLACE UINT32_MAX
#define SHORT_RUN 12

/* An edge with one end elsewhere, on its way to the binary at `place`. */
struct outer {
	struct ep_edge edge;
	uint32_t place;
};

typedef EP_VEC(struct outer) outer_vec;

struct maker {
	const struct ep_fold_binaries *binaries;
	const struct ep_fold_counter *counters; /* tables are packed */
	size_t n_counters;
	/* By number - EP_FOLD_BIN_FIRST: index in the result. Equal binaries have one place. */
	uint32_t *places;
	struct ep_edges *edges;
	size_t n_inner, n_with_range; /* entries */
	outer_vec outer;
	size_t i_outer; /* next to be listed */
	/* All edges and ranges of the result, by place, and how many are there so far. */
	struct ep_edge *all_edges;
	struct ep_range *all_ranges;
	size_t n_edges, n_ranges;
};

/* Goes over the entries of all tables. */
struct entry_walk {
	const struct maker *maker;
	size_t i_counter, i;
};

static bool is_real(uint64_t compact)
{
	return ep_fold_bin_of(compact) >= EP_FOLD_BIN_FIRST;
}

static uint32_t place_of(const struct maker *maker, uint64_t compact)
{
	return is_real(compact) ? maker->places[ep_fold_bin_of(compact) - EP_FOLD_BIN_FIRST]
	                        : NO_PLACE;
}

/* True if an end lies in a binary that is left out. */
static bool left_out(const struct maker *maker, const struct ep_fold_entry *e)
{
	return (is_real(e->from) && place_of(maker, e->from) == NO_PLACE) ||
	       (is_real(e->to) && place_of(maker, e->to) == NO_PLACE);
}

/* A key that sorts by place, then offset. */
static uint64_t key_of(const struct maker *maker, uint64_t compact)
{
	return (uint64_t)place_of(maker, compact) << EP_FOLD_BIN_SHIFT |
	       (compact & EP_FOLD_OFFSET_MASK);
}

/* The address in the binary's own space. */
static uint64_t address_of(const struct maker *maker, uint64_t compact)
{
	uint32_t number = ep_fold_bin_of(compact) - EP_FOLD_BIN_FIRST;
	uint64_t address = compact & EP_FOLD_OFFSET_MASK;
	bool high = maker->binaries->all.v[number].space == EP_SPACE_VADDR &&
	            address >> (EP_FOLD_BIN_SHIFT - 1);

	return high ? address | ~EP_FOLD_OFFSET_MASK : address;
}

/* NULL: no more. */
static inline const struct ep_fold_entry *next_entry(struct entry_walk *walk)
{
	while (walk->i_counter < walk->maker->n_counters) {
		const struct ep_fold_table *table = &walk->maker->counters[walk->i_counter].table;
		while (walk->i < table->n_used) {
			const struct ep_fold_entry *e = &table->slots[walk->i++];
			if (!left_out(walk->maker, e))
				return e;
		}
		walk->i_counter++;
		walk->i = 0;
	}
	return NULL;
}

struct numbered {
	struct ep_edges_binary binary;
	uint32_t number;
};

static int compare_numbered(const void *va, const void *vb)
{
	const struct numbered *a = va, *b = vb;
	int order = ep_edges_compare_binaries(&a->binary, &b->binary);

	return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* Marks the binaries of which anything was counted. */
static void find_used(struct maker *maker, const bool *leave_out, bool *used)
{
	for (size_t c = 0; c < maker->n_counters; c++) {
		const struct ep_fold_table *table = &maker->counters[c].table;
		for (size_t i = 0; i < table->n_used; i++) {
			const struct ep_fold_entry *e = &table->slots[i];
			size_t from = ep_fold_bin_of(e->from) - EP_FOLD_BIN_FIRST;
			size_t to = ep_fold_bin_of(e->to) - EP_FOLD_BIN_FIRST;
			if ((is_real(e->from) && leave_out[from]) ||
			    (is_real(e->to) && leave_out[to]))
				continue;
			if (is_real(e->from))
				used[from] = true;
			if (is_real(e->to))
				used[to] = true;
		}
	}
}

/* Adds what another number of the same binary knows of it. */
static struct ep_error *join(struct ep_arena *arena, struct ep_edges_binary *to,
                             const struct numbered *from, size_t n)
{
	size_t n_paths = 0;

	for (size_t i = 0; i < n; i++)
		n_paths += from[i].binary.n_paths;
	*to = from[0].binary;
	to->paths = ep_arena_calloc(arena, n_paths + 1, sizeof(*to->paths));
	if (!to->paths)
		return ep_error_nomem();
	to->n_paths = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ep_edges_binary *b = &from[i].binary;
		for (size_t p = 0; p < b->n_paths; p++)
			to->paths[to->n_paths++] = b->paths[p];
		to->build_id.size = EP_MIN(to->build_id.size, b->build_id.size);
		to->machine = EP_MAX(to->machine, b->machine);
	}
	return NULL;
}

/* Lists the binaries in the order of the result and gives each number its place. */
static struct ep_error *make_places(struct maker *maker, bool no_linked)
{
	const struct ep_fold_binaries *binaries = maker->binaries;
	size_t n = binaries->all.n, n_used = 0;
	struct ep_arena *arena = &maker->edges->arena;
	ep_autofree bool *flags = calloc(2 * n + 1, sizeof(*flags));
	ep_autofree struct ep_edges_binary *all = calloc(n + 1, sizeof(*all));
	ep_autofree struct numbered *sorted = calloc(n + 1, sizeof(*sorted));

	maker->places = malloc((n + 1) * sizeof(*maker->places));
	maker->edges->binaries = ep_arena_calloc(arena, n + 1, sizeof(*all));
	if (!flags || !all || !sorted || !maker->places || !maker->edges->binaries)
		return ep_error_nomem();
	for (size_t i = 0; i < n; i++) {
		flags[i] = no_linked && binaries->all.v[i].linked;
		maker->places[i] = NO_PLACE;
	}
	find_used(maker, flags, flags + n);
	EP_TRY(ep_fold_binaries_export(binaries, arena, all));
	for (uint32_t i = 0; i < n; i++)
		if (flags[n + i]) {
			sorted[n_used++] = (struct numbered){all[i], i};
			ep_fold_binaries_warn(binaries, i);
		}
	qsort(sorted, n_used, sizeof(*sorted), compare_numbered);
	for (size_t i = 0, end; i < n_used; i = end) {
		uint32_t place = (uint32_t)maker->edges->n_binaries++;
		for (end = i; end < n_used &&
		              !ep_edges_compare_binaries(&sorted[i].binary, &sorted[end].binary);
		     end++)
			maker->places[sorted[end].number] = place;
		EP_TRY(join(arena, &maker->edges->binaries[place], &sorted[i], end - i));
	}
	return NULL;
}

static bool is_inner(const struct maker *maker, const struct ep_fold_entry *e)
{
	return is_real(e->from) && is_real(e->to) &&
	       place_of(maker, e->from) == place_of(maker, e->to);
}

/* What an entry says of its edge; ends are set by the caller. */
static struct ep_edge edge_of(const struct ep_fold_entry *e)
{
	bool spill = e->what & EP_FOLD_WHAT_SPILL;

	return (struct ep_edge){.count = spill ? 0 : e->count,
	                        .mispreds = spill ? e->count : e->mispreds,
	                        .types = UINT32_C(1) << (e->what & EP_FOLD_WHAT_TYPE_MASK)};
}

static struct ep_error *add_outer(struct maker *maker, const struct ep_fold_entry *e)
{
	uint32_t from = place_of(maker, e->from), to = place_of(maker, e->to);
	struct outer outer = {.edge = edge_of(e)};

	if (is_real(e->from)) {
		outer.place = from;
		outer.edge.kind = EP_EDGE_OUT;
		outer.edge.peer = (to + 1) & 0x3fffffff; /* NO_PLACE becomes 0 */
		outer.edge.from = address_of(maker, e->from);
		outer.edge.to = 0;
		if (!ep_vec_push(&maker->outer, outer))
			return ep_error_nomem();
	}
	if (is_real(e->to)) {
		outer.place = to;
		outer.edge.kind = EP_EDGE_IN;
		outer.edge.peer = (from + 1) & 0x3fffffff;
		outer.edge.from = 0;
		outer.edge.to = address_of(maker, e->to);
		if (!ep_vec_push(&maker->outer, outer))
			return ep_error_nomem();
	}
	return NULL;
}

static void join_edge(struct ep_edge *to, const struct ep_edge *from)
{
	to->count = ep_count_add(to->count, from->count);
	to->mispreds = ep_count_add(to->mispreds, from->mispreds);
	to->types |= from->types;
}

static int compare_outer(const void *va, const void *vb)
{
	const struct outer *a = va, *b = vb;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return ep_edges_compare_edges(&a->edge, &b->edge);
}

static void sort_outer(outer_vec *outer)
{
	size_t n = 0;

	if (outer->n)
		qsort(outer->v, outer->n, sizeof(outer->v[0]), compare_outer);
	for (size_t i = 0; i < outer->n; i++) {
		if (n && !compare_outer(&outer->v[n - 1], &outer->v[i]))
			join_edge(&outer->v[n - 1].edge, &outer->v[i].edge);
		else
			outer->v[n++] = outer->v[i];
	}
	outer->n = n;
}

static int compare_by_target(const void *va, const void *vb)
{
	const struct ep_fold_keyed *a = va, *b = vb;
	uint64_t x = ((const struct ep_fold_entry *)a->item)->to;
	uint64_t y = ((const struct ep_fold_entry *)b->item)->to;

	return (x > y) - (x < y);
}

/* Runs are short, mostly of one or two: no call of qsort(3) then. */
static void sort_run(struct ep_fold_keyed *v, size_t n, int (*compare)(const void *, const void *))
{
	if (n > SHORT_RUN) {
		qsort(v, n, sizeof(*v), compare);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct ep_fold_keyed x = v[i];
		size_t j = i;
		for (; j && compare(&v[j - 1], &x) > 0; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* Sums the entries of one source, which are those of a few edges. */
static void add_source(struct maker *maker, struct ep_fold_keyed *v, size_t n)
{
	size_t first = maker->n_edges;

	sort_run(v, n, compare_by_target);
	for (size_t i = 0; i < n; i++) {
		const struct ep_fold_entry *e = v[i].item;
		struct ep_edge edge = edge_of(e);
		edge.kind = EP_EDGE_INTERNAL;
		edge.from = address_of(maker, e->from);
		edge.to = address_of(maker, e->to);
		struct ep_edge *last =
		    maker->n_edges > first ? &maker->all_edges[maker->n_edges - 1] : NULL;
		if (last && last->to == edge.to)
			join_edge(last, &edge);
		else
			maker->all_edges[maker->n_edges++] = edge;
	}
}

static int compare_by_end(const void *va, const void *vb)
{
	const struct ep_fold_entry *a = ((const struct ep_fold_keyed *)va)->item;
	const struct ep_fold_entry *b = ((const struct ep_fold_keyed *)vb)->item;
	uint32_t x = a->what & EP_FOLD_WHAT_OPEN_END, y = b->what & EP_FOLD_WHAT_OPEN_END;

	if (a->what >> EP_FOLD_WHAT_LENGTH_SHIFT != b->what >> EP_FOLD_WHAT_LENGTH_SHIFT)
		return a->what >> EP_FOLD_WHAT_LENGTH_SHIFT < b->what >> EP_FOLD_WHAT_LENGTH_SHIFT
		           ? -1
		           : 1;
	return (x > y) - (x < y);
}

static void add_start(struct maker *maker, struct ep_fold_keyed *v, size_t n)
{
	size_t first = maker->n_ranges;

	sort_run(v, n, compare_by_end);
	for (size_t i = 0; i < n; i++) {
		const struct ep_fold_entry *e = v[i].item;
		uint64_t end = address_of(maker, e->from);
		struct ep_range range = {.start = end - (e->what >> EP_FOLD_WHAT_LENGTH_SHIFT),
		                         .end = end,
		                         .count = e->count,
		                         .open_end = (e->what & EP_FOLD_WHAT_OPEN_END) != 0};
		struct ep_range *last =
		    maker->n_ranges > first ? &maker->all_ranges[maker->n_ranges - 1] : NULL;
		if (last && last->end == range.end && last->open_end == range.open_end)
			last->count = ep_count_add(last->count, range.count);
		else
			maker->all_ranges[maker->n_ranges++] = range;
	}
}

/* Ends the list of edges inside the binary at `place` with those from and to elsewhere. */
static void end_edges(struct maker *maker, uint32_t place)
{
	struct ep_edges_binary *b = &maker->edges->binaries[place];
	const outer_vec *outer = &maker->outer;

	for (; maker->i_outer < outer->n && outer->v[maker->i_outer].place == place;
	     maker->i_outer++)
		maker->all_edges[maker->n_edges++] = outer->v[maker->i_outer].edge;
	b->n_edges = (size_t)(maker->all_edges + maker->n_edges - b->edges);
}

static void end_ranges(struct maker *maker, uint32_t place)
{
	struct ep_edges_binary *b = &maker->edges->binaries[place];

	b->n_ranges = (size_t)(maker->all_ranges + maker->n_ranges - b->ranges);
}

/* Entries lie in memory in the order of their hash: each is a miss unless asked for ahead. */
#define PREFETCH_ITEMS 16

/* Gives each run of equal keys of the sorted v[i..n) that belongs to `place` to `add`. */
static size_t add_runs(struct maker *maker, struct ep_fold_keyed *v, size_t i, size_t n,
                       uint32_t place, void (*add)(struct maker *, struct ep_fold_keyed *, size_t))
{
	while (i < n && v[i].key >> EP_FOLD_BIN_SHIFT == place) {
		size_t end = i;
		do {
			if (end + PREFETCH_ITEMS < n)
				__builtin_prefetch(v[end + PREFETCH_ITEMS].item);
			end++;
		} while (end < n && v[end].key == v[i].key);
		add(maker, &v[i], end - i);
		i = end;
	}
	return i;
}

static struct ep_error *make_edges(struct maker *maker)
{
	size_t n = 0, i = 0, bytes = (2 * maker->n_inner + 1) * sizeof(struct ep_fold_keyed);
	struct ep_fold_keyed *keyed = ep_pages_alloc(bytes);
	struct entry_walk walk = {.maker = maker};
	const struct ep_fold_entry *e;

	if (!keyed)
		return ep_error_nomem();
	while ((e = next_entry(&walk)))
		if ((e->what & EP_FOLD_WHAT_EDGE) && is_inner(maker, e))
			keyed[n++] = (struct ep_fold_keyed){key_of(maker, e->from), e};
	struct ep_fold_keyed *sorted = ep_fold_radix_sort(keyed, keyed + n, n);
	sort_outer(&maker->outer);
	for (uint32_t place = 0; place < maker->edges->n_binaries; place++) {
		maker->edges->binaries[place].edges = maker->all_edges + maker->n_edges;
		i = add_runs(maker, sorted, i, n, place, add_source);
		end_edges(maker, place);
	}
	ep_pages_free(keyed, bytes);
	return NULL;
}

static bool has_range(const struct ep_fold_entry *e)
{
	return (e->what & (EP_FOLD_WHAT_RANGE | EP_FOLD_WHAT_SPILL)) == EP_FOLD_WHAT_RANGE &&
	       is_real(e->from);
}

static struct ep_error *make_ranges(struct maker *maker)
{
	size_t n = 0, i = 0, bytes = (2 * maker->n_with_range + 1) * sizeof(struct ep_fold_keyed);
	struct ep_fold_keyed *keyed = ep_pages_alloc(bytes);
	struct entry_walk walk = {.maker = maker};
	const struct ep_fold_entry *e;

	if (!keyed)
		return ep_error_nomem();
	while ((e = next_entry(&walk)))
		if (has_range(e))
			keyed[n++] = (struct ep_fold_keyed){
			    key_of(maker, e->from) - (e->what >> EP_FOLD_WHAT_LENGTH_SHIFT), e};
	struct ep_fold_keyed *sorted = ep_fold_radix_sort(keyed, keyed + n, n);
	for (uint32_t place = 0; place < maker->edges->n_binaries; place++) {
		maker->edges->binaries[place].ranges = maker->all_ranges + maker->n_ranges;
		i = add_runs(maker, sorted, i, n, place, add_start);
		end_ranges(maker, place);
	}
	ep_pages_free(keyed, bytes);
	return NULL;
}

static struct ep_error *run_job(void *payload, size_t i_job, unsigned i_thread)
{
	(void)i_thread;
	return i_job ? make_ranges(payload) : make_edges(payload);
}

/*
 * Counts what there will be at most, lists edges from and to elsewhere, and takes the memory. Large
 * memory that is not used in the end costs nothing.
 */
static struct ep_error *prepare(struct maker *maker)
{
	struct entry_walk walk = {.maker = maker};
	struct ep_arena *arena = &maker->edges->arena;
	const struct ep_fold_entry *e;

	while ((e = next_entry(&walk))) {
		maker->n_with_range += has_range(e);
		if (!(e->what & EP_FOLD_WHAT_EDGE))
			continue;
		if (is_inner(maker, e))
			maker->n_inner++;
		else
			EP_TRY(add_outer(maker, e));
	}
	size_t n_edges = maker->n_inner + maker->outer.n + 1, n_ranges = maker->n_with_range + 1;
	maker->all_edges = ep_arena_alloc(arena, n_edges * sizeof(struct ep_edge));
	maker->all_ranges = ep_arena_alloc(arena, n_ranges * sizeof(struct ep_range));
	return maker->all_edges && maker->all_ranges ? NULL : ep_error_nomem();
}

static uint64_t saturated(const struct ep_edges *edges)
{
	uint64_t n = 0;

	for (size_t i = 0; i < edges->n_binaries; i++) {
		const struct ep_edges_binary *b = &edges->binaries[i];
		for (size_t e = 0; e < b->n_edges; e++)
			n += b->edges[e].count == UINT64_MAX;
		for (size_t r = 0; r < b->n_ranges; r++)
			n += b->ranges[r].count == UINT64_MAX;
	}
	return n;
}

static struct ep_error *make(struct maker *maker, struct ep_fold_counter *counters, bool no_linked,
                             unsigned n_threads)
{
	for (size_t i = 0; i < maker->n_counters; i++)
		ep_fold_table_pack(&counters[i].table);
	EP_TRY(make_places(maker, no_linked));
	EP_TRY(prepare(maker));
	EP_TRY(ep_parallel_for(n_threads, 2, run_job, maker));
	for (size_t i = 0; i < maker->n_counters; i++) {
		ep_fold_table_deinit(&counters[i].table);
		ep_drops_add(&maker->edges->drops, &counters[i].drops);
	}
	return NULL;
}

struct ep_error *ep_fold_make_result(const struct ep_fold_binaries *binaries,
                                     struct ep_fold_counter *counters, size_t n_counters,
                                     bool no_linked, unsigned n_threads, struct ep_edges *ret)
{
	struct maker maker = {
	    .binaries = binaries, .counters = counters, .n_counters = n_counters, .edges = ret};
	struct ep_error *err = make(&maker, counters, no_linked, n_threads);

	free(maker.places);
	ep_vec_deinit(&maker.outer);
	if (err)
		return err;
	EP_TRY(ep_edges_normalise(ret));
	ret->drops.notes[EP_NOTE_SATURATED] = saturated(ret);
	return NULL;
}
