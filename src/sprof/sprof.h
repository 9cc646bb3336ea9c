/* SPDX-License-Identifier: BSD-2-Clause */
/* An LLVM sample profile in memory: the model, and how to build one in any order. */
#ifndef EP_SPROF_SPROF_H
#define EP_SPROF_SPROF_H

#include "base/arena.h"
#include "base/count.h"
#include "base/strtab.h"
#include "base/vec.h"

/*
 * Terms are LLVM's (llvm/ProfileData/SampleProf.h). A location in a function is (offset,
 * discriminator): the line less the line of the function's declaration, modulo 65536; in a
 * probe-based profile the probe's number. Counts are whole samples (not the fixed point of
 * base/count.h) and saturate at UINT64_MAX. A name is an id in `names`. In a profile with the flag
 * EP_SPROF_MD5 functions are known by their GUID only: their names are the GUIDs in decimal,
 * ordered as numbers; all others are ordered by their bytes.
 */

/* Inline stacks deeper than this are refused by the builder and the readers. */
#define EP_SPROF_DEPTH_MAX 1000

/* LLVM's readers refuse line offsets beyond this. */
#define EP_SPROF_OFFSET_MAX 0xffffu

/* A call target: sorted by count, highest first, then by name. */
struct ep_sprof_target {
	uint32_t name;
	uint64_t count;
};

/* One body line: sorted and unique by (offset, discriminator). */
struct ep_sprof_record {
	uint32_t offset, discriminator;
	uint64_t count;
	struct ep_sprof_target *targets;
	uint32_t n_targets;
	uint32_t i_index_; /* private */
};

/* A callee inlined at a location: sorted and unique by (offset, discriminator, name of func). */
struct ep_sprof_call {
	uint32_t offset, discriminator;
	struct ep_sprof_func *func;
};

enum ep_sprof_func_flags {
	EP_SPROF_HAS_CHECKSUM = 1u << 0,
	EP_SPROF_HAS_ATTRIBUTES = 1u << 1,
	EP_SPROF_RECORDS_SORTED_ = 1u << 8, /* private */
};

/* Bits of ep_sprof_func.attributes. */
enum ep_sprof_attributes {
	EP_SPROF_ATTR_INLINED = 1,       /* was inlined in the profiled binary */
	EP_SPROF_ATTR_SHOULD_INLINE = 2, /* decision of a pre-inliner */
	EP_SPROF_ATTR_DUPLICATED = 4,    /* its counts are in the base profile as well */
};

/* A function of the profile, or an inlined copy of one inside another. */
struct ep_sprof_func {
	uint32_t name;
	uint32_t depth; /* 0: top level */
	uint32_t flags; /* enum ep_sprof_func_flags */
	uint32_t attributes;
	uint64_t total;    /* of its body and of the callees inlined in it, in LLVM's measure */
	uint64_t head;     /* entries; 0 for inlined copies, where no format holds it */
	uint64_t checksum; /* of the control flow, probe-based profiles only */
	struct ep_sprof_record *records;
	struct ep_sprof_call *calls;
	uint32_t n_records, n_calls;
	uint32_t i_records_index_, i_calls_index_; /* private */
};

enum ep_sprof_flags {
	EP_SPROF_MD5 = 1u << 0,        /* functions go by GUID: the names are not known */
	EP_SPROF_PROBE = 1u << 1,      /* offsets are pseudo-probe numbers */
	EP_SPROF_FS = 1u << 2,         /* flow-sensitive discriminators */
	EP_SPROF_PREINLINED = 1u << 3, /* a pre-inliner has set ATTR_SHOULD_INLINE */
	EP_SPROF_PARTIAL = 1u << 4,    /* covers a part of the program only */
};

enum ep_sprof_format {
	EP_SPROF_UNKNOWN = 0,
	EP_SPROF_TEXT,
	EP_SPROF_BINARY,
	EP_SPROF_EXTBINARY,
};

/* A section of the ExtBinary file a profile was read from. */
struct ep_sprof_section {
	uint64_t type, flags, offset, size; /* as in the file's table */
	const unsigned char *data; /* of types LLVM does not know: a copy, unpacked; else NULL */
	size_t data_size;
};

struct ep_sprof_free_;

/* Private: finds the place of a key in a big array. */
struct ep_sprof_index_ {
	uint32_t *slots, n_slots;
};

/*
 * Zero-initialise to start. Not for use by two threads at once. Everything it points to lives until
 * ep_sprof_deinit().
 */
struct ep_sprof {
	struct ep_strtab names;
	EP_VEC(struct ep_sprof_func *) funcs; /* top level, by total (highest first), then name */
	EP_VEC(uint32_t) symbols;             /* the symbol list, names by bytes; may be empty */
	uint32_t flags;                       /* enum ep_sprof_flags */
	bool finalised;                       /* sorted: everything the comments above promise */

	/* Of a profile that was read. */
	enum ep_sprof_format format;
	uint64_t version;
	EP_VEC(struct ep_sprof_section) sections;

	struct ep_arena arena;
	EP_VEC(struct ep_sprof_func *) of_name_; /* private from here on */
	EP_VEC(struct ep_sprof_index_) indexes_;
	struct ep_sprof_free_ *free_[32];
	uint64_t seed_;
	uint32_t *rank_, n_rank_; /* place of a name id in the order of names, when finalised */
};

void ep_sprof_deinit(struct ep_sprof *prof);

/*
 * Building: any order, a call of any kind any number of times; nothing is quadratic in anything.
 * All errors are NOMEM, except as said. Each call unsets `finalised`.
 */

/* The id of a name of n bytes. Equal names have equal ids. */
static inline EP_MUST_CHECK struct ep_error *ep_sprof_name(struct ep_sprof *prof, const char *name,
                                                           size_t n, uint32_t *ret)
{
	return ep_strtab_add(&prof->names, name, n, ret);
}

/* The top-level function of that name, made empty when there is none. */
struct ep_error *ep_sprof_func(struct ep_sprof *prof, uint32_t name, struct ep_sprof_func **ret)
    EP_MUST_CHECK;

/* The top-level function of that name or NULL. */
struct ep_sprof_func *ep_sprof_func_find(const struct ep_sprof *prof, uint32_t name);

/*
 * The copy of `name` inlined into func at the location, made empty when there is none. The pointer
 * stays valid. Errors: NOMEM; BAD_DATA beyond EP_SPROF_DEPTH_MAX.
 */
struct ep_error *ep_sprof_callee(struct ep_sprof *prof, struct ep_sprof_func *func, uint32_t offset,
                                 uint32_t discriminator, uint32_t name, struct ep_sprof_func **ret)
    EP_MUST_CHECK;

/*
 * The body record of func at the location, made with count 0 when there is none: a record of count
 * 0 says "known not to run". Valid until the next record is made in the same function.
 */
struct ep_error *ep_sprof_record(struct ep_sprof *prof, struct ep_sprof_func *func, uint32_t offset,
                                 uint32_t discriminator, struct ep_sprof_record **ret)
    EP_MUST_CHECK;

/* The record's count becomes the sum, or the greater of it and `count`. */
struct ep_error *ep_sprof_body_add(struct ep_sprof *prof, struct ep_sprof_func *func,
                                   uint32_t offset, uint32_t discriminator, uint64_t count)
    EP_MUST_CHECK;
struct ep_error *ep_sprof_body_max(struct ep_sprof *prof, struct ep_sprof_func *func,
                                   uint32_t offset, uint32_t discriminator, uint64_t count)
    EP_MUST_CHECK;

/* Adds calls of `name` at a record of this profile. */
struct ep_error *ep_sprof_target_add(struct ep_sprof *prof, struct ep_sprof_record *record,
                                     uint32_t name, uint64_t count) EP_MUST_CHECK;

/* Adds a name to the symbol list: functions the binary holds, sampled or not. */
struct ep_error *ep_sprof_symbol_add(struct ep_sprof *prof, uint32_t name) EP_MUST_CHECK;

/*
 * Adds everything of `other` to prof, counts times `weight`, saturating. `other` is not changed and
 * may be destroyed afterwards. Errors: NOMEM; MISMATCH when one is probe-based, holds GUIDs or
 * has flow-sensitive discriminators and the other not, or when checksums of one function differ;
 * prof is then a partial sum.
 */
struct ep_error *ep_sprof_merge(struct ep_sprof *prof, const struct ep_sprof *other,
                                uint64_t weight) EP_MUST_CHECK;

/* Sorts everything, for writing and reading through; may be repeated after further changes. */
struct ep_error *ep_sprof_finalise(struct ep_sprof *prof) EP_MUST_CHECK;

/* Bytes of memory the profile holds. */
size_t ep_sprof_memory(const struct ep_sprof *prof);

/* LLVM's GUID of a name: the first 8 bytes, little-endian, of its MD5. */
uint64_t ep_sprof_guid(const char *name, size_t n);

/* The GUID of a function or call target of this profile, whose name may be one already. */
uint64_t ep_sprof_guid_of(const struct ep_sprof *prof, uint32_t name);

#endif
