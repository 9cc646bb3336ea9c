/* SPDX-License-Identifier: BSD-2-Clause */
/* The files and the account of edgeprof record. */
#include "record_job.h"

#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "account.h"
#include "table.h"

/* PROGRAM.edges in the working folder. */
static char *default_path(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
	size_t n = strlen(name) + sizeof(".edges");
	char *path = malloc(n);

	if (path)
		snprintf(path, n, "%s.edges", name);
	return path;
}

static char *join_words(char *const *words)
{
	struct ep_buf buf = {0};

	for (size_t i = 0; words[i]; i++)
		ep_buf_printf(&buf, "%s%s", i ? " " : "", words[i]);
	ep_buf_u8(&buf, '\0');
	if (!buf.failed)
		return (char *)buf.v;
	ep_buf_deinit(&buf);
	return NULL;
}

/* One event to both. */
static struct ep_error *to_both(void *payload, const struct ep_event *event)
{
	struct ep_record_job *job = payload;

	if (job->fold)
		EP_TRY(job->fold_sink.event(job->fold_sink.payload, event));
	return job->raw_sink.event(job->raw_sink.payload, event);
}

struct ep_error *ep_record_job_begin(struct ep_record_job *job)
{
	static struct utsname uts;
	static char kernel[sizeof(uts.sysname) + sizeof(uts.release) + 1];
	struct ep_fold_opts fold_opts = {.n_threads = 1};

	uname(&uts);
	snprintf(kernel, sizeof(kernel), "%s %s", uts.sysname, uts.release);
	job->cmdline = join_words(job->opts.argv);
	job->default_path = default_path(job->opts.argv[0]);
	if (!job->cmdline || !job->default_path)
		return ep_error_nomem();
	job->info = (struct ep_capture_info){
	    .host = uts.nodename, .kernel = kernel, .cpuid = "", .cmdline = job->cmdline};
	job->backend->describe(job->state, &job->info);
	if (!job->edges_path && !job->raw_path)
		job->edges_path = job->default_path;
	if (job->edges_path) {
		EP_TRY(ep_fold_create(&fold_opts, &job->warnings, &job->fold));
		job->fold_sink = ep_fold_sink(job->fold);
	}
	/*
	 * Without --raw the recording is written to nowhere, for the sake of its digest: that way a
	 * capture folded as it went and the same one folded from its file are known to be one.
	 */
	EP_TRY(ep_raw_writer_create(job->raw_path ? job->raw_path : "/dev/null", &job->info, NULL,
	                            &job->raw));
	job->raw_sink = ep_raw_writer_sink(job->raw);
	job->sink = (struct ep_event_sink){to_both, job};
	return NULL;
}

/* -- the account -- */

static void print_losses(const struct ep_record_job *job, const struct ep_capture_totals *t)
{
	const struct ep_args *args = job->args;
	char n[EP_TEXT_COUNT_MAX];

	if (t->n_lost_samples)
		ep_cmd_note(args,
		            "warning: %s lost: the machine was busy; a larger --period or "
		            "--buffer avoids it",
		            ep_text_count(t->n_lost_samples, "samples", n));
	if (t->n_lost_counts)
		ep_cmd_note(args, "warning: %s not counted for want of memory",
		            ep_text_count(t->n_lost_counts, "branches", n));
	if (t->n_lost_control)
		ep_cmd_note(args, "warning: %s of maps or threads lost",
		            ep_text_count(t->n_lost_control, "notices", n));
	if (t->n_not_followed)
		ep_cmd_note(args, "warning: %s not followed into programs they executed",
		            ep_text_count(t->n_not_followed, "processes", n));
	if (t->n_unrecorded)
		ep_cmd_note(args, "warning: %s not recorded: too many at a time",
		            ep_text_count(t->n_unrecorded, "threads", n));
	if (t->n_running)
		ep_cmd_note(args,
		            "warning: %s still running when '%s' had ended, and now unrecorded",
		            ep_text_count(t->n_running, "processes", n), job->opts.argv[0]);
	if (t->n_corrupt)
		ep_cmd_note(args, "warning: the recording of %s was written over by the program",
		            ep_text_count(t->n_corrupt, "threads", n));
}

/* What -v adds. */
static void print_details(const struct ep_record_job *job, const struct ep_capture_totals *t)
{
	char threads[EP_TEXT_COUNT_MAX], processes[EP_TEXT_COUNT_MAX], period[32], moved[32],
	    interrupted[32];

	ep_cmd_note(job->args,
	            "%s, %s, period %s, depth %u, seed %llu, PC moved %s, branches not recorded "
	            "for that %s",
	            ep_text_count(t->n_threads, "threads", threads),
	            ep_text_count(t->n_processes, "processes", processes),
	            ep_text_number(t->period, period), t->depth, (unsigned long long)job->opts.seed,
	            ep_text_number(t->n_moved, moved),
	            ep_text_number(t->n_interrupted, interrupted));
}

static void print_account(const struct ep_record_job *job, const struct ep_capture_totals *t)
{
	const struct ep_args *args = job->args;
	char samples[EP_TEXT_COUNT_MAX], branches[EP_TEXT_COUNT_MAX], insns[EP_TEXT_COUNT_MAX];

	ep_cmd_note(
	    args, "%s%s %s, %s; %s%s%s",
	    job->opts.exact ? "counted" : ep_text_count(t->n_samples, "samples", samples),
	    job->opts.exact ? "" : " of", ep_text_count(t->n_branches, "taken branches", branches),
	    ep_text_count(t->n_insns, "instructions", insns),
	    job->edges_path ? job->edges_path : "", job->edges_path && job->raw_path ? ", " : "",
	    job->raw_path ? job->raw_path : "");
	if (args->verbose)
		print_details(job, t);
	print_losses(job, t);
	ep_cmd_warnings(args, &job->warnings);
	if (job->fold)
		ep_account_print(args, &job->edges);
}

static struct ep_error *write_report(const struct ep_record_job *job,
                                     const struct ep_capture_totals *t)
{
	const struct {
		const char *name;
		uint64_t v;
	} numbers[] = {
	    {"samples", t->n_samples},
	    {"lost_samples", t->n_lost_samples},
	    {"taken_branches", t->n_branches},
	    {"instructions", t->n_insns},
	    {"threads", t->n_threads},
	    {"processes", t->n_processes},
	    {"not_followed", t->n_not_followed},
	    {"still_running", t->n_running},
	    {"unrecorded_threads", t->n_unrecorded},
	    {"pc_moved", t->n_moved},
	    {"interrupted_branches", t->n_interrupted},
	    {"lost_counts", t->n_lost_counts},
	    {"lost_notices", t->n_lost_control},
	    {"overwritten_threads", t->n_corrupt},
	    {"period", t->period},
	    {"depth", t->depth},
	    {"seed", job->opts.seed},
	};
	int status = job->backend->status(job->state);
	json_t *report = ep_json_report(job->args);

	json_object_set_new(report, "backend", json_string(job->backend->name));
	json_object_set_new(report, "command", json_string(job->cmdline));
	json_object_set_new(report, "event",
	                    json_string(job->opts.event == EP_SAMPLING_INSTRUCTIONS
	                                    ? "instructions"
	                                    : "taken-branches"));
	json_object_set_new(report, "exact", json_boolean(job->opts.exact));
	json_object_set_new(
	    report, "exit_status",
	    json_integer(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)));
	for (size_t i = 0; i < EP_ARRAY_LEN(numbers); i++)
		json_object_set_new(report, numbers[i].name, ep_json_u64(numbers[i].v));
	json_object_set_new(report, "edges",
	                    job->edges_path ? json_string(job->edges_path) : json_null());
	json_object_set_new(report, "raw",
	                    job->raw_path ? json_string(job->raw_path) : json_null());
	if (job->fold)
		json_object_set_new(report, "drops", ep_account_drops(&job->edges.drops));
	return ep_json_write(report, job->report_path);
}

/* -- the end -- */

static struct ep_error *nothing_recorded(const struct ep_record_job *job,
                                         const struct ep_capture_totals *t)
{
	struct ep_error *err = ep_error_create(
	    EP_ERROR_MISSING,
	    "%s: no sample was taken: it ran %llu branches and the period is %llu",
	    job->opts.argv[0], (unsigned long long)t->n_branches, (unsigned long long)t->period);

	return ep_error_hint(err, "try --period %llu",
	                     (unsigned long long)EP_MAX(t->n_branches / 1000, UINT64_C(1)));
}

static struct ep_error *write_edges(struct ep_record_job *job, const uint8_t digest[EP_DIGEST_SIZE])
{
	job->source = (struct ep_provenance){.host = job->info.host,
	                                     .kernel = job->info.kernel,
	                                     .cpu = job->info.cpu,
	                                     .event = "",
	                                     .tool = job->backend->name,
	                                     .weight = EP_COUNT_ONE,
	                                     .n_copies = 1};
	memcpy(job->source.digest, digest, EP_DIGEST_SIZE);
	EP_TRY(ep_fold_finish(job->fold, &job->source, &job->edges));
	ep_edges_default_arch(&job->edges, job->info.arch);
	return ep_edges_write(&job->edges, job->edges_path);
}

struct ep_error *ep_record_job_finish(struct ep_record_job *job)
{
	struct ep_capture_totals t;
	uint8_t digest[EP_DIGEST_SIZE];

	job->backend->totals(job->state, &t);
	if (!(job->opts.exact ? t.n_branches : t.n_samples))
		return nothing_recorded(job, &t);
	struct ep_error *err = ep_raw_writer_commit(job->raw, digest);
	job->raw = NULL;
	EP_TRY(err);
	if (job->fold)
		EP_TRY(write_edges(job, digest));
	print_account(job, &t);
	return job->report_path ? write_report(job, &t) : NULL;
}

void ep_record_job_deinit(struct ep_record_job *job)
{
	ep_raw_writer_abort(job->raw);
	ep_edges_deinit(&job->edges);
	ep_fold_destroy(job->fold);
	ep_warnings_deinit(&job->warnings);
	if (job->state)
		job->backend->close(job->state);
	free(job->default_path);
	free(job->cmdline);
}
