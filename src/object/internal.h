/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of object share. Only this module sees libelf. */
#ifndef EP_OBJECT_INTERNAL_H
#define EP_OBJECT_INTERNAL_H

#include <gelf.h>
#include <libelf.h>

#include "base/arena.h"
#include "base/file.h"
#include "object/object.h"

struct ep_object_priv {
	struct ep_file file;
	const unsigned char *data;
	size_t size;
	Elf *elf;
	struct ep_arena arena;
	struct ep_symbol *symbols;
	size_t n_symbols;
	bool has_symbols; /* were read */
};

/* Where the bytes of notes come from: n bytes at foff, borrowed until the next call; NULL: none. */
struct ep_note_source {
	const unsigned char *(*bytes)(void *payload, uint64_t foff, uint64_t n);
	void *payload;
};

/*
 * The build-id of all the notes of the segments, then the sections. False: none, or out of memory
 * or bounds on the way, which is the same to the caller.
 */
bool ep_object_find_build_id(Elf *elf, bool swap, const struct ep_note_source *source,
                             struct ep_build_id *ret);

/*
 * The string at `offset` of section number i_section. NULL: no such, or the section does not end in
 * a NUL. (elf_strptr() searches for one at each call: quadratic on hostile files.)
 */
const char *ep_object_string(const struct ep_object *object, size_t i_section, uint64_t offset);

/* UNSUPPORTED if the first n bytes are not those of an ELF file, with what they are. */
struct ep_error *ep_object_check_magic(const char *path, const unsigned char *data, size_t n)
    EP_MUST_CHECK;

/* BAD_DATA from libelf's last error. */
struct ep_error *ep_object_elf_error(const char *path, const char *what) EP_MUST_CHECK;

#endif
