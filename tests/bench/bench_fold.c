/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures fold on a made-up program: records a second and peak memory. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "fold/fold.h"
#include "import/import.h"

#define TEXT UINT64_C(0x400000)
#define LIBRARY UINT64_C(0x7f1234500000)

static const char usage[] =
    "usage: bench_fold [-n STACKS] [-d DEPTH] [-b BLOCKS] [-z ZIPF] [-s EVENT] [-j N] [-r N]\n    "
    "       [-f FILE]\n"
    "  -b  blocks of the program: about half as many as it has different branches (10000)\n"
    "  -z  exponent of how often each is run (1.0; 0: all alike)\n"
    "  -s  branches (default) or instructions, which makes fold weigh stacks\n"
    "  -r  runs, of which the best counts (5)\n"
    "  -f  write the stacks to FILE as perf.data and fold that, reading included\n";

/* The program: block i begins at start, ends in a branch to one of two others. */
struct block {
	uint64_t start, end;
	uint32_t next[2];
	uint32_t bias; /* of next[0], of 2^32 */
};

static uint64_t seed = 88172645463325252;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* An index below n, the k-th with a probability of about k^-z. */
static uint32_t zipf(uint32_t n, double z)
{
	double u = (double)(rnd() >> 11) / 9007199254740992.0;
	double rank;

	if (z == 0)
		rank = u * n;
	else if (fabs(z - 1) < 0.001)
		rank = pow(n, u) - 1;
	else
		rank = pow(u * (pow(n, 1 - z) - 1) + 1, 1 / (1 - z)) - 1;
	return (uint32_t)rank < n ? (uint32_t)rank : n - 1;
}

static struct block *make_program(uint32_t n, double z)
{
	struct block *blocks = calloc(n, sizeof(*blocks));
	uint64_t at = TEXT;

	for (uint32_t i = 0; blocks && i < n; i++) {
		/* One block in 16 is in a library. */
		uint64_t move = i % 16 == 15 ? LIBRARY - TEXT : 0;
		uint64_t len = 4 + rnd() % 16 * 4;
		/* Hot blocks lie anywhere. */
		blocks[i].start = at + move;
		blocks[i].end = at + move + len;
		at += len + 4 + rnd() % 8 * 4;
		/* Calls and returns go anywhere, the rest stays near. */
		for (uint32_t k = 0; k < 2; k++)
			blocks[i].next[k] =
			    i % 8 ? (i + (uint32_t)(rnd() % 24) + n - 8) % n : zipf(n, z);
		blocks[i].bias = rnd() % 4 ? UINT32_MAX / 10 * 9 : UINT32_MAX / 2;
	}
	return blocks;
}

static void run_program(const struct block *blocks, uint32_t n, double z, struct ep_branch *stacks,
                        size_t n_stacks, size_t depth)
{
	uint32_t at = 0;

	for (size_t s = 0; s < n_stacks; s++) {
		/* Time passes between samples. */
		at = zipf(n, z);
		/* Oldest first, stored newest first. */
		for (size_t i = depth; i-- > 0;) {
			struct ep_branch *b = &stacks[s * depth + i];
			uint64_t r = rnd();
			uint32_t to = blocks[at].next[(uint32_t)r > blocks[at].bias];
			b->from = blocks[at].end;
			b->to = blocks[to].start;
			b->info = (r >> 40 & 15 ? EP_INFO_PREDICTED : EP_INFO_MISPRED) |
			          (uint64_t)EP_BRANCH_COND << EP_INFO_TYPE_SHIFT |
			          (r >> 48 & 15) << EP_INFO_CYCLES_SHIFT;
			at = to;
		}
	}
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long peak_kib(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_maxrss;
}

static void must(struct ep_error *err)
{
	if (!err)
		return;
	fprintf(stderr, "bench_fold: %s\n", err->message);
	exit(1);
}

struct job {
	const struct ep_branch *stacks;
	size_t n_stacks, depth;
	enum ep_sampling sampling;
	const char *file;
};

static struct ep_event map_event(uint64_t start, const char *path, uint8_t id, uint64_t len)
{
	struct ep_event e = {.type = EP_EVENT_MAP,
	                     .pid = 1,
	                     .tid = 1,
	                     .u.map = {.start = start, .len = len, .path = path, .is_file = true}};
	uint8_t bytes[20];

	memset(bytes, id, sizeof(bytes));
	e.u.map.build_id = ep_build_id_make(EP_BUILD_ID_GNU, bytes, sizeof(bytes));
	return e;
}

static void send_events(const struct job *job, const struct ep_event_sink *sink)
{
	struct ep_event program = map_event(TEXT, "/bin/program", 1, 0x10000000);
	struct ep_event library = map_event(LIBRARY, "/lib/library.so", 2, 0x10000000);
	struct ep_event stream = {
	    .type = EP_EVENT_STREAM,
	    .u.stream = {.sampling = job->sampling, .period = 1000, .name = "event"}};

	must(sink->event(sink->payload, &stream));
	must(sink->event(sink->payload, &program));
	must(sink->event(sink->payload, &library));
	for (size_t i = 0; i < job->n_stacks; i++) {
		struct ep_event e = {.type = EP_EVENT_SAMPLE,
		                     .pid = 1,
		                     .tid = 1,
		                     .t_ns = i + 1,
		                     .u.sample = {.branches = job->stacks + i * job->depth,
		                                  .n_branches = (uint32_t)job->depth,
		                                  .flags = EP_SAMPLE_STABLE,
		                                  .info_mask = EP_INFO_PERF_MASK,
		                                  .repeat = 1}};
		must(sink->event(sink->payload, &e));
	}
}

static void import_file(const char *path, const struct ep_event_sink *sink,
                        struct ep_import **import_ret)
{
	struct ep_import_info info;

	must(ep_import_open(path, EP_IMPORT_PERF_DATA, NULL, import_ret));
	must(ep_import_run(*import_ret, sink, &info));
}

/* Seconds of one fold: by the clock, of the CPU, of the CPU without finish, finish by the clock. */
struct times {
	double wall, cpu, cpu_events, finish;
	size_t n_edges, n_ranges;
};

static struct times fold_once(const struct job *job, unsigned n_threads)
{
	const struct ep_fold_opts opts = {.n_threads = n_threads};
	const struct ep_provenance source = {.tool = "bench"};
	struct ep_import *import = NULL;
	struct times t = {0};
	struct ep_edges edges;
	struct ep_fold *fold;

	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	must(ep_fold_create(&opts, NULL, &fold));
	struct ep_event_sink sink = ep_fold_sink(fold);
	if (job->file)
		import_file(job->file, &sink, &import);
	else
		send_events(job, &sink);
	double wall_events = seconds(CLOCK_MONOTONIC);
	t.cpu_events = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	must(ep_fold_finish(fold, &source, &edges));
	t.wall = seconds(CLOCK_MONOTONIC) - wall;
	t.cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	t.finish = t.wall - (wall_events - wall);
	for (size_t i = 0; i < edges.n_binaries; i++) {
		t.n_edges += edges.binaries[i].n_edges;
		t.n_ranges += edges.binaries[i].n_ranges;
	}
	ep_fold_destroy(fold);
	ep_import_close(import);
	ep_edges_deinit(&edges);
	return t;
}

/* The best of several runs: what disturbs only ever adds. */
static void fold_often(const struct job *job, unsigned n_threads, int n_repeats)
{
	double n = (double)(job->n_stacks * job->depth) * 1e-6;
	struct times best = fold_once(job, n_threads);

	for (int i = 1; i < n_repeats; i++) {
		struct times t = fold_once(job, n_threads);
		best.wall = fmin(best.wall, t.wall);
		best.cpu = fmin(best.cpu, t.cpu);
		best.cpu_events = fmin(best.cpu_events, t.cpu_events);
		best.finish = fmin(best.finish, t.finish);
	}
	printf("%7u %9.1f %9.1f %9.1f %9.1f %9zu %9zu %9ld\n", n_threads, n / best.wall,
	       n / best.cpu, n / best.cpu_events, best.finish * 1e3, best.n_edges, best.n_ranges,
	       peak_kib() / 1024);
	fflush(stdout);
}

/* perf.data of one event with an IP, a pid, a time and a branch stack. */
static void put_map(struct ep_buf *out, uint64_t start, const char *path, uint8_t id)
{
	uint16_t n_path = (uint16_t)((strlen(path) + 8) & ~(size_t)7);

	ep_buf_u32(out, 10);
	ep_buf_u16(out, 2 | 1 << 14);
	ep_buf_u16(out, (uint16_t)(8 + 8 + 24 + 24 + 8 + n_path));
	ep_buf_u32(out, 1);
	ep_buf_u32(out, 1);
	ep_buf_u64(out, start);
	ep_buf_u64(out, 0x10000000);
	ep_buf_u64(out, 0);
	ep_buf_u32(out, 20);
	for (int i = 0; i < 20; i++)
		ep_buf_u8(out, id);
	ep_buf_u32(out, 5);
	ep_buf_u32(out, 2);
	ep_buf_put(out, path, strlen(path));
	for (size_t i = strlen(path); i < n_path; i++)
		ep_buf_u8(out, 0);
}

static void put_header(struct ep_buf *out, uint64_t data_size, enum ep_sampling sampling)
{
	const uint64_t fields[] = {104, 128 + 16, 104, 128 + 16, 104 + 128 + 16, data_size, 0, 0,
	                           0,   0,        0,   0};
	/* Raw events: taken branches, instructions. */
	const uint32_t type = 0, config = sampling == EP_SAMPLING_INSTRUCTIONS ? 1 : 4;

	ep_buf_put(out, "PERFILE2", 8);
	for (size_t i = 0; i < EP_ARRAY_LEN(fields); i++)
		ep_buf_u64(out, fields[i]);
	ep_buf_u32(out, type);
	ep_buf_u32(out, 128);
	ep_buf_u64(out, config);
	ep_buf_u64(out, 1000);
	ep_buf_u64(out, 1 | 2 | 4 | 1 << 11);
	for (int i = 0; i < 5; i++)
		ep_buf_u64(out, 0);
	ep_buf_u64(out, 1 | 8 | 1 << 16); /* user, any, with types */
	while (out->n < 104 + 128 + 16)
		ep_buf_u64(out, 0);
}

static void write_file(const struct job *job)
{
	size_t n_sample = 8 + 8 + 8 + 8 + 8 + job->depth * sizeof(struct ep_branch);
	struct ep_buf maps = {0}, out = {0};
	FILE *f = fopen(job->file, "wb");

	put_map(&maps, TEXT, "/bin/program", 1);
	put_map(&maps, LIBRARY, "/lib/library.so", 2);
	put_header(&out, maps.n + job->n_stacks * n_sample, job->sampling);
	ep_buf_put(&out, maps.v, maps.n);
	for (size_t i = 0; f && i <= job->n_stacks; i++) {
		if (out.n > 1 << 20 || i == job->n_stacks) {
			if (fwrite(out.v, 1, out.n, f) != out.n)
				break;
			out.n = 0;
		}
		if (i == job->n_stacks)
			break;
		ep_buf_u32(&out, 9);
		ep_buf_u16(&out, 2);
		ep_buf_u16(&out, (uint16_t)n_sample);
		ep_buf_u64(&out, TEXT);
		ep_buf_u32(&out, 1);
		ep_buf_u32(&out, 1);
		ep_buf_u64(&out, i + 1);
		ep_buf_u64(&out, job->depth);
		ep_buf_put(&out, job->stacks + i * job->depth,
		           job->depth * sizeof(struct ep_branch));
	}
	if (!f || fclose(f) || out.failed) {
		perror(job->file);
		exit(1);
	}
	ep_buf_deinit(&maps);
	ep_buf_deinit(&out);
}

int main(int argc, char **argv)
{
	struct job job = {.n_stacks = 400000, .depth = 32, .sampling = EP_SAMPLING_TAKEN_BRANCHES};
	uint32_t n_blocks = 10000;
	unsigned n_threads = 0;
	int n_repeats = 5;
	double z = 1.0;
	int opt;

	while ((opt = getopt(argc, argv, "n:d:b:z:s:j:f:r:")) != -1) {
		if (opt == 'n')
			job.n_stacks = strtoul(optarg, NULL, 0);
		else if (opt == 'd')
			job.depth = strtoul(optarg, NULL, 0);
		else if (opt == 'b')
			n_blocks = (uint32_t)strtoul(optarg, NULL, 0);
		else if (opt == 'z')
			z = strtod(optarg, NULL);
		else if (opt == 's')
			job.sampling = optarg[0] == 'i' ? EP_SAMPLING_INSTRUCTIONS
			                                : EP_SAMPLING_TAKEN_BRANCHES;
		else if (opt == 'j')
			n_threads = (unsigned)strtoul(optarg, NULL, 0);
		else if (opt == 'r')
			n_repeats = atoi(optarg);
		else if (opt == 'f')
			job.file = optarg;
		else
			return fputs(usage, stderr), 2;
	}
	struct block *blocks = make_program(n_blocks, z);
	struct ep_branch *stacks = calloc(job.n_stacks * job.depth, sizeof(*stacks));
	if (!blocks || !stacks)
		return perror("bench_fold"), 1;
	run_program(blocks, n_blocks, z, stacks, job.n_stacks, job.depth);
	free(blocks);
	job.stacks = stacks;
	if (job.file) {
		write_file(&job);
		free(stacks);
	}
	printf("%zu stacks of %zu, in million records a second; memory in MiB%s\n", job.n_stacks,
	       job.depth, job.file ? "" : ", the stacks themselves included");
	printf("%7s %9s %9s %9s %9s %9s %9s %9s\n", "threads", "wall", "cpu", "no finish",
	       "finish ms", "edges", "ranges", "peak");
	for (unsigned n = n_threads ? n_threads : 1; n <= (n_threads ? n_threads : 2); n++)
		fold_often(&job, n, n_repeats);
	if (!job.file)
		free(stacks);
	return 0;
}
