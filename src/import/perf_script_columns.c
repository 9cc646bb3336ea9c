/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns before a branch stack: process, thread, processor, time, event, period, address. */
#include "import/perf_script_parse.h"

/* Linux's limit of process numbers (PID_MAX_LIMIT). */
#define PID_MAX (UINT64_C(1) << 22)
/* perf prints an ip with %16lx behind a space, a pid with %5d, newer ones with %7d. */
#define IP_WIDTH 17
#define PID_WIDTH 5
#define PID_WIDTH_NEW 7

bool ep_ps_word_hex(const struct ep_ps_word *word, uint64_t *ret)
{
	return ep_ps_parse_hex(word->p, word->p + word->n, ret) == word->p + word->n;
}

bool ep_ps_word_dec(const struct ep_ps_word *word, uint64_t *ret)
{
	return ep_ps_parse_dec(word->p, word->p + word->n, ret) == word->p + word->n;
}

/* A process or thread number; -1 is what perf prints for a thread it lost track of. */
static bool word_pid(const char *p, size_t n, int32_t *ret)
{
	uint64_t v;

	if (n == 2 && p[0] == '-' && p[1] == '1') {
		*ret = -1;
		return true;
	}
	if (!n || ep_ps_parse_dec(p, p + n, &v) != p + n || v > PID_MAX)
		return false;
	*ret = (int32_t)v;
	return true;
}

/* "PID/TID" */
static bool word_pid_tid(const struct ep_ps_word *word, int32_t *pid_ret, int32_t *tid_ret)
{
	const char *slash = memchr(word->p, '/', word->n);

	if (!slash)
		return false;
	size_t n = (size_t)(slash - word->p);
	return word_pid(word->p, n, pid_ret) && word_pid(slash + 1, word->n - n - 1, tid_ret);
}

/* "SECONDS.FRACTION:", of 6 digits or, with --ns, 9 */
static bool word_time(const struct ep_ps_word *word, uint64_t *ret)
{
	const char *end = word->p + word->n - 1, *p;
	uint64_t s, fraction, ns;

	if (word->n < 4 || *end != ':')
		return false;
	p = ep_ps_parse_dec(word->p, end, &s);
	if (!p || p == end || *p != '.')
		return false;
	const char *begin = p + 1;
	p = ep_ps_parse_dec(begin, end, &fraction);
	if (p != end || end - begin < 6 || end - begin > 9 ||
	    __builtin_mul_overflow(s, UINT64_C(1000000000), &ns))
		return false;
	for (size_t i = (size_t)(end - begin); i < 9; i++)
		fraction *= 10;
	return !__builtin_add_overflow(ns, fraction, ret);
}

/* "[CPU]" */
static bool word_cpu(const struct ep_ps_word *word, uint32_t *ret)
{
	const char *end = word->p + word->n - 1;
	uint64_t v;

	if (word->n < 3 || word->p[0] != '[' || *end != ']' ||
	    ep_ps_parse_dec(word->p + 1, end, &v) != end || v >= UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static bool ends_in_colon(const struct ep_ps_word *word)
{
	return word->n > 1 && word->p[word->n - 1] == ':';
}

/* Columns between the end of word i and the end of the one before it. */
static uint32_t width(const struct ep_ps_word *words, size_t i)
{
	return words[i].end - (i ? words[i - 1].end : 0);
}

/*
 * A number that may be a pid or, in hex, an ip: which of them? perf's padding tells them apart,
 * unless somebody has squeezed it; in text of one shape other lines may have told.
 */
static bool is_pid_column(const struct ep_ps *ps, const struct ep_ps_word *words, size_t i)
{
	const struct ep_ps_word *word = &words[i];
	int32_t pid;

	if (!word_pid(word->p, word->n, &pid))
		return false;
	if (i)
		return width(words, i) <= EP_MAX(word->n, PID_WIDTH_NEW) + 1;
	return !ps->ip_column && (word->end == EP_MAX(word->n, PID_WIDTH) ||
	                          word->end == EP_MAX(word->n, PID_WIDTH_NEW));
}

/* A number alone: a process, or a thread where that column was printed. */
static void set_tid(const struct ep_ps *ps, int32_t v, struct ep_ps_columns *c)
{
	c->tid = v;
	c->pid = ep_ps_process(ps, -1, v);
}

/* The column `misc`: letters for where the CPU was and what the record is. */
static bool is_misc(const struct ep_ps_word *word)
{
	for (uint32_t i = 0; i < word->n; i++)
		if (word->p[i] < 'A' || word->p[i] > 'Z')
			return false;
	return word->n <= 4;
}

/*
 * Reads what stands at words with a shape of their own: pid/tid, [cpu], time. Returns the index
 * behind the last of them, 0 if there is none.
 */
static size_t find_anchors(const struct ep_ps *ps, const struct ep_ps_word *words, size_t n,
                           struct ep_ps_columns *c)
{
	size_t first = n, next = 0;
	bool has_pid = false;

	for (size_t i = 0; i < n; i++) {
		bool is_pid = !has_pid && word_pid_tid(&words[i], &c->pid, &c->tid);
		has_pid |= is_pid;
		bool anchor =
		    is_pid || word_cpu(&words[i], &c->cpu) || word_time(&words[i], &c->t_ns);
		if (!anchor)
			continue;
		first = EP_MIN(first, i);
		next = i + 1;
		if (words[i].p[words[i].n - 1] == ':')
			break;
	}
	if (has_pid)
		c->pid = ep_ps_process(ps, c->pid, c->tid);
	if (has_pid || first == n)
		return next;
	int32_t v;
	if (first > 1 && is_misc(&words[first - 1]))
		first--;
	if (first > 0 && word_pid(words[first - 1].p, words[first - 1].n, &v))
		set_tid(ps, v, c);
	return next;
}

/* True if a column that perf prints behind the pid is at i, or the end of the words. */
static bool may_follow_pid(const struct ep_ps_word *words, size_t i, size_t n)
{
	uint64_t v;

	return i >= n || ep_ps_word_hex(&words[i], &v) || ends_in_colon(&words[i]);
}

/* The pid column of a line without anchors; returns the index behind it, 0 if there is none. */
static size_t find_pid(const struct ep_ps *ps, const struct ep_ps_word *words, size_t n,
                       struct ep_ps_columns *c)
{
	int32_t v;

	for (size_t i = 0; i < n; i++) {
		if (!is_pid_column(ps, words, i) || !may_follow_pid(words, i + 1, n))
			continue;
		/* A word of the comm may be a number: the last that can be is the pid. */
		if (i + 2 < n && is_pid_column(ps, words, i + 1) && may_follow_pid(words, i + 2, n))
			continue;
		if (!word_pid(words[i].p, words[i].n, &v))
			continue;
		set_tid(ps, v, c);
		return i + 1;
	}
	return 0;
}

/* The event's name and the period before it; returns the index behind, or `i` if there is none. */
static size_t find_event(const struct ep_ps_word *words, size_t i, size_t n,
                         struct ep_ps_columns *c)
{
	/* In front of it are at most a period and, where nothing is known yet, a comm. */
	for (size_t k = i; k < n && (!i || k < i + 3); k++) {
		if (!ends_in_colon(&words[k]))
			continue;
		c->event = words[k];
		c->event.n--;
		if (k > i && !ep_ps_word_dec(&words[k - 1], &c->period))
			c->period = 0;
		return k + 1;
	}
	return i;
}

bool ep_ps_columns(struct ep_ps *ps, const struct ep_ps_word *words, size_t n,
                   struct ep_ps_columns *ret)
{
	struct ep_ps_columns c = {.pid = EP_PID_UNKNOWN, .tid = -1, .cpu = UINT32_MAX};
	size_t anchors = find_anchors(ps, words, n, &c);
	size_t i = anchors ? anchors : find_pid(ps, words, n, &c);
	size_t behind = find_event(words, i, n, &c);
	int32_t v;

	if (behind < n && ep_ps_word_hex(&words[behind], &c.ip))
		c.has_ip = true;
	c.ip_only = c.has_ip && !behind;
	c.ip_sure = c.ip_only && !word_pid(words[0].p, words[0].n, &v);
	/* "COMM IP": the comm is of any number of words. */
	for (size_t k = 1; !behind && k < n && !c.has_ip; k++)
		c.has_ip = width(words, k) >= IP_WIDTH && ep_ps_word_hex(&words[k], &c.ip);
	*ret = c;
	return behind || c.has_ip;
}
