/* SPDX-License-Identifier: BSD-2-Clause */
/* The event stream: what every importer and capture backend gives, and what fold takes. */
#ifndef EP_RECORD_EVENT_H
#define EP_RECORD_EVENT_H

#include "base/error.h"

/*
 * Branch types. 0 to 15 are the numbers of PERF_BR_* (linux/perf_event.h); from 16 on they are
 * PERF_BR_NEW_* + 16, which perf spells as type 15 with a new_type.
 */
enum ep_branch_type {
	EP_BRANCH_UNKNOWN = 0,
	EP_BRANCH_COND = 1,
	EP_BRANCH_UNCOND = 2, /* direct jump */
	EP_BRANCH_IND = 3,    /* indirect jump */
	EP_BRANCH_CALL = 4,
	EP_BRANCH_IND_CALL = 5,
	EP_BRANCH_RET = 6,
	EP_BRANCH_SYSCALL = 7,
	EP_BRANCH_SYSRET = 8,
	EP_BRANCH_COND_CALL = 9,
	EP_BRANCH_COND_RET = 10,
	EP_BRANCH_ERET = 11,
	EP_BRANCH_IRQ = 12,
	EP_BRANCH_SERROR = 13,
	EP_BRANCH_NO_TX = 14,
	EP_BRANCH_FAULT_ALGN = 16,
	EP_BRANCH_FAULT_DATA = 17,
	EP_BRANCH_FAULT_INST = 18,
	EP_BRANCH_ARCH_1 = 19, /* arm64: FIQ */
	EP_BRANCH_ARCH_2 = 20, /* arm64: debug halt */
	EP_BRANCH_ARCH_3 = 21, /* arm64: debug exit */
	EP_BRANCH_ARCH_4 = 22, /* arm64: instruction debug */
	EP_BRANCH_ARCH_5 = 23, /* arm64: data debug */
	EP_BRANCH_N_TYPES = 32,
};

/*
 * One taken branch, in the layout of perf's struct perf_branch_entry (host order) so that stacks of
 * a mapped perf.data need no copy. `from` and `to` are run-time addresses (ip). 0 in either is the
 * unknown end of a half record, never an address; 0 in both is filler.
 */
struct ep_branch {
	uint64_t from, to;
	uint64_t info; /* EP_INFO_*; bits that ep_sample.info_mask clears are noise */
};

#define EP_INFO_MISPRED (UINT64_C(1) << 0)
#define EP_INFO_PREDICTED (UINT64_C(1) << 1) /* neither of the two: not known */
#define EP_INFO_IN_TX (UINT64_C(1) << 2)
#define EP_INFO_ABORT (UINT64_C(1) << 3)
#define EP_INFO_CYCLES_SHIFT 4 /* 16 bits, 0: not known */
#define EP_INFO_TYPE_SHIFT 20  /* 4 bits */
#define EP_INFO_SPEC_SHIFT 24  /* 2 bits: 1 is the wrong path */
#define EP_INFO_NEW_TYPE_SHIFT 26
#define EP_INFO_PRIV_SHIFT 30
/* All bits that perf defines. */
#define EP_INFO_PERF_MASK ((UINT64_C(1) << 33) - 1)
/*
 * Ours, never from a perf file: the CPU left this exception level, or the thread's PC changed
 * without a branch (signal, sigreturn), between the next older record and this one.
 */
#define EP_INFO_DISCONTINUITY (UINT64_C(1) << 63)
/* Ours: with DISCONTINUITY, execution did not resume where it stopped: no range joins the two. */
#define EP_INFO_PC_MOVED (UINT64_C(1) << 62)

#define EP_SPEC_WRONG_PATH 1u

static inline enum ep_branch_type ep_info_type(uint64_t info)
{
	unsigned type = info >> EP_INFO_TYPE_SHIFT & 15;

	return type == 15 ? (enum ep_branch_type)(16 + (info >> EP_INFO_NEW_TYPE_SHIFT & 15))
	                  : (enum ep_branch_type)type;
}

static inline unsigned ep_info_cycles(uint64_t info)
{
	return info >> EP_INFO_CYCLES_SHIFT & 0xffff;
}

/* True for exceptions (syscall, interrupt, fault, ...): their source is not an executed branch. */
static inline bool ep_type_is_exception(enum ep_branch_type type)
{
	return type == EP_BRANCH_SYSCALL || type == EP_BRANCH_IRQ || type == EP_BRANCH_SERROR ||
	       type >= EP_BRANCH_FAULT_ALGN;
}

/* The identity of a binary. */
enum ep_build_id_kind {
	EP_BUILD_ID_NONE = 0,
	EP_BUILD_ID_GNU = 1,  /* the NT_GNU_BUILD_ID note */
	EP_BUILD_ID_HASH = 2, /* XXH3-128 of the file's bytes, where there is no note */
};

#define EP_BUILD_ID_MAX 32

struct ep_build_id {
	uint8_t kind;                   /* enum ep_build_id_kind */
	uint8_t size;                   /* bytes in use, 0 if none */
	uint8_t bytes[EP_BUILD_ID_MAX]; /* zero behind `size` */
};

/* What a captured event counts; decides the weights of `auto` (folding rule 6). */
enum ep_sampling {
	EP_SAMPLING_UNKNOWN = 0,
	EP_SAMPLING_TAKEN_BRANCHES,
	EP_SAMPLING_INSTRUCTIONS,
	EP_SAMPLING_CYCLES,
	EP_SAMPLING_OTHER, /* known, but of no use for weighting */
};

/* pid of a sample that does not say (perf script without that column). */
#define EP_PID_UNKNOWN INT32_C(-1)
/* pid of the kernel's own maps. */
#define EP_PID_KERNEL INT32_C(-2)
/* pid of samples taken inside a virtual machine: an address space of which no map is known. */
#define EP_PID_GUEST INT32_C(-3)

/* One stack of records. */
struct ep_sample {
	/* Newest first; aligned or not: read by memcpy. NULL: the event records no branches. */
	const struct ep_branch *branches;
	uint32_t n_branches;
	uint32_t flags;     /* EP_SAMPLE_* */
	uint64_t info_mask; /* which bits of `info` mean something */
	uint64_t ip;        /* sample's own address, 0 if unknown; never the end of a range */
	uint64_t period;    /* events since the last sample, 0 if unknown */
	uint64_t repeat;    /* how often this same stack was seen, at least 1 */
	uint32_t stream;    /* index of the event (ep_stream_info) that took it */
};

/* `branches` stay valid until the source is closed; otherwise only during the call. */
#define EP_SAMPLE_STABLE (1u << 0)
/* The stack was filtered by type: neighbours are not adjacent in time, so it gives edges only. */
#define EP_SAMPLE_FILTERED (1u << 1)
/* Recorded in call-stack mode: not a history of branches; fold refuses it. */
#define EP_SAMPLE_CALL_STACK (1u << 2)

/* A counted edge or range of a source that does not sample (softbrbe's exact mode, aggregates). */
struct ep_counted {
	uint64_t from, to; /* ip. Edge: branch and target. Range: first instruction and last */
	uint64_t count;    /* whole occurrences */
	uint64_t mispreds; /* edges only */
	uint32_t type;     /* enum ep_branch_type, edges only */
	bool open_end;     /* ranges only: `to` itself was not executed */
};

/* A mapping of executable memory. Text without a build-id (size 0) is identified by fold. */
struct ep_map {
	uint64_t start, len; /* ip */
	uint64_t pgoff;      /* offset in the file of `start` */
	struct ep_build_id build_id;
	const char *path; /* borrowed during the call; "" or "//anon" style for anonymous memory */
	bool is_file;     /* false: anonymous, vdso, JIT */
	bool is_kernel;   /* kernel image or module, for every process */
};

enum ep_event_type {
	/*
	 * u.stream: an event being sampled; before its first sample. It may come again behind the
	 * samples with what was not known before (a name that a stream tells at its end).
	 */
	EP_EVENT_STREAM = 1,
	EP_EVENT_EXEC,  /* pid runs a new image: its maps are gone */
	EP_EVENT_MAP,   /* u.map */
	EP_EVENT_UNMAP, /* u.unmap */
	/*
	 * pid starts as a copy of u.fork.ppid (threads: pid == ppid). perf also makes FORK records
	 * up for processes that ran before (misc bit 13, FORK_EXEC): no copy, so send EXEC.
	 */
	EP_EVENT_FORK,
	EP_EVENT_EXIT,   /* thread tid of pid ends; the process does when tid == pid */
	EP_EVENT_COMM,   /* u.comm */
	EP_EVENT_SAMPLE, /* u.sample */
	EP_EVENT_EDGE,   /* u.counted */
	EP_EVENT_RANGE,  /* u.counted */
	EP_EVENT_LOST,   /* u.lost: the recorder lost something before this point */
	EP_EVENT_END,    /* u.end: a clean end of the capture; its totals */
	/*
	 * u.build_id: the identity of a file mapped under `path`, known only now (perf writes them
	 * at the end of a stream, behind the samples). It holds for all maps of that path whose own
	 * build_id is empty, and comes before the identity found by looking at the file itself.
	 * The path is as in those maps. Comes after the samples and before EP_EVENT_END.
	 */
	EP_EVENT_BUILD_ID,
	EP_EVENT_CPU, /* u.cpu: the CPU of the samples that follow, for its errata */
};

struct ep_stream_info {
	uint32_t stream;
	enum ep_sampling sampling;
	uint64_t period;  /* nominal, 0 if unknown or adaptive */
	const char *name; /* "cycles:u", borrowed during the call; "" if unknown */
	bool exact;       /* counted, not sampled */
};

/* Why records never reached the stream. */
enum ep_lost_reason {
	EP_LOST_RECORDER =
	    1, /* perf LOST or LOST_SAMPLES, softbrbe's ring full: u.lost.n samples */
	EP_LOST_NOT_FOLLOWED, /* a child process or new image that is not recorded */
	EP_LOST_CORRUPT,      /* a part of the input that cannot be read; n is a lower bound */
};

struct ep_event {
	enum ep_event_type type;
	int32_t pid, tid; /* EP_PID_*, tid -1 if unknown */
	uint32_t cpu;     /* UINT32_MAX if unknown */
	uint64_t t_ns;    /* of the source's clock, 0 if unknown */
	union {
		struct ep_stream_info stream;
		struct ep_map map;
		struct {
			uint64_t start, len; /* ip */
		} unmap;
		struct {
			int32_t ppid, ptid;
		} fork;
		struct {
			const char *name; /* borrowed during the call */
		} comm;
		struct ep_sample sample;
		struct ep_counted counted;
		struct {
			enum ep_lost_reason reason;
			uint64_t n;
		} lost;
		struct {
			const char *path; /* borrowed during the call */
			struct ep_build_id build_id;
			bool is_kernel;
		} build_id;
		struct {
			/*
			 * perf's HEADER_CPUID text ("GenuineIntel,6,85,7"), borrowed during the
			 * call. Importers send it before the first sample when they know it:
			 * folding rule 9 goes by it.
			 */
			const char *cpuid;
		} cpu;
		struct {
			uint64_t n_samples,
			    n_events; /* as the recorder counted them, 0 if unknown */
		} end;
	} u;
};

/*
 * Where a source sends its events, in an order in which time does not run backwards per process.
 * An error ends the source, which returns it. One thread calls at a time.
 */
struct ep_event_sink {
	struct ep_error *(*event)(void *payload, const struct ep_event *event);
	void *payload;
};

/* What is known of the capture as a whole; strings are owned by whoever fills it, "" if unknown. */
struct ep_capture_info {
	const char *host, *kernel, *cpu, *cpuid, *arch, *cmdline;
	uint64_t t_start_ns, t_end_ns; /* of the samples, source's clock, 0 if unknown */
};

#endif
