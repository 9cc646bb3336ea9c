/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * emit_raw [-c] [-j N] [-d DEBUG] BINARY RAW: emits a text profile from an unsymbolised profile as
 * llvm-profgen --skip-symbolization writes it, so that both can be compared on the same counts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "emit/emit.h"
#include "llvm_raw.h"
#include "sprof/write.h"

struct raw {
	EP_VEC(struct ep_range) ranges;
	EP_VEC(struct ep_edge) edges;
};

static void check(struct ep_error *err)
{
	llvm_raw_check("emit_raw", err);
}

static void read_raw(FILE *in, uint64_t base, struct raw *raw)
{
	uint64_t n, from, to, count;

	if (fscanf(in, "%" SCNu64, &n) != 1)
		exit(2);
	while (n--) {
		if (fscanf(in, "%" SCNx64 "-%" SCNx64 ":%" SCNu64, &from, &to, &count) != 3)
			exit(2);
		struct ep_range range = {
		    .start = from + base, .end = to + base, .count = ep_count_from_whole(count)};
		if (!ep_vec_push(&raw->ranges, range))
			exit(2);
	}
	if (fscanf(in, "%" SCNu64, &n) != 1)
		exit(2);
	while (n--) {
		if (fscanf(in, "%" SCNx64 "->%" SCNx64 ":%" SCNu64, &from, &to, &count) != 3)
			exit(2);
		/* 1 marks an end in another binary. */
		bool external = from + base == 1;
		struct ep_edge edge = {.from = external ? 0 : from + base,
		                       .to = to + base,
		                       .count = ep_count_from_whole(count),
		                       .kind = external ? EP_EDGE_IN : EP_EDGE_INTERNAL};
		if (!ep_vec_push(&raw->edges, edge))
			exit(2);
	}
}

static void print_account(const struct ep_emit_account *account, const struct ep_warnings *warnings)
{
	for (size_t i = 0; i < EP_DROP_N; i++)
		if (account->drops.n[i])
			fprintf(stderr, "%s %" PRIu64 "\n", ep_drop_name((enum ep_drop)i),
			        account->drops.n[i]);
	for (size_t i = 0; i < warnings->n; i++)
		fprintf(stderr, "%s\n", warnings->v[i].first);
}

static void run(const char *path, const char *raw_path, struct ep_emit_opts *opts)
{
	struct ep_sprof_write_opts write_opts = {.format = EP_SPROF_TEXT};
	struct ep_emit_account account;
	struct ep_warnings warnings = {0};
	struct ep_sprof prof = {0};
	struct ep_object *object;
	struct raw raw = {0};

	check(ep_object_open(path, &object));
	FILE *in = fopen(raw_path, "r");
	if (!in)
		exit(2);
	read_raw(in, llvm_raw_base(object), &raw);
	fclose(in);
	struct ep_edges_binary binary = {.space = EP_SPACE_VADDR,
	                                 .edges = raw.edges.v,
	                                 .n_edges = raw.edges.n,
	                                 .ranges = raw.ranges.v,
	                                 .n_ranges = raw.ranges.n};
	const struct ep_edges_binary *binaries[] = {&binary};
	check(ep_emit_profile(binaries, 1, object, opts, &warnings, &prof, &account));
	check(ep_sprof_finalise(&prof));
	check(ep_sprof_write(&prof, &write_opts, stdout));
	print_account(&account, &warnings);
	ep_warnings_deinit(&warnings);
	ep_sprof_deinit(&prof);
	ep_object_close(object);
	ep_vec_deinit(&raw.ranges);
	ep_vec_deinit(&raw.edges);
}

int main(int argc, char **argv)
{
	struct ep_emit_opts opts = {0};

	for (int c; (c = getopt(argc, argv, "cj:d:")) != -1;) {
		opts.compat |= c == 'c';
		if (c == 'j')
			opts.n_threads = (unsigned)strtoul(optarg, NULL, 10);
		if (c == 'd')
			opts.debug_path = optarg;
	}
	if (argc - optind != 2)
		return 2;
	run(argv[optind], argv[optind + 1], &opts);
	return 0;
}
