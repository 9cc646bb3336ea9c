/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing LLVM sample profiles: the bytes are those of `llvm-profdata merge`. */
#ifndef EP_SPROF_WRITE_H
#define EP_SPROF_WRITE_H

#include <stdio.h>

#include "sprof/sprof.h"

/* A section type of ours, which LLVM's readers skip: where the profile comes from, as JSON text. */
#define EP_SPROF_SECTION_PROVENANCE 0x65707276u

struct ep_sprof_write_opts {
	enum ep_sprof_format format;
	bool md5;               /* GUIDs in place of names; EXTBINARY only */
	bool compress;          /* sections by zlib; EXTBINARY only */
	const void *provenance; /* contents of EP_SPROF_SECTION_PROVENANCE, or NULL */
	size_t provenance_size;
};

/*
 * Writes a finalised profile to `out`, in sequence (pipes will do). Where the names are GUIDs
 * already, ExtBinary is always written with a table of GUIDs, while LLVM makes names of them. As
 * with LLVM, attributes are written in binary only when EP_SPROF_PREINLINED is set, and the symbol
 * list only to ExtBinary. Errors: NOMEM; USAGE when the options or the profile do not suit the
 * format; failed writes are left to ep_out_commit().
 */
struct ep_error *ep_sprof_write(const struct ep_sprof *prof, const struct ep_sprof_write_opts *opts,
                                FILE *out) EP_MUST_CHECK;

#endif
