/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_edges [EDGES [FILES]]: speed and size of .edges files, on made-up code whose branches are
 * spread like those of a large C++ library: a third far calls and returns, the rest near jumps.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/vec.h"
#include "support/check.h"
#include "support/edges_gen.h"

#define N_FUNCS 40000u
#define PERF_BRANCH_ENTRY 24u /* bytes of a record in a perf.data */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static double cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

struct times {
	double wall, cpu;
};

static struct times start(void)
{
	return (struct times){now(), cpu()};
}

static struct times since(struct times t)
{
	return (struct times){now() - t.wall, cpu() - t.cpu};
}

static double uniform(uint64_t *s)
{
	return (double)(gen_u64(s) >> 11) * 0x1p-53;
}

static double normal(uint64_t *s)
{
	return sqrt(-2 * log(uniform(s) + 1e-18)) * cos(6.283185307179586 * uniform(s));
}

struct code {
	uint64_t starts[N_FUNCS];
	EP_VEC(struct ep_edge) edges;
	EP_VEC(struct ep_range) ranges;
	uint64_t s;
	bool fractional; /* weighted counts, which have no common trailing zeros */
};

static uint64_t fixed_count(struct code *code, double mean)
{
	uint64_t n = (uint64_t)(mean + uniform(&code->s));

	if (!code->fractional)
		return n * EP_COUNT_ONE;
	return (uint64_t)((double)n * 65536 * (0.5 + uniform(&code->s)));
}

static void add_edge(struct code *code, uint64_t from, uint64_t to, double mean,
                     enum ep_branch_type type)
{
	struct ep_edge edge = {.from = from, .to = to, .types = UINT32_C(1) << type};

	edge.count = fixed_count(code, mean);
	if (!edge.count)
		return;
	if (type == EP_BRANCH_COND && uniform(&code->s) < 0.3)
		edge.mispreds = edge.count / (3 + gen_below(&code->s, 20)) >> 16 << 16;
	assert_true(ep_vec_push(&code->edges, edge));
	struct ep_range range = {.start = to, .count = edge.count};
	range.end = to + 2 + (to ^ from) % 40;
	assert_true(ep_vec_push(&code->ranges, range));
}

/* A function that is called often is also the target of many calls. */
static uint64_t callee(struct code *code, uint64_t *shape)
{
	return code->starts[(size_t)((double)N_FUNCS * pow(uniform(shape), 3))];
}

/* `shape` decides the code, the same in every set; code->s how often it ran in this one. */
static void add_function(struct code *code, uint64_t start, double hotness, uint64_t shape)
{
	unsigned n_branches = 10 + (unsigned)gen_below(&shape, 80);
	uint64_t at = start;

	for (unsigned i = 0; i < n_branches; i++) {
		double mean = hotness * exp(1.2 * normal(&code->s)), kind = uniform(&shape);
		at += 2 + gen_below(&shape, 24);
		if (kind < 0.55)
			add_edge(code, at, at + gen_below(&shape, 600) - 200, mean / 2,
			         EP_BRANCH_COND);
		else if (kind < 0.65)
			add_edge(code, at, at + gen_below(&shape, 1000) - 500, mean,
			         EP_BRANCH_UNCOND);
		else if (kind < 0.87)
			add_edge(code, at, callee(code, &shape), mean, EP_BRANCH_CALL);
		else if (kind < 0.9)
			for (unsigned k = 0; k < 3; k++)
				add_edge(code, at, callee(code, &shape), mean / 3,
				         EP_BRANCH_IND_CALL);
		else
			for (unsigned k = 0; k < 3; k++)
				add_edge(code, at, callee(code, &shape) + gen_below(&shape, 500),
				         mean / 3, EP_BRANCH_RET);
	}
}

static void make(uint64_t seed, size_t n_edges, bool fractional, struct ep_edges *ret)
{
	static struct code code;
	uint64_t layout = 7, at = 0x1000;

	code.s = seed;
	code.fractional = fractional;
	code.edges.n = code.ranges.n = 0;
	/* Every set is of the same code; which of it ran, and how often, differs. */
	for (unsigned i = 0; i < N_FUNCS; i++)
		code.starts[i] = at += 16 + 16 * gen_below(&layout, 100);
	while (code.edges.n < n_edges)
		for (unsigned i = 0; i < N_FUNCS && code.edges.n < n_edges; i++)
			if (uniform(&code.s) < 0.4)
				add_function(&code, code.starts[i],
				             exp(1.2 + 2.2 * normal(&code.s)), i);
	*ret = (struct ep_edges){.n_binaries = 1, .n_provenance = 1};
	ret->binaries = ep_arena_calloc(&ret->arena, 1, sizeof(*ret->binaries));
	ret->provenance = ep_arena_calloc(&ret->arena, 1, sizeof(*ret->provenance));
	assert_true(ret->binaries && ret->provenance);
	struct ep_edges_binary *b = ret->binaries;
	b->build_id = ep_build_id_make(EP_BUILD_ID_GNU, "0123456789abcdef0123", 20);
	b->n_edges = code.edges.n;
	b->n_ranges = code.ranges.n;
	b->edges = ep_arena_calloc(&ret->arena, b->n_edges, sizeof(*b->edges));
	b->ranges = ep_arena_calloc(&ret->arena, b->n_ranges, sizeof(*b->ranges));
	assert_true(b->edges && b->ranges);
	memcpy(b->edges, code.edges.v, b->n_edges * sizeof(*b->edges));
	memcpy(b->ranges, code.ranges.v, b->n_ranges * sizeof(*b->ranges));
	for (size_t i = b->n_edges; i > 1; i--) {
		size_t k = gen_below(&code.s, i);
		struct ep_edge t = b->edges[i - 1];
		b->edges[i - 1] = b->edges[k];
		b->edges[k] = t;
	}
	ep_digest(&seed, sizeof(seed), ret->provenance->digest);
}

static void row(const char *what, struct times t, double n_rows, double n_bytes)
{
	printf("  %-30s %7.0f ms, %7.0f ms of CPU: %6.2f M rows/s, %6.1f MB/s of file\n", what,
	       t.wall * 1e3, t.cpu * 1e3, n_rows / t.cpu / 1e6, n_bytes / t.cpu / 1e6);
}

static void bench_one(size_t n_edges, bool fractional)
{
	struct ep_edges edges, got;
	struct ep_buf bytes = {0};
	double n_records = 0;

	make(1, n_edges, fractional, &edges);
	struct times t = start();
	check_ok(ep_edges_normalise(&edges));
	struct times t_normalise = since(t);
	t = start();
	check_ok(ep_edges_encode(&edges, &bytes));
	struct times t_write = since(t);
	t = start();
	check_ok(ep_edges_decode(bytes.v, bytes.n, "bench", &got));
	struct times t_read = since(t);
	const struct ep_edges_binary *b = &got.binaries[0];
	double n_rows = (double)(b->n_edges + b->n_ranges), size = (double)bytes.n;
	for (size_t i = 0; i < b->n_edges; i++)
		n_records += (double)b->edges[i].count / 65536;
	printf("%zu edges, %zu ranges, %s counts: %.0f bytes, %.2f a row\n", b->n_edges,
	       b->n_ranges, fractional ? "weighted" : "whole", size, size / n_rows);
	printf("  %.0f records, %.0f bytes of perf.data: %.0f times as much\n", n_records,
	       n_records * PERF_BRANCH_ENTRY, n_records * PERF_BRANCH_ENTRY / size);
	row("normalise (not sorted before)", t_normalise, n_rows, size);
	row("write", t_write, n_rows, size);
	row("read", t_read, n_rows, size);
	ep_edges_deinit(&got);
	ep_edges_deinit(&edges);
	ep_buf_deinit(&bytes);
}

static void bench_merge(size_t n_edges, size_t n_files)
{
	char dir[] = "/tmp/bench_edges.XXXXXX", out[64];
	char(*paths)[64] = calloc(n_files, sizeof(*paths));
	const char **list = calloc(n_files, sizeof(*list));
	double n_rows = 0, size = 0;
	struct stat st;

	assert_true(paths && list && mkdtemp(dir));
	snprintf(out, sizeof(out), "%s/out", dir);
	for (size_t i = 0; i < n_files; i++) {
		struct ep_edges edges;
		make(i + 1, n_edges, false, &edges);
		check_ok(ep_edges_normalise(&edges));
		n_rows += (double)(edges.binaries[0].n_edges + edges.binaries[0].n_ranges);
		list[i] = paths[i];
		snprintf(paths[i], sizeof(paths[i]), "%s/%zu", dir, i);
		check_ok(ep_edges_write(&edges, paths[i]));
		size += stat(paths[i], &st) ? 0 : (double)st.st_size;
		ep_edges_deinit(&edges);
	}
	printf("merge of %zu files, %.1f M rows, %.1f MB\n", n_files, n_rows / 1e6, size / 1e6);
	for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
		struct ep_edges_merge_report report = {0};
		struct ep_edges_merge_opts opts = {.n_threads = n_threads};
		char what[40];
		struct times t = start();
		check_ok(ep_edges_merge(list, n_files, out, &opts, &report));
		snprintf(what, sizeof(what), "%u thread%s, %llu rows left", n_threads,
		         n_threads > 1 ? "s" : "",
		         (unsigned long long)(report.n_edges + report.n_ranges));
		row(what, since(t), n_rows, size);
		ep_edges_merge_report_deinit(&report);
	}
	for (size_t i = 0; i < n_files; i++)
		unlink(paths[i]);
	unlink(out);
	rmdir(dir);
	free(paths);
	free(list);
}

int main(int argc, char **argv)
{
	size_t n_edges = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	size_t n_files = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;

	bench_one(n_edges, false);
	bench_one(n_edges, true);
	bench_merge(n_edges / 20, n_files);
	return 0;
}
