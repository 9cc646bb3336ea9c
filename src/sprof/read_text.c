/* SPDX-License-Identifier: BSD-2-Clause */
/* The text format, by the rules that LLVM's reader keeps. */
#include <string.h>

#include "sprof/private.h"

#define FOUND_MAX 60 /* bytes of a line that an error shows */

/* What a line should look like, for errors. */
#define FORM_HEAD "NAME:TOTAL:HEAD"
#define FORM_BODY "OFFSET[.DISCRIMINATOR]: COUNT[ TARGET:COUNT]..."
#define FORM_CALL "OFFSET[.DISCRIMINATOR]: CALLEE:TOTAL"
#define FORM_METADATA "!CFGChecksum: NUMBER, !Attributes: NUMBER or !Flat"
#define FORM_VTABLES "OFFSET[.DISCRIMINATOR]: vtables NAME:COUNT..."

struct text_reader {
	struct ep_sprof *prof;
	const struct ep_sprof_read_opts *opts;
	const char *name;
	uint64_t line_no;
	const char *line, *end; /* without the newline */
	struct ep_sprof_func **stack;
	size_t n_stack;
	size_t metadata_depth; /* of the metadata line just read, 0: none */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* An error at `at`, with a piece of the line from there on. */
static struct ep_error *bad_line(const struct text_reader *r, const char *at, const char *what)
{
	char found[FOUND_MAX + 1];
	size_t n = EP_MIN((size_t)(r->end - at), (size_t)FOUND_MAX);

	for (size_t i = 0; i < n; i++)
		found[i] = (unsigned char)at[i] < ' ' || at[i] == 0x7f ? '?' : at[i];
	found[n] = '\0';
	return ep_error_create(EP_ERROR_BAD_DATA, "%s:%llu:%zu: %s, found '%s'%s", r->name,
	                       (unsigned long long)r->line_no, (size_t)(at - r->line) + 1, what,
	                       found, (size_t)(r->end - at) > FOUND_MAX ? "..." : "");
}

static struct ep_error *expected(const struct text_reader *r, const char *at, const char *form)
{
	char what[160];

	snprintf(what, sizeof(what), "expected %s", form);
	return bad_line(r, at, what);
}

/* A number that fills [s, end). */
static bool parse_number(const char *s, const char *end, uint64_t *ret)
{
	uint64_t v = 0;

	if (s >= end)
		return false;
	for (; s < end; s++) {
		if (!is_digit(*s) || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	}
	*ret = v;
	return true;
}

static const char *find(const char *s, const char *end, char c)
{
	const char *p = s < end ? memchr(s, c, (size_t)(end - s)) : NULL;

	return p ? p : end;
}

/* The last c in [s, end), NULL if there is none. */
static const char *find_last(const char *s, const char *end, char c)
{
	while (end > s)
		if (*--end == c)
			return end;
	return NULL;
}

/* Splits NAME:TOTAL:HEAD at its last two colons; *at_ret is where it does not fit. */
static bool split_head(const char *s, const char *end, const char **name_end_ret,
                       uint64_t *total_ret, uint64_t *head_ret, const char **at_ret)
{
	const char *second = find_last(s, end, ':');
	const char *first = second ? find_last(s, second, ':') : NULL;

	*at_ret = s;
	if (!first || first == s)
		return false;
	*at_ret = first + 1;
	if (!parse_number(first + 1, second, total_ret))
		return false;
	*at_ret = second + 1;
	if (!parse_number(second + 1, end, head_ret))
		return false;
	*name_end_ret = first;
	return true;
}

static struct ep_error *intern(struct text_reader *r, const char *s, const char *end, uint32_t *ret)
{
	return ep_sprof_name(r->prof, s, (size_t)(end - s), ret);
}

static bool has_bom(const char *s, const char *end)
{
	return end - s >= 3 && !memcmp(s, "\xef\xbb\xbf", 3);
}

static struct ep_error *read_head(struct text_reader *r)
{
	const char *name_end, *at;
	struct ep_sprof_func *func;
	uint64_t total, head;
	uint32_t name;

	if (*r->line == '\t')
		return ep_error_hint(expected(r, r->line, "blanks or a function's name"),
		                     "lines are indented with blanks, not tabs");
	if (has_bom(r->line, r->end))
		return ep_error_hint(bad_line(r, r->line, "a byte-order mark"),
		                     "save the file as UTF-8 without BOM");
	if (!split_head(r->line, r->end, &name_end, &total, &head, &at))
		return expected(r, at, FORM_HEAD);
	if (*r->line == '[')
		return ep_error_hint(
		    ep_error_create(EP_ERROR_UNSUPPORTED,
		                    "%s:%llu: a context-sensitive profile, which is not read yet",
		                    r->name, (unsigned long long)r->line_no),
		    "nest it: llvm-profdata merge --sample --text "
		    "--convert-sample-profile-layout=nest");
	EP_TRY(intern(r, r->line, name_end, &name));
	EP_TRY(ep_sprof_func(r->prof, name, &func));
	func->total = ep_count_add(func->total, total);
	func->head = ep_count_add(func->head, head);
	r->stack[0] = func;
	r->n_stack = 1;
	r->metadata_depth = 0;
	return ep_sprof_check_memory(r->prof, r->name, r->opts);
}

/* OFFSET[.DISCRIMINATOR] in [s, end). */
static struct ep_error *read_location(const struct text_reader *r, const char *s, const char *end,
                                      uint32_t *offset_ret, uint32_t *discriminator_ret)
{
	const char *dot = find(s, end, '.');
	uint64_t offset, discriminator = 0;

	if (!parse_number(s, dot, &offset))
		return expected(r, s, FORM_BODY " or " FORM_CALL);
	if (dot < end &&
	    (!parse_number(dot + 1, end, &discriminator) || discriminator > UINT32_MAX))
		return expected(r, dot + 1, "a discriminator of 32 bits");
	if (offset > EP_SPROF_OFFSET_MAX)
		return expected(r, s, "a line offset of at most 65535");
	*offset_ret = (uint32_t)offset;
	*discriminator_ret = (uint32_t)discriminator;
	return NULL;
}

/* One of a list of NAME:COUNT: the name ends at the first colon that a number follows. */
static bool split_target(const char *s, const char *end, const char **colon_ret,
                         const char **end_ret, uint64_t *count_ret)
{
	for (const char *colon = find(s, end, ':'); colon < end;
	     colon = find(colon + 1, end, ':')) {
		const char *word_end = colon + 1;
		if (colon == s)
			return false;
		while (word_end < end && is_digit(*word_end))
			word_end++;
		if ((word_end == end || *word_end == ' ') &&
		    parse_number(colon + 1, word_end, count_ret)) {
			*colon_ret = colon;
			*end_ret = word_end;
			return true;
		}
	}
	return false;
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && *s == ' ')
		s++;
	return s;
}

/* The rest of a body line behind its count. */
static struct ep_error *read_targets(struct text_reader *r, const char *s,
                                     struct ep_sprof_record *record)
{
	for (s = skip_blanks(s, r->end); s < r->end; s = skip_blanks(s, r->end)) {
		const char *colon, *target_end;
		uint64_t count;
		uint32_t name;

		if (!split_target(s, r->end, &colon, &target_end, &count))
			return expected(r, s, "TARGET:COUNT");
		EP_TRY(intern(r, s, colon, &name));
		EP_TRY(ep_sprof_target_add(r->prof, record, name, count));
		s = target_end;
	}
	return NULL;
}

/* Kinds of virtual tables seen at a call: new in LLVM 21, used by no older version. */
static struct ep_error *skip_vtables(struct text_reader *r, const char *s)
{
	for (s = skip_blanks(s, r->end); s < r->end; s = skip_blanks(s, r->end)) {
		const char *colon = find(s, r->end, ':'), *word_end = find(colon, r->end, ' ');
		uint64_t count;

		if (colon == r->end || !parse_number(colon + 1, word_end, &count))
			return expected(r, s, FORM_VTABLES);
		s = word_end;
	}
	ep_warn(r->opts->warnings, "vtable-types", "%s:%llu: virtual table counts are left out",
	        r->name, (unsigned long long)r->line_no);
	return NULL;
}

static struct ep_error *read_callee(struct text_reader *r, const char *s, uint32_t offset,
                                    uint32_t discriminator)
{
	const char *colon = find_last(s, r->end, ':');
	struct ep_sprof_func *callee;
	uint64_t total;
	uint32_t name;

	if (!colon || colon == s || !parse_number(colon + 1, r->end, &total))
		return expected(r, s, "COUNT[ TARGET:COUNT]... or CALLEE:TOTAL");
	if (r->n_stack > EP_SPROF_DEPTH_MAX)
		return ep_error_create(EP_ERROR_BAD_DATA,
		                       "%s:%llu: more than %d levels of inlining", r->name,
		                       (unsigned long long)r->line_no, EP_SPROF_DEPTH_MAX);
	EP_TRY(intern(r, s, colon, &name));
	EP_TRY(ep_sprof_callee(r->prof, r->stack[r->n_stack - 1], offset, discriminator, name,
	                       &callee));
	callee->total = ep_count_add(callee->total, total);
	r->stack[r->n_stack++] = callee;
	r->metadata_depth = 0;
	return NULL;
}

static struct ep_error *read_metadata(struct text_reader *r, size_t depth)
{
	static const char checksum[] = "!CFGChecksum:", attributes[] = "!Attributes:";
	struct ep_sprof_func *func = r->stack[r->n_stack - 1];
	const char *s = r->line + depth, *end = r->end;
	uint64_t v;

	while (end > s && end[-1] == ' ')
		end--;
	if (depth == 1 && r->end - s == 5 && !memcmp(s, "!Flat", 5)) {
		ep_warn(r->opts->warnings, "flat-mark", "%s:%llu: the mark !Flat is left out",
		        r->name, (unsigned long long)r->line_no);
	} else if ((size_t)(end - s) > strlen(checksum) && !memcmp(s, checksum, strlen(checksum))) {
		if (!parse_number(skip_blanks(s + strlen(checksum), end), end, &v))
			return expected(r, s, FORM_METADATA);
		func->checksum = v;
		func->flags |= EP_SPROF_HAS_CHECKSUM;
		if (depth == 1)
			r->prof->flags |= EP_SPROF_PROBE;
	} else if ((size_t)(end - s) > strlen(attributes) &&
	           !memcmp(s, attributes, strlen(attributes))) {
		if (!parse_number(skip_blanks(s + strlen(attributes), end), end, &v) ||
		    v > UINT32_MAX)
			return expected(r, s, FORM_METADATA);
		func->attributes = (uint32_t)v;
		func->flags |= EP_SPROF_HAS_ATTRIBUTES;
		if (v & EP_SPROF_ATTR_SHOULD_INLINE)
			r->prof->flags |= EP_SPROF_PREINLINED;
	} else {
		return expected(r, s, FORM_METADATA);
	}
	r->metadata_depth = depth;
	return NULL;
}

/* A line of a function that is no metadata: body, callee or vtables. */
static struct ep_error *read_located(struct text_reader *r, size_t depth)
{
	const char *s = r->line + depth, *colon = find(s, r->end, ':');
	uint32_t offset = 0, discriminator = 0;
	struct ep_sprof_record *record;
	uint64_t count;

	if (colon == r->end)
		return expected(r, s, FORM_BODY " or " FORM_CALL);
	EP_TRY(read_location(r, s, colon, &offset, &discriminator));
	s = colon + 2;
	if (s >= r->end || colon[1] != ' ' || *s == ' ')
		return expected(r, colon, "one blank behind the colon, and " FORM_BODY);
	const char *word_end = find(s, r->end, ' ');
	if (parse_number(s, word_end, &count)) {
		struct ep_sprof_func *func = r->stack[r->n_stack - 1];
		EP_TRY(ep_sprof_record(r->prof, func, offset, discriminator, &record));
		record->count = ep_count_add(record->count, count);
		return read_targets(r, word_end, record);
	}
	if (word_end - s == 7 && !memcmp(s, "vtables", 7))
		return skip_vtables(r, word_end);
	return read_callee(r, s, offset, discriminator);
}

/* A line that begins with a blank: its indent is the depth of its function, plus one. */
static struct ep_error *read_inner(struct text_reader *r, size_t depth)
{
	if (!r->n_stack)
		return expected(r, r->line, FORM_HEAD " before its lines");
	if (r->line[depth] != '!' && depth == r->metadata_depth)
		return expected(r, r->line + depth, "no further line behind the metadata");
	if (depth > r->n_stack)
		ep_warn(r->opts->warnings, "indentation",
		        "%s:%llu: indented deeper than its function", r->name,
		        (unsigned long long)r->line_no);
	r->n_stack = EP_MIN(r->n_stack, depth);
	return r->line[depth] == '!' ? read_metadata(r, depth) : read_located(r, depth);
}

static struct ep_error *read_line(struct text_reader *r)
{
	const char *s = skip_blanks(r->line, r->end);

	if (s == r->end || *s == '#')
		return NULL;
	const char *nul = memchr(r->line, '\0', (size_t)(r->end - r->line));
	if (nul)
		return bad_line(r, nul, "a NUL byte");
	return s == r->line ? read_head(r) : read_inner(r, (size_t)(s - r->line));
}

/* Sets [*line_ret, *end_ret) to the line at s, less its line end; returns where the next begins. */
static const char *next_line(const char *s, const char *end, const char **end_ret)
{
	const char *newline = find(s, end, '\n');

	*end_ret = newline > s && newline < end && newline[-1] == '\r' ? newline - 1 : newline;
	return newline < end ? newline + 1 : end;
}

bool ep_sprof_looks_like_text(const void *data, size_t n)
{
	const char *s = data, *end = s + n, *line_end, *name_end, *at;
	uint64_t total, head;

	while (s < end) {
		const char *next = next_line(s, end, &line_end), *word = skip_blanks(s, line_end);
		if (word < line_end && *word != '#')
			return word == s && *s != '\t' && !has_bom(s, line_end) &&
			       !memchr(s, '\0', (size_t)(line_end - s)) &&
			       split_head(s, line_end, &name_end, &total, &head, &at);
		s = next;
	}
	return false;
}

struct ep_error *ep_sprof_read_text(const void *data, size_t n, const char *name,
                                    const struct ep_sprof_read_opts *opts, struct ep_sprof *prof)
{
	struct text_reader r = {.prof = prof, .opts = opts, .name = name};
	const char *s = data, *end = s + n;

	ep_autofree void *stack = calloc(EP_SPROF_DEPTH_MAX + 1, sizeof(*r.stack));
	if (!stack)
		return ep_error_nomem();
	r.stack = stack;
	while (s < end) {
		const char *next = next_line(s, end, &r.end);
		r.line = s;
		r.line_no++;
		EP_TRY(read_line(&r));
		s = next;
	}
	if (n && end[-1] != '\n')
		ep_warn(opts->warnings, "no-line-end",
		        "%s:%llu: the last line has no end, as if the file were cut", name,
		        (unsigned long long)r.line_no);
	if (!prof->funcs.n)
		return ep_error_create(EP_ERROR_MISSING, "%s: no function in the profile", name);
	return NULL;
}
