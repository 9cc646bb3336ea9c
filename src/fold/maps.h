/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorted sets of maps, shared between an address space and the stacks that wait to be folded. */
#ifndef EP_FOLD_MAPS_H
#define EP_FOLD_MAPS_H

#include "base/error.h"

/*
 * A compact address: number of the binary in the high 16 bits, address in the binary's space in
 * the low 48. Kernel vaddrs are canonical: bit 47 says what the upper bits are.
 */
#define EP_FOLD_BIN_SHIFT 48
#define EP_FOLD_OFFSET_MASK ((UINT64_C(1) << EP_FOLD_BIN_SHIFT) - 1)

/* Binary numbers below FIRST are places without a binary; their compact address has offset 0. */
enum ep_fold_bin {
	EP_FOLD_BIN_UNMAPPED = 0,
	EP_FOLD_BIN_ANON = 1,      /* memory without a file */
	EP_FOLD_BIN_KERNEL = 2,    /* kernel addresses without a kernel map */
	EP_FOLD_BIN_AMBIGUOUS = 3, /* no pid, and processes disagree */
	EP_FOLD_BIN_OVERFLOW = 4,  /* binaries over the limit */
	EP_FOLD_BIN_FIRST = 5,
	EP_FOLD_BIN_END = 1 << 16,
};

static inline uint32_t ep_fold_bin_of(uint64_t compact)
{
	return (uint32_t)(compact >> EP_FOLD_BIN_SHIFT);
}

/* Compact address of an ip in [start, start + len): base + (ip & mask), wrapping. */
struct ep_fold_map {
	uint64_t start, len;
	uint64_t base, mask; /* mask: all ones, or 0 for the places below EP_FOLD_BIN_FIRST */
};

/* [start, start + len) as a piece of binary `bin`, `address` being where it starts there. */
static inline struct ep_fold_map ep_fold_map_make(uint64_t start, uint64_t len, uint32_t bin,
                                                  uint64_t address)
{
	uint64_t high = (uint64_t)bin << EP_FOLD_BIN_SHIFT;
	bool real = bin >= EP_FOLD_BIN_FIRST;

	return (struct ep_fold_map){.start = start,
	                            .len = len,
	                            .base = real ? high + (address & EP_FOLD_OFFSET_MASK) - start
	                                         : high,
	                            .mask = real ? UINT64_MAX : 0};
}

/* Room for maps, shared by the sets made with it, which it outlives. */
struct ep_fold_room {
	uint64_t n_maps; /* atomic: threads may end sets */
	bool full;       /* the last change did not fit; what it touched is not mapped any more */
};

/* Maps of one set, and of all: 512 MiB. */
#define EP_FOLD_MAPS_MAX 65536
#define EP_FOLD_ROOM_MAX (UINT64_C(1) << 24)

/*
 * A reference-counted set: sorted, disjoint. Changed in place while there is one reference, copied
 * before a change otherwise, so that what others see never changes.
 */
struct ep_fold_maps {
	uint32_t n_refs; /* atomic */
	uint32_t n, cap;
	uint32_t stamp; /* scratch of who walks over many sets */
	struct ep_fold_room *room;
	struct ep_fold_map v[];
};

struct ep_fold_maps *ep_fold_maps_ref(struct ep_fold_maps *maps); /* NULL stays NULL */
void ep_fold_maps_unref(struct ep_fold_maps *maps);

/* The map that ip lies in, or NULL; a NULL set is an empty one. */
const struct ep_fold_map *ep_fold_maps_find(const struct ep_fold_maps *maps, uint64_t ip);

/* True if anything, or a real binary, is mapped anywhere in [start, start + len). */
bool ep_fold_maps_has_any(const struct ep_fold_maps *maps, uint64_t start, uint64_t len);
bool ep_fold_maps_has_binary(const struct ep_fold_maps *maps, uint64_t start, uint64_t len);

/* Replaces what `map` overlaps. *maps may be NULL (empty), and is after a change in want of room.
 */
struct ep_error *ep_fold_maps_add(struct ep_fold_maps **maps, const struct ep_fold_map *map,
                                  struct ep_fold_room *room) EP_MUST_CHECK;

/* Removes [start, start + len), splitting. */
struct ep_error *ep_fold_maps_remove(struct ep_fold_maps **maps, uint64_t start, uint64_t len,
                                     struct ep_fold_room *room) EP_MUST_CHECK;

/* Adds where nothing is; where something else is, the place becomes ambiguous. */
struct ep_error *ep_fold_maps_unite(struct ep_fold_maps **maps, const struct ep_fold_map *map,
                                    struct ep_fold_room *room) EP_MUST_CHECK;

#endif
