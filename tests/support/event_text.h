/* SPDX-License-Identifier: BSD-2-Clause */
/* A sink that writes events as lines of text, for tests to compare. */
#ifndef EP_TESTS_EVENT_TEXT_H
#define EP_TESTS_EVENT_TEXT_H

#include "base/bytes.h"
#include "record/event.h"

/* Zero-initialise. Lines are in hex but for pids, times and counts; see event_text.c. */
struct event_text {
	struct ep_buf buf;
	bool no_branches; /* samples without their branches */
	uint64_t n_samples, n_branches, n_stable, n_maps, n_lost, n_corrupt;
	bool ended; /* EP_EVENT_END came */
};

struct ep_event_sink event_text_sink(struct event_text *text);
/* The lines so far, NUL-terminated. */
const char *event_text_get(struct event_text *text);
void event_text_deinit(struct event_text *text);

#endif
