/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data made by real recorders, counted against what others read in them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/import.h"
#include "support/check.h"

struct counts {
	uint64_t n_samples, n_branches, sum, n_mispreds;
	uint64_t n_maps, n_comms, n_tasks; /* tasks: FORK, made-up ones (EXEC), EXIT */
};

/*
 * Where the numbers come from, once, by a script that shares nothing with this project: samples,
 * branches, their sum (of from ^ 3 * to, modulo 2^64) and those marked M from the output of perf
 * 6.1's "perf script -F pid,brstack", for the brbe folder from the text that perf 7.2 made of the
 * same recordings. Maps, comms and tasks by a walk over the bare record headers, with the zstd tool
 * for compressed ones.
 */
static const struct known {
	const char *path;
	struct counts counts;
	const char *stream; /* name of the event that has the samples */
	enum ep_sampling sampling;
} known[] = {
    {"pairs/test.lbr",
     {9232, 147712, UINT64_C(0x11de823c8929a5c0), 9319, 33, 2, 2},
     "br_inst_exec:taken",
     EP_SAMPLING_TAKEN_BRANCHES},
    {"pairs/propeller_sample_1.perfdata1",
     {3740, 119424, UINT64_C(0x6c1faae778801cef), 5, 4, 2, 1},
     "cycles:u",
     EP_SAMPLING_CYCLES},
    {"perf.data/perf-kernel.data",
     {24, 1445, UINT64_C(0x19969958b971c), 0, 4503, 566, 565},
     "instructions:k",
     EP_SAMPLING_INSTRUCTIONS},
    {"perf.data/perf.data.branch_stack_hw_index",
     {5, 116, UINT64_C(0x6de3860be6), 0, 4551, 584, 583},
     "instructions:uH",
     EP_SAMPLING_INSTRUCTIONS},
    {"perf.data/perf.data.callgraph_and_branch-3.4",
     {923, 14768, UINT64_C(0x28e39bb0cf1ec4a7), 880, 1536, 176, 8},
     "cycles",
     EP_SAMPLING_CYCLES},
    {"brbe/filtrate-user.data",
     {191, 6112, UINT64_C(0xbf2194314), 0, 2, 2, 1},
     "r811f:u",
     EP_SAMPLING_TAKEN_BRANCHES},
    {"brbe/cycles-user-zstd.data",
     {294, 9408, UINT64_C(0x12661dded0), 0, 2, 2, 1},
     "cycles:u",
     EP_SAMPLING_CYCLES},
    {"brbe/filtrate-all.data",
     {58, 1856, UINT64_C(0x17ce7ad2ad657f8), 0, 109, 63, 63},
     "r811f",
     EP_SAMPLING_TAKEN_BRANCHES},
    {"perf.data/sleep.data", {7, 0, 0, 0, 4, 2, 1}, "cycles:Pu", EP_SAMPLING_CYCLES},
    {"perf.data/sleep.compressed.data", {8, 0, 0, 0, 49, 2, 1}, "cycles:P", EP_SAMPLING_CYCLES},
    {"perf.data/fibo.compressed2.pipe.data",
     {547, 0, 0, 0, 979, 23, 36},
     "cycles:P",
     EP_SAMPLING_CYCLES},
};

struct run {
	struct counts counts;
	const struct known *known;
	uint64_t n_execs, last_exec_pid, n_lost;
	bool ended;
};

static void add_sample(struct counts *counts, const struct ep_sample *s)
{
	counts->n_samples++;
	counts->n_branches += s->n_branches;
	for (uint32_t i = 0; i < s->n_branches; i++) {
		struct ep_branch b;
		memcpy(&b, (const char *)s->branches + i * sizeof(b), sizeof(b));
		counts->sum += b.from ^ 3 * b.to;
		counts->n_mispreds += b.info & s->info_mask & EP_INFO_MISPRED;
	}
}

static struct ep_error *on_event(void *payload, const struct ep_event *e)
{
	struct run *run = payload;

	switch (e->type) {
	case EP_EVENT_SAMPLE:
		add_sample(&run->counts, &e->u.sample);
		break;
	case EP_EVENT_MAP:
	case EP_EVENT_UNMAP:
		run->counts.n_maps++;
		break;
	case EP_EVENT_COMM:
		run->counts.n_comms++;
		/* An EXEC right before is the same record. */
		run->counts.n_tasks -= run->n_execs && run->last_exec_pid == (uint64_t)e->pid;
		break;
	case EP_EVENT_EXEC:
	case EP_EVENT_FORK:
	case EP_EVENT_EXIT:
		run->counts.n_tasks++;
		break;
	case EP_EVENT_STREAM:
		assert_string_equal(e->u.stream.name, run->known->stream);
		assert_int_equal(e->u.stream.sampling, run->known->sampling);
		break;
	case EP_EVENT_LOST:
		run->n_lost++;
		break;
	case EP_EVENT_END:
		run->ended = true;
		break;
	default:
		break;
	}
	run->n_execs = e->type == EP_EVENT_EXEC && e->t_ns;
	run->last_exec_pid = (uint64_t)e->pid;
	return NULL;
}

static void test_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(known); i++) {
		struct run run = {.known = &known[i]};
		struct ep_event_sink sink = {.event = on_event, .payload = &run};
		struct ep_warnings warnings = {0};
		struct ep_import *import;
		struct ep_import_info info;
		char path[1024];

		snprintf(path, sizeof(path), "%s/%s", check_corpus(), known[i].path);
		check_ok(ep_import_open(path, EP_IMPORT_AUTO, &warnings, &import));
		check_ok(ep_import_run(import, &sink, &info));
		ep_import_close(import);
		print_message("%s\n", known[i].path);
		check_u64_eq(run.counts.n_samples, known[i].counts.n_samples);
		check_u64_eq(run.counts.n_branches, known[i].counts.n_branches);
		check_u64_eq(run.counts.sum, known[i].counts.sum);
		check_u64_eq(run.counts.n_mispreds, known[i].counts.n_mispreds);
		check_u64_eq(run.counts.n_maps, known[i].counts.n_maps);
		check_u64_eq(run.counts.n_comms, known[i].counts.n_comms);
		check_u64_eq(run.counts.n_tasks, known[i].counts.n_tasks);
		check_u64_eq(run.n_lost, 0);
		check_u64_eq(warnings.n, 0);
		assert_true(run.ended);
		ep_warnings_deinit(&warnings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts),
	};

	if (!check_corpus())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
