/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_sprof [N_FUNCS [LLVM_PROFDATA]]: speed of reading and writing sample profiles, and the same
 * conversion by llvm-profdata merge. Times are processor time, the best of three runs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "sprof/read.h"
#include "sprof/write.h"

#define N_RUNS 3
#define N_FUNCS_DEFAULT 200000

struct kind {
	const char *name;
	const char *peer[3]; /* options of llvm-profdata merge */
	struct ep_sprof_write_opts write;
};

static const struct kind kinds[] = {
    {"text", {"--text"}, {.format = EP_SPROF_TEXT}},
    {"extbinary", {"--extbinary"}, {.format = EP_SPROF_EXTBINARY}},
    {"md5", {"--extbinary", "--use-md5"}, {.format = EP_SPROF_EXTBINARY, .md5 = true}},
    {"zlib",
     {"--extbinary", "--compress-all-sections"},
     {.format = EP_SPROF_EXTBINARY, .compress = true}},
};

struct cost {
	double seconds;
	double mib; /* peak memory */
};

static void must(struct ep_error *err)
{
	if (!err)
		return;
	fprintf(stderr, "bench_sprof: %s\n", err->message);
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % n);
}

/* Like mangled C++: long, with long common beginnings. */
static uint32_t name_of(struct ep_sprof *prof, uint32_t i)
{
	char name[160];
	uint32_t id;

	int n = snprintf(name, sizeof(name), "_ZN4llvm%u9namespace%u%*sEPKcRKSt6vectorIjSaIjEE.f%u",
	                 i % 7, i % 101, (int)(i * 7919 % 61), "Class", i);
	must(ep_sprof_name(prof, name, (size_t)n, &id));
	return id;
}

/* About what llvm-profgen makes: a dozen lines a function, some call targets, inlined copies. */
static void fill(struct ep_sprof *prof, struct ep_sprof_func *func, uint32_t n_funcs, int depth)
{
	uint32_t n = 1 + random_below(24), line = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct ep_sprof_record *record;
		line += 1 + random_below(4);
		must(ep_sprof_record(prof, func, line, random_below(4) ? 0 : random_below(16),
		                     &record));
		record->count = random_below(3) ? random_below(1000) : random_below(1000000);
		for (uint32_t t = random_below(8); t < 2; t++)
			must(ep_sprof_target_add(prof, record, name_of(prof, random_below(n_funcs)),
			                         random_below(1000)));
		func->total += record->count * 4;
	}
	for (uint32_t i = depth < 4 ? random_below(4) : 0; i > 1; i--) {
		struct ep_sprof_func *callee;
		must(ep_sprof_callee(prof, func, random_below(line), random_below(3),
		                     name_of(prof, random_below(n_funcs)), &callee));
		fill(prof, callee, n_funcs, depth + 1);
		func->total += callee->total;
	}
}

static struct ep_sprof generate(uint32_t n_funcs)
{
	struct ep_sprof prof = {0};

	for (uint32_t i = 0; i < n_funcs; i++) {
		struct ep_sprof_func *func;
		must(ep_sprof_func(&prof, name_of(&prof, i), &func));
		func->head = random_below(10000);
		fill(&prof, func, n_funcs, 0);
	}
	must(ep_sprof_finalise(&prof));
	return prof;
}

static size_t write_file(const struct ep_sprof *prof, const struct ep_sprof_write_opts *opts,
                         const char *path)
{
	FILE *out = fopen(path, "wb");

	if (!out)
		must(ep_error_os(errno, "%s", path));
	must(ep_sprof_write(prof, opts, out));
	long n = ftell(out);
	fclose(out);
	return (size_t)n;
}

static void read_path(const char *path, struct ep_sprof *ret)
{
	struct ep_file file;

	must(ep_file_open(path, 0, &file));
	must(ep_sprof_read(file.data, file.size, path, NULL, ret));
	ep_file_close(&file);
}

static void convert(const char *in, const char *out, const struct kind *kind)
{
	struct ep_sprof prof;

	read_path(in, &prof);
	write_file(&prof, &kind->write, out);
	ep_sprof_deinit(&prof);
}

static double seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

/* Runs the peer, or ourselves if it is NULL, as a process of its own. */
static struct cost run(const char *peer, const char *in, const char *out, const struct kind *kind)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (!peer) {
			convert(in, out, kind);
			_exit(0);
		}
		const char *argv[] = {peer, "merge",       "--sample",    "-o", out,
		                      in,   kind->peer[0], kind->peer[1], NULL};
		execvp(peer, (char **)(uintptr_t)argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status)
		return (struct cost){.seconds = -1};
	return (struct cost){seconds(&usage.ru_utime) + seconds(&usage.ru_stime),
	                     (double)usage.ru_maxrss / 1024};
}

static struct cost best_run(const char *peer, const char *in, const char *out,
                            const struct kind *kind)
{
	struct cost best = run(peer, in, out, kind);

	for (int i = 1; i < N_RUNS && best.seconds >= 0; i++) {
		struct cost cost = run(peer, in, out, kind);
		best.seconds = EP_MIN(best.seconds, cost.seconds);
		best.mib = EP_MIN(best.mib, cost.mib);
	}
	return best;
}

static bool same_files(const char *a, const char *b)
{
	struct ep_file x, y;

	must(ep_file_open(a, 0, &x));
	must(ep_file_open(b, 0, &y));
	bool same = x.size == y.size && !memcmp(x.data, y.data, x.size);
	ep_file_close(&x);
	ep_file_close(&y);
	return same;
}

static void bench_kind(const struct ep_sprof *prof, const struct kind *kind, const char *path)
{
	double t_write = 1e9, t_read = 1e9;
	size_t n = 0;

	for (int i = 0; i < N_RUNS; i++) {
		struct ep_sprof back;
		double t = now();
		n = write_file(prof, &kind->write, path);
		t_write = EP_MIN(t_write, now() - t);
		t = now();
		read_path(path, &back);
		t_read = EP_MIN(t_read, now() - t);
		ep_sprof_deinit(&back);
	}
	printf("%-10s %9.1f %12.1f %12.1f\n", kind->name, (double)n / 1e6,
	       (double)n / 1e6 / t_write, (double)n / 1e6 / t_read);
}

static void bench_peer(const char *peer, const struct kind *kind, const char *in, const char *ours,
                       const char *theirs)
{
	struct cost us = best_run(NULL, in, ours, kind), peers = best_run(peer, in, theirs, kind);

	if (peers.seconds < 0) {
		printf("%-10s %9.2f s %6.0f MiB; %s does not run\n", kind->name, us.seconds, us.mib,
		       peer);
		return;
	}
	printf("%-10s %9.2f s %6.0f MiB %9.2f s %6.0f MiB %8.1f %9.2f  %s\n", kind->name,
	       us.seconds, us.mib, peers.seconds, peers.mib, peers.seconds / us.seconds,
	       us.mib / peers.mib, same_files(ours, theirs) ? "same bytes" : "BYTES DIFFER");
}

int main(int argc, char **argv)
{
	uint32_t n_funcs =
	    argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : (uint32_t)N_FUNCS_DEFAULT;
	const char *peer = argc > 2 ? argv[2] : "llvm-profdata-22";
	static const char in[] = "bench_sprof.in", ours[] = "bench_sprof.ours",
	                  theirs[] = "bench_sprof.peer";

	struct ep_sprof prof = generate(n_funcs);
	printf("%u functions, %.0f MiB in memory\n\n", n_funcs,
	       (double)ep_sprof_memory(&prof) / (1 << 20));
	printf("%-10s %9s %12s %12s\n", "format", "MB", "write MB/s", "read MB/s");
	fflush(stdout);
	for (size_t i = 0; i < EP_ARRAY_LEN(kinds); i++)
		bench_kind(&prof, &kinds[i], ours);
	write_file(&prof, &kinds[1].write, in);
	ep_sprof_deinit(&prof);
	printf("\nextbinary to     edgeprof               %-22s  faster  memory\n", peer);
	for (size_t i = 0; i < EP_ARRAY_LEN(kinds); i++) {
		fflush(stdout);
		bench_peer(peer, &kinds[i], in, ours, theirs);
	}
	unlink(in);
	unlink(ours);
	unlink(theirs);
	return 0;
}
