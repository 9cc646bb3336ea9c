/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader's side of the memory shared with softbrbe (softbrbe_wire.h). */
#ifndef EP_CAPTURE_SOFT_READER_H
#define EP_CAPTURE_SOFT_READER_H

#include "capture/capture.h"
#include "capture/soft/decode.h"

struct ep_soft_reader;

/* Anonymous memory that child processes can map, as a file descriptor, empty. Errors: OS. */
struct ep_error *ep_soft_shared_memory(int *fd_ret) EP_MUST_CHECK;

/*
 * Lays out `fd`, empty shared memory, and maps it. `fd` stays the caller's, who keeps it open for
 * programs that are executed later.
 * ring_bytes: a power of two from 8 KiB. Errors: OS, NOMEM.
 */
struct ep_error *ep_soft_reader_create(int fd, uint32_t ring_bytes, struct ep_soft_reader **ret)
    EP_MUST_CHECK;
void ep_soft_reader_destroy(struct ep_soft_reader *reader);

/* The shared header, for its `state` and `machine`. */
const struct ep_sb_header *ep_soft_reader_header(const struct ep_soft_reader *reader);

/*
 * Sends what is there, in the order in which it happened. `last`: the program has ended; all that
 * is left goes out, torn ends are given up and the counts of all processes are taken.
 * What cannot be read is counted and reported as EP_EVENT_LOST. Errors: those of the sink, NOMEM.
 */
struct ep_error *ep_soft_reader_drain(struct ep_soft_reader *reader,
                                      const struct ep_event_sink *sink, bool last) EP_MUST_CHECK;

/* Adds the totals so far of what the threads count themselves. */
void ep_soft_reader_totals(const struct ep_soft_reader *reader, struct ep_capture_totals *ret);

#endif
