/* SPDX-License-Identifier: BSD-2-Clause */
/* Warnings by kind: libraries collect them, tools print each kind once with its count. */
#ifndef EP_BASE_WARN_H
#define EP_BASE_WARN_H

#include "base/error.h"

struct ep_warning {
	const char *kind; /* a short constant name such as "bad-feature-section" */
	char *first;      /* text of its first occurrence, with file and place */
	uint64_t count;
};

/* Zero-initialise to start. Not thread-safe. Room for 64 kinds; more are counted under the last. */
struct ep_warnings {
	struct ep_warning v[64];
	size_t n;
};

/*
 * Counts a warning of `kind` (a string that outlives the set). The text is kept for the first of a
 * kind only; a NULL set is allowed and does nothing.
 */
void ep_warn(struct ep_warnings *warnings, const char *kind, const char *fmt, ...) EP_PRINTF(3, 4);

/* The number of warnings of a kind, 0 if there are none. */
uint64_t ep_warn_count(const struct ep_warnings *warnings, const char *kind);

void ep_warnings_deinit(struct ep_warnings *warnings);

#endif
