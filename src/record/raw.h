/* SPDX-License-Identifier: BSD-2-Clause */
/* The raw capture file `.epr`: an event stream kept as it was recorded. FORMAT.md has the bytes. */
#ifndef EP_RECORD_RAW_H
#define EP_RECORD_RAW_H

#include "base/arena.h"
#include "base/digest.h"
#include "base/warn.h"
#include "record/event.h"

/* Longest string of an event, and most branches of a sample: more is BAD_DATA. */
#define EP_RAW_STRING_MAX 65535u
#define EP_RAW_BRANCHES_MAX 65535u

/* Bytes that ep_raw_detect() needs to be sure. */
#define EP_RAW_DETECT_SIZE 8u

/* True if the n bytes at `data` begin like a raw capture. */
bool ep_raw_detect(const void *data, size_t n);

/* A raw capture being written. One thread at a time. */
struct ep_raw_writer;

/*
 * Begins a capture file at `path` ("-": standard output) and writes `info` to it (strings over
 * EP_RAW_STRING_MAX are cut; NULL strings are ""; its times are not stored but found by reading).
 * Until the commit it grows under a temporary name beside `path`; what a killed recorder leaves
 * there is a torn capture that ep_raw_read() reads as far as it is complete. Each event is also
 * handed on to `tee`, copied here, if that is not NULL. Errors: OS, NOMEM.
 */
struct ep_error *ep_raw_writer_create(const char *path, const struct ep_capture_info *info,
                                      const struct ep_event_sink *tee, struct ep_raw_writer **ret)
    EP_MUST_CHECK;

/*
 * Where to send the events; valid as long as the writer. Errors of its `event`: NOMEM; OS; BAD_DATA
 * for an event that the file cannot hold (limits above, numbers outside their enum); those of the
 * tee, which comes first. After an error the writer can only be aborted.
 */
struct ep_event_sink ep_raw_writer_sink(struct ep_raw_writer *writer);

/*
 * Makes what came so far readable to somebody who finds the file unfinished. A writer does that
 * itself with every MiB or so; a recorder with little to record calls this now and then.
 */
struct ep_error *ep_raw_writer_flush(struct ep_raw_writer *writer) EP_MUST_CHECK;

/*
 * Writes the footer and gives the file its name; `digest_ret`, if not NULL, gets the digest of its
 * bytes, by which a fold of the file knows this capture. Ends the writer either way. Errors: OS,
 * NOMEM.
 */
struct ep_error *ep_raw_writer_commit(struct ep_raw_writer *writer,
                                      uint8_t digest_ret[EP_DIGEST_SIZE]) EP_MUST_CHECK;

/* Drops the file. NULL is allowed. */
void ep_raw_writer_abort(struct ep_raw_writer *writer);

/* Where the bytes of a capture come from. */
struct ep_raw_source {
	const char *name; /* for messages */
	/* Copies the next n bytes to `buf`; fewer (n_ret) only at the end of the input. */
	struct ep_error *(*read)(void *payload, void *buf, size_t n, size_t *n_ret);
	void *payload;
};

/*
 * Reads a capture to its end and sends its events. Memory is bounded whatever the file's length.
 * Branches and strings of events are valid during the call only (EP_SAMPLE_STABLE is cleared).
 *
 * A file that is torn or damaged is read up to the last block that is whole; then comes
 * EP_EVENT_LOST of EP_LOST_CORRUPT (n = 1: it is not known how much) and a warning "torn-capture"
 * or "damaged-capture". EP_EVENT_END is sent only from a file that has its footer.
 *
 * `ret` gets what is known of the capture, its strings in `arena`, its times those of the earliest
 * and latest SAMPLE, EDGE or RANGE that has one. Errors: those of the source and sink; NOMEM;
 * UNSUPPORTED for a later version of the format; BAD_DATA if it is not a raw capture or not even
 * its first block is whole.
 */
struct ep_error *ep_raw_read(const struct ep_raw_source *source, const struct ep_event_sink *sink,
                             struct ep_warnings *warnings, struct ep_arena *arena,
                             struct ep_capture_info *ret) EP_MUST_CHECK;

/* The same for a capture in memory. */
struct ep_error *ep_raw_read_memory(const char *name, const void *data, size_t n,
                                    const struct ep_event_sink *sink, struct ep_warnings *warnings,
                                    struct ep_arena *arena, struct ep_capture_info *ret)
    EP_MUST_CHECK;

#endif
