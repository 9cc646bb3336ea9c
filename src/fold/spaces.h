/* SPDX-License-Identifier: BSD-2-Clause */
/* Address spaces per process and time (folding rule 1). */
#ifndef EP_FOLD_SPACES_H
#define EP_FOLD_SPACES_H

#include "base/strtab.h"
#include "base/vec.h"
#include "base/warn.h"
#include "fold/maps.h"
#include "record/event.h"

struct ep_fold_process {
	struct ep_fold_maps *maps;
	bool seen;   /* exec, map or fork told of it */
	bool exited; /* maps are kept for a while: samples of other threads may follow */
};

/* For one thread; outlives all sets it gave. */
struct ep_fold_spaces {
	struct ep_strtab pids; /* 4 bytes of pid -> index of `processes` */
	EP_VEC(struct ep_fold_process) processes;
	EP_VEC(uint32_t) exited; /* ring of processes, oldest at i_exited */
	size_t i_exited;
	struct ep_fold_room room;
	struct ep_fold_maps *kernel;
	struct ep_fold_maps *united; /* of all processes, for samples without a pid */
	bool united_valid;
	uint64_t n_changes, n_united; /* map events; maps gone over to unite them */
	bool any_map;                 /* was a map seen at all? */
	int32_t last_pid;             /* of the last look-up, with its process */
	uint32_t last_process;
	bool last_valid;
	uint32_t stamp;
	struct ep_warnings *warnings;
};

void ep_fold_spaces_deinit(struct ep_fold_spaces *spaces);

struct ep_error *ep_fold_spaces_exec(struct ep_fold_spaces *spaces, int32_t pid) EP_MUST_CHECK;
struct ep_error *ep_fold_spaces_fork(struct ep_fold_spaces *spaces, int32_t pid, int32_t ppid)
    EP_MUST_CHECK;
struct ep_error *ep_fold_spaces_exit(struct ep_fold_spaces *spaces, int32_t pid) EP_MUST_CHECK;

/* keep_file_map: an anonymous map does not end the file maps it overlaps, it is left out. */
struct ep_error *ep_fold_spaces_map(struct ep_fold_spaces *spaces, int32_t pid, bool is_kernel,
                                    const struct ep_fold_map *map, bool keep_file_map)
    EP_MUST_CHECK;
struct ep_error *ep_fold_spaces_unmap(struct ep_fold_spaces *spaces, int32_t pid, uint64_t start,
                                      uint64_t len) EP_MUST_CHECK;

/*
 * The maps of a process, or of all together for EP_PID_UNKNOWN; NULL: none. Borrowed until the next
 * change; *known_ret: was anything heard of the process?
 */
struct ep_error *ep_fold_spaces_find(struct ep_fold_spaces *spaces, int32_t pid,
                                     struct ep_fold_maps **ret, bool *known_ret) EP_MUST_CHECK;

#endif
