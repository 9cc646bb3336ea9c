/* SPDX-License-Identifier: BSD-2-Clause */
/* Small ELF files made in memory, for tests. */
#ifndef EP_TESTS_ELF_IMAGE_H
#define EP_TESTS_ELF_IMAGE_H

#include "base/bytes.h"

struct elf_image_segment {
	uint64_t vaddr, foff, file_size, mem_size;
	bool executable;
};

struct elf_image_symbol {
	const char *name;
	uint64_t vaddr, size;
	uint8_t info; /* st_info */
};

/* Everything may be zero: then it is a 32-bit little-endian file with nothing in it. */
struct elf_image {
	bool is_64, big_endian;
	uint16_t type, machine;
	const struct elf_image_segment *segments;
	size_t n_segments;
	const void *notes; /* one PT_NOTE, and one SHT_NOTE where there are sections */
	size_t n_notes;
	uint64_t note_align;
	bool notes_in_section_only;
	const struct elf_image_symbol *symbols;
	size_t n_symbols;
	/* One more section, of type SHT_PROGBITS. */
	const char *section_name;
	const void *section_data;
	size_t n_section_data;
	uint64_t section_flags, section_vaddr;
	size_t min_size; /* the file is padded with zeros to this */
};

/* Appends the file's bytes to `ret`. */
void elf_image_write(const struct elf_image *image, struct ep_buf *ret);

/* Appends a note with a name of n_name bytes (the NUL included) and the given alignment. */
void elf_image_note(struct ep_buf *notes, bool big_endian, uint32_t type, const char *name,
                    size_t n_name, const void *desc, size_t n_desc, size_t align);

/* A file at `path` of the usual kind: x86-64, code of 0x10000 bytes at foff 0x1000 = vaddr
 * 0x401000, with a GNU build-id note of n_id bytes (none if 0). */
void elf_image_file(const char *path, const void *id, size_t n_id);

#endif
