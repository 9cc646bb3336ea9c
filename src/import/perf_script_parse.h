/* SPDX-License-Identifier: BSD-2-Clause */
/* The pieces of the perf script reader, private to the perf_script*.c files. */
#ifndef EP_IMPORT_PERF_SCRIPT_PARSE_H
#define EP_IMPORT_PERF_SCRIPT_PARSE_H

#include <string.h>

#include "base/vec.h"
#include "import/perf_script.h"

/* The longest line that is read: 64 entries with two paths each take less than half of it. */
#define EP_PS_LINE_MAX ((size_t)1 << 20)

/* A word of a line. */
struct ep_ps_word {
	const char *p;
	uint32_t n;   /* characters */
	uint32_t end; /* column behind it, from the start of the line */
};

/* No column that perf can print before the branch stack lies behind this many words. */
#define EP_PS_WORDS_MAX 48

/* What the columns before a branch stack say; see ep_ps_columns(). */
struct ep_ps_columns {
	int32_t pid, tid;
	uint32_t cpu;
	uint64_t t_ns, period, ip; /* 0 if not given */
	struct ep_ps_word event;   /* n 0: none; borrowed from the line */
	uint32_t stream;           /* of the event, once it has been looked up */
	bool has_ip;
	bool ip_only; /* nothing but an ip, maybe with its symbol: also a frame of a call chain */
	bool ip_sure; /* ip_only, and it could not be read as a pid */
};

/* Processes of threads, as far as PERF_RECORD_ lines tell: tid -> pid, open addressing. */
struct ep_ps_threads {
	struct {
		int32_t tid, pid; /* tid 0: free */
	} * v;
	uint32_t n, cap;
};

/* A reader under way. */
struct ep_ps {
	const struct ep_event_sink *sink;
	struct ep_warnings *warnings;
	const char *name;
	struct ep_arena *arena;
	struct ep_capture_info *capture;
	uint64_t n_lines; /* the current one included: its number */

	EP_VEC(struct ep_branch) stack; /* of the current line */
	EP_VEC(char *) events;          /* names by stream */
	struct ep_ps_threads threads;
	bool has_tasks; /* PERF_RECORD_ lines tell of forks, so that no process is unheard of */
	/* A FORK that may be made up, see ep_ps_record(). */
	struct ep_event held_fork;
	bool holds_fork;

	/* The sample whose stack is still to come. */
	bool has_head;
	struct ep_ps_columns head;
	uint64_t n_frames; /* lines of nothing but an ip */
	uint64_t frame_ip; /* the first of them */
	uint64_t repeat;   /* of the next sample, 0: no count was given */
	/* Seen: stacks on a line of their own below frames; stacks behind an ip. */
	bool chain_form, ip_form;
	bool ip_column;     /* a lone number before the stack was an address for sure */
	unsigned n_slashes; /* of the first entry of the first stack, 0: none yet */
	unsigned to_digits; /* of the same */

	/* Whether the branches are file offsets shows only in the whole. */
	uint64_t low_end; /* addresses below are in front of all maps and inside of files */
	uint64_t map_low, map_far; /* lowest start of a user map; end of the farthest file part */
	uint64_t n_branches, n_low;

	uint64_t n_samples, n_stacks, n_records, n_unknown;
	bool after_record; /* the last line was a PERF_RECORD_ event */
	bool insn_form;    /* brstackinsn listings were seen */
};

static inline bool ep_ps_is_space(char c)
{
	return c == ' ' || c == '\t';
}

extern const uint8_t ep_ps_hex[256];

/* The value of a hex digit, 255 for any other character. */
static inline unsigned ep_ps_hex_digit(char c)
{
	return ep_ps_hex[(unsigned char)c];
}

/* Reads 1 to 16 hex digits, "0x" before them allowed; NULL if there are none or too many. */
const char *ep_ps_parse_hex(const char *p, const char *end, uint64_t *ret);

/* Reads decimal digits; NULL if there are none or the number does not fit. */
const char *ep_ps_parse_dec(const char *p, const char *end, uint64_t *ret);

/* The same for the whole of a word. */
bool ep_ps_word_hex(const struct ep_ps_word *word, uint64_t *ret);
bool ep_ps_word_dec(const struct ep_ps_word *word, uint64_t *ret);

/*
 * Reads one entry of a branch stack, "FROM/TO[/FLAGS...]", which ends at a space or at `end`.
 * `first`: its line has none before it, so it must not be mistaken for something else: without "0x"
 * it needs flags or four hex digits at each end. NULL: it is none.
 */
const char *ep_ps_branch(const char *p, const char *end, bool first, struct ep_branch *ret);

/* True if the word is an entry by symbol, as brstacksym prints it. */
bool ep_ps_is_symbol_branch(const char *p, const char *end);

/*
 * Takes the entries from p, where the first of them is, to the end of the line into ps->stack.
 * `whole`: the line has its newline; else its last entry is checked for having been cut.
 */
struct ep_error *ep_ps_stack(struct ep_ps *ps, const char *p, const char *end, bool whole)
    EP_MUST_CHECK;

/*
 * Warns of an input that ends without a newline in the current line; `left_out`: what it ends with
 * is lost.
 */
struct ep_error *ep_ps_cut_line(struct ep_ps *ps, bool left_out) EP_MUST_CHECK;

/* Makes sense of the words before a branch stack, or of a line without one. False: no sense. */
bool ep_ps_columns(struct ep_ps *ps, const struct ep_ps_word *words, size_t n,
                   struct ep_ps_columns *ret);

/*
 * Reads a line with a PERF_RECORD_ event: p is behind that prefix; columns before it are `head`.
 * For processes that ran before it perf makes up a FORK, which the text does not mark, but a COMM
 * of the same thread is next to it. It copies nothing, so it is sent as EXEC.
 */
struct ep_error *ep_ps_record(struct ep_ps *ps, const struct ep_ps_columns *head, const char *p,
                              const char *end) EP_MUST_CHECK;

/*
 * The process to look addresses up in for a sample of `tid`, and `pid` if there is such a column
 * (else -1). Where maps are shown but forks are not, a number that no map was shown for is a thread
 * or a child of some process: EP_PID_UNKNOWN.
 */
int32_t ep_ps_process(const struct ep_ps *ps, int32_t pid, int32_t tid);

/* Reads a line of --header, which begins with '#'. */
struct ep_error *ep_ps_header(struct ep_ps *ps, const char *p, const char *end) EP_MUST_CHECK;

/* The process of a thread, or -1 if no line has told. */
int32_t ep_ps_thread_find(const struct ep_ps_threads *threads, int32_t tid);

/* Remembers the process of a thread. */
struct ep_error *ep_ps_thread_add(struct ep_ps_threads *threads, int32_t tid, int32_t pid)
    EP_MUST_CHECK;

/* Sends the fork that was held back, as a fork. */
struct ep_error *ep_ps_release_fork(struct ep_ps *ps) EP_MUST_CHECK;

/* Sends an event to the sink. */
static inline EP_MUST_CHECK struct ep_error *ep_ps_send(struct ep_ps *ps,
                                                        const struct ep_event *event)
{
	if (EP_UNLIKELY(ps->holds_fork))
		EP_TRY(ep_ps_release_fork(ps));
	return ps->sink->event(ps->sink->payload, event);
}

/* An event of the given type with nothing known of its place. */
static inline struct ep_event ep_ps_event(enum ep_event_type type, int32_t pid, int32_t tid)
{
	return (struct ep_event){.type = type, .pid = pid, .tid = tid, .cpu = UINT32_MAX};
}

/* Tells the sink that n records could not be read. */
struct ep_error *ep_ps_send_corrupt(struct ep_ps *ps, uint64_t n) EP_MUST_CHECK;

#endif
