/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of the perf.data format (linux/perf_event.h and perf's own records). */
#ifndef EP_IMPORT_PERF_DATA_ABI_H
#define EP_IMPORT_PERF_DATA_ABI_H

enum {
	PERF_HEADER_SIZE = 104, /* of a file; without the feature bitmap 72 */
	PERF_HEADER_SIZE_OLD = 72,
	PERF_PIPE_HEADER_SIZE = 16,
	PERF_RECORD_HEADER = 8, /* type u32, misc u16, size u16 */
	PERF_RECORD_MAX = 65535,
	PERF_ATTR_MIN = 64,
	PERF_BRANCH_SIZE = 24,
};

enum perf_record_type {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_FORK = 7,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_LOST_SAMPLES = 13,
	PERF_KERNEL_LAST = 22, /* highest known kernel record */
	PERF_HEADER_ATTR = 64,
	PERF_TRACING_DATA = 66,
	PERF_HEADER_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68,
	PERF_AUXTRACE = 71,
	PERF_EVENT_UPDATE = 78,
	PERF_HEADER_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_COMPRESSED2 = 83,
	PERF_USER_LAST = 86, /* highest known record of perf itself */
};

/* misc */
enum {
	PERF_CPUMODE_MASK = 7,
	PERF_CPUMODE_KERNEL = 1,
	PERF_CPUMODE_GUEST_KERNEL = 4,
	PERF_CPUMODE_GUEST_USER = 5,
	PERF_MISC_MAP_TIMEOUT = 1 << 12, /* perf gave up reading this process's maps */
	PERF_MISC_MMAP_DATA = 1 << 13,
	PERF_MISC_COMM_EXEC = 1 << 13,
	PERF_MISC_FORK_EXEC = 1 << 13, /* the parent's maps are not inherited */
	PERF_MISC_MMAP_BUILD_ID = 1 << 14,
	PERF_MISC_LOST_BPF = 1 << 15,      /* LOST_SAMPLES: left out by a filter on purpose */
	PERF_MISC_BUILD_ID_SIZE = 1 << 15, /* build-id record: the size byte is valid */
};

/* attr.sample_type */
#define PERF_SAMPLE_IP (UINT64_C(1) << 0)
#define PERF_SAMPLE_TID (UINT64_C(1) << 1)
#define PERF_SAMPLE_TIME (UINT64_C(1) << 2)
#define PERF_SAMPLE_ADDR (UINT64_C(1) << 3)
#define PERF_SAMPLE_READ (UINT64_C(1) << 4)
#define PERF_SAMPLE_CALLCHAIN (UINT64_C(1) << 5)
#define PERF_SAMPLE_ID (UINT64_C(1) << 6)
#define PERF_SAMPLE_CPU (UINT64_C(1) << 7)
#define PERF_SAMPLE_PERIOD (UINT64_C(1) << 8)
#define PERF_SAMPLE_STREAM_ID (UINT64_C(1) << 9)
#define PERF_SAMPLE_RAW (UINT64_C(1) << 10)
#define PERF_SAMPLE_BRANCH_STACK (UINT64_C(1) << 11)
#define PERF_SAMPLE_IDENTIFIER (UINT64_C(1) << 16)

/* attr.read_format */
#define PERF_FORMAT_ENABLED (UINT64_C(1) << 0)
#define PERF_FORMAT_RUNNING (UINT64_C(1) << 1)
#define PERF_FORMAT_ID (UINT64_C(1) << 2)
#define PERF_FORMAT_GROUP (UINT64_C(1) << 3)
#define PERF_FORMAT_LOST (UINT64_C(1) << 4)

/* Bit numbers in the flag word of an attr; on big-endian machines counted from the top. */
enum {
	PERF_ATTR_FREQ = 10,
	PERF_ATTR_SAMPLE_ID_ALL = 18,
};

/* A flag that perf itself puts into the entries it makes of an SPE trace; bit of the flag word. */
enum { PERF_BRANCH_NOT_TAKEN_BIT = 33 };

/* attr.branch_sample_type */
#define PERF_BRANCH_ANY (UINT64_C(1) << 3)
#define PERF_BRANCH_TX (UINT64_C(7) << 7)  /* ABORT_TX IN_TX NO_TX: a filter even with ANY */
#define PERF_BRANCH_KINDS UINT64_C(0x3470) /* ANY_CALL ANY_RETURN IND_CALL COND IND_JUMP CALL */
#define PERF_BRANCH_CALL_STACK (UINT64_C(1) << 11)
#define PERF_BRANCH_NO_FLAGS (UINT64_C(1) << 14)
#define PERF_BRANCH_NO_CYCLES (UINT64_C(1) << 15)
#define PERF_BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define PERF_BRANCH_PRIV_SAVE (UINT64_C(1) << 18)

enum perf_feature {
	PERF_FEAT_BUILD_ID = 2,
	PERF_FEAT_HOSTNAME = 3,
	PERF_FEAT_OSRELEASE = 4,
	PERF_FEAT_ARCH = 6,
	PERF_FEAT_CPUDESC = 8,
	PERF_FEAT_CPUID = 9,
	PERF_FEAT_CMDLINE = 11,
	PERF_FEAT_EVENT_DESC = 12,
	PERF_FEAT_DIR_FORMAT = 24,
	PERF_FEAT_BITS = 256,
};

#endif
