/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading LLVM sample profiles: text, and the binary formats of version 103. */
#ifndef EP_SPROF_READ_H
#define EP_SPROF_READ_H

#include "base/warn.h"
#include "sprof/sprof.h"

/* A compressed section may not be larger than this, before and after: zlib's sizes have 32 bits. */
#define EP_SPROF_SECTION_MAX UINT32_MAX

struct ep_sprof_read_opts {
	size_t memory_max;            /* of the profile, in bytes; 0: 64 times the input + 64 MiB */
	struct ep_warnings *warnings; /* what was left out, by kind; may be NULL */
};

/*
 * What the bytes look like: a binary magic, or a first line in the form of the text format.
 * UNKNOWN: no sample profile.
 */
enum ep_sprof_format ep_sprof_detect(const void *data, size_t n);

/*
 * Reads the n bytes of a profile and finalises it; `name` is the input's for messages, opts may be
 * NULL. A function that occurs twice is added up. Where all names are numbers, they are taken for
 * GUIDs (EP_SPROF_MD5). *ret is set on success only and then independent
 * of `data`. Errors: BAD_DATA with the place (file:line:column, or the offset); UNSUPPORTED for
 * formats and versions there are but this does not read; NOMEM, also over the memory limit.
 */
struct ep_error *ep_sprof_read(const void *data, size_t n, const char *name,
                               const struct ep_sprof_read_opts *opts, struct ep_sprof *ret)
    EP_MUST_CHECK;

#endif
