/* SPDX-License-Identifier: BSD-2-Clause */
/* Edge tables in memory: order, and bringing a table into order. */
#include "edges/edges.h"

#include <string.h>

#include "edges/rows.h"
#include "record/machine.h"

void ep_edges_deinit(struct ep_edges *edges)
{
	ep_arena_deinit(&edges->arena);
	*edges = (struct ep_edges){0};
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int ep_edges_compare_edges(const struct ep_edge *a, const struct ep_edge *b)
{
	return ep_edges_order_edges(0, a, 0, b);
}

int ep_edges_compare_ranges(const struct ep_range *a, const struct ep_range *b)
{
	return ep_edges_order_ranges(0, a, 0, b);
}

int ep_edges_compare_captures(const struct ep_provenance *a, const struct ep_provenance *b)
{
	const char *a_texts[] = {a->host, a->kernel, a->cpu, a->event, a->tool};
	const char *b_texts[] = {b->host, b->kernel, b->cpu, b->event, b->tool};
	const uint64_t a_numbers[] = {a->sampling,  a->exact,      a->weighted,
	                              a->period,    a->t_start_ns, a->t_end_ns,
	                              a->n_samples, a->n_records,  a->weight};
	const uint64_t b_numbers[] = {b->sampling,  b->exact,      b->weighted,
	                              b->period,    b->t_start_ns, b->t_end_ns,
	                              b->n_samples, b->n_records,  b->weight};
	int order = memcmp(a->digest, b->digest, EP_DIGEST_SIZE);

	for (size_t i = 0; !order && i < EP_ARRAY_LEN(a_texts); i++)
		order = strcmp(a_texts[i], b_texts[i]);
	for (size_t i = 0; !order && i < EP_ARRAY_LEN(a_numbers); i++)
		order = compare_u64(a_numbers[i], b_numbers[i]);
	return order;
}

int ep_edges_compare_provenance(const struct ep_provenance *a, const struct ep_provenance *b)
{
	int order = ep_edges_compare_captures(a, b);

	return order ? order : compare_u64(a->n_copies, b->n_copies);
}

int ep_edges_compare_reasons(const struct ep_edges_reason *a, const struct ep_edges_reason *b)
{
	if (a->is_note != b->is_note)
		return a->is_note ? 1 : -1;
	return compare_u64(a->number, b->number);
}

int ep_edges_compare_paths(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	return a_len != b_len ? (a_len < b_len ? -1 : 1) : memcmp(a, b, a_len);
}

int ep_edges_compare_binaries(const struct ep_edges_binary *a, const struct ep_edges_binary *b)
{
	bool named = !a->build_id.size;
	int order = compare_u64(a->build_id.kind, b->build_id.kind);

	if (!order)
		order = memcmp(a->build_id.bytes, b->build_id.bytes, EP_BUILD_ID_MAX);
	if (!order && named)
		order = ep_edges_compare_paths(a->n_paths ? a->paths[0] : "",
		                               b->n_paths ? b->paths[0] : "");
	if (!order)
		order = compare_u64(a->space, b->space);
	if (!order && named)
		order = compare_u64(a->machine, b->machine);
	return order;
}

void ep_edges_join_edges(struct ep_edge *to, const struct ep_edge *from)
{
	to->count = ep_count_add(to->count, from->count);
	to->mispreds = ep_count_add(to->mispreds, from->mispreds);
	to->types |= from->types;
}

static int sort_paths(const void *a, const void *b)
{
	return ep_edges_compare_paths(*(const char *const *)a, *(const char *const *)b);
}

uint32_t ep_edges_normalise_paths(const char **paths, size_t n)
{
	uint32_t n_kept = 0;

	if (n)
		qsort(paths, n, sizeof(*paths), sort_paths);
	for (size_t i = 0; i < n && n_kept < EP_EDGES_PATHS_MAX; i++)
		if (!n_kept || strcmp(paths[n_kept - 1], paths[i]) != 0)
			paths[n_kept++] = paths[i];
	return n_kept;
}

void ep_edges_join_identity(struct ep_edges_binary *to, const struct ep_edges_binary *from)
{
	to->build_id.size = EP_MIN(to->build_id.size, from->build_id.size);
	to->machine = EP_MAX(to->machine, from->machine);
}

static int sort_edges(const void *a, const void *b)
{
	return ep_edges_compare_edges(a, b);
}

static int sort_ranges(const void *a, const void *b)
{
	return ep_edges_compare_ranges(a, b);
}

/* Fold and readers give tables that are in order already. */
static bool edges_sorted(const struct ep_edges_binary *binary)
{
	for (size_t i = 1; i < binary->n_edges; i++)
		if (ep_edges_compare_edges(&binary->edges[i - 1], &binary->edges[i]) > 0)
			return false;
	return true;
}

static bool ranges_sorted(const struct ep_edges_binary *binary)
{
	for (size_t i = 1; i < binary->n_ranges; i++)
		if (ep_edges_compare_ranges(&binary->ranges[i - 1], &binary->ranges[i]) > 0)
			return false;
	return true;
}

static void normalise_edges(struct ep_edges_binary *binary)
{
	size_t n = 0;

	if (!edges_sorted(binary))
		qsort(binary->edges, binary->n_edges, sizeof(*binary->edges), sort_edges);
	for (size_t i = 0; i < binary->n_edges; i++) {
		const struct ep_edge *edge = &binary->edges[i];
		if (n && !ep_edges_compare_edges(&binary->edges[n - 1], edge))
			ep_edges_join_edges(&binary->edges[n - 1], edge);
		else
			binary->edges[n++] = *edge;
	}
	binary->n_edges = n;
}

static void normalise_ranges(struct ep_edges_binary *binary)
{
	size_t n = 0;

	if (!ranges_sorted(binary))
		qsort(binary->ranges, binary->n_ranges, sizeof(*binary->ranges), sort_ranges);
	for (size_t i = 0; i < binary->n_ranges; i++) {
		const struct ep_range range = binary->ranges[i];
		struct ep_range *last = n ? &binary->ranges[n - 1] : NULL;
		if (last && !ep_edges_compare_ranges(last, &range))
			last->count = ep_count_add(last->count, range.count);
		else
			binary->ranges[n++] = range;
	}
	binary->n_ranges = n;
}

/* Renumbers peers (`places`: old index to new) and checks what an edge of its kind may hold. */
static struct ep_error *renumber(struct ep_edges_binary *binary, const uint32_t *places, size_t n)
{
	for (size_t i = 0; i < binary->n_edges; i++) {
		struct ep_edge *edge = &binary->edges[i];
		if (edge->peer > n || edge->kind > EP_EDGE_IN ||
		    (edge->kind == EP_EDGE_INTERNAL && edge->peer))
			return ep_error_create(EP_ERROR_BUG, "edge 0x%llx: kind %u, peer %u",
			                       (unsigned long long)edge->from, edge->kind,
			                       edge->peer);
		if (edge->kind == EP_EDGE_OUT)
			edge->to = 0;
		if (edge->kind == EP_EDGE_IN)
			edge->from = 0;
		if (edge->peer)
			edge->peer = places[edge->peer - 1] + 1;
	}
	for (size_t i = 0; i < binary->n_ranges; i++)
		binary->ranges[i].open_end = binary->ranges[i].open_end != 0;
	return NULL;
}

/* a's and b's elements one after the other in new memory; NULL: none left. */
static void *concat(struct ep_arena *arena, const void *a, size_t n_a, const void *b, size_t n_b,
                    size_t elem_size)
{
	size_t n, bytes;

	if (!ep_size_add(n_a, n_b, &n) || !ep_size_mul(n, elem_size, &bytes))
		return NULL;
	char *p = ep_arena_alloc(arena, bytes);
	if (p && n_a)
		memcpy(p, a, n_a * elem_size);
	if (p && n_b)
		memcpy(p + n_a * elem_size, b, n_b * elem_size);
	return p;
}

static bool join_binaries(struct ep_arena *arena, struct ep_edges_binary *to,
                          const struct ep_edges_binary *from)
{
	struct ep_edge *edges =
	    concat(arena, to->edges, to->n_edges, from->edges, from->n_edges, sizeof(*edges));
	struct ep_range *ranges =
	    concat(arena, to->ranges, to->n_ranges, from->ranges, from->n_ranges, sizeof(*ranges));
	const char **paths =
	    concat(arena, to->paths, to->n_paths, from->paths, from->n_paths, sizeof(*paths));

	if (!edges || !ranges || !paths)
		return false;
	ep_edges_join_identity(to, from);
	to->edges = edges;
	to->n_edges += from->n_edges;
	to->ranges = ranges;
	to->n_ranges += from->n_ranges;
	to->paths = paths;
	to->n_paths = ep_edges_normalise_paths(paths, (size_t)to->n_paths + from->n_paths);
	return true;
}

struct placed {
	struct ep_edges_binary binary;
	uint32_t index; /* before sorting */
};

static int sort_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = ep_edges_compare_binaries(&x->binary, &y->binary);

	return order ? order : compare_u64(x->index, y->index);
}

/* Sorts and joins the binaries; `places` gets the new index of each old one. */
static struct ep_error *normalise_binaries(struct ep_edges *edges, uint32_t *places)
{
	ep_autofree struct placed *placed = calloc(edges->n_binaries, sizeof(*placed));
	struct ep_edges_binary *out = edges->binaries;
	size_t n = 0;

	if (!placed)
		return ep_error_nomem();
	for (size_t i = 0; i < edges->n_binaries; i++) {
		struct ep_edges_binary *binary = &edges->binaries[i];
		if (!binary->build_id.size) {
			binary->build_id = (struct ep_build_id){0};
			binary->n_paths = EP_MIN(binary->n_paths, 1u);
		}
		binary->n_paths = ep_edges_normalise_paths(binary->paths, binary->n_paths);
		placed[i] = (struct placed){.binary = *binary, .index = (uint32_t)i};
	}
	qsort(placed, edges->n_binaries, sizeof(*placed), sort_placed);
	for (size_t i = 0; i < edges->n_binaries; i++) {
		if (n && !ep_edges_compare_binaries(&out[n - 1], &placed[i].binary)) {
			if (!join_binaries(&edges->arena, &out[n - 1], &placed[i].binary))
				return ep_error_nomem();
		} else {
			out[n++] = placed[i].binary;
		}
		places[placed[i].index] = (uint32_t)n - 1;
	}
	edges->n_binaries = n;
	return NULL;
}

static int sort_provenance(const void *a, const void *b)
{
	return ep_edges_compare_provenance(a, b);
}

static void normalise_provenance(struct ep_edges *edges)
{
	struct ep_provenance *v = edges->provenance;
	size_t n = 0;

	for (size_t i = 0; i < edges->n_provenance; i++) {
		const char **texts[] = {&v[i].host, &v[i].kernel, &v[i].cpu, &v[i].event,
		                        &v[i].tool};
		for (size_t k = 0; k < EP_ARRAY_LEN(texts); k++)
			if (!*texts[k])
				*texts[k] = "";
		v[i].n_copies += !v[i].n_copies;
	}
	if (edges->n_provenance)
		qsort(v, edges->n_provenance, sizeof(*v), sort_provenance);
	for (size_t i = 0; i < edges->n_provenance; i++) {
		if (n && !ep_edges_compare_captures(&v[n - 1], &v[i]))
			v[n - 1].n_copies = ep_count_add(v[n - 1].n_copies, v[i].n_copies);
		else
			v[n++] = v[i];
	}
	edges->n_provenance = n;
}

static int sort_reasons(const void *a, const void *b)
{
	return ep_edges_compare_reasons(a, b);
}

static void normalise_reasons(struct ep_edges *edges)
{
	struct ep_edges_reason *v = edges->unknown_reasons;
	size_t n = 0;

	if (edges->n_unknown_reasons)
		qsort(v, edges->n_unknown_reasons, sizeof(*v), sort_reasons);
	for (size_t i = 0; i < edges->n_unknown_reasons; i++) {
		if (n && !ep_edges_compare_reasons(&v[n - 1], &v[i]))
			v[n - 1].n = ep_count_add(v[n - 1].n, v[i].n);
		else if (v[i].n)
			v[n++] = v[i];
	}
	edges->n_unknown_reasons = n;
}

struct ep_error *ep_edges_normalise(struct ep_edges *edges)
{
	size_t n_before = edges->n_binaries;

	if (n_before > EP_EDGES_BINARIES_MAX)
		return ep_error_nomem();
	if (n_before) {
		ep_autofree uint32_t *places = calloc(n_before, sizeof(*places));
		if (!places)
			return ep_error_nomem();
		EP_TRY(normalise_binaries(edges, places));
		for (size_t i = 0; i < edges->n_binaries; i++) {
			EP_TRY(renumber(&edges->binaries[i], places, n_before));
			normalise_edges(&edges->binaries[i]);
			normalise_ranges(&edges->binaries[i]);
		}
	}
	normalise_provenance(edges);
	normalise_reasons(edges);
	return NULL;
}

void ep_edges_default_arch(struct ep_edges *edges, const char *arch)
{
	uint16_t machine = ep_machine_of_arch(arch);

	for (size_t i = 0; i < edges->n_binaries; i++)
		if (!edges->binaries[i].machine)
			edges->binaries[i].machine = machine;
}
