/* SPDX-License-Identifier: BSD-2-Clause */
/* From counting tables to an edge table. */
#include "fold/result.h"

#include <string.h>

struct maker {
	struct ep_edges *edges;
	const bool *leave_out; /* by binary */
};

static bool is_real(uint64_t compact)
{
	return ep_fold_bin_of(compact) >= EP_FOLD_BIN_FIRST;
}

static struct ep_edges_binary *binary_of(struct maker *maker, uint64_t compact)
{
	return &maker->edges->binaries[ep_fold_bin_of(compact) - EP_FOLD_BIN_FIRST];
}

static bool left_out(const struct maker *maker, uint64_t compact)
{
	return is_real(compact) && maker->leave_out[ep_fold_bin_of(compact) - EP_FOLD_BIN_FIRST];
}

/* The address in the binary's own space. */
static uint64_t address_of(const struct ep_edges_binary *binary, uint64_t compact)
{
	uint64_t address = compact & EP_FOLD_OFFSET_MASK;
	bool high = binary->space == EP_SPACE_VADDR && address >> (EP_FOLD_BIN_SHIFT - 1);

	return high ? address | ~EP_FOLD_OFFSET_MASK : address;
}

static uint32_t peer_of(uint64_t compact)
{
	return is_real(compact) ? ep_fold_bin_of(compact) - EP_FOLD_BIN_FIRST + 1 : 0;
}

/* Adds an edge, or only counts it where there is no room yet. */
static void add_edge(struct ep_edges_binary *binary, const struct ep_edge *edge)
{
	if (binary->edges)
		binary->edges[binary->n_edges] = *edge;
	binary->n_edges++;
}

static void add_edges(struct maker *maker, const struct ep_fold_entry *e)
{
	bool mispredicted = e->what & EP_FOLD_WHAT_MISPRED;
	struct ep_edge edge = {.count = e->count,
	                       .mispreds = mispredicted ? e->count : 0,
	                       .types = UINT32_C(1) << (e->what & EP_FOLD_WHAT_TYPE_MASK)};

	if (ep_fold_bin_of(e->from) == ep_fold_bin_of(e->to)) {
		struct ep_edges_binary *binary = binary_of(maker, e->from);
		edge.kind = EP_EDGE_INTERNAL;
		edge.from = address_of(binary, e->from);
		edge.to = address_of(binary, e->to);
		add_edge(binary, &edge);
		return;
	}
	if (is_real(e->from)) {
		struct ep_edges_binary *binary = binary_of(maker, e->from);
		edge.kind = EP_EDGE_OUT;
		edge.peer = peer_of(e->to) & 0x3fffffff;
		edge.from = address_of(binary, e->from);
		edge.to = 0;
		add_edge(binary, &edge);
	}
	if (is_real(e->to)) {
		struct ep_edges_binary *binary = binary_of(maker, e->to);
		edge.kind = EP_EDGE_IN;
		edge.peer = peer_of(e->from) & 0x3fffffff;
		edge.from = 0;
		edge.to = address_of(binary, e->to);
		add_edge(binary, &edge);
	}
}

static void add_range(struct maker *maker, const struct ep_fold_entry *e)
{
	struct ep_edges_binary *binary = binary_of(maker, e->from);
	uint64_t end = address_of(binary, e->from);

	if (binary->ranges)
		binary->ranges[binary->n_ranges] =
		    (struct ep_range){.start = end - (e->what >> EP_FOLD_WHAT_LENGTH_SHIFT),
		                      .end = end,
		                      .count = e->count,
		                      .open_end = (e->what & EP_FOLD_WHAT_OPEN_END) != 0};
	binary->n_ranges++;
}

static void walk_entries(struct maker *maker, const struct ep_fold_table *table)
{
	for (uint64_t i = 0; table->slots && i <= table->mask; i++) {
		const struct ep_fold_entry *e = &table->slots[i];
		if (!e->count || left_out(maker, e->from) || left_out(maker, e->to))
			continue;
		if (e->what & EP_FOLD_WHAT_EDGE)
			add_edges(maker, e);
		if ((e->what & EP_FOLD_WHAT_RANGE) && is_real(e->from))
			add_range(maker, e);
	}
}

/* Room for what the first walk counted. */
static struct ep_error *make_room(struct ep_edges *edges)
{
	for (size_t i = 0; i < edges->n_binaries; i++) {
		struct ep_edges_binary *b = &edges->binaries[i];
		b->edges = ep_arena_calloc(&edges->arena, EP_MAX(b->n_edges, (size_t)1),
		                           sizeof(*b->edges));
		b->ranges = ep_arena_calloc(&edges->arena, EP_MAX(b->n_ranges, (size_t)1),
		                            sizeof(*b->ranges));
		if (!b->edges || !b->ranges)
			return ep_error_nomem();
		b->n_edges = b->n_ranges = 0;
	}
	return NULL;
}

/* Binaries of which nothing was counted are not listed; peers are numbered anew. */
static struct ep_error *drop_empty(struct ep_edges *edges)
{
	ep_autofree uint32_t *numbers = calloc(edges->n_binaries + 1, sizeof(*numbers));
	uint32_t n = 0;

	if (!numbers)
		return ep_error_nomem();
	for (size_t i = 0; i < edges->n_binaries; i++)
		if (edges->binaries[i].n_edges || edges->binaries[i].n_ranges)
			numbers[i + 1] = ++n;
	for (size_t i = 0; i < edges->n_binaries; i++) {
		struct ep_edges_binary *b = &edges->binaries[i];
		for (size_t e = 0; e < b->n_edges; e++)
			b->edges[e].peer = numbers[b->edges[e].peer] & 0x3fffffff;
		if (numbers[i + 1])
			edges->binaries[numbers[i + 1] - 1] = *b;
	}
	edges->n_binaries = n;
	return NULL;
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

struct ep_error *ep_fold_make_result(const struct ep_fold_binaries *binaries,
                                     struct ep_fold_counter *counters, size_t n_counters,
                                     bool no_linked, struct ep_edges *ret)
{
	size_t n = binaries->all.n;
	ep_autofree bool *leave_out = calloc(n + 1, sizeof(*leave_out));
	struct maker maker = {ret, leave_out};

	ret->binaries = ep_arena_calloc(&ret->arena, n + 1, sizeof(*ret->binaries));
	if (!leave_out || !ret->binaries)
		return ep_error_nomem();
	ret->n_binaries = n;
	for (size_t i = 0; i < n; i++)
		leave_out[i] = no_linked && binaries->all.v[i].linked;
	EP_TRY(ep_fold_binaries_export(binaries, &ret->arena, ret->binaries));
	for (size_t i = 0; i < n_counters; i++)
		walk_entries(&maker, &counters[i].table);
	EP_TRY(make_room(ret));
	for (size_t i = 0; i < n_counters; i++) {
		walk_entries(&maker, &counters[i].table);
		ep_fold_table_deinit(&counters[i].table);
		ep_drops_add(&ret->drops, &counters[i].drops);
	}
	EP_TRY(drop_empty(ret));
	EP_TRY(ep_edges_normalise(ret));
	ret->drops.notes[EP_NOTE_SATURATED] = saturated(ret);
	return NULL;
}
