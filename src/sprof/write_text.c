/* SPDX-License-Identifier: BSD-2-Clause */
/* The text format of `llvm-profdata merge --text`. */
#include <string.h>

#include "sprof/private.h"

#define FLUSH_SIZE (1u << 20)

struct text_writer {
	const struct ep_sprof *prof;
	struct ep_buf buf;
	FILE *out;
};

enum name_role { ROLE_FUNC, ROLE_CALLEE, ROLE_TARGET };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* True if `:` and a number end the text at s or are followed by a blank: where readers cut. */
static bool has_inner_count(const char *s, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		if (s[i] != ':' || !is_digit(s[i + 1]))
			continue;
		size_t j = i + 1;
		while (j < n && is_digit(s[j]))
			j++;
		if (j == n || s[j] == ' ')
			return true;
	}
	return false;
}

/* True if a reader gets the name back from its place in the text. */
static bool fits_text(const char *s, size_t n, enum name_role role)
{
	size_t n_digits = 0;

	if (!n || memchr(s, '\n', n) || memchr(s, '\0', n) || s[0] == ' ')
		return false;
	while (n_digits < n && is_digit(s[n_digits]))
		n_digits++;
	switch (role) {
	case ROLE_FUNC:
		return s[0] != '#' && s[0] != '[' && s[0] != '\t' &&
		       !(n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3)) &&
		       ep_sprof_detect(s, n) != EP_SPROF_BINARY &&
		       ep_sprof_detect(s, n) != EP_SPROF_EXTBINARY;
	case ROLE_CALLEE:
		return !(n_digits && n_digits < n && s[n_digits] == ' ') &&
		       !(n >= 8 && !memcmp(s, "vtables ", 8));
	case ROLE_TARGET:
		return s[0] != ':' && !has_inner_count(s, n);
	}
	return false;
}

static struct ep_error *put_name(struct text_writer *w, uint32_t name, enum name_role role)
{
	const char *s = ep_strtab_get(&w->prof->names, name);
	size_t n = ep_strtab_len(&w->prof->names, name);

	if (!fits_text(s, n, role))
		return ep_error_hint(ep_error_create(EP_ERROR_USAGE,
		                                     "name \"%.*s\" cannot be written as text",
		                                     (int)EP_MIN(n, (size_t)100), s),
		                     "write the profile as extbinary");
	ep_buf_put(&w->buf, s, n);
	return NULL;
}

static void put_indent(struct text_writer *w, uint32_t n)
{
	static const char blanks[] = "                                ";

	for (size_t left = n; left;) {
		size_t part = EP_MIN(left, sizeof(blanks) - 1);
		ep_buf_put(&w->buf, blanks, part);
		left -= part;
	}
}

static void put_location(struct text_writer *w, uint32_t indent, uint32_t offset,
                         uint32_t discriminator)
{
	put_indent(w, indent);
	ep_buf_decimal(&w->buf, offset);
	if (discriminator) {
		ep_buf_u8(&w->buf, '.');
		ep_buf_decimal(&w->buf, discriminator);
	}
	ep_buf_put(&w->buf, ": ", 2);
}

static void put_count(struct text_writer *w, uint64_t count)
{
	ep_buf_u8(&w->buf, ':');
	ep_buf_decimal(&w->buf, count);
}

static void flush(struct text_writer *w)
{
	/* A failed write stays on the stream, and is reported when it is committed. */
	if (w->buf.n)
		(void)!fwrite(w->buf.v, 1, w->buf.n, w->out);
	w->buf.n = 0;
}

static struct ep_error *put_records(struct text_writer *w, const struct ep_sprof_func *func)
{
	for (uint32_t i = 0; i < func->n_records; i++) {
		const struct ep_sprof_record *r = &func->records[i];
		put_location(w, func->depth + 1, r->offset, r->discriminator);
		ep_buf_decimal(&w->buf, r->count);
		for (uint32_t k = 0; k < r->n_targets; k++) {
			ep_buf_u8(&w->buf, ' ');
			EP_TRY(put_name(w, r->targets[k].name, ROLE_TARGET));
			put_count(w, r->targets[k].count);
		}
		ep_buf_u8(&w->buf, '\n');
	}
	return NULL;
}

static void put_metadata(struct text_writer *w, const struct ep_sprof_func *func)
{
	if (w->prof->flags & EP_SPROF_PROBE) {
		put_indent(w, func->depth + 1);
		ep_buf_put(&w->buf, "!CFGChecksum: ", 14);
		ep_buf_decimal(&w->buf, func->checksum);
		ep_buf_u8(&w->buf, '\n');
	}
	if (func->attributes) {
		put_indent(w, func->depth + 1);
		ep_buf_put(&w->buf, "!Attributes: ", 13);
		ep_buf_decimal(&w->buf, func->attributes);
		ep_buf_u8(&w->buf, '\n');
	}
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static struct ep_error *put_func(struct text_writer *w, const struct ep_sprof_func *func)
{
	EP_TRY(put_name(w, func->name, func->depth ? ROLE_CALLEE : ROLE_FUNC));
	put_count(w, func->total);
	if (!func->depth)
		put_count(w, func->head);
	ep_buf_u8(&w->buf, '\n');
	EP_TRY(put_records(w, func));
	if (w->buf.n >= FLUSH_SIZE)
		flush(w);
	for (uint32_t i = 0; i < func->n_calls; i++) {
		const struct ep_sprof_call *c = &func->calls[i];
		put_location(w, func->depth + 1, c->offset, c->discriminator);
		EP_TRY(put_func(w, c->func));
	}
	put_metadata(w, func);
	return w->buf.failed ? ep_error_nomem() : NULL;
}

struct ep_error *ep_sprof_write_text(const struct ep_sprof *prof, FILE *out)
{
	struct text_writer w = {.prof = prof, .out = out};
	struct ep_error *err = NULL;

	for (size_t i = 0; i < prof->funcs.n && !err; i++)
		err = put_func(&w, prof->funcs.v[i]);
	if (!err)
		flush(&w);
	ep_buf_deinit(&w.buf);
	return err;
}
