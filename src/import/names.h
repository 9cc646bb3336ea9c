/* SPDX-License-Identifier: BSD-2-Clause */
/* What perf's names of maps and events mean. */
#ifndef EP_IMPORT_NAMES_H
#define EP_IMPORT_NAMES_H

#include "record/event.h"

/* True for the maps of a host's kernel image and modules: mapped by pid -1, or named "[kernel...".
 */
bool ep_map_name_is_kernel(const char *path, int32_t pid);

/* True for those of a guest's kernel. */
bool ep_map_name_is_guest(const char *path);

/* False for memory without a file, or without one that can be found again: "//anon", "[vdso]", "".
 */
bool ep_map_name_is_file(const char *path);

/*
 * What an event counts, as far as its name tells: "cycles:u", "cpu/instructions/",
 * "BR_INST_RETIRED.NEAR_TAKEN:uppp", "r20c4". UNKNOWN for "" and raw codes that are not known.
 */
enum ep_sampling ep_event_name_sampling(const char *name);

#endif
