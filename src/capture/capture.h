/* SPDX-License-Identifier: BSD-2-Clause */
/* Live sources: the table of backends, a capture under way, and what `doctor` finds out. */
#ifndef EP_CAPTURE_CAPTURE_H
#define EP_CAPTURE_CAPTURE_H

#include "base/vec.h"
#include "record/event.h"

struct ep_capture_opts {
	char *const *argv;      /* the program and its arguments, NULL-terminated */
	enum ep_sampling event; /* TAKEN_BRANCHES or INSTRUCTIONS */
	uint64_t period;        /* mean events between samples, 0: the backend's default */
	uint64_t seed;          /* of what is random in the sampling */
	unsigned depth;         /* records of a stack: 8, 16, 32, 64; 0: 32 */
	bool exact;             /* count all branches instead of sampling */
	bool no_follow;         /* programs that the program executes are not recorded */
	uint32_t buffer_bytes;  /* for each thread, a power of two from 8 KiB; 0: default */
	/* soft only; NULL: found by the usual rules. */
	const char *qemu_path, *plugin_path, *sysroot;
};

/* What a capture came to; final once the backend's `step` said done. */
struct ep_capture_totals {
	uint64_t n_samples, n_lost_samples;
	uint64_t n_branches;     /* taken branches seen, sampled or not */
	uint64_t n_insns;        /* instructions executed, 0 if unknown */
	uint64_t n_lost_counts;  /* exact mode: branches not counted for want of room */
	uint64_t n_lost_control; /* maps and such lost for want of room */
	uint64_t n_unrecorded;   /* threads beyond what can be recorded at a time */
	uint64_t n_running;      /* processes that went on when recording ended */
	uint64_t n_not_followed; /* processes that went on unrecorded */
	uint64_t n_moved;        /* times the PC changed without a branch: signals */
	uint64_t n_interrupted;  /* branches not recorded because of that */
	uint64_t n_corrupt;      /* parts of the stream that could not be read */
	uint64_t n_threads, n_processes;
	uint64_t period; /* in force */
	unsigned depth;
	uint16_t machine; /* EP_MACHINE_* of the program */
};

/* One thing that was tried. */
struct ep_probe_step {
	bool ok;
	char *text; /* what was tried and what came of it */
	char *hint; /* NULL, or what cures it */
};

/* The answer of a backend; steps in the order tried, the first that is not ok is what blocks. */
struct ep_probe {
	const char
	    *layer;   /* what blocks: "qemu", "plugin", "pmu", "permission", ...; NULL: works */
	bool records; /* this version can record with it */
	EP_VEC(struct ep_probe_step) steps;
};

void ep_probe_deinit(struct ep_probe *probe);

/* Adds a step; one that failed names the layer, which is kept when it is the first. */
struct ep_error *ep_probe_add(struct ep_probe *probe, const char *layer_if_failed, const char *hint,
                              const char *fmt, ...) EP_MUST_CHECK EP_PRINTF(4, 5);

struct ep_capture;

/*
 * A backend: a table of hooks, after hwt(8)'s. `probe` is mandatory; a backend has all of the
 * others or none (`record` then says that this version cannot record with it). They are called in
 * the order open, start, step until done, close; stop at any time between start and close; close
 * after a failure of any. One thread.
 */
struct ep_capture_methods {
	const char *name;
	const char *summary; /* one line for people */
	/*
	 * Finds out by trying whether branches can be recorded here and what is in the way if not.
	 * Nothing of it is an error but running out of memory.
	 */
	struct ep_error *(*probe)(struct ep_probe *ret);
	/*
	 * Checks the options, finds what is needed and makes the buffers. No program runs yet.
	 * Errors: USAGE, OS, NOMEM; UNSUPPORTED where this machine lacks something, with the cure
	 * as hint.
	 */
	struct ep_error *(*open)(const struct ep_capture_opts *opts, void **state_ret);
	/* Starts the program, stopped by nothing and recorded from its first instruction. */
	struct ep_error *(*start)(void *state);
	/*
	 * Sends what has been recorded since the last call, waiting up to `wait_ms` for more, or
	 * less when a signal arrives. *done_ret: the program has ended and all has been sent, an
	 * END event last. Errors: those of the sink; OS; UNSUPPORTED when the recorder did not
	 * come up in the program.
	 */
	struct ep_error *(*step)(void *state, const struct ep_event_sink *sink, unsigned wait_ms,
	                         bool *done_ret);
	/* Sends the program `signal`; a later step ends the capture when it has died of it. */
	void (*stop)(void *state, int signal);
	/* Totals so far. */
	void (*totals)(const void *state, struct ep_capture_totals *ret);
	/*
	 * What is known of the capture: cpu and arch; the rest is left alone. Strings are owned by
	 * the state.
	 */
	void (*describe)(const void *state, struct ep_capture_info *ret);
	/* The wait status of the program as of wait(2), once step said done. */
	int (*status)(const void *state);
	/* Kills a program that still runs and frees everything. NULL is allowed. */
	void (*close)(void *state);
};

extern const struct ep_capture_methods ep_capture_soft, ep_capture_perf, ep_capture_hwt;

/* All backends, NULL ends; the first is the one to use where none is asked for. */
extern const struct ep_capture_methods *const ep_capture_backends[];

/* By name; NULL: there is none. */
const struct ep_capture_methods *ep_capture_find(const char *name);

#endif
