/* SPDX-License-Identifier: BSD-2-Clause */
/* Made-up edge tables. */
#include "support/edges_gen.h"

#include <stdio.h>
#include <string.h>

#include "support/check.h"

uint64_t gen_u64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t gen_below(uint64_t *state, uint64_t n)
{
	return gen_u64(state) % n;
}

static uint64_t address(uint64_t *s, bool wild)
{
	return wild ? gen_u64(s) >> gen_below(s, 64) : 0x1000 + 4 * gen_below(s, 2000);
}

static uint64_t count(uint64_t *s, bool wild)
{
	if (wild)
		return gen_below(s, 8) ? gen_u64(s) >> gen_below(s, 64) : UINT64_MAX;
	return (1 + gen_below(s, 50)) * EP_COUNT_ONE;
}

static void fill_counts(uint64_t *s, const struct gen_edges_opts *opts, struct ep_edges *edges,
                        struct ep_edges_binary *binary)
{
	size_t n = opts->n_rows;

	binary->n_edges = binary->n_ranges = n;
	binary->edges = ep_arena_calloc(&edges->arena, n, sizeof(*binary->edges));
	binary->ranges = ep_arena_calloc(&edges->arena, n, sizeof(*binary->ranges));
	assert_true(binary->edges && binary->ranges);
	for (size_t i = 0; i < n; i++) {
		struct ep_edge *edge = &binary->edges[i];
		edge->kind = gen_below(s, 4) ? EP_EDGE_INTERNAL : gen_below(s, 3) & 3;
		edge->from = address(s, opts->wild);
		edge->to = address(s, opts->wild);
		edge->count = count(s, opts->wild);
		edge->mispreds = gen_below(s, 2) ? count(s, opts->wild) : 0;
		edge->types = UINT32_C(1) << gen_below(s, EP_BRANCH_N_TYPES);
		if (!gen_below(s, 5))
			edge->types = (uint32_t)gen_u64(s) >> gen_below(s, 32);
		if (edge->kind != EP_EDGE_INTERNAL)
			edge->peer = (uint32_t)gen_below(s, opts->n_binaries + 1) & 0xffff;
		struct ep_range *range = &binary->ranges[i];
		range->start = address(s, opts->wild);
		range->end = opts->wild ? address(s, true) : range->start + 4 * gen_below(s, 9);
		range->count = count(s, opts->wild);
		range->open_end = !gen_below(s, 20);
	}
}

static void fill_binary(uint64_t *s, const struct gen_edges_opts *opts, struct ep_edges *edges,
                        struct ep_edges_binary *binary)
{
	unsigned which = (unsigned)gen_below(s, 12);
	uint64_t id_seed = which;
	uint8_t id[20] = {0};
	char path[64];

	for (size_t i = 0; i < 8; i++)
		id[i] = (uint8_t)(gen_u64(&id_seed) | 1);
	/* Of the pool: ids of 8 bytes, some padded by zeros, hashes, and unidentified ones. */
	if (which < 8)
		binary->build_id = ep_build_id_make(EP_BUILD_ID_GNU, id, gen_below(s, 2) ? 8 : 20);
	else if (which < 10)
		binary->build_id = ep_build_id_make(EP_BUILD_ID_HASH, id, 16);
	binary->space = which == 3 ? EP_SPACE_VADDR : EP_SPACE_FOFF;
	binary->machine = which % 2 ? 183 : (uint16_t)(62 * gen_below(s, 2));
	binary->n_paths = binary->build_id.size ? (uint32_t)gen_below(s, 4) : 1;
	binary->paths = ep_arena_calloc(&edges->arena, binary->n_paths + 1, sizeof(char *));
	assert_non_null(binary->paths);
	for (uint32_t i = 0; i < binary->n_paths; i++) {
		int n = snprintf(path, sizeof(path), "/usr/lib/%u/lib%u.so", which,
		                 binary->build_id.size ? (unsigned)gen_below(s, 20) : 0);
		binary->paths[i] = ep_arena_strndup(&edges->arena, path, (size_t)n);
		assert_non_null(binary->paths[i]);
	}
	fill_counts(s, opts, edges, binary);
}

static void fill_provenance(uint64_t *s, uint64_t seed, struct ep_edges *edges)
{
	struct ep_provenance *p = ep_arena_calloc(&edges->arena, 1, sizeof(*p));
	char host[40];
	int n = snprintf(host, sizeof(host), "host%llu", (unsigned long long)seed);

	assert_non_null(p);
	ep_digest(&seed, sizeof(seed), p->digest);
	*p = (struct ep_provenance){
	    .host = ep_arena_strndup(&edges->arena, host, (size_t)n),
	    .kernel = "6.1.0",
	    .cpu = "",
	    .event = "br_inst_retired.near_taken",
	    .tool = "perf.data",
	    .sampling = EP_SAMPLING_TAKEN_BRANCHES,
	    .weighted = gen_below(s, 2),
	    .period = gen_below(s, 1 << 20),
	    .t_start_ns = gen_u64(s),
	    .n_samples = gen_below(s, 1 << 30),
	    .n_records = gen_u64(s),
	    .weight = EP_COUNT_ONE,
	    .n_copies = 1,
	};
	ep_digest(&seed, sizeof(seed), p->digest);
	assert_non_null(p->host);
	edges->provenance = p;
	edges->n_provenance = 1;
}

void gen_edges(uint64_t seed, const struct gen_edges_opts *opts, struct ep_edges *ret)
{
	struct ep_edges edges = {0};
	uint64_t s = seed;

	edges.n_binaries = opts->n_binaries;
	edges.binaries = ep_arena_calloc(&edges.arena, opts->n_binaries, sizeof(*edges.binaries));
	assert_non_null(edges.binaries);
	for (unsigned i = 0; i < opts->n_binaries; i++)
		fill_binary(&s, opts, &edges, &edges.binaries[i]);
	fill_provenance(&s, seed, &edges);
	edges.drops.n[gen_below(&s, EP_DROP_N)] = gen_u64(&s) >> 1;
	edges.drops.n[EP_DROP_HALF_RECORD] = 7;
	edges.drops.notes[EP_NOTE_EXTERNAL] = gen_below(&s, 3);
	edges.unknown_reasons = ep_arena_calloc(&edges.arena, 2, sizeof(*edges.unknown_reasons));
	assert_non_null(edges.unknown_reasons);
	edges.unknown_reasons[0] =
	    (struct ep_edges_reason){.number = 4000, .is_note = true, .n = 3};
	edges.unknown_reasons[1] =
	    (struct ep_edges_reason){.number = 900 + (uint32_t)gen_below(&s, 2), .n = 5};
	edges.n_unknown_reasons = 2;
	check_ok(ep_edges_normalise(&edges));
	*ret = edges;
}

static void check_binaries_equal(const struct ep_edges_binary *a, const struct ep_edges_binary *b)
{
	assert_int_equal(ep_edges_compare_binaries(a, b), 0);
	check_u64_eq(a->build_id.size, b->build_id.size);
	check_u64_eq(a->machine, b->machine);
	check_u64_eq(a->n_paths, b->n_paths);
	for (uint32_t i = 0; i < a->n_paths; i++)
		assert_string_equal(a->paths[i], b->paths[i]);
	check_u64_eq(a->n_edges, b->n_edges);
	for (size_t i = 0; i < a->n_edges; i++) {
		const struct ep_edge *x = &a->edges[i], *y = &b->edges[i];
		assert_int_equal(ep_edges_compare_edges(x, y), 0);
		check_u64_eq(x->count, y->count);
		check_u64_eq(x->mispreds, y->mispreds);
		check_u64_eq(x->types, y->types);
	}
	check_u64_eq(a->n_ranges, b->n_ranges);
	for (size_t i = 0; i < a->n_ranges; i++) {
		assert_int_equal(ep_edges_compare_ranges(&a->ranges[i], &b->ranges[i]), 0);
		check_u64_eq(a->ranges[i].count, b->ranges[i].count);
	}
}

void gen_edges_check_equal(const struct ep_edges *a, const struct ep_edges *b)
{
	check_u64_eq(a->n_provenance, b->n_provenance);
	for (size_t i = 0; i < a->n_provenance; i++)
		assert_int_equal(ep_edges_compare_provenance(&a->provenance[i], &b->provenance[i]),
		                 0);
	assert_memory_equal(&a->drops, &b->drops, sizeof(a->drops));
	check_u64_eq(a->n_unknown_reasons, b->n_unknown_reasons);
	for (size_t i = 0; i < a->n_unknown_reasons; i++) {
		check_u64_eq(a->unknown_reasons[i].number, b->unknown_reasons[i].number);
		check_u64_eq(a->unknown_reasons[i].is_note, b->unknown_reasons[i].is_note);
		check_u64_eq(a->unknown_reasons[i].n, b->unknown_reasons[i].n);
	}
	check_u64_eq(a->n_binaries, b->n_binaries);
	for (size_t i = 0; i < a->n_binaries; i++)
		check_binaries_equal(&a->binaries[i], &b->binaries[i]);
}
