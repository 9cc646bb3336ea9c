/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes perf.data inputs: files or pipes of either byte order, plain or compressed. */
#ifndef EP_TESTS_PERF_BUILDER_H
#define EP_TESTS_PERF_BUILDER_H

#include "base/bytes.h"
#include "record/event.h"

/*
 * Use: pb_init(), pb_add_attr() for each event, pb_feature*() and records in the order wanted, then
 * pb_finish() for the bytes. Out of memory fails the running test. Constants (sample_type bits and
 * so on) are those of import/perf_data_abi.h.
 */
struct pb_attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, branch_type;
	uint32_t size; /* of the attr, 0: 136 */
	bool freq, no_sample_id_all;
	uint64_t ids[4];
	uint32_t n_ids;
	const char *name; /* goes to EVENT_DESC, if any event has one */
};

struct perf_builder {
	bool big_endian, pipe;
	const char *magic;       /* NULL: "PERFILE2" of the byte order */
	bool unfinished;         /* file: as a killed recorder leaves it */
	uint32_t attr_stride;    /* file: bytes of an element of the attrs section, 0: fitting */
	struct pb_attr attrs[8]; /* trailers follow the first */
	uint32_t n_attrs;
	struct ep_buf data, packed; /* records; those that wait for pb_pack() */
	bool packing;
	void *zstd; /* ZSTD_CCtx */
	struct pb_feature {
		unsigned number;
		struct ep_buf body;
	} features[32];
	unsigned n_features;
	struct ep_buf out;
};

struct pb_sample {
	uint32_t attr, pid, tid, cpu;
	uint64_t t_ns, ip, period;
	uint16_t misc;                    /* 0: user */
	const struct ep_branch *branches; /* info as in EP_INFO_* */
	uint64_t n_branches;              /* may lie: see n_written */
	uint64_t n_written;               /* branches really written, 0: n_branches */
	uint64_t id;                      /* 0: the first of the attr */
	unsigned n_callchain, n_raw;      /* raw: bytes, 4 + n_raw is rounded up to 8 */
};

void pb_init(struct perf_builder *b, bool big_endian, bool pipe);
uint32_t pb_add_attr(struct perf_builder *b, const struct pb_attr *attr);

/* Records. `t_ns` goes to the trailer. */
void pb_sample(struct perf_builder *b, const struct pb_sample *sample);
void pb_mmap(struct perf_builder *b, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
             const char *path, uint16_t misc, uint64_t t_ns);
/* build_id NULL: the form with device and inode. prot 5: readable and executable. */
void pb_mmap2(struct perf_builder *b, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
              const char *path, uint16_t misc, uint32_t prot, const struct ep_build_id *build_id,
              uint64_t t_ns);
void pb_comm(struct perf_builder *b, uint32_t pid, const char *name, bool exec, uint64_t t_ns);
void pb_task(struct perf_builder *b, bool is_fork, uint32_t pid, uint32_t ppid, uint16_t misc,
             uint64_t t_ns);
void pb_lost(struct perf_builder *b, bool lost_samples, uint64_t n, uint16_t misc, uint64_t t_ns);
void pb_round(struct perf_builder *b);
/* Any record of given body, no trailer added. */
void pb_record(struct perf_builder *b, uint32_t type, uint16_t misc, const void *body, size_t n);
/* Bytes as they are: payloads, damage. */
void pb_bytes(struct perf_builder *b, const void *data, size_t n);
/* A u64 or u32 of the input's byte order to any buffer. */
void pb_u64(const struct perf_builder *b, struct ep_buf *buf, uint64_t v);
void pb_u32(const struct perf_builder *b, struct ep_buf *buf, uint32_t v);
void pb_u16(const struct perf_builder *b, struct ep_buf *buf, uint16_t v);

/* Records between the two are written as one or more records of type 81 or 83, max bytes each (0:
 * as few as possible). The zstd stream goes on from one pack to the next. */
void pb_pack_begin(struct perf_builder *b);
void pb_pack_end(struct perf_builder *b, uint32_t type, size_t max);
/* The same, with the size field that perf's overflow bug writes. */
void pb_pack_end_oversized(struct perf_builder *b, bool padded);

/* Header features; in a pipe they become records. Build-ids of a pipe come at its end. */
void pb_feature(struct perf_builder *b, unsigned number, const void *body, size_t n);
void pb_feature_string(struct perf_builder *b, unsigned number, const char *s);
void pb_build_id(struct perf_builder *b, uint16_t misc, const void *id, unsigned n_id,
                 bool with_size, const char *path);

/* The bytes; owned by the builder. */
const struct ep_buf *pb_finish(struct perf_builder *b);
void pb_deinit(struct perf_builder *b);

#endif
