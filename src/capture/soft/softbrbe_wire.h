/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the QEMU plugin softbrbe and its reader share: one block of shared memory.
 *
 *   header                    EP_SB_HEADER_BYTES
 *   slot 0 .. n_slots-1       slot_bytes each: struct ep_sb_slot in its first page, then its ring
 *   chunk 0 .. n_chunks-1     EP_SB_CHUNK_BYTES each: counts of the exact mode
 *
 * The reader makes it (zeroed, sparse), fills in the sizes and hands it to the plugin as an open
 * file descriptor; it is mapped whole by every process of the program, so it survives fork(2), the
 * death of any of them and that of the reader. A process that executes another program finds it
 * again as /proc/reader_pid/fd/reader_fd. Both sides run on one machine: host byte order.
 *
 * A slot belongs to one thread of one process and its ring to that one writer, so a thread that is
 * killed at any instruction blocks nobody. `head` and `tail` count bytes since the slot was taken
 * and are never reduced modulo the ring. A record is complete once `head` is behind it. The writer
 * never waits for the reader, except in exact mode when it runs out of room for counts: what does
 * not fit is counted (n_lost) and left out.
 *
 * Records carry a number taken from the header's `seq`, which orders them over all slots. A writer
 * stores a lower bound of the number it is about to take in `pending_seq` first, and
 * EP_SB_NO_SEQ when the record is complete: a reader that has read `seq` and then every
 * `pending_seq` knows a bound below which all records are visible.
 *
 * The reader must take every byte of this memory for hostile: the program can write to it.
 */
#ifndef EP_CAPTURE_SOFT_SOFTBRBE_WIRE_H
#define EP_CAPTURE_SOFT_SOFTBRBE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define EP_SB_MAGIC UINT64_C(0x3145425242545345) /* "ESTBRBE1" */
#define EP_SB_VERSION 1u
#define EP_SB_PAGE ((size_t)4096)
#define EP_SB_MAX_CHUNKS 2048u
#define EP_SB_HEADER_BYTES (4 * EP_SB_PAGE)
#define EP_SB_MAX_DEPTH 64u
#define EP_SB_MAX_PATH 4096u
#define EP_SB_NO_SEQ UINT64_MAX

enum ep_sb_event {
	EP_SB_EVENT_TAKEN_BRANCHES,
	EP_SB_EVENT_INSTRUCTIONS,
};

/* header.state */
enum {
	EP_SB_WAITING = 0,  /* no plugin yet */
	EP_SB_ATTACHED = 1, /* the plugin accepted its options */
	EP_SB_ENDED = 2,    /* the first process ended by exit(2), not by a signal */
};

struct ep_sb_header {
	uint64_t magic;
	uint32_t version;
	uint32_t n_slots, slot_bytes, ring_bytes; /* ring_bytes: a power of two */
	uint32_t n_chunks;
	uint32_t reader_pid, reader_fd; /* where a program executed later finds this memory */
	uint32_t reserved;
	uint64_t total_bytes;
	/* From here on written by the plugin; state by atomics. */
	uint32_t state;
	uint32_t pid;          /* of the first process */
	uint32_t machine;      /* EP_MACHINE_X86_64 or EP_MACHINE_AARCH64 */
	uint32_t n_attached;   /* threads seen so far: numbers the random sequences */
	uint64_t n_no_slot;    /* threads that found no slot: none of their branches are recorded */
	uint64_t n_forks_lost; /* processes that found no slot */
	uint64_t seq __attribute__((aligned(64)));
	/* pid of the owner, 0: free. */
	uint32_t chunk_owner[EP_SB_MAX_CHUNKS] __attribute__((aligned(EP_SB_PAGE)));
};

/* slot.state */
enum {
	EP_SB_SLOT_FREE = 0,
	EP_SB_SLOT_USED = 1,
	EP_SB_SLOT_CLOSED = 2, /* its thread has ended: the reader drains it and sets FREE */
};

/* What the writer changes all the time, what the reader does, and the rest: 64 bytes apart. */
struct ep_sb_slot {
	uint32_t state;
	uint32_t pid, tid;
	uint32_t continued; /* 1: its thread goes on in another slot (execve) */
	uint64_t head;      /* by the writer */
	uint64_t pending_seq;
	uint64_t pad1[4];
	uint64_t tail; /* by the reader */
	uint64_t pad2[7];
	/* Totals of the thread; brought up to date with each sample, at system calls and its end.
	 */
	uint64_t n_branches;     /* taken branches recorded or counted */
	uint64_t n_insns;        /* instructions executed */
	uint64_t n_samples;      /* written to the ring */
	uint64_t n_lost;         /* samples that found no room */
	uint64_t n_lost_counts;  /* exact mode: occurrences not counted */
	uint64_t n_lost_control; /* maps and such that found no room */
	uint64_t n_moved;        /* changes of the PC without a branch (signals) */
	uint64_t n_interrupted;  /* branches not recorded because of one */
};

/*
 * The exact mode's tables: hash tables of one or more chunks, whose order does not matter to the
 * reader, for counts only add up. Given up chunks are named in a TABLE record; when a process is
 * gone, or recording ends, the reader takes all that are still its. It zeroes a chunk before it
 * sets its owner to 0.
 */
#define EP_SB_TABLE_CHUNKS 128u
#define EP_SB_CHUNK_ENTRIES 16384u
#define EP_SB_CHUNK_BYTES ((size_t)EP_SB_CHUNK_ENTRIES * 40)

/*
 * The straight line from `start` to the branch at `from`, which went `to`: that often. Gives an
 * edge and a range. `count` is written last; 0 means unused.
 */
struct ep_sb_entry {
	uint64_t start, from, to;
	uint64_t count;
	uint64_t info; /* EP_SB_INFO_* */
};

/* Low byte: enum ep_branch_type. */
#define EP_SB_INFO_TYPE 0xffu
/* The thread left user mode, or its PC moved, between the next older record and this one. */
#define EP_SB_INFO_DISCONTINUITY 0x100u
/* With it: execution did not resume where it had stopped. */
#define EP_SB_INFO_MOVED 0x200u

enum ep_sb_record_type {
	EP_SB_SAMPLE = 1,
	EP_SB_EXEC,        /* the program's image starts; path */
	EP_SB_MAP,         /* struct ep_sb_map and path */
	EP_SB_UNMAP,       /* struct ep_sb_map, pgoff and flags unused */
	EP_SB_FORK,        /* process or thread starts; struct ep_sb_fork */
	EP_SB_THREAD_EXIT, /* thread tid ends */
	EP_SB_EXIT,        /* process pid ends */
	EP_SB_EXEC_TRY, /* execve(2) of what is not followed; path. If it works the process is lost
	                 */
	EP_SB_EXEC_FAILED, /* ... it returned */
	EP_SB_TABLE,       /* struct ep_sb_table: counts to be taken now */
};

/* Every record: this, then its body, then padding to 8 bytes, which `size` includes. */
struct ep_sb_record {
	uint32_t size;
	uint32_t type;
	uint64_t seq;
	uint64_t t_ns; /* CLOCK_MONOTONIC */
	uint32_t pid, tid;
};

/* Followed by from[n], to[n] (uint64_t) and info[n] (uint16_t, EP_SB_INFO_*), newest first. */
struct ep_sb_sample {
	uint64_t ip;
	uint64_t period; /* events since the sample before */
	uint32_t n;
	uint32_t reserved;
};

#define EP_SB_MAP_FILE 1u

struct ep_sb_map {
	uint64_t start, len, pgoff;
	uint32_t flags;
	uint32_t path_len; /* bytes of path behind this, no NUL */
};

struct ep_sb_fork {
	uint32_t ppid, ptid;
};

struct ep_sb_path {
	uint32_t path_len;
	uint32_t reserved;
};

struct ep_sb_table {
	uint32_t tid; /* whose counts they are */
	uint32_t n_chunks;
	uint16_t chunks[EP_SB_TABLE_CHUNKS];
};

#endif
