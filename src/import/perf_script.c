/* SPDX-License-Identifier: BSD-2-Clause */
/* perf script text: lines, samples put together from them, and what the whole amounts to. */
#include "import/perf_script.h"

#include "import/names.h"
#include "import/perf_script_parse.h"

/* Bits of `info` that the text can tell. */
#define INFO_MASK (EP_INFO_PERF_MASK | EP_INFO_DISCONTINUITY | EP_INFO_PC_MOVED)
/* More events than anybody records at once; further names share the last stream. */
#define STREAMS_MAX 256
/* How many bytes ep_perf_script_detect() looks at. */
#define DETECT_MAX ((size_t)64 << 10)

#define RECORD_PREFIX "PERF_RECORD_"

static const char how_to_print[] =
    "print a capture with 'perf script -F comm,pid,tid,time,event,period,ip,brstack "
    "--show-mmap-events --show-task-events', or give perf.data itself";

/* A line in its words, as far as a branch stack or a PERF_RECORD_ event; of a comment the first. */
struct line {
	const char *p, *end;
	struct ep_ps_word words[EP_PS_WORDS_MAX];
	size_t n_words;
	const char *stack;  /* where the first entry is, NULL: there is none */
	const char *record; /* behind "PERF_RECORD_", NULL: it is no such line */
};

static bool is_comment(const struct ep_ps_word *word)
{
	return word->p[0] == '#' || word->p[0] == ';' || (word->n > 1 && !memcmp(word->p, "//", 2));
}

static struct ep_error *unknown_line(struct ep_ps *ps, const struct line *line)
{
	const char *p = line->words[0].p;

	ps->n_unknown++;
	ep_warn(ps->warnings, "unknown-line", "%s: line %llu: '%.*s' is not understood", ps->name,
	        (unsigned long long)ps->n_lines, (int)EP_MIN(line->end - p, 60), p);
	return NULL;
}

static void split(const char *p, const char *end, struct line *ret)
{
	size_t n_prefix = sizeof(RECORD_PREFIX) - 1;
	struct ep_branch b;

	ret->p = p;
	ret->end = end;
	ret->n_words = 0;
	ret->stack = ret->record = NULL;
	for (const char *q = p; ret->n_words < EP_PS_WORDS_MAX; p = q) {
		while (p < end && ep_ps_is_space(*p))
			p++;
		if (p == end)
			return;
		if (ret->n_words == 1 && is_comment(&ret->words[0]))
			return;
		if (*p == 'P' && (size_t)(end - p) > n_prefix &&
		    !memcmp(p, RECORD_PREFIX, n_prefix)) {
			ret->record = p + n_prefix;
			return;
		}
		if (ep_ps_hex_digit(*p) < 16 && ep_ps_branch(p, end, true, &b)) {
			ret->stack = p;
			return;
		}
		for (q = p; q < end && !ep_ps_is_space(*q); q++)
			;
		ret->words[ret->n_words++] = (struct ep_ps_word){
		    .p = p, .n = (uint32_t)(q - p), .end = (uint32_t)(q - ret->p)};
	}
}

struct ep_error *ep_ps_send_corrupt(struct ep_ps *ps, uint64_t n)
{
	struct ep_event event = ep_ps_event(EP_EVENT_LOST, EP_PID_UNKNOWN, -1);

	event.u.lost.reason = EP_LOST_CORRUPT;
	event.u.lost.n = n;
	return ep_ps_send(ps, &event);
}

/* Finds the stream of the columns' event; a new one is announced. */
static struct ep_error *find_stream(struct ep_ps *ps, struct ep_ps_columns *c)
{
	const char *name = c->event.n ? c->event.p : "";
	size_t n = strnlen(name, c->event.n);

	for (uint32_t i = 0; i < ps->events.n; i++)
		if (strlen(ps->events.v[i]) == n && !memcmp(ps->events.v[i], name, n)) {
			c->stream = i;
			return NULL;
		}
	if (ps->events.n == STREAMS_MAX) {
		c->stream = STREAMS_MAX - 1;
		return NULL;
	}
	char *copy = ep_arena_strndup(ps->arena, name, n);
	if (!copy || !ep_vec_push(&ps->events, copy))
		return ep_error_nomem();
	struct ep_event event = ep_ps_event(EP_EVENT_STREAM, EP_PID_UNKNOWN, -1);
	c->stream = (uint32_t)ps->events.n - 1;
	event.u.stream.stream = c->stream;
	event.u.stream.name = copy;
	event.u.stream.sampling = ep_event_name_sampling(copy);
	return ep_ps_send(ps, &event);
}

/* Sends ps->stack as a sample of the given columns. */
static struct ep_error *send_sample(struct ep_ps *ps, const struct ep_ps_columns *c, uint64_t ip,
                                    uint64_t repeat)
{
	static const struct ep_branch none;
	struct ep_event event = ep_ps_event(EP_EVENT_SAMPLE, c->pid, c->tid);
	struct ep_sample *sample = &event.u.sample;

	event.cpu = c->cpu;
	event.t_ns = c->t_ns;
	sample->branches = ps->stack.n ? ps->stack.v : &none;
	sample->n_branches = (uint32_t)ps->stack.n;
	sample->info_mask = INFO_MASK;
	sample->ip = ip;
	sample->period = c->period;
	sample->repeat = EP_MAX(repeat, UINT64_C(1));
	sample->stream = c->stream;
	if (c->t_ns) {
		struct ep_capture_info *info = ps->capture;
		if (!info->t_start_ns || c->t_ns < info->t_start_ns)
			info->t_start_ns = c->t_ns;
		info->t_end_ns = EP_MAX(info->t_end_ns, c->t_ns);
	}
	ps->n_samples++;
	ps->n_stacks += ps->stack.n != 0;
	return ep_ps_send(ps, &event);
}

static const struct ep_ps_columns no_columns = {
    .pid = EP_PID_UNKNOWN, .tid = -1, .cpu = UINT32_MAX};

static void forget(struct ep_ps *ps)
{
	ps->has_head = false;
	ps->n_frames = 0;
	ps->frame_ip = 0;
	ps->repeat = 0;
}

/*
 * No stack came for what is waiting: a head, with the frames of its call chain or without, is one
 * sample with an empty stack. Addresses without a head are one such sample each, or the frames of
 * one, depending on the form of the text.
 */
static struct ep_error *flush(struct ep_ps *ps)
{
	struct ep_ps_columns head = ps->has_head ? ps->head : no_columns;
	uint64_t n = ps->has_head ? 1 : ps->n_frames, repeat = ps->repeat;

	if (n && !ps->has_head)
		EP_TRY(find_stream(ps, &head));
	if (n > 1 && ps->chain_form && !ps->ip_form)
		n = 1;
	forget(ps);
	ps->stack.n = 0;
	for (; n; n--)
		EP_TRY(send_sample(ps, &head, head.ip, repeat));
	return NULL;
}

static struct ep_error *take_stack(struct ep_ps *ps, const struct line *line, bool whole)
{
	struct ep_ps_columns c = no_columns;
	bool own = line->n_words && ep_ps_columns(ps, line->words, line->n_words, &c);
	uint64_t repeat = ps->repeat;

	if (own) {
		ps->ip_column |= c.ip_sure;
		ps->ip_form |= c.ip_only;
		if (ps->has_head || ps->n_frames)
			EP_TRY(flush(ps));
		forget(ps);
		EP_TRY(ep_ps_stack(ps, line->stack, line->end, whole));
		EP_TRY(find_stream(ps, &c));
		return send_sample(ps, &c, c.ip, repeat);
	}
	if (ps->has_head)
		c = ps->head;
	else
		EP_TRY(find_stream(ps, &c));
	uint64_t ip = ps->n_frames ? ps->frame_ip : c.ip;
	ps->chain_form |= ps->n_frames != 0;
	forget(ps);
	EP_TRY(ep_ps_stack(ps, line->stack, line->end, whole));
	return send_sample(ps, &c, ip, repeat);
}

/* A number alone, with nothing before or behind it: how often the next sample was seen. */
static bool is_count(const struct ep_ps *ps, const struct line *line, uint64_t *ret)
{
	return line->n_words == 1 && !ps->has_head && !ps->n_frames && !ps->repeat &&
	       line->words[0].p == line->p && line->words[0].p + line->words[0].n == line->end &&
	       ep_ps_word_dec(&line->words[0], ret);
}

/*
 * A sample of which no column but its comm is shown, at most 15 characters, has a space behind it
 * where the stack would be.
 */
static bool is_lone_comm(const struct line *line)
{
	const struct ep_ps_word *last = &line->words[line->n_words - 1];

	return last->p + last->n + 1 == line->end && last->p + last->n - line->words[0].p <= 15;
}

/*
 * Columns of a sample. A word with a colon is no evidence, as messages have such words, too, unless
 * the space stands behind it that perf prints there.
 */
static bool is_head(struct ep_ps *ps, const struct line *line, struct ep_ps_columns *ret)
{
	if (!ep_ps_columns(ps, line->words, line->n_words, ret))
		return false;
	return ret->has_ip || (ret->event.n && ep_ps_is_space(line->end[-1])) || ret->t_ns ||
	       ret->tid >= 0 || ret->cpu != UINT32_MAX;
}

/* Forms that have no addresses to work with: entries by symbol, listings of instructions. */
static struct ep_error *check_form(struct ep_ps *ps, const struct line *line, bool *skip_ret)
{
	for (size_t i = 0; i < line->n_words; i++) {
		const struct ep_ps_word *w = &line->words[i];
		if (w->n == 5 && !memcmp(w->p, "insn:", 5)) {
			ps->insn_form = *skip_ret = true;
			return NULL;
		}
		/* The reader of stacks refuses it. */
		if (ep_ps_is_symbol_branch(w->p, w->p + w->n))
			return ep_ps_stack(ps, w->p, line->end, true);
	}
	return NULL;
}

/* A line with neither a stack nor an event: the columns of a sample, a frame, a count, or noise. */
static struct ep_error *take_words(struct ep_ps *ps, const struct line *line)
{
	struct ep_ps_columns c;
	uint64_t repeat;
	bool skip = false;

	if (is_comment(&line->words[0]))
		return line->words[0].p[0] == '#' ? ep_ps_header(ps, line->words[0].p, line->end)
		                                  : NULL;
	EP_TRY(check_form(ps, line, &skip));
	if (skip)
		return NULL;
	if (is_count(ps, line, &repeat)) {
		ps->repeat = repeat;
		return NULL;
	}
	if (!is_head(ps, line, &c) && !is_lone_comm(line))
		return unknown_line(ps, line);
	if (c.ip_only) {
		ps->frame_ip = ps->n_frames++ ? ps->frame_ip : c.ip;
		return NULL;
	}
	EP_TRY(flush(ps));
	EP_TRY(find_stream(ps, &c));
	ps->has_head = true;
	ps->head = c;
	return NULL;
}

static struct ep_error *take_line(struct ep_ps *ps, const char *p, const char *end, bool whole)
{
	struct ep_ps_columns head = no_columns;
	struct line line;

	bool after_record = ps->after_record;

	ps->n_lines++;
	ps->after_record = false;
	if (end > p && end[-1] == '\r')
		end--;
	if (ps->n_lines == 1 && end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	/* PERF_RECORD_NAMESPACES goes on over further lines. */
	if (after_record && end - p > 2 && p[0] == '\t' && p[1] == '\t') {
		ps->after_record = true;
		return NULL;
	}
	split(p, end, &line);
	if (line.stack)
		return take_stack(ps, &line, whole);
	if (!line.record && line.n_words) {
		EP_TRY(take_words(ps, &line));
		return whole || is_comment(&line.words[0]) ? NULL : ep_ps_cut_line(ps, false);
	}
	EP_TRY(flush(ps));
	if (!line.record)
		return NULL;
	if (!whole)
		return ep_ps_cut_line(ps, true);
	if (line.n_words)
		ep_ps_columns(ps, line.words, line.n_words, &head);
	ps->n_records++;
	ps->after_record = true;
	return ep_ps_record(ps, &head, line.record, line.end);
}

/* Passes over a line that is too long to be read. */
static struct ep_error *skip_line(struct ep_ps *ps, struct ep_input *in)
{
	const unsigned char *newline;

	ps->n_lines++;
	ep_warn(ps->warnings, "overlong-line", "%s: line %llu: longer than %zu bytes, left out",
	        ps->name, (unsigned long long)ps->n_lines, EP_PS_LINE_MAX);
	EP_TRY(flush(ps));
	while (!(newline = memchr(in->data, '\n', in->n))) {
		ep_input_consume(in, in->n);
		EP_TRY(ep_input_fill(in, 1));
		if (!in->n)
			break;
	}
	ep_input_consume(in, newline ? (size_t)(newline - in->data) + 1 : 0);
	return ep_ps_send_corrupt(ps, 1);
}

/* Reads all lines of the window; what is left is the beginning of one. */
static struct ep_error *take_window(struct ep_ps *ps, struct ep_input *in)
{
	const unsigned char *newline;

	while ((newline = in->n ? memchr(in->data, '\n', in->n) : NULL)) {
		size_t n = (size_t)(newline - in->data);
		if (n > EP_PS_LINE_MAX) {
			EP_TRY(skip_line(ps, in));
			continue;
		}
		EP_TRY(take_line(ps, (const char *)in->data, (const char *)newline, true));
		ep_input_consume(in, n + 1);
	}
	return NULL;
}

static struct ep_error *read_all(struct ep_ps *ps, struct ep_input *in)
{
	for (;;) {
		EP_TRY(take_window(ps, in));
		if (in->eof)
			break;
		if (in->n > EP_PS_LINE_MAX)
			EP_TRY(skip_line(ps, in));
		else
			EP_TRY(ep_input_fill(in, in->n + 1));
	}
	if (in->n > EP_PS_LINE_MAX) {
		EP_TRY(skip_line(ps, in));
	} else if (in->n) {
		const char *p = (const char *)in->data;
		EP_TRY(take_line(ps, p, p + in->n, false));
		ep_input_consume(in, in->n);
	}
	return flush(ps);
}

/* Without one branch stack there is nothing to work with: says what it was in its place. */
static struct ep_error *no_stack_error(const struct ep_ps *ps)
{
	struct ep_error *err;

	if (!ps->n_lines)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISSING, "%s: the input is empty", ps->name), "%s",
		    how_to_print);
	if (!ps->n_samples && !ps->n_records)
		return ep_error_hint(ep_error_create(EP_ERROR_BAD_DATA,
		                                     "%s: this is no output of perf script",
		                                     ps->name),
		                     "%s", how_to_print);
	if (ps->insn_form)
		return ep_error_hint(ep_error_create(EP_ERROR_BAD_DATA,
		                                     "%s: branches are given as listings of "
		                                     "instructions (brstackinsn)",
		                                     ps->name),
		                     "%s", how_to_print);
	err = ep_error_create(EP_ERROR_MISSING,
	                      "%s: recorded or printed without branch stacks: %llu samples, none "
	                      "with a branch",
	                      ps->name, (unsigned long long)ps->n_samples);
	return ep_error_hint(err, "record with 'perf record -b' (or -j any,u), and %s",
	                     how_to_print);
}

/* True if nearly all branches lie in front of all maps, yet inside of files of their size. */
static bool is_offset_form(const struct ep_ps *ps)
{
	return ps->n_low && ps->n_low >= ps->n_branches - ps->n_branches / 16;
}

static struct ep_error *finish(struct ep_ps *ps)
{
	struct ep_event end = ep_ps_event(EP_EVENT_END, EP_PID_UNKNOWN, -1);

	if (!ps->n_stacks)
		return no_stack_error(ps);
	if (is_offset_form(ps))
		return ep_error_hint(
		    ep_error_create(EP_ERROR_BAD_DATA,
		                    "%s: branches lie below all maps: they seem to be offsets in "
		                    "their files",
		                    ps->name),
		    "addresses are needed: print with 'perf script -F ...,brstack' in place of "
		    "brstackoff");
	return ep_ps_send(ps, &end);
}

struct ep_error *ep_perf_script_run(struct ep_input *in, const struct ep_event_sink *sink,
                                    struct ep_warnings *warnings, struct ep_import_info *ret)
{
	struct ep_capture_info capture = {"", "", "", "", "", "", 0, 0};
	struct ep_ps ps = {.sink = sink,
	                   .warnings = warnings,
	                   .name = in->name,
	                   .arena = &in->arena,
	                   .capture = &capture};
	struct ep_error *err = read_all(&ps, in);

	if (!err)
		err = finish(&ps);
	ep_vec_deinit(&ps.stack);
	ep_vec_deinit(&ps.events);
	free(ps.threads.v);
	if (!err)
		ret->capture = capture;
	return err;
}

bool ep_perf_script_detect(const void *data, size_t n)
{
	const char *p = data, *end = p + EP_MIN(n, DETECT_MAX), *newline;
	struct ep_ps ps = {0};
	struct ep_ps_columns c;
	struct line line;

	if (memchr(p, '\0', (size_t)(end - p)))
		return false;
	if (end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	for (; p < end; p = newline + 1) {
		newline = memchr(p, '\n', (size_t)(end - p));
		newline = newline ? newline : end;
		const char *line_end = newline > p && newline[-1] == '\r' ? newline - 1 : newline;
		split(p, line_end, &line);
		if (line.stack || line.record)
			return true;
		if (line.n_words && !is_comment(&line.words[0]) &&
		    ep_ps_columns(&ps, line.words, line.n_words, &c) &&
		    (c.t_ns || (c.ip_only && c.ip_sure)))
			return true;
		for (size_t i = 0; i < line.n_words; i++)
			if (ep_ps_is_symbol_branch(line.words[i].p,
			                           line.words[i].p + line.words[i].n))
				return true;
	}
	return false;
}
