/* SPDX-License-Identifier: BSD-2-Clause */
/* An ELF binary: identity, segments (foff to vaddr), code bytes, symbols and sections. */
#ifndef EP_OBJECT_OBJECT_H
#define EP_OBJECT_OBJECT_H

#include "record/build_id.h"

/* A PT_LOAD. For relocatable files (kernel modules), a code section at vaddr == foff. */
struct ep_segment {
	uint64_t vaddr, mem_size;
	uint64_t foff, file_size; /* cut to what the file really holds */
	bool executable;
};

/* A stretch of code, [vaddr, vaddr + size). */
struct ep_text_range {
	uint64_t vaddr, size;
};

struct ep_section {
	const char *name; /* "" if unreadable */
	uint64_t vaddr, foff, size;
	uint32_t type;  /* SHT_* */
	uint64_t flags; /* SHF_* */
	/* ".debug_x" with SHF_COMPRESSED or ".zdebug_x": `data` is the compressed form. */
	bool compressed;
	const unsigned char *data; /* `size` bytes, NULL for SHT_NOBITS or a section cut off */
};

/* A function. */
struct ep_symbol {
	uint64_t vaddr, size; /* size 0: not known */
	const char *name;
	uint8_t type, binding; /* STT_FUNC or STT_GNU_IFUNC, STB_* */
};

struct ep_object_priv;

/*
 * An opened binary, all fields read-only; pointers live until ep_object_close(). May be read by
 * several threads, except for the first ep_object_symbols().
 */
struct ep_object {
	const char *path;
	struct ep_build_id build_id; /* never empty: a content hash where there is no note */
	uint16_t machine;            /* EM_* */
	uint16_t type;               /* ET_* */
	bool is_64, big_endian;
	const struct ep_segment *segments; /* sorted by vaddr */
	size_t n_segments;
	const struct ep_text_range *text; /* sorted, disjoint */
	size_t n_text;
	const struct ep_section *sections; /* without the empty section 0 */
	size_t n_sections;
	struct ep_object_priv *priv;
};

/*
 * Opens a binary. Errors: OS; NOMEM; UNSUPPORTED for what is not ELF (the message says what it is
 * where that is known: PE/COFF, Mach-O, archive, script); BAD_DATA for an ELF file whose headers
 * do not hold.
 */
struct ep_error *ep_object_open(const char *path, struct ep_object **ret) EP_MUST_CHECK;

/* The same for n borrowed bytes that outlive the object; `name` is for messages. */
struct ep_error *ep_object_open_memory(const void *data, size_t n, const char *name,
                                       struct ep_object **ret) EP_MUST_CHECK;

/* NULL is allowed. */
void ep_object_close(struct ep_object *object);

/*
 * The identity of the file at `path`, and its EM_* where machine_ret is not NULL. Reads headers and
 * notes only; the whole file when there is no build-id note. Errors: as ep_object_open().
 */
struct ep_error *ep_object_build_id(const char *path, struct ep_build_id *id_ret,
                                    uint16_t *machine_ret) EP_MUST_CHECK;

/* Between file offset and linked address by PT_LOAD, executable ones first. False: in none. */
bool ep_object_foff_to_vaddr(const struct ep_object *object, uint64_t foff, uint64_t *ret);
bool ep_object_vaddr_to_foff(const struct ep_object *object, uint64_t vaddr, uint64_t *ret);

/* True if vaddr lies in code: an executable section, or segment where there are no sections. */
bool ep_object_is_text(const struct ep_object *object, uint64_t vaddr);

/* The file's bytes from vaddr to the end of its segment, n_ret of them (> 0); NULL: none there. */
const unsigned char *ep_object_bytes(const struct ep_object *object, uint64_t vaddr, size_t *n_ret);

/*
 * Functions of .symtab, else of .dynsym, sorted by vaddr, larger ones first, then by name. None is
 * not an error. Read at the first call. Errors: NOMEM, BAD_DATA.
 */
struct ep_error *ep_object_symbols(struct ep_object *object, const struct ep_symbol **ret,
                                   size_t *n_ret) EP_MUST_CHECK;

/* The first section of that name, ".zdebug_x" found as ".debug_x" too; NULL: none. */
const struct ep_section *ep_object_section(const struct ep_object *object, const char *name);

/* The file name and CRC of .gnu_debuglink; false: none. */
bool ep_object_debuglink(const struct ep_object *object, const char **name_ret, uint32_t *crc_ret);

#endif
