/* SPDX-License-Identifier: BSD-2-Clause */
/* Telling profile formats apart, and reading whichever it is. */
#include "sprof/read.h"

#include <string.h>

#include "sprof/private.h"

/* A binary file begins with its magic in ULEB128: nine bytes. */
static bool has_magic(const void *data, size_t n, uint64_t magic)
{
	struct ep_bytes b = ep_bytes_init(data, EP_MIN(n, (size_t)9), ep_swap_for(false));

	return ep_bytes_uleb(&b) == magic && !b.failed;
}

enum ep_sprof_format ep_sprof_detect(const void *data, size_t n)
{
	if (has_magic(data, n, MAGIC_EXTBINARY))
		return EP_SPROF_EXTBINARY;
	if (has_magic(data, n, MAGIC_BINARY))
		return EP_SPROF_BINARY;
	return ep_sprof_looks_like_text(data, n) ? EP_SPROF_TEXT : EP_SPROF_UNKNOWN;
}

static bool begins_with(const void *data, size_t n, const char *s)
{
	return n >= strlen(s) && !memcmp(data, s, strlen(s));
}

/* No bytes that a text cannot have: then what is wrong is better told line by line. */
static bool may_be_text(const void *data, size_t n)
{
	const unsigned char *s = data;

	for (size_t i = 0; i < EP_MIN(n, (size_t)4096); i++)
		if ((s[i] < ' ' && s[i] != '\n' && s[i] != '\r' && s[i] != '\t') || s[i] == 0x7f)
			return false;
	return n > 0;
}

/* Names what is often taken for a sample profile of these kinds; NULL for what may be damaged text.
 */
static struct ep_error *refuse_other(const void *data, size_t n, const char *name)
{
	if (has_magic(data, n, MAGIC_COMPACT))
		return ep_error_hint(
		    ep_error_create(EP_ERROR_UNSUPPORTED,
		                    "%s: LLVM's compact binary sample profile, which LLVM dropped",
		                    name),
		    "convert it with an llvm-profdata of version 14: merge --sample --extbinary");
	if (begins_with(data, n, "adcg") || begins_with(data, n, "gcda"))
		return ep_error_hint(ep_error_create(EP_ERROR_UNSUPPORTED,
		                                     "%s: a gcov profile, as GCC reads it", name),
		                     "llvm-profdata merge --sample --extbinary reads some of them");
	if (begins_with(data, n, "\xfflprof") || begins_with(data, n, "\x81rforpl\xff") ||
	    begins_with(data, n, "\xffrprofl"))
		return ep_error_create(EP_ERROR_UNSUPPORTED,
		                       "%s: an LLVM instrumentation profile, not a sample profile",
		                       name);
	if (!n)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: empty file", name);
	if (!may_be_text(data, n))
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: not a sample profile", name);
	return NULL;
}

struct ep_error *ep_sprof_check_memory(const struct ep_sprof *prof, const char *name,
                                       const struct ep_sprof_read_opts *opts)
{
	if (ep_sprof_memory(prof) <= opts->memory_max)
		return NULL;
	return ep_error_hint(ep_error_create(EP_ERROR_NOMEM,
	                                     "%s: the profile takes more than %zu bytes of memory",
	                                     name, opts->memory_max),
	                     "damaged files may claim any size");
}

static bool is_guid(const struct ep_sprof *prof, uint32_t name)
{
	uint64_t guid;

	return ep_sprof_is_guid(ep_strtab_get(&prof->names, name),
	                        ep_strtab_len(&prof->names, name), &guid);
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static bool all_guids(const struct ep_sprof *prof, const struct ep_sprof_func *func)
{
	if (!is_guid(prof, func->name))
		return false;
	for (uint32_t i = 0; i < func->n_records; i++)
		for (uint32_t k = 0; k < func->records[i].n_targets; k++)
			if (!is_guid(prof, func->records[i].targets[k].name))
				return false;
	for (uint32_t i = 0; i < func->n_calls; i++)
		if (!all_guids(prof, func->calls[i].func))
			return false;
	return true;
}

/*
 * A profile of GUIDs that went through text, or through llvm-profdata without its --use-md5, has
 * them as names. No function has a name of digits only.
 */
static void guess_md5(struct ep_sprof *prof)
{
	for (size_t i = 0; i < prof->funcs.n; i++)
		if (!all_guids(prof, prof->funcs.v[i]))
			return;
	prof->flags |= EP_SPROF_MD5;
}

struct ep_error *ep_sprof_read(const void *data, size_t n, const char *name,
                               const struct ep_sprof_read_opts *opts, struct ep_sprof *ret)
{
	struct ep_sprof_read_opts limits = opts ? *opts : (struct ep_sprof_read_opts){0};
	enum ep_sprof_format format = ep_sprof_detect(data, n);
	struct ep_sprof prof = {.format = format};
	struct ep_error *err;

	if (!limits.memory_max && (!ep_size_mul(n, 64, &limits.memory_max) ||
	                           !ep_size_add(limits.memory_max, 64u << 20, &limits.memory_max)))
		limits.memory_max = SIZE_MAX;
	if (format == EP_SPROF_UNKNOWN)
		EP_TRY(refuse_other(data, n, name));
	if (format == EP_SPROF_EXTBINARY || format == EP_SPROF_BINARY) {
		err = ep_sprof_read_binary(data, n, name, &limits, &prof);
	} else {
		prof.format = EP_SPROF_TEXT;
		err = ep_sprof_read_text(data, n, name, &limits, &prof);
	}
	if (!err) {
		guess_md5(&prof);
		err = ep_sprof_finalise(&prof);
	}
	if (err) {
		ep_sprof_deinit(&prof);
		return err;
	}
	*ret = prof;
	return NULL;
}
