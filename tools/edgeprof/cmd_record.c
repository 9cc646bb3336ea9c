/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof record: runs a program, records its branches and folds them as it goes. */
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "capture/capture.h"
#include "cmd.h"
#include "record_job.h"

enum {
	OPT_BACKEND = EP_OPT_VERB,
	OPT_EVENT,
	OPT_PERIOD,
	OPT_SEED,
	OPT_DEPTH,
	OPT_EXACT,
	OPT_RAW,
	OPT_IGNORE_EXIT,
	OPT_NO_FOLLOW,
	OPT_BUFFER,
	OPT_QEMU,
	OPT_SYSROOT,
};

static const struct ep_opt opts[] = {
    {'o', "output", "FILE", "write the edges to FILE (default: PROGRAM.edges)"},
    {OPT_BACKEND, "backend", "NAME", "soft (default), perf or hwt"},
    {OPT_EVENT, "event", "EVENT", "taken-branches (default) or instructions"},
    {OPT_PERIOD, "period", "N", "events between samples, in the mean"},
    {OPT_SEED, "seed", "N", "of the random periods; same seed, same samples"},
    {OPT_DEPTH, "depth", "N", "branch records of a sample: 8, 16, 32 (default) or 64"},
    {OPT_EXACT, "exact", NULL, "count every branch instead of sampling"},
    {OPT_RAW, "raw", "FILE", "also keep the recording as it is, for a later fold"},
    {OPT_IGNORE_EXIT, "ignore-exit", NULL, "do not pass on the program's exit status"},
    {OPT_NO_FOLLOW, "no-follow", NULL, "do not record programs that the program executes"},
    {OPT_BUFFER, "buffer", "BYTES", "room for samples of a thread, a power of two"},
    {OPT_QEMU, "qemu", "FILE", "QEMU user-mode emulator to use"},
    {OPT_SYSROOT, "sysroot", "DIR", "where a foreign program's libraries are"},
    EP_OPT_REPORT_ENTRY,
    EP_OPT_VERBOSE_ENTRY,
    EP_OPT_COMMON_ENTRIES,
};

static const char *const events[] = {"taken-branches", "instructions", NULL};

/* -- signals: the first lets the program end, the second kills it -- */

static volatile sig_atomic_t n_signals, last_signal, from_keyboard;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	last_signal = signal;
	/* The terminal has sent it to the program as well. */
	from_keyboard = info->si_code > 0;
	n_signals++;
}

static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	for (size_t i = 0; i < EP_ARRAY_LEN(signals); i++) {
		struct sigaction old;
		/* What nohup and the like ignore stays ignored. */
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

static void pass_signals(const struct ep_args *args, const struct ep_record_job *job,
                         int *n_handled)
{
	int n = n_signals, signal = last_signal;

	if (n == *n_handled)
		return;
	if (!*n_handled && n == 1) {
		ep_cmd_note(args, "stopping; once more kills the program");
		if (!from_keyboard)
			job->backend->stop(job->state, signal);
	} else {
		job->backend->stop(job->state, SIGKILL);
	}
	*n_handled = n;
}

/* -- the command line -- */

static bool take_number(struct ep_args *args, const char *what, uint64_t min, uint64_t max,
                        uint64_t *ret)
{
	if (ep_args_u64(args, what, args->value, min, max, ret))
		return true;
	args->status = EP_EXIT_BAD;
	return false;
}

static bool take_backend(struct ep_args *args, struct ep_record_job *job)
{
	job->backend = ep_capture_find(args->value);
	if (job->backend)
		return true;
	args->status = ep_args_usage(args, "backend '%s' is none of: soft, perf, hwt", args->value);
	return false;
}

static bool take_event(struct ep_args *args, struct ep_record_job *job)
{
	int i = ep_args_choice(args, "event", args->value, events);

	job->opts.event = i == 1 ? EP_SAMPLING_INSTRUCTIONS : EP_SAMPLING_TAKEN_BRANCHES;
	args->status = EP_EXIT_BAD;
	return i >= 0;
}

static bool take_option(struct ep_args *args, int opt, struct ep_record_job *job)
{
	uint64_t number = 0;

	switch (opt) {
	case 'o':
		job->edges_path = args->value;
		return true;
	case OPT_BACKEND:
		return take_backend(args, job);
	case OPT_EVENT:
		return take_event(args, job);
	case OPT_PERIOD:
		return take_number(args, "period", 1, INT64_MAX / 4, &job->opts.period);
	case OPT_SEED:
		return take_number(args, "seed", 0, UINT64_MAX, &job->opts.seed);
	case OPT_DEPTH:
		if (!take_number(args, "depth", 8, 64, &number))
			return false;
		job->opts.depth = (unsigned)number;
		return true;
	case OPT_BUFFER:
		if (!take_number(args, "buffer", 8192, 1u << 30, &number))
			return false;
		job->opts.buffer_bytes = (uint32_t)number;
		return true;
	case OPT_EXACT:
		job->opts.exact = true;
		return true;
	case OPT_RAW:
		job->raw_path = args->value;
		return true;
	case OPT_NO_FOLLOW:
		job->opts.no_follow = true;
		return true;
	case OPT_IGNORE_EXIT:
		job->ignore_exit = true;
		return true;
	case OPT_QEMU:
		job->opts.qemu_path = args->value;
		return true;
	case OPT_SYSROOT:
		job->opts.sysroot = args->value;
		return true;
	default:
		job->report_path = args->value;
		return true;
	}
}

static uint64_t random_seed(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ((uint64_t)t.tv_sec << 30 ^ (uint64_t)t.tv_nsec ^ (uint64_t)getpid() << 40) | 1;
}

/* False: args->status says how it ends. */
static bool parse(struct ep_args *args, struct ep_record_job *job)
{
	int opt;

	*job = (struct ep_record_job){.args = args, .backend = ep_capture_backends[0]};
	job->opts.event = EP_SAMPLING_TAKEN_BRANCHES;
	job->opts.seed = random_seed();
	while ((opt = ep_args_next(args)) != EP_ARGS_END)
		if (opt == EP_ARGS_EXIT || !take_option(args, opt, job))
			return false;
	if (!ep_args_n_operands(args)) {
		args->status = ep_args_usage(args, "name the program to record");
		return false;
	}
	job->opts.argv = ep_args_operands(args);
	const char *dash = "-";
	if ((job->edges_path && !strcmp(job->edges_path, dash)) ||
	    (job->raw_path && !strcmp(job->raw_path, dash))) {
		args->status = ep_args_usage(args, "standard output is the program's: name a file");
		return false;
	}
	if (!job->backend->open) {
		fprintf(stderr,
		        "edgeprof record: backend '%s' cannot record in this version\n"
		        "hint: record with --backend soft, or fold what perf(1) has recorded\n",
		        job->backend->name);
		args->status = EP_EXIT_NO_CAPTURE;
		return false;
	}
	return true;
}

/* -- running -- */

static void show_progress(const struct ep_record_job *job, struct ep_progress *progress)
{
	struct ep_capture_totals t;

	if (!ep_progress_due(progress))
		return;
	job->backend->totals(job->state, &t);
	ep_progress_show(progress, "%.1f M branches, %llu samples, %llu lost",
	                 (double)t.n_branches / 1e6, (unsigned long long)t.n_samples,
	                 (unsigned long long)t.n_lost_samples);
}

static struct ep_error *watch(const struct ep_args *args, struct ep_record_job *job)
{
	struct ep_progress progress;
	bool done = false;
	int n_handled = 0;
	struct ep_error *err = NULL;

	ep_progress_init(&progress, args);
	while (!err && !done) {
		err = job->backend->step(job->state, &job->sink, 4, &done);
		pass_signals(args, job, &n_handled);
		show_progress(job, &progress);
	}
	ep_progress_end(&progress);
	return err;
}

static int exit_status(const struct ep_record_job *job)
{
	int status = job->backend->status(job->state);

	if (job->ignore_exit)
		return EP_EXIT_OK;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static struct ep_error *record(const struct ep_args *args, struct ep_record_job *job)
{
	EP_TRY(job->backend->open(&job->opts, &job->state));
	EP_TRY(ep_record_job_begin(job));
	catch_signals();
	EP_TRY(job->backend->start(job->state));
	EP_TRY(watch(args, job));
	return ep_record_job_finish(job);
}

static int run(struct ep_args *args)
{
	struct ep_record_job job;

	if (!parse(args, &job))
		return args->status;
	struct ep_error *err = record(args, &job);
	int status;
	if (err) {
		status = err->code == EP_ERROR_UNSUPPORTED ? EP_EXIT_NO_CAPTURE : EP_EXIT_BAD;
		ep_cmd_fail(args, err);
	} else {
		status = exit_status(&job);
	}
	ep_record_job_deinit(&job);
	return status;
}

const struct ep_cmd ep_cmd_record = {
    .name = "record",
    .summary = "Run a program and count its branches",
    .synopsis = "[OPTIONS] [-o FILE.edges] [--] PROGRAM [ARGUMENTS]",
    .opts = opts,
    .stops_at_operand = true,
    .fn = run,
};
