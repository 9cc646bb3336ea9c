/* SPDX-License-Identifier: BSD-2-Clause */
/* Internal: the numbers of the `.edges` format. FORMAT.md says what they mean. */
#ifndef EP_EDGES_FORMAT_H
#define EP_EDGES_FORMAT_H

#include "edges/edges.h"

#define EP_EDGES_MAGIC                                                                             \
	"\x89"                                                                                     \
	"EPEDGE\n"
#define EP_EDGES_MAGIC_SIZE 8u
#define EP_EDGES_VERSION 1u
#define EP_EDGES_FEATURES 0u /* those that this program knows */
#define EP_EDGES_HEADER_SIZE 24u
#define EP_EDGES_CHECKSUM_SIZE 8u
#define EP_EDGES_BLOCK_HEADER_SIZE 12u

/* Tables in the order in which a file holds them. */
enum ep_edges_table {
	EP_EDGES_TABLE_NONE = 0,
	EP_EDGES_TABLE_PROVENANCE = 1,
	EP_EDGES_TABLE_REASONS = 2,
	EP_EDGES_TABLE_BINARIES = 3,
	EP_EDGES_TABLE_EDGES = 4,
	EP_EDGES_TABLE_RANGES = 5,
	EP_EDGES_TABLE_END = 255,
};

#define EP_EDGES_N_TABLES 5u /* those with rows, from 1 on */

#define EP_EDGES_FLAG_OPTIONAL 1u /* a reader that does not know the type may skip the block */

#define EP_EDGES_ROWS_MAX 16384u         /* of a block */
#define EP_EDGES_TEXT_CUT (256u << 10)   /* a block of texts ends behind the row reaching it */
#define EP_EDGES_STRING_MAX 65535u       /* bytes of a string */
#define EP_EDGES_COLUMN_MAX (8u << 20)   /* bytes of a column, decompressed */
#define EP_EDGES_PAYLOAD_MAX (16u << 20) /* bytes of a block's columns as stored */
#define EP_EDGES_COLUMNS_MAX 8u
#define EP_EDGES_COMPRESS_MIN 256u /* a smaller column is never compressed */
#define EP_EDGES_ZSTD_LEVEL 3

#define EP_EDGES_NEAR_MAX 16383u /* codes in the column of near targets: two LEB128 bytes */

enum ep_edges_codec {
	EP_EDGES_STORED = 0,
	EP_EDGES_ZSTD = 1,
};

enum {
	EP_EDGES_COLUMN_EDGE_GROUPS = 0,
	EP_EDGES_COLUMN_SITE,
	EP_EDGES_COLUMN_NEAR, /* internal edges: distance to the target, or 0: */
	EP_EDGES_COLUMN_FAR,  /* the target itself */
	EP_EDGES_COLUMN_EDGE_COUNT,
	EP_EDGES_COLUMN_MISPREDS,
	EP_EDGES_COLUMN_TYPES,
	EP_EDGES_N_EDGE_COLUMNS,
};

enum {
	EP_EDGES_COLUMN_RANGE_GROUPS = 0,
	EP_EDGES_COLUMN_START,
	EP_EDGES_COLUMN_LENGTH,
	EP_EDGES_COLUMN_OPEN_END,
	EP_EDGES_COLUMN_RANGE_COUNT,
	EP_EDGES_N_RANGE_COLUMNS,
};

/* An edge or range with the index of its binary. */
struct ep_edges_edge_row {
	uint32_t binary;
	struct ep_edge edge;
};

struct ep_edges_range_row {
	uint32_t binary;
	struct ep_range range;
};

/* What the END block holds. */
struct ep_edges_footer {
	uint8_t digest[EP_DIGEST_SIZE]; /* of all columns, decompressed */
	uint64_t n_rows[EP_EDGES_N_TABLES];
	uint64_t size; /* bytes of the file before the END block */
};

#define EP_EDGES_FOOTER_SIZE (EP_DIGEST_SIZE + 8u * (EP_EDGES_N_TABLES + 1u))

#endif
