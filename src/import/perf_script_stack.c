/* SPDX-License-Identifier: BSD-2-Clause */
/* Branch stacks in perf script text: the part that has to be fast. */
#include "import/perf_script_parse.h"

/* perf prints a path of at most PATH_MAX after an address. */
#define DSO_MAX 4200
/* After so many entries of one line that cannot be read the rest of the line is given up. */
#define BROKEN_MAX 64
/* No range joins a record that has these with the next older one. */
#define INFO_GAP (EP_INFO_DISCONTINUITY | EP_INFO_PC_MOVED)
#define INFO_TYPE(n) ((uint64_t)(n) << EP_INFO_TYPE_SHIFT)
#define INFO_NEW_TYPE(n) (INFO_TYPE(15) | (uint64_t)(n) << EP_INFO_NEW_TYPE_SHIFT)
#define INFO_SPEC(n) ((uint64_t)(n) << EP_INFO_SPEC_SHIFT)

#define NO 255
#define NO8 NO, NO, NO, NO, NO, NO, NO, NO
#define NO16 NO8, NO8
const uint8_t ep_ps_hex[256] = {
    NO16, NO16, NO16,                                                               /* 00 */
    0,    1,    2,    3,    4,    5,    6,    7,    8,   9, NO, NO, NO, NO, NO, NO, /* 30 */
    NO,   10,   11,   12,   13,   14,   15,   NO,   NO8,                            /* 40 */
    NO16,                                                                           /* 50 */
    NO,   10,   11,   12,   13,   14,   15,   NO,   NO8,                            /* 60 */
    NO16,                                                                           /* 70 */
    NO16, NO16, NO16, NO16, NO16, NO16, NO16, NO16,                                 /* 80 */
};

static bool is_prefixed(const char *p, const char *end)
{
	return end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x';
}

const char *ep_ps_parse_hex(const char *p, const char *end, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned digit;

	if (is_prefixed(p, end))
		p += 2;
	const char *begin = p, *limit = end - p > 16 ? p + 16 : end;
	while (p < limit && (digit = ep_ps_hex_digit(*p)) < 16) {
		v = v << 4 | digit;
		p++;
	}
	if (p == begin || (p < end && ep_ps_hex_digit(*p) < 16))
		return NULL;
	*ret = v;
	return p;
}

const char *ep_ps_parse_dec(const char *p, const char *end, uint64_t *ret)
{
	const char *begin = p;
	uint64_t v = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return NULL;
	if (p == begin)
		return NULL;
	*ret = v;
	return p;
}

static bool is_one_of(char c, const char *set)
{
	for (; *set; set++)
		if (c == *set)
			return true;
	return false;
}

static const char *word_end(const char *p, const char *end)
{
	while (p < end && !ep_ps_is_space(*p))
		p++;
	return p;
}

/* An address, "-" for one that is not known, maybe behind the build-id of its file. */
static const char *parse_address(const char *p, const char *end, uint64_t *ret)
{
	if (p < end && *p == '-') {
		*ret = 0;
		return p + 1;
	}
	const char *q = ep_ps_parse_hex(p, end, ret);
	if (q && (q == end || *q != ':'))
		return q;
	if (is_prefixed(p, end))
		p += 2;
	for (q = p; q < end && ep_ps_hex_digit(*q) < 16; q++)
		;
	if (q == p || q == end || *q != ':')
		return NULL;
	return ep_ps_parse_hex(q + 1, end, ret);
}

/*
 * Passes over the "(PATH)" that the column `dso` adds to an address. Paths may have spaces and
 * parentheses in them: the end is known by what follows it.
 */
static const char *skip_dso(const char *p, const char *end, bool is_target)
{
	if (p == end || *p != '(')
		return p;
	const char *limit = end - p > DSO_MAX ? p + DSO_MAX : end;
	while ((p = memchr(p, ')', (size_t)(limit - p)))) {
		p++;
		if (is_target && (p == end || ep_ps_is_space(*p)))
			return p;
		if (end - p < 3 || p[0] != '/')
			continue;
		if (is_target ? (p[2] == '/' || p[2] == 'N') && is_one_of(p[1], "PMN-")
		              : p[1] == '-' || (p[1] == '0' && p[2] == 'x'))
			return p;
	}
	return NULL;
}

static bool is_word(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(p, word, n);
}

/* The bits of a type or speculation word; 0 for one that is not known, which does no harm. */
static uint64_t word_info(const char *p, size_t n)
{
	static const struct {
		const char *word;
		uint64_t info;
	} words[] = {
	    {"COND", INFO_TYPE(EP_BRANCH_COND)},
	    {"RET", INFO_TYPE(EP_BRANCH_RET)},
	    {"CALL", INFO_TYPE(EP_BRANCH_CALL)},
	    {"UNCOND", INFO_TYPE(EP_BRANCH_UNCOND)},
	    {"IND", INFO_TYPE(EP_BRANCH_IND)},
	    {"IND_CALL", INFO_TYPE(EP_BRANCH_IND_CALL)},
	    {"SYSCALL", INFO_TYPE(EP_BRANCH_SYSCALL)},
	    {"SYSRET", INFO_TYPE(EP_BRANCH_SYSRET)},
	    {"COND_CALL", INFO_TYPE(EP_BRANCH_COND_CALL)},
	    {"COND_RET", INFO_TYPE(EP_BRANCH_COND_RET)},
	    {"ERET", INFO_TYPE(EP_BRANCH_ERET)},
	    {"IRQ", INFO_TYPE(EP_BRANCH_IRQ)},
	    {"SERROR", INFO_TYPE(EP_BRANCH_SERROR)},
	    {"NO_TX", INFO_TYPE(EP_BRANCH_NO_TX)},
	    {"FAULT_ALGN", INFO_NEW_TYPE(0)},
	    {"FAULT_DATA", INFO_NEW_TYPE(1)},
	    {"FAULT_INST", INFO_NEW_TYPE(2)},
	    {"ARCH_1", INFO_NEW_TYPE(3)},
	    {"ARCH_2", INFO_NEW_TYPE(4)},
	    {"ARCH_3", INFO_NEW_TYPE(5)},
	    {"ARCH_4", INFO_NEW_TYPE(6)},
	    {"ARCH_5", INFO_NEW_TYPE(7)},
	    {"ARM64_FIQ", INFO_NEW_TYPE(3)},
	    {"ARM64_DEBUG_HALT", INFO_NEW_TYPE(4)},
	    {"ARM64_DEBUG_EXIT", INFO_NEW_TYPE(5)},
	    {"ARM64_DEBUG_INST", INFO_NEW_TYPE(6)},
	    {"ARM64_DEBUG_DATA", INFO_NEW_TYPE(7)},
	    {"SPEC_WRONG_PATH", INFO_SPEC(EP_SPEC_WRONG_PATH)},
	    {"NON_SPEC_CORRECT_PATH", INFO_SPEC(2)},
	    {"SPEC_CORRECT_PATH", INFO_SPEC(3)},
	};

	for (size_t i = 0; i < EP_ARRAY_LEN(words); i++)
		if (words[i].word[0] == p[0] && is_word(p, n, words[i].word))
			return words[i].info;
	return 0;
}

/* The bits of field i behind the two addresses: flags, X, A, cycles, then words. */
static uint64_t field_info(const char *p, size_t n, unsigned i)
{
	uint64_t cycles, info = 0;

	if (!n || (n == 1 && *p == '-'))
		return 0;
	switch (i) {
	case 0: /* "P" or "M", with "N" behind it (not taken) where SPE wrote the stack */
		info |= memchr(p, 'M', n) ? EP_INFO_MISPRED : 0;
		info |= memchr(p, 'P', n) ? EP_INFO_PREDICTED : 0;
		return info;
	case 1:
		return *p == 'X' ? EP_INFO_IN_TX : 0;
	case 2:
		return *p == 'A' ? EP_INFO_ABORT : 0;
	case 3:
		if (!ep_ps_parse_dec(p, p + n, &cycles))
			return 0;
		return EP_MIN(cycles, UINT64_C(0xffff)) << EP_INFO_CYCLES_SHIFT;
	default:
		return word_info(p, n);
	}
}

/* The fields behind the first '/' after the target; p is behind it. */
static const char *parse_fields(const char *p, const char *end, uint64_t *ret)
{
	uint64_t info = 0;
	unsigned i = 0;

	/* Nearly all entries are like this. */
	if (end - p > 6 && !memcmp(p + 1, "/-/-/", 5)) {
		info = field_info(p, 1, 0);
		p += 6;
		i = 3;
	}
	for (;; i++) {
		const char *q = p;
		while (q < end && *q != '/' && !ep_ps_is_space(*q))
			q++;
		info |= field_info(p, (size_t)(q - p), i);
		if (q == end || *q != '/') {
			*ret = info;
			return q;
		}
		p = q + 1;
	}
}

/* Without "0x" two numbers and a slash may be a pid and a tid: is it an entry of a stack? */
static bool is_plausible_first(const char *p, const char *slash, const char *end)
{
	if (is_prefixed(p, end))
		return true;
	const char *q = word_end(slash + 1, end);
	if (memchr(slash + 1, '/', (size_t)(q - slash - 1)))
		return true;
	bool letters = false;
	for (const char *c = p; c < q; c++)
		letters |= ep_ps_hex_digit(*c) > 9 && *c != '/';
	return letters && slash - p >= 4 && q - slash > 4;
}

const char *ep_ps_branch(const char *p, const char *end, bool first, struct ep_branch *ret)
{
	struct ep_branch b = {0};
	const char *begin = p;

	p = parse_address(p, end, &b.from);
	p = p ? skip_dso(p, end, false) : NULL;
	if (!p || p == end || *p != '/')
		return NULL;
	const char *slash = p;
	p = parse_address(p + 1, end, &b.to);
	p = p ? skip_dso(p, end, true) : NULL;
	if (!p || (p < end && *p != '/' && !ep_ps_is_space(*p)))
		return NULL;
	if (first && !is_plausible_first(begin, slash, end))
		return NULL;
	if (p < end && *p == '/')
		p = parse_fields(p + 1, end, &b.info);
	*ret = b;
	return p;
}

/* One end of an entry, up to a slash or `end`: a number, or meant to be one. */
static bool is_like_number(const char *p, const char *end)
{
	bool prefixed = is_prefixed(p, end);

	while (p < end && ep_ps_hex_digit(*p) < 16)
		p++;
	return prefixed || p == end || *p == '/';
}

bool ep_ps_is_symbol_branch(const char *p, const char *end)
{
	const char *slash = memchr(p, '/', (size_t)(end - p));

	/* "SYMBOL/SYMBOL/P/-/-/0": flags stand behind the second slash or, with paths, a later one.
	 */
	if (!slash || slash == p)
		return false;
	/* A damaged entry of numbers still has one good end: it must not cost the whole input. */
	if (is_like_number(p, end) || is_like_number(slash + 1, end))
		return false;
	for (const char *c = slash + 1; end - c >= 7; c++)
		if (c[0] == '/' && is_one_of(c[1], "PM-") && c[2] == '/' && is_one_of(c[3], "X-") &&
		    c[4] == '/' && is_one_of(c[5], "A-") && c[6] == '/')
			return true;
	return false;
}

static unsigned count_slashes(const char *p, const char *end)
{
	unsigned n = 0;

	while ((p = memchr(p, '/', (size_t)(end - p)))) {
		n++;
		p++;
	}
	return n;
}

/* Digits of the target of an entry without fields. */
static unsigned target_digits(const char *p, const char *end)
{
	const char *slash = memchr(p, '/', (size_t)(end - p));

	return slash ? (unsigned)(end - slash) : 0;
}

/* True if the entry [p, end), the last of an input without a final newline, misses its end. */
static bool is_cut(const struct ep_ps *ps, const char *p, const char *end)
{
	unsigned n_slashes = count_slashes(p, end);

	if (n_slashes != ps->n_slashes)
		return n_slashes < ps->n_slashes;
	return n_slashes == 1 && target_digits(p, end) < ps->to_digits;
}

static void count_place(struct ep_ps *ps, const struct ep_branch *b)
{
	if (!b->from || !b->to || b->from >> 63)
		return;
	ps->n_branches++;
	ps->n_low += b->from < ps->low_end && b->to < ps->low_end;
}

static struct ep_error *symbol_error(const struct ep_ps *ps)
{
	return ep_error_hint(ep_error_create(EP_ERROR_BAD_DATA,
	                                     "%s: line %llu: branches are given by symbol",
	                                     ps->name, (unsigned long long)ps->n_lines),
	                     "addresses are needed: print with 'perf script -F ...,brstack' in "
	                     "place of brstacksym");
}

/* An entry that makes no sense: q is its end, unless it has a path with spaces in it. */
static struct ep_error *bad_entry(struct ep_ps *ps, const char *p, const char *q, const char *end)
{
	bool has_path = !is_prefixed(p, q) && memchr(p, '(', (size_t)(q - p));

	if (ep_ps_is_symbol_branch(p, has_path ? end : q))
		return symbol_error(ps);
	if (ps->stack.n)
		ps->stack.v[ps->stack.n - 1].info |= INFO_GAP;
	ep_warn(ps->warnings, "bad-branch-entry",
	        "%s: line %llu: '%.*s' is no entry of a branch stack", ps->name,
	        (unsigned long long)ps->n_lines, (int)EP_MIN(q - p, 60), p);
	return ep_ps_send_corrupt(ps, 1);
}

struct ep_error *ep_ps_cut_line(struct ep_ps *ps, bool left_out)
{
	ep_warn(ps->warnings, "cut-line", "%s: line %llu: the input ends within this line%s",
	        ps->name, (unsigned long long)ps->n_lines,
	        left_out ? ", its last entry is left out" : "");
	return left_out ? ep_ps_send_corrupt(ps, 1) : NULL;
}

static void remember_form(struct ep_ps *ps, const char *p, const char *end)
{
	ps->n_slashes = count_slashes(p, end);
	ps->to_digits = target_digits(p, end);
}

struct ep_error *ep_ps_stack(struct ep_ps *ps, const char *p, const char *end, bool whole)
{
	unsigned n_broken = 0;
	bool cut = false;
	const char *q;

	ps->stack.n = 0;
	for (;; p = q) {
		struct ep_branch b;
		while (p < end && ep_ps_is_space(*p))
			p++;
		if (p == end)
			break;
		q = ep_ps_branch(p, end, false, &b);
		cut = !whole && (q ? q == end && is_cut(ps, p, q) : word_end(p, end) == end);
		if (cut && (q || !ep_ps_is_symbol_branch(p, end)))
			break;
		if (q) {
			if (!ep_vec_push(&ps->stack, b))
				return ep_error_nomem();
			count_place(ps, &b);
			if (!ps->n_slashes)
				remember_form(ps, p, q);
			continue;
		}
		q = word_end(p, end);
		/* Columns that perf prints behind the stack have no slash. */
		if (!memchr(p, '/', (size_t)(q - p)) && !is_prefixed(p, q))
			break;
		EP_TRY(bad_entry(ps, p, q, end));
		if (++n_broken == BROKEN_MAX)
			break;
	}
	return whole ? NULL : ep_ps_cut_line(ps, cut);
}
