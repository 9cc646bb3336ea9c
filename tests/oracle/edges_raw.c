/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edges_raw BINARY EDGES: the counts of a binary as an unsymbolised profile, as llvm-profgen
 * --skip-symbolization writes it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "emit/emit.h"
#include "llvm_raw.h"

static void check(struct ep_error *err)
{
	llvm_raw_check("edges_raw", err);
}

static uint64_t vaddr_of(const struct ep_object *object, uint64_t foff)
{
	uint64_t vaddr;

	if (!ep_object_foff_to_vaddr(object, foff, &vaddr))
		exit(2);
	return vaddr - llvm_raw_base(object);
}

static void print(const struct ep_object *object, const struct ep_edges_binary *binary)
{
	size_t n = 0;

	printf("%zu\n", binary->n_ranges);
	for (size_t i = 0; i < binary->n_ranges; i++) {
		const struct ep_range *r = &binary->ranges[i];

		printf("%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", vaddr_of(object, r->start),
		       vaddr_of(object, r->end), ep_count_round(r->count));
	}
	for (size_t i = 0; i < binary->n_edges; i++)
		n += binary->edges[i].kind != EP_EDGE_OUT;
	printf("%zu\n", n);
	for (size_t i = 0; i < binary->n_edges; i++) {
		const struct ep_edge *e = &binary->edges[i];
		/* 1 marks an end in another binary. */
		uint64_t from = 1 - llvm_raw_base(object);

		if (e->kind == EP_EDGE_OUT)
			continue;
		if (e->kind == EP_EDGE_INTERNAL)
			from = vaddr_of(object, e->from);
		printf("%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", from, vaddr_of(object, e->to),
		       ep_count_round(e->count));
	}
}

int main(int argc, char **argv)
{
	struct ep_emit_found found = {0};
	struct ep_object *object;
	struct ep_edges edges;

	if (argc != 3)
		return 2;
	check(ep_object_open(argv[1], &object));
	check(ep_edges_read(argv[2], &edges));
	check(ep_emit_find(&edges, object, false, &found));
	print(object, found.binaries.v[0]);
	ep_emit_found_deinit(&found);
	ep_edges_deinit(&edges);
	ep_object_close(object);
	return 0;
}
