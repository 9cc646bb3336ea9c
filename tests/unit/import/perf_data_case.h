/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the perf.data tests: run what was built, look at the text of its events. */
#ifndef EP_TESTS_PERF_DATA_CASE_H
#define EP_TESTS_PERF_DATA_CASE_H

#include <stdlib.h>
#include <string.h>

#include "import/perf_data.h"
#include "import/perf_data_abi.h"
#include "support/check.h"
#include "support/event_text.h"
#include "support/perf_builder.h"

/* What a run gave. */
struct outcome {
	struct event_text text;
	struct ep_warnings warnings;
	struct ep_capture_info info;
	struct ep_input in;
	struct ep_error *err;
};

/*
 * A file given through a pipe is stored in TMPDIR; with none to be found it is read from front to
 * back, as the tests of streams want it.
 */
static inline void no_temporary_files(void)
{
	setenv("TMPDIR", "/nonexistent", 1);
}

/* Reads n bytes; piece_max as for ep_input_open_memory(). */
static inline void run_bytes(const void *data, size_t n, size_t piece_max, struct outcome *ret)
{
	*ret = (struct outcome){0};
	void *guarded = check_guard(data, n);
	check_ok(ep_input_open_memory("t", guarded, n, piece_max, &ret->in));
	struct ep_event_sink sink = event_text_sink(&ret->text);
	ret->err = ep_perf_data_run(&ret->in, &sink, &ret->warnings, &ret->info);
	check_guard_free(guarded, n);
}

static inline void outcome_deinit(struct outcome *o)
{
	event_text_deinit(&o->text);
	ep_warnings_deinit(&o->warnings);
	ep_input_close(&o->in);
	ep_error_destroy(o->err);
}

static inline void run_builder(struct perf_builder *b, size_t piece_max, struct outcome *ret)
{
	const struct ep_buf *out = pb_finish(b);

	run_bytes(out->v, out->n, piece_max, ret);
	check_ok(ret->err);
	ret->err = NULL;
	pb_deinit(b);
}

#define check_text(outcome, want) assert_string_equal(event_text_get(&(outcome)->text), (want))
#define check_has(outcome, want)                                                                   \
	do {                                                                                       \
		if (!strstr(event_text_get(&(outcome)->text), (want)))                             \
			fail_msg("no \"%s\" in:\n%s", (want), event_text_get(&(outcome)->text));   \
	} while (0)
#define check_lacks(outcome, want)                                                                 \
	do {                                                                                       \
		if (strstr(event_text_get(&(outcome)->text), (want)))                              \
			fail_msg("\"%s\" in:\n%s", (want), event_text_get(&(outcome)->text));      \
	} while (0)

/* The usual event: cycles with LBR. */
#define ST_USUAL                                                                                   \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |                \
	 PERF_SAMPLE_BRANCH_STACK)

static const struct ep_branch two_branches[] = {
    {0x401010, 0x401100, EP_INFO_PREDICTED | 7 << EP_INFO_CYCLES_SHIFT},
    {0x401200, 0x401000, EP_INFO_MISPRED},
};

#endif
