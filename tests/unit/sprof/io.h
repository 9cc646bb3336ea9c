/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles from and to memory, for the tests of the readers and writers. */
#ifndef EP_TESTS_SPROF_IO_H
#define EP_TESTS_SPROF_IO_H

#include <stdio.h>
#include <string.h>

#include "sprof/read.h"
#include "sprof/write.h"
#include "support/check.h"

struct bytes {
	char *v;
	size_t n;
};

/* What is written; to be freed. */
static inline struct bytes written(const struct ep_sprof *prof,
                                   const struct ep_sprof_write_opts *opts)
{
	struct bytes b = {0};
	FILE *out = open_memstream(&b.v, &b.n);

	assert_non_null(out);
	check_ok(ep_sprof_write(prof, opts, out));
	assert_int_equal(fclose(out), 0);
	return b;
}

static inline struct bytes written_as(const struct ep_sprof *prof, enum ep_sprof_format format)
{
	struct ep_sprof_write_opts opts = {.format = format};

	return written(prof, &opts);
}

/* Reads from an exact-size buffer that ends at an unmapped page. */
static inline struct ep_error *read_guarded(const void *data, size_t n,
                                            const struct ep_sprof_read_opts *opts,
                                            struct ep_sprof *ret)
{
	void *guarded = check_guard(data, n);
	struct ep_error *err = ep_sprof_read(guarded, n, "in", opts, ret);

	check_guard_free(guarded, n);
	return err;
}

static inline struct ep_sprof profile_of(const char *text)
{
	struct ep_sprof prof;

	check_ok(read_guarded(text, strlen(text), NULL, &prof));
	return prof;
}

/* Reading `text` and writing it gives `want`. */
static inline void check_text(const char *text, const char *want)
{
	struct ep_sprof prof = profile_of(text);
	struct bytes got = written_as(&prof, EP_SPROF_TEXT);

	assert_string_equal(got.v, want);
	free(got.v);
	ep_sprof_deinit(&prof);
}

/* Reading fails with this code and this message. */
static inline void check_refused(const void *data, size_t n, enum ep_error_code code,
                                 const char *message)
{
	struct ep_sprof prof;
	struct ep_error *err = read_guarded(data, n, NULL, &prof);

	assert_non_null(err);
	assert_string_equal(err->message, message);
	assert_int_equal(err->code, code);
	ep_error_destroy(err);
}

#endif
