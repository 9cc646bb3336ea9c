/* SPDX-License-Identifier: BSD-2-Clause */
/* Which binary a map belongs to (folding rule 8). */
#ifndef EP_FOLD_BINARIES_H
#define EP_FOLD_BINARIES_H

#include "base/strtab.h"
#include "base/vec.h"
#include "base/warn.h"
#include "edges/edges.h"
#include "fold/fold.h"
#include "fold/maps.h"
#include "object/object.h"

/* One number of compact addresses. Several may turn out to be the same binary in the end. */
struct ep_fold_binary {
	struct ep_build_id build_id; /* from the input; size 0: see `found` */
	struct ep_build_id found;    /* by looking at the file, or from --binary */
	enum ep_space space;
	uint16_t machine;
	const struct ep_object *given; /* where `found` is from; NULL: the file at the path */
	uint32_t i_path;               /* of `paths`: what late build-ids go by */
	bool linked;                   /* owner of an input without maps */
};

/* What a file at a path was when it was looked at. */
struct ep_fold_file {
	struct ep_build_id id; /* size 0: not to be had */
	uint16_t machine;
};

struct ep_fold_binaries {
	struct ep_object **given; /* --binary */
	size_t n_given;
	EP_VEC(struct ep_fold_binary) all; /* [i] has the number EP_FOLD_BIN_FIRST + i */
	struct ep_strtab keys;             /* identity -> index of `all` */
	struct ep_strtab paths;            /* of maps, without what follows "]" in kernel ones */
	struct ep_strtab hints;            /* 4 bytes of index of `all`, path */
	struct ep_strtab file_keys;        /* path and stat(2) -> index of `files` */
	EP_VEC(struct ep_fold_file) files;
	EP_VEC(struct ep_build_id) late; /* by index of `paths`; size 0: none */
	struct ep_warnings *warnings;
};

/* Opens the given binaries. Errors: those of ep_object_open(); USAGE for two of one basename. */
struct ep_error *ep_fold_binaries_init(struct ep_fold_binaries *binaries,
                                       const struct ep_fold_opts *opts,
                                       struct ep_warnings *warnings) EP_MUST_CHECK;
void ep_fold_binaries_deinit(struct ep_fold_binaries *binaries);

/* True for the map of a kernel's own image: its pgoff is an address, not an offset in a file. */
bool ep_fold_is_kernel_image(const struct ep_map *map);

/* The piece of address space that a map event makes. */
struct ep_error *ep_fold_binaries_place(struct ep_fold_binaries *binaries, const struct ep_map *map,
                                        struct ep_fold_map *ret) EP_MUST_CHECK;

/* The segments of the one given binary, for an input without maps; NULL if it is not exactly one.
 */
struct ep_error *ep_fold_binaries_linked(struct ep_fold_binaries *binaries,
                                         struct ep_fold_room *room, struct ep_fold_maps **ret)
    EP_MUST_CHECK;

/* EP_EVENT_BUILD_ID. */
struct ep_error *ep_fold_binaries_late(struct ep_fold_binaries *binaries, const char *path,
                                       const struct ep_build_id *id) EP_MUST_CHECK;

/* Warns of an identity that the input does not prove; `i` is an index of `all`. */
void ep_fold_binaries_warn(const struct ep_fold_binaries *binaries, uint32_t i);

/* Warns of --binary files that are none of those mapped, for an input that has maps. */
void ep_fold_binaries_warn_given(const struct ep_fold_binaries *binaries);

/* Fills identity and paths of ret[0..n] for all binaries; strings go to `arena`. */
struct ep_error *ep_fold_binaries_export(const struct ep_fold_binaries *binaries,
                                         struct ep_arena *arena, struct ep_edges_binary *ret)
    EP_MUST_CHECK;

#endif
