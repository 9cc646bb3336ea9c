/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal: the numbers of the raw capture format. FORMAT.md says what they mean. */
#ifndef EP_RECORD_RAW_FORMAT_H
#define EP_RECORD_RAW_FORMAT_H

#include "base/bytes.h"
#include "record/raw.h"

extern const unsigned char ep_raw_magic[EP_RAW_DETECT_SIZE];

#define EP_RAW_VERSION 1u
#define EP_RAW_HEADER_SIZE 24u
#define EP_RAW_BLOCK_HEADER_SIZE 24u
#define EP_RAW_HASHED_SIZE 16u /* of either header: what comes before its checksum */

enum ep_raw_block_type {
	EP_RAW_BLOCK_INFO = 1,
	EP_RAW_BLOCK_EVENTS = 2,
	EP_RAW_BLOCK_END = 3,
};

#define EP_RAW_BLOCK_CUT (1u << 20)  /* a block ends behind the event that reaches this size */
#define EP_RAW_BLOCK_MAX (8u << 20)  /* bytes of a block's content */
#define EP_RAW_STORED_MAX (9u << 20) /* ... and as stored */
#define EP_RAW_STRINGS_MAX 32768u    /* of a block */
#define EP_RAW_END_SIZE 16u
#define EP_RAW_ZSTD_LEVEL 1

/* Columns of an EVENTS block, in their order in the file. */
enum {
	EP_RAW_COLUMN_TYPE = 0,
	EP_RAW_COLUMN_PID,
	EP_RAW_COLUMN_TID,
	EP_RAW_COLUMN_CPU,
	EP_RAW_COLUMN_TIME,
	EP_RAW_COLUMN_NUMBERS,
	EP_RAW_COLUMN_BYTES,
	EP_RAW_COLUMN_STRINGS,
	EP_RAW_COLUMN_SAMPLE,
	EP_RAW_COLUMN_COUNTED,
	EP_RAW_COLUMN_IP,
	EP_RAW_COLUMN_TO,
	EP_RAW_COLUMN_FROM,
	EP_RAW_COLUMN_CYCLES,
	EP_RAW_COLUMN_KIND,
	EP_RAW_N_COLUMNS,
};

#define EP_RAW_EVENTS_HEADER_SIZE (8u + 4u * EP_RAW_N_COLUMNS)

#define EP_RAW_MAP_FILE 1u
#define EP_RAW_MAP_KERNEL 2u

/*
 * `info` of a branch in two parts: flags and cycles (its low 20 bits), and the rest, in which our
 * two bits (62, 63) come to the front so that the usual values are short.
 */
#define EP_RAW_INFO_LOW_BITS 20
#define EP_RAW_INFO_LOW ((UINT64_C(1) << EP_RAW_INFO_LOW_BITS) - 1)

static inline uint64_t ep_raw_info_kind(uint64_t info)
{
	return (info >> EP_RAW_INFO_LOW_BITS << 2 | info >> 62) &
	       ((UINT64_C(1) << (64 - EP_RAW_INFO_LOW_BITS)) - 1);
}

static inline uint64_t ep_raw_info_join(uint64_t low, uint64_t kind)
{
	return low | kind >> 2 << EP_RAW_INFO_LOW_BITS | kind << 62;
}

/* The checksum of a block or of the file's header (n = 0). */
uint64_t ep_raw_checksum(const unsigned char header[EP_RAW_HASHED_SIZE], const void *data,
                         size_t n);

/* NULL if the event is within the limits of the format, else what is wrong with it. */
const char *ep_raw_event_problem(const struct ep_event *event);

#endif
