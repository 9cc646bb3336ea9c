/* SPDX-License-Identifier: BSD-2-Clause */
/* Build-ids: text form and order. */
#ifndef EP_RECORD_BUILD_ID_H
#define EP_RECORD_BUILD_ID_H

#include "record/event.h"

/* Room for "hash:" and 64 hex digits and the NUL. */
#define EP_BUILD_ID_TEXT_MAX (5 + 2 * EP_BUILD_ID_MAX + 1)

/* Writes lower-case hex, content hashes with "hash:" before it, "none" if there is no id. Returns
 * buf. */
const char *ep_build_id_format(const struct ep_build_id *id, char buf[EP_BUILD_ID_TEXT_MAX]);

/*
 * Reads the text form, n characters; "0x" before the digits and upper case are allowed. False: not
 * an id (odd or no digits, too long, anything else).
 */
bool ep_build_id_parse(const char *text, size_t n, struct ep_build_id *ret);

/* <0, 0, >0: a total order over kind, size and bytes. */
int ep_build_id_compare(const struct ep_build_id *a, const struct ep_build_id *b);

/* An id of the given kind from up to EP_BUILD_ID_MAX bytes; longer ones are cut. */
struct ep_build_id ep_build_id_make(enum ep_build_id_kind kind, const void *bytes, size_t n);

/*
 * True if two ids name the same binary. perf pads short ids with zeros to 20 bytes when it does not
 * record their size, so ids that differ only by trailing zeros are the same.
 */
bool ep_build_id_same(const struct ep_build_id *a, const struct ep_build_id *b);

#endif
