/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of sprof share: keyed sets, orders, zlib, and the parts of readers and writers. */
#ifndef EP_SPROF_PRIVATE_H
#define EP_SPROF_PRIVATE_H

#include "base/bytes.h"
#include "sprof/read.h"
#include "sprof/sprof.h"
#include "sprof/summary.h"
#include "sprof/write.h"

/* The first 9 bytes of a binary file: a magic of 8 bytes with the format in its lowest, in ULEB128.
 */
#define MAGIC_BASE UINT64_C(0x5350524f46343200)
#define MAGIC_BINARY (MAGIC_BASE | 0xff)
#define MAGIC_COMPACT (MAGIC_BASE | 0x02)
#define MAGIC_EXTBINARY (MAGIC_BASE | 0x04)
#define FORMAT_VERSION 103

/* Section types of ExtBinary. */
enum sec_type {
	SEC_SUMMARY = 1,
	SEC_NAME_TABLE = 2,
	SEC_SYMBOL_LIST = 3,
	SEC_FUNC_OFFSETS = 4,
	SEC_FUNC_METADATA = 5,
	SEC_CONTEXT_TABLE = 6,
	SEC_BODIES = 32,
};

/* Section flags: the low half is common to all types, the high half depends on the type. */
#define SEC_COMPRESSED UINT64_C(1)
#define SEC_SUMMARY_PARTIAL (UINT64_C(1) << 32)
#define SEC_SUMMARY_CONTEXT (UINT64_C(2) << 32)
#define SEC_SUMMARY_FS (UINT64_C(4) << 32)
#define SEC_SUMMARY_PREINLINED (UINT64_C(16) << 32)
#define SEC_SUMMARY_VTABLES (UINT64_C(32) << 32)
#define SEC_NAMES_MD5 (UINT64_C(1) << 32)
#define SEC_NAMES_MD5_FIXED (UINT64_C(2) << 32)
#define SEC_NAMES_UNIQ (UINT64_C(4) << 32)
#define SEC_METADATA_PROBE (UINT64_C(1) << 32)
#define SEC_METADATA_ATTRIBUTES (UINT64_C(2) << 32)

/* The value of a name that is a GUID in decimal, as LLVM prints it: 1 to 2^64 - 1. */
bool ep_sprof_is_guid(const char *s, size_t n, uint64_t *ret);

/* Sorts name ids: by their bytes, or GUIDs by value before all others. */
struct ep_error *ep_sprof_sort_names(const struct ep_sprof *prof, uint32_t *ids, size_t n,
                                     bool as_guids) EP_MUST_CHECK;

/* Frees the private look-up structures that sorting makes wrong. */
void ep_sprof_drop_indexes(struct ep_sprof *prof);

/* A deflated copy, behind its two sizes, as ExtBinary has it; nothing for no bytes. */
struct ep_error *ep_sprof_deflate(const void *data, size_t n, struct ep_buf *out) EP_MUST_CHECK;

/*
 * Undoes it. *ret is to be freed. Errors: BAD_DATA (the caller adds the place); NOMEM, also when
 * the stated size is over max_bytes.
 */
struct ep_error *ep_sprof_inflate(const void *data, size_t n, size_t max_bytes, unsigned char **ret,
                                  size_t *n_ret) EP_MUST_CHECK;

struct ep_error *ep_sprof_write_text(const struct ep_sprof *prof, FILE *out) EP_MUST_CHECK;
struct ep_error *ep_sprof_write_binary(const struct ep_sprof *prof,
                                       const struct ep_sprof_write_opts *opts, FILE *out)
    EP_MUST_CHECK;

/* The readers proper: prof is empty before, and to be destroyed by the caller on failure. */
struct ep_error *ep_sprof_read_text(const void *data, size_t n, const char *name,
                                    const struct ep_sprof_read_opts *opts, struct ep_sprof *prof)
    EP_MUST_CHECK;
struct ep_error *ep_sprof_read_binary(const void *data, size_t n, const char *name,
                                      const struct ep_sprof_read_opts *opts, struct ep_sprof *prof)
    EP_MUST_CHECK;

/* True if the first line that is neither blank nor a comment is a function's. */
bool ep_sprof_looks_like_text(const void *data, size_t n);

/* NOMEM with a hint once the profile is over opts->memory_max. */
struct ep_error *ep_sprof_check_memory(const struct ep_sprof *prof, const char *name,
                                       const struct ep_sprof_read_opts *opts) EP_MUST_CHECK;

#endif
