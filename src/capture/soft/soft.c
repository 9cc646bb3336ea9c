/* SPDX-License-Identifier: BSD-2-Clause */
/* The backend `soft`: a program run under QEMU with the plugin softbrbe. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file.h"
#include "capture/capture.h"
#include "capture/soft/find.h"
#include "capture/soft/host.h"
#include "capture/soft/reader.h"
#include "capture/soft/soft.h"
#include "record/machine.h"

#define DEFAULT_DEPTH 32
/* Primes; some ten thousand samples a second at QEMU's speed, which costs 5 % of the run. */
#define DEFAULT_PERIOD_BRANCHES 1009
#define DEFAULT_PERIOD_INSNS 10007
#define DEFAULT_RING_BYTES (2u << 20)

struct soft {
	struct ep_capture_opts opts; /* with defaults filled in; argv is the caller's */
	struct ep_soft_program program;
	struct ep_soft_qemu qemu;
	char cpu[64];
	char plugin[PATH_MAX], sysroot[PATH_MAX];
	int fd; /* of the shared memory, -1: none */
	struct ep_soft_reader *reader;
	pid_t pid; /* of QEMU, 0: not started */
	bool ended, stream_sent;
	int status;
};

static struct ep_error *check_opts(struct ep_capture_opts *o)
{
	bool insns = o->event == EP_SAMPLING_INSTRUCTIONS;

	if (!insns && o->event != EP_SAMPLING_TAKEN_BRANCHES)
		return ep_error_create(EP_ERROR_USAGE, "soft: no such event");
	if (!o->period)
		o->period = insns ? DEFAULT_PERIOD_INSNS : DEFAULT_PERIOD_BRANCHES;
	if (!o->depth)
		o->depth = DEFAULT_DEPTH;
	if (o->depth != 8 && o->depth != 16 && o->depth != 32 && o->depth != 64)
		return ep_error_create(EP_ERROR_USAGE, "depth %u: is none of 8, 16, 32, 64",
		                       o->depth);
	if (!o->buffer_bytes)
		o->buffer_bytes = DEFAULT_RING_BYTES;
	if (o->buffer_bytes < 2 * EP_SB_PAGE || o->buffer_bytes & (o->buffer_bytes - 1) ||
	    o->buffer_bytes > 1u << 30)
		return ep_error_create(EP_ERROR_USAGE,
		                       "buffer of %u bytes: is no power of two from 8192 to 2^30",
		                       o->buffer_bytes);
	return NULL;
}

static void soft_close(void *state);

static struct ep_error *prepare(struct soft *s)
{
	EP_TRY(check_opts(&s->opts));
	if (ep_soft_host_obstacle())
		return ep_error_create(EP_ERROR_UNSUPPORTED, "soft: %s", ep_soft_host_obstacle());
	EP_TRY(ep_soft_find_program(s->opts.argv[0], &s->program));
	EP_TRY(ep_soft_find_qemu(s->program.machine, s->opts.qemu_path, &s->qemu));
	EP_TRY(ep_soft_find_plugin(s->qemu.api, s->opts.plugin_path, s->plugin));
	EP_TRY(ep_soft_find_sysroot(&s->program, s->opts.sysroot, s->sysroot));
	snprintf(s->cpu, sizeof(s->cpu), "QEMU %s, emulated", s->qemu.version);
	EP_TRY(ep_soft_shared_memory(&s->fd));
	return ep_soft_reader_create(s->fd, s->opts.buffer_bytes, &s->reader);
}

static struct ep_error *soft_open(const struct ep_capture_opts *opts, void **state_ret)
{
	struct soft *s = calloc(1, sizeof(*s));

	if (!s)
		return ep_error_nomem();
	s->opts = *opts;
	s->fd = -1;
	struct ep_error *err = prepare(s);
	if (err)
		soft_close(s);
	else
		*state_ret = s;
	return err;
}

/* -- starting -- */

/* Commas are doubled in values, as QEMU wants them. */
static void put_value(struct ep_buf *buf, const char *value)
{
	for (; *value; value++) {
		ep_buf_u8(buf, (uint8_t)*value);
		if (*value == ',')
			ep_buf_u8(buf, ',');
	}
}

/* "PLUGIN,fd=3,..." */
static char *plugin_arg(const struct soft *s)
{
	struct ep_buf buf = {0};

	put_value(&buf, s->plugin);
	ep_buf_printf(&buf, ",fd=%d,depth=%u,period=%llu,seed=%llu,event=%s,exact=%s,follow=%s",
	              s->fd, s->opts.depth, (unsigned long long)s->opts.period,
	              (unsigned long long)s->opts.seed,
	              s->opts.event == EP_SAMPLING_INSTRUCTIONS ? "instructions" : "taken-branches",
	              s->opts.exact ? "on" : "off", s->opts.no_follow ? "off" : "on");
	char absolute[PATH_MAX];
	if (realpath(s->program.path, absolute)) {
		ep_buf_put(&buf, ",program=", 9);
		put_value(&buf, absolute);
	}
	if (s->sysroot[0]) {
		ep_buf_put(&buf, ",root=", 6);
		put_value(&buf, s->sysroot);
	}
	ep_buf_u8(&buf, '\0');
	if (buf.failed) {
		ep_buf_deinit(&buf);
		return NULL;
	}
	return (char *)buf.v;
}

/* qemu -0 NAME [-L SYSROOT] -plugin ... PATH [ARG] [SCRIPT] ARGS; the strings are borrowed. */
static char **qemu_argv(struct soft *s, char *plugin)
{
	static char opt_name[] = "-0", opt_root[] = "-L", opt_plugin[] = "-plugin";
	size_t n_args = 0, n = 0;

	while (s->opts.argv[n_args])
		n_args++;
	char **argv = calloc(n_args + 11, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[n++] = s->qemu.path;
	argv[n++] = opt_name;
	argv[n++] = s->program.script[0] ? s->program.path : s->opts.argv[0];
	if (s->sysroot[0]) {
		argv[n++] = opt_root;
		argv[n++] = s->sysroot;
	}
	argv[n++] = opt_plugin;
	argv[n++] = plugin;
	argv[n++] = s->program.path;
	if (s->program.interp_arg[0])
		argv[n++] = s->program.interp_arg;
	if (s->program.script[0])
		argv[n++] = s->program.script;
	for (size_t i = 1; i < n_args; i++)
		argv[n++] = s->opts.argv[i];
	return argv;
}

/* In the child: becomes QEMU, or writes errno to `fd_error`. */
static void become(struct soft *s, char **argv, int fd_error)
{
	sigset_t none;

	/* A recorder that was killed leaves no program behind that only it was to run. */
	ep_soft_host_end_with_parent();
	fcntl(s->fd, F_SETFD, 0);
	/* The tool ignores SIGPIPE for itself only. */
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(argv[0], argv);
	int error = errno;
	if (write(fd_error, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static struct ep_error *spawn(struct soft *s, char **argv)
{
	int fds[2], error = 0;
	size_t n = 0;

	if (pipe(fds) < 0)
		return ep_error_os(errno, "%s", argv[0]);
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	fcntl(fds[1], F_SETFD, FD_CLOEXEC);
	pid_t pid = fork();
	if (!pid)
		become(s, argv, fds[1]);
	int fork_error = errno;
	close(fds[1]);
	struct ep_error *err = pid < 0 ? ep_error_os(fork_error, "%s", argv[0])
	                               : ep_read_full(fds[0], argv[0], &error, sizeof(error), &n);
	close(fds[0]);
	if (!err && n) {
		waitpid(pid, &s->status, 0);
		err = ep_error_os(error, "%s", argv[0]);
	}
	if (!err)
		s->pid = pid;
	return err;
}

static struct ep_error *soft_start(void *state)
{
	struct soft *s = state;
	ep_autofree char *plugin = plugin_arg(s);
	ep_autofree char **argv = plugin ? qemu_argv(s, plugin) : NULL;

	if (!argv)
		return ep_error_nomem();
	return spawn(s, argv);
}

/* -- running -- */

static struct ep_error *send_stream(struct soft *s, const struct ep_event_sink *sink)
{
	struct ep_event e = {
	    .type = EP_EVENT_STREAM, .pid = (int32_t)s->pid, .tid = -1, .cpu = UINT32_MAX};
	bool insns = s->opts.event == EP_SAMPLING_INSTRUCTIONS;

	e.u.stream.sampling = s->opts.event;
	e.u.stream.period = s->opts.exact ? 1 : s->opts.period;
	e.u.stream.name = insns && !s->opts.exact ? "instructions:u" : "taken-branches:u";
	e.u.stream.exact = s->opts.exact;
	if (s->opts.exact)
		e.u.stream.sampling = EP_SAMPLING_TAKEN_BRANCHES;
	s->stream_sent = true;
	return sink->event(sink->payload, &e);
}

static struct ep_error *send_end(struct soft *s, const struct ep_event_sink *sink)
{
	struct ep_capture_totals t;
	struct ep_event e = {
	    .type = EP_EVENT_END, .pid = (int32_t)s->pid, .tid = -1, .cpu = UINT32_MAX};

	ep_soft_reader_totals(s->reader, &t);
	e.u.end.n_samples = t.n_samples;
	e.u.end.n_events =
	    s->opts.event == EP_SAMPLING_INSTRUCTIONS && !s->opts.exact ? t.n_insns : t.n_branches;
	return sink->event(sink->payload, &e);
}

/* What to say when QEMU ended without the plugin ever having been there. */
static struct ep_error *not_attached(const struct soft *s)
{
	struct ep_error *err =
	    ep_error_create(EP_ERROR_UNSUPPORTED, "%s: ended without having loaded the plugin %s",
	                    s->qemu.path, s->plugin);

	return ep_error_hint(err,
	                     "what it printed above says why; it must be QEMU 6.0 to 10.x, built "
	                     "with plugins and not statically ('edgeprof doctor' tells more)");
}

static struct ep_error *finish(struct soft *s, const struct ep_event_sink *sink)
{
	EP_TRY(ep_soft_reader_drain(s->reader, sink, true));
	if (__atomic_load_n(&ep_soft_reader_header(s->reader)->state, __ATOMIC_ACQUIRE) ==
	    EP_SB_WAITING)
		return not_attached(s);
	return send_end(s, sink);
}

static struct ep_error *soft_step(void *state, const struct ep_event_sink *sink, unsigned wait_ms,
                                  bool *done_ret)
{
	struct soft *s = state;
	struct timespec wait = {wait_ms / 1000, (long)(wait_ms % 1000) * 1000000};

	if (!s->stream_sent)
		EP_TRY(send_stream(s, sink));
	pid_t pid = waitpid(s->pid, &s->status, WNOHANG);
	if (pid < 0 && errno != EINTR)
		return ep_error_os(errno, "%s: waiting for it", s->opts.argv[0]);
	if (pid > 0) {
		s->ended = true;
		EP_TRY(finish(s, sink));
	} else {
		EP_TRY(ep_soft_reader_drain(s->reader, sink, false));
		nanosleep(&wait, NULL);
	}
	*done_ret = s->ended;
	return NULL;
}

static void soft_stop(void *state, int signal)
{
	struct soft *s = state;

	if (s->pid && !s->ended)
		kill(s->pid, signal);
}

static void soft_totals(const void *state, struct ep_capture_totals *ret)
{
	const struct soft *s = state;

	ep_soft_reader_totals(s->reader, ret);
	ret->period = s->opts.period;
	ret->depth = s->opts.depth;
	ret->machine = s->program.machine;
}

static void soft_describe(const void *state, struct ep_capture_info *ret)
{
	const struct soft *s = state;

	ret->cpu = s->cpu;
	ret->arch = ep_machine_arch(s->program.machine);
}

static int soft_status(const void *state)
{
	const struct soft *s = state;

	return s->status;
}

static void soft_close(void *state)
{
	struct soft *s = state;

	if (!s)
		return;
	if (s->pid && !s->ended) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, &s->status, 0);
	}
	if (s->fd >= 0)
		close(s->fd);
	ep_soft_reader_destroy(s->reader);
	free(s);
}

const struct ep_capture_methods ep_capture_soft = {
    .name = "soft",
    .summary = "any Linux program, run under QEMU",
    .probe = ep_soft_probe,
    .open = soft_open,
    .start = soft_start,
    .step = soft_step,
    .stop = soft_stop,
    .totals = soft_totals,
    .describe = soft_describe,
    .status = soft_status,
    .close = soft_close,
};
