/* SPDX-License-Identifier: BSD-2-Clause */
/* What both fuzz entries of sample profiles check: what is read can be written and read again. */
#ifndef EP_TESTS_FUZZ_SPROF_H
#define EP_TESTS_FUZZ_SPROF_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sprof/read.h"
#include "sprof/summary.h"
#include "sprof/write.h"

#define FUZZ_MEMORY_MAX (64u << 20)

/* The written profile in *ret and *n_ret, to be freed; false when the format cannot hold it. */
static inline bool fuzz_write(const struct ep_sprof *prof, const struct ep_sprof_write_opts *opts,
                              char **ret, size_t *n_ret)
{
	FILE *out = open_memstream(ret, n_ret);

	if (!out)
		abort();
	struct ep_error *err = ep_sprof_write(prof, opts, out);
	fclose(out);
	bool ok = !err;
	if (err && err->code != EP_ERROR_USAGE && err->code != EP_ERROR_NOMEM)
		abort();
	ep_error_destroy(err);
	if (!ok)
		free(*ret);
	return ok;
}

/*
 * Binary formats keep the attributes of pre-inlined profiles only, as LLVM does: others are
 * cleared, since one of them changes the summary.
 */
static inline void fuzz_clear_attributes(struct ep_sprof_func *func)
{
	func->attributes = 0;
	for (uint32_t i = 0; i < func->n_calls; i++)
		fuzz_clear_attributes(func->calls[i].func);
}

/* Write, read, write: the same bytes twice. */
static inline void fuzz_identity(const struct ep_sprof *prof,
                                 const struct ep_sprof_write_opts *opts)
{
	char *first, *second;
	size_t n_first, n_second;
	struct ep_sprof back;

	if (!fuzz_write(prof, opts, &first, &n_first))
		return;
	struct ep_error *err = ep_sprof_read(first, n_first, "written", NULL, &back);
	if (err) {
		fprintf(stderr, "%s\n", err->message);
		abort();
	}
	if (!fuzz_write(&back, opts, &second, &n_second) || n_first != n_second ||
	    memcmp(first, second, n_first) != 0)
		abort();
	free(first);
	free(second);
	ep_sprof_deinit(&back);
}

static inline void fuzz_profile(const uint8_t *data, size_t size)
{
	struct ep_warnings warnings = {0};
	struct ep_sprof_read_opts read = {.memory_max = FUZZ_MEMORY_MAX, .warnings = &warnings};
	struct ep_sprof_write_opts write = {.format = EP_SPROF_TEXT};
	struct ep_sprof_summary summary;
	struct ep_sprof prof;
	double density;

	struct ep_error *err = ep_sprof_read(data, size, "in", &read, &prof);
	ep_warnings_deinit(&warnings);
	if (err) {
		ep_error_destroy(err);
		return;
	}
	fuzz_identity(&prof, &write);
	for (size_t i = 0; i < prof.funcs.n && !(prof.flags & EP_SPROF_PREINLINED); i++)
		fuzz_clear_attributes(prof.funcs.v[i]);
	write.format = EP_SPROF_EXTBINARY;
	write.compress = prof.funcs.n & 1;
	fuzz_identity(&prof, &write);
	for (size_t i = 0; i < prof.funcs.n; i++)
		fuzz_clear_attributes(prof.funcs.v[i]);
	write.format = EP_SPROF_BINARY;
	write.compress = false;
	fuzz_identity(&prof, &write);
	if (ep_sprof_summarise(&prof, &summary) || ep_sprof_density(&prof, &density))
		abort();
	ep_sprof_deinit(&prof);
}

#endif
