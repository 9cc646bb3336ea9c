/* SPDX-License-Identifier: BSD-2-Clause */
/* What the verbs of edgeprof(1) share: their table, options, messages, JSON and progress. */
#ifndef EP_TOOLS_CMD_H
#define EP_TOOLS_CMD_H

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "base/out.h"
#include "base/warn.h"

/* Exit status, part of the interface: see edgeprof(1). */
enum ep_exit {
	EP_EXIT_OK = 0,
	EP_EXIT_GATE = 1,       /* done, but below a threshold the user set */
	EP_EXIT_BAD = 2,        /* bad usage or bad input; no output was written */
	EP_EXIT_NO_CAPTURE = 3, /* this machine cannot capture */
};

/* One option of a verb; a table ends with a zeroed entry. --help and completion are made of it. */
struct ep_opt {
	int id;           /* the short letter, or 256 and up for options without one */
	const char *name; /* long name without dashes */
	const char *arg;  /* name of its argument, NULL if it takes none */
	const char *help; /* one line */
};

/* Ids of options that several verbs have, with the same meaning everywhere. */
enum {
	EP_OPT_JSON = 256,
	EP_OPT_REPORT,
	EP_OPT_VERB = 300, /* verbs count up from here */
};

#define EP_OPT_OUTPUT_ENTRY                                                                        \
	{                                                                                          \
		'o', "output", "FILE", "write the result to FILE, - is standard output"            \
	}
#define EP_OPT_JOBS_ENTRY                                                                          \
	{                                                                                          \
		'j', "jobs", "N", "use N threads (default: one per processor)"                     \
	}
#define EP_OPT_JSON_ENTRY                                                                          \
	{                                                                                          \
		EP_OPT_JSON, "json", NULL, "report as JSON on standard output"                     \
	}
#define EP_OPT_REPORT_ENTRY                                                                        \
	{                                                                                          \
		EP_OPT_REPORT, "report", "FILE", "also write the report as JSON to FILE"           \
	}
/* Handled by ep_args_next() itself, like those below: of verbs that have more to say. */
#define EP_OPT_VERBOSE_ENTRY                                                                       \
	{                                                                                          \
		'v', "verbose", NULL, "more detail"                                                \
	}
/* Every table has them last. */
#define EP_OPT_COMMON_ENTRIES                                                                      \
	{'q', "quiet", NULL, "only errors"}, {'h', "help", NULL, "show this help"},                \
	{                                                                                          \
		0                                                                                  \
	}

struct ep_args;

struct ep_cmd {
	const char *name;
	const char *summary;  /* one line */
	const char *synopsis; /* what follows "edgeprof NAME" */
	const struct ep_opt *opts;
	bool stops_at_operand;           /* options end at the first operand (record's PROGRAM) */
	int (*fn)(struct ep_args *args); /* returns the exit status */
};

/* All verbs, in the order of the help; NULL ends. */
extern const struct ep_cmd *const ep_cmds[];

/* The command line of a running verb. */
struct ep_args {
	const struct ep_cmd *cmd;
	int argc;
	char **argv;
	const char *value; /* of the option that ep_args_next() returned, or NULL */
	int status;        /* exit status when ep_args_next() returned EP_ARGS_EXIT */
	bool quiet;
	int verbose;
	struct option *long_opts; /* built from cmd->opts, as is: */
	char *short_opts;
};

#define EP_ARGS_END (-1)
#define EP_ARGS_EXIT (-2)

/*
 * The next option's id; EP_ARGS_END when operands begin; EP_ARGS_EXIT when the verb must return
 * args->status at once (help was shown, or the option was wrong and said so).
 */
int ep_args_next(struct ep_args *args);

/* The operands: valid after EP_ARGS_END. */
static inline int ep_args_n_operands(const struct ep_args *args)
{
	return args->argc - optind;
}

static inline char **ep_args_operands(const struct ep_args *args)
{
	return args->argv + optind;
}

/*
 * Reads a decimal number in [min, max], also with a suffix k, M or G (powers of 1000). False: it
 * is not one, and the message is printed.
 */
bool ep_args_u64(const struct ep_args *args, const char *what, const char *text, uint64_t min,
                 uint64_t max, uint64_t *ret);

/* The index of `text` in a NULL-terminated list; -1, with a message naming the choices, if it is
 * not there. */
int ep_args_choice(const struct ep_args *args, const char *what, const char *text,
                   const char *const *choices);

/* Prints "edgeprof VERB: ..." and the way to the help; returns EP_EXIT_BAD. */
int ep_args_usage(const struct ep_args *args, const char *fmt, ...) EP_PRINTF(2, 3);

/* Prints an error with its hint and destroys it; returns EP_EXIT_BAD. */
int ep_cmd_fail(const struct ep_args *args, struct ep_error *err);

/* Prints each kind of warning once, with its count, unless -q. */
void ep_cmd_warnings(const struct ep_args *args, const struct ep_warnings *warnings);

/* Prints a line "edgeprof VERB: ..." on standard error, unless -q. */
void ep_cmd_note(const struct ep_args *args, const char *fmt, ...) EP_PRINTF(2, 3);

/* A JSON number, or a string where a double could not hold it (over 2^53). */
json_t *ep_json_u64(uint64_t v);

/* {"schema": "edgeprof.VERB/1"}, to which a report adds its members. NULL: no memory. */
json_t *ep_json_report(const struct ep_args *args);

/* Writes JSON, indented, with a newline; `path` "-" is standard output. Destroys `json`, which may
 * be NULL. */
struct ep_error *ep_json_write(json_t *json, const char *path) EP_MUST_CHECK;

/*
 * The same to an output that was opened before the work began: that a report cannot be written is
 * to be known before anything is. Ends `out` either way.
 */
struct ep_error *ep_json_commit(json_t *json, struct ep_out *out) EP_MUST_CHECK;

/* True if colours may be used on the stream: a terminal, TERM not dumb, NO_COLOR not set. */
bool ep_tty_color(FILE *stream);

/*
 * One line of progress on standard error: only on a terminal and without -q, at most ten times a
 * second. ep_progress_end() wipes it.
 */
struct ep_progress {
	bool on, shown;
	uint64_t t_next_ns;
};

void ep_progress_init(struct ep_progress *progress, const struct ep_args *args);
bool ep_progress_due(struct ep_progress *progress);
void ep_progress_show(struct ep_progress *progress, const char *fmt, ...) EP_PRINTF(2, 3);
void ep_progress_end(struct ep_progress *progress);

#endif
