/* SPDX-License-Identifier: BSD-2-Clause */
/* Address spaces per process and time. */
#include "fold/spaces.h"

#include <string.h>

/* Processes that have ended whose maps are still there. */
#define EXITED_KEPT 1024
/*
 * Maps that may be gone over for samples without a pid, at all and per map event. Uniting anew at
 * every sample would be quadratic for an input in which processes end between all samples.
 */
#define UNITE_BUDGET (UINT64_C(1) << 24)
#define UNITE_PER_CHANGE 256

void ep_fold_spaces_deinit(struct ep_fold_spaces *spaces)
{
	for (size_t i = 0; i < spaces->processes.n; i++)
		ep_fold_maps_unref(spaces->processes.v[i].maps);
	ep_fold_maps_unref(spaces->kernel);
	ep_fold_maps_unref(spaces->united);
	ep_vec_deinit(&spaces->processes);
	ep_vec_deinit(&spaces->exited);
	ep_strtab_deinit(&spaces->pids);
}

static bool find_process(const struct ep_fold_spaces *spaces, int32_t pid, uint32_t *ret)
{
	return ep_strtab_find(&spaces->pids, (const char *)&pid, sizeof(pid), ret);
}

static struct ep_error *get_process(struct ep_fold_spaces *spaces, int32_t pid,
                                    struct ep_fold_process **ret)
{
	uint32_t i;

	EP_TRY(ep_strtab_add(&spaces->pids, (const char *)&pid, sizeof(pid), &i));
	if (i == spaces->processes.n &&
	    !ep_vec_push(&spaces->processes, (struct ep_fold_process){0}))
		return ep_error_nomem();
	*ret = &spaces->processes.v[i];
	return NULL;
}

static void reset(struct ep_fold_spaces *spaces, struct ep_fold_process *process)
{
	ep_fold_maps_unref(process->maps);
	*process = (struct ep_fold_process){.seen = true};
	spaces->united_valid = false;
	spaces->last_valid = false;
}

struct ep_error *ep_fold_spaces_exec(struct ep_fold_spaces *spaces, int32_t pid)
{
	struct ep_fold_process *process;

	EP_TRY(get_process(spaces, pid, &process));
	reset(spaces, process);
	return NULL;
}

struct ep_error *ep_fold_spaces_fork(struct ep_fold_spaces *spaces, int32_t pid, int32_t ppid)
{
	struct ep_fold_process *process;
	uint32_t i_parent;

	if (pid == ppid)
		return NULL;
	EP_TRY(get_process(spaces, pid, &process));
	reset(spaces, process);
	if (find_process(spaces, ppid, &i_parent))
		process->maps = ep_fold_maps_ref(spaces->processes.v[i_parent].maps);
	return NULL;
}

static void forget_oldest_exited(struct ep_fold_spaces *spaces)
{
	uint32_t *slot = &spaces->exited.v[spaces->i_exited];
	struct ep_fold_process *process = &spaces->processes.v[*slot];

	if (process->exited) {
		ep_fold_maps_unref(process->maps);
		process->maps = NULL;
		spaces->last_valid = false;
	}
}

struct ep_error *ep_fold_spaces_exit(struct ep_fold_spaces *spaces, int32_t pid)
{
	uint32_t i;

	if (!find_process(spaces, pid, &i) || spaces->processes.v[i].exited)
		return NULL;
	if (spaces->exited.n == EXITED_KEPT) {
		forget_oldest_exited(spaces);
		spaces->exited.v[spaces->i_exited] = i;
		spaces->i_exited = (spaces->i_exited + 1) % EXITED_KEPT;
	} else if (!ep_vec_push(&spaces->exited, i)) {
		return ep_error_nomem();
	}
	spaces->processes.v[i].exited = true;
	spaces->united_valid = false;
	return NULL;
}

static void warn_full(struct ep_fold_spaces *spaces, int32_t pid)
{
	if (spaces->room.full)
		ep_warn(spaces->warnings, "too-many-maps",
		        "process %d: too many maps: some are taken as not mapped", (int)pid);
}

/* The process that a map or unmap event changes. */
static struct ep_error *change(struct ep_fold_spaces *spaces, int32_t pid,
                               struct ep_fold_process **ret)
{
	EP_TRY(get_process(spaces, pid, ret));
	/* Its number is in use again, although nothing said that a process began. */
	if ((*ret)->exited)
		reset(spaces, *ret);
	(*ret)->seen = true;
	spaces->n_changes++;
	spaces->last_valid = false;
	return NULL;
}

/* A map where the process had nothing only adds to what all have together. */
static struct ep_error *note_map(struct ep_fold_spaces *spaces, bool is_new,
                                 const struct ep_fold_map *map)
{

	if (!spaces->united_valid)
		return NULL;
	if (!is_new) {
		spaces->united_valid = false;
		return NULL;
	}
	EP_TRY(ep_fold_maps_unite(&spaces->united, map, &spaces->room));
	spaces->united_valid = !spaces->room.full;
	return NULL;
}

struct ep_error *ep_fold_spaces_map(struct ep_fold_spaces *spaces, int32_t pid, bool is_kernel,
                                    const struct ep_fold_map *map, bool keep_file_map)
{
	struct ep_fold_maps **maps = &spaces->kernel;
	struct ep_fold_process *process;
	bool is_new = false;

	spaces->any_map = true;
	if (!map->len)
		return NULL;
	if (!is_kernel) {
		EP_TRY(change(spaces, pid, &process));
		maps = &process->maps;
		is_new = !ep_fold_maps_has_any(*maps, map->start, map->len);
	}
	if (keep_file_map && !map->mask && ep_fold_bin_of(map->base) == EP_FOLD_BIN_ANON &&
	    ep_fold_maps_has_binary(*maps, map->start, map->len))
		return NULL;
	EP_TRY(ep_fold_maps_add(maps, map, &spaces->room));
	warn_full(spaces, pid);
	return is_kernel ? NULL : note_map(spaces, is_new && !spaces->room.full, map);
}

struct ep_error *ep_fold_spaces_unmap(struct ep_fold_spaces *spaces, int32_t pid, uint64_t start,
                                      uint64_t len)
{
	struct ep_fold_process *process;

	if (len && start + (len - 1) < start)
		len = -start;
	EP_TRY(change(spaces, pid, &process));
	spaces->united_valid = false;
	EP_TRY(ep_fold_maps_remove(&process->maps, start, len, &spaces->room));
	warn_full(spaces, pid);
	return NULL;
}

/* The maps of all processes, each set once: forked processes share theirs. Stops if room->full. */
static struct ep_error *unite_all(struct ep_fold_spaces *spaces, struct ep_fold_maps **ret)
{
	spaces->stamp++;
	for (size_t i = 0; i < spaces->processes.n; i++) {
		struct ep_fold_process *process = &spaces->processes.v[i];
		struct ep_fold_maps *maps = process->maps;
		spaces->n_united++;
		if (!maps || process->exited || maps->stamp == spaces->stamp)
			continue;
		maps->stamp = spaces->stamp;
		spaces->n_united += maps->n;
		for (size_t j = 0; j < maps->n; j++) {
			EP_TRY(ep_fold_maps_unite(ret, &maps->v[j], &spaces->room));
			if (spaces->room.full)
				return NULL;
		}
	}
	return NULL;
}

static struct ep_error *unite(struct ep_fold_spaces *spaces)
{
	const struct ep_fold_map anything =
	    ep_fold_map_make(0, UINT64_MAX, EP_FOLD_BIN_AMBIGUOUS, 0);
	struct ep_fold_maps *united = NULL;
	struct ep_error *err;

	spaces->room.full = spaces->n_united > UNITE_BUDGET + spaces->n_changes * UNITE_PER_CHANGE;
	err = spaces->room.full ? NULL : unite_all(spaces, &united);
	if (!err && spaces->room.full) {
		ep_warn(spaces->warnings, "too-many-changes",
		        "too many maps, or changes of them, between samples without a pid: these "
		        "are dropped");
		ep_fold_maps_unref(united);
		united = NULL;
		err = ep_fold_maps_add(&united, &anything, &spaces->room);
	}
	if (err) {
		ep_fold_maps_unref(united);
		return err;
	}
	ep_fold_maps_unref(spaces->united);
	spaces->united = united;
	spaces->united_valid = true;
	return NULL;
}

struct ep_error *ep_fold_spaces_find(struct ep_fold_spaces *spaces, int32_t pid,
                                     struct ep_fold_maps **ret, bool *known_ret)
{
	if (pid == EP_PID_UNKNOWN) {
		if (!spaces->united_valid)
			EP_TRY(unite(spaces));
		*ret = spaces->united;
		*known_ret = true;
		return NULL;
	}
	if (!spaces->last_valid || spaces->last_pid != pid) {
		uint32_t i;
		if (!find_process(spaces, pid, &i)) {
			*ret = NULL;
			*known_ret = false;
			return NULL;
		}
		spaces->last_pid = pid;
		spaces->last_process = i;
		spaces->last_valid = true;
	}
	const struct ep_fold_process *process = &spaces->processes.v[spaces->last_process];
	*ret = process->maps;
	*known_ret = process->seen;
	return NULL;
}
