/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of edgeprof record: where its events go and what is said of it at the end. */
#ifndef EP_TOOLS_RECORD_JOB_H
#define EP_TOOLS_RECORD_JOB_H

#include "capture/capture.h"
#include "cmd.h"
#include "fold/fold.h"
#include "record/raw.h"

struct ep_record_job {
	const struct ep_args *args;
	const struct ep_capture_methods *backend;
	struct ep_capture_opts opts;
	const char *edges_path, *raw_path, *report_path; /* NULL: not asked for */
	bool ignore_exit;
	void *state;               /* of the backend */
	struct ep_event_sink sink; /* for the backend's events */

	/* Private from here on. */
	char *default_path, *cmdline;
	struct ep_warnings warnings;
	struct ep_fold *fold;
	struct ep_raw_writer *raw;
	struct ep_edges edges;
	struct ep_provenance source;
	struct ep_capture_info info;
	struct ep_event_sink fold_sink, raw_sink;
};

/* Sets up `sink`; the backend is open. Errors: OS, NOMEM. */
struct ep_error *ep_record_job_begin(struct ep_record_job *job) EP_MUST_CHECK;

/*
 * The capture is done: writes the files and prints the account. Nothing is written when nothing was
 * recorded. Errors: MISSING for that; OS, NOMEM.
 */
struct ep_error *ep_record_job_finish(struct ep_record_job *job) EP_MUST_CHECK;

/* Also closes the backend. */
void ep_record_job_deinit(struct ep_record_job *job);

#endif
