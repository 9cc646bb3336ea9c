/* SPDX-License-Identifier: BSD-2-Clause */
/* Importers: a recorded file becomes an event stream. */
#ifndef EP_IMPORT_IMPORT_H
#define EP_IMPORT_IMPORT_H

#include "base/digest.h"
#include "base/warn.h"
#include "record/event.h"

enum ep_import_kind {
	EP_IMPORT_AUTO = 0, /* by content */
	EP_IMPORT_PERF_DATA,
	EP_IMPORT_PERF_SCRIPT,
	EP_IMPORT_RAW, /* a raw capture, record/raw.h */
};

/* An input under way. `info` strings live as long as the input. */
struct ep_import;

struct ep_import_info {
	enum ep_import_kind kind;
	struct ep_capture_info capture;
	uint8_t digest[EP_DIGEST_SIZE]; /* of all bytes of the input */
};

/*
 * Opens an input, "-" for standard input, and finds out its kind by its first bytes. Errors: OS,
 * NOMEM, BAD_DATA for content of no known kind (the hint says what is accepted).
 */
struct ep_error *ep_import_open(const char *path, enum ep_import_kind kind,
                                struct ep_warnings *warnings, struct ep_import **ret) EP_MUST_CHECK;

struct ep_input;

/*
 * The same for an input that is open already and of which nothing has been consumed. Takes what
 * `in` is made of, on failure too: the caller's copy is of no further use.
 */
struct ep_error *ep_import_open_input(struct ep_input *in, enum ep_import_kind kind,
                                      struct ep_warnings *warnings, struct ep_import **ret)
    EP_MUST_CHECK;

/*
 * Reads the input to its end and sends its events. What can be read is sent even if parts are
 * damaged: those are counted (EP_EVENT_LOST with EP_LOST_CORRUPT) and warned of by kind. Memory
 * does not grow with the input's length. Called once. Errors: OS, NOMEM, those of the sink;
 * BAD_DATA when nothing can be made of the input.
 */
struct ep_error *ep_import_run(struct ep_import *import, const struct ep_event_sink *sink,
                               struct ep_import_info *ret) EP_MUST_CHECK;

/* Ends the input and the life of stable branches (EP_SAMPLE_STABLE); NULL is allowed. */
void ep_import_close(struct ep_import *import);

/* "perf.data", "perf script", ...: static. */
const char *ep_import_kind_name(enum ep_import_kind kind);

#endif
