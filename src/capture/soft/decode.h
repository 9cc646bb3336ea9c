/* SPDX-License-Identifier: BSD-2-Clause */
/* softbrbe's records (softbrbe_wire.h) as events. */
#ifndef EP_CAPTURE_SOFT_DECODE_H
#define EP_CAPTURE_SOFT_DECODE_H

#include "base/bytes.h"
#include "capture/soft/softbrbe_wire.h"
#include "record/event.h"

/* One record of the stream; body is borrowed from the bytes it was taken from. */
struct ep_soft_record {
	struct ep_sb_record head;
	struct ep_bytes body;
};

/*
 * Takes the next whole record. False: there is none, or (then bytes->failed is set) what is there
 * is no record; the stream cannot be read any further.
 */
bool ep_soft_record_next(struct ep_bytes *bytes, struct ep_soft_record *ret);

/* Where a decoded event keeps what it points to, until the next one is decoded. */
struct ep_soft_scratch {
	struct ep_branch branches[EP_SB_MAX_DEPTH];
	char path[EP_SB_MAX_PATH];
};

/*
 * The event of a record. False: it is malformed. Records that are no event (EXEC_TRY, EXEC_FAILED,
 * THREAD_EXIT of a main thread, TABLE) are none of this function's; they give type 0.
 */
bool ep_soft_decode(const struct ep_soft_record *record, struct ep_soft_scratch *scratch,
                    struct ep_event *ret);

/* The body of a TABLE record. False: malformed. */
bool ep_soft_decode_table(const struct ep_soft_record *record, struct ep_sb_table *ret);

/* The two events of an entry of a table; false if it is unused or cannot be. */
bool ep_soft_decode_entry(const struct ep_sb_entry *entry, struct ep_counted *edge_ret,
                          struct ep_counted *range_ret);

#endif
