/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plugin's own state, shared by its source files.
 *
 * Threads: QEMU runs each thread of the program (vCPU) on a host thread of its own. A struct
 * ep_sb_vcpu and its slot are used by that thread only, without locks; everything in struct
 * ep_sb_plugin that changes after start is under `lock`. Nothing here may allocate, print or wait
 * on the path of an executed block.
 */
#ifndef EP_SOFTBRBE_PLUGIN_H
#define EP_SOFTBRBE_PLUGIN_H

#include <pthread.h>

#include "capture/soft/softbrbe_wire.h"
#include "classify.h"
#include "qemu_api.h"

#define EP_SB_LIKELY(x) __builtin_expect(!!(x), 1)
#define EP_SB_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A translated block. Interned, never freed: QEMU's code and the vCPUs point at it. */
struct ep_sb_block {
	uint64_t start;
	uint64_t next;   /* where execution goes on if the last instruction does nothing special;
	                    EP_SB_NO_ADDR if it always does */
	uint64_t target; /* of a direct branch, else EP_SB_NO_ADDR */
	uint64_t last;   /* address of the last instruction */
	uint64_t end;    /* address behind it */
	uint32_t n_insns;
	uint16_t info;      /* branch type */
	uint8_t kind;       /* enum ep_sb_kind of the last instruction */
	uint8_t is_handler; /* start is the entry of a signal handler; set at any time */
	struct ep_sb_block *chain;
};

struct ep_sb_stack_entry {
	uint64_t from, to;
	uint64_t info;
};

struct ep_sb_table_mem;

/* A piece of executable memory of the process. */
struct ep_sb_region {
	uint64_t start, end; /* guest addresses */
	uint64_t pgoff;
	char *path; /* owned; "" for anonymous memory */
	bool is_file;
};

struct ep_sb_regions {
	struct ep_sb_region *v;
	size_t n, cap;
};

struct ep_sb_vcpu {
	const struct ep_sb_block *prev; /* executed last */
	uint64_t pending;               /* EP_SB_INFO_* for the next record */
	int64_t left;                   /* events to the next sample */
	uint64_t n_branches, n_insns;   /* totals, copied to the slot now and then */
	struct ep_sb_table_mem *table;  /* exact mode; changed by others under `lock` */
	uint64_t line_start;            /* exact mode: where the straight line began */
	struct ep_sb_slot *slot;        /* NULL: none was free */
	unsigned char *ring;
	uint64_t period, random;
	uint64_t n_stack_base; /* value of n_branches when the stack was empty */
	uint32_t tid;
	unsigned index; /* QEMU's number for it */
	struct ep_sb_vcpu *next;
	/* The system call under way. */
	int64_t sys_num;
	uint64_t sys_args[6];
	struct ep_sb_regions sys_removed; /* taken out before the call, to be moved or put back */
	struct ep_sb_stack_entry stack[EP_SB_MAX_DEPTH];
};

struct ep_sb_plugin {
	struct ep_sb_header *shared;
	unsigned char *slots, *chunks;
	bool exact, is_x86;
	bool follow; /* programs that are executed are recorded, too */
	uint32_t event, depth;
	uint64_t period, seed;
	uint32_t pid;
	uint64_t entry_ip;   /* the first instruction that was executed */
	uint64_t guest_base; /* host address - guest address */
	const struct ep_sb_syscalls *syscalls;
	/* For starting QEMU again; commas are doubled in all but qemu_path and sysroot. */
	char qemu_path[EP_SB_MAX_PATH], plugin_path[EP_SB_MAX_PATH], options[EP_SB_MAX_PATH];
	char *sysroot; /* NULL: none was given */
	char *program; /* path of the running one; NULL: unknown */
	pthread_mutex_t lock;
	/* Under the lock. */
	struct ep_sb_vcpu *vcpus;
	struct ep_sb_regions regions; /* ascending, disjoint */
	bool regions_stale;           /* the reader missed some of them: send all again */
	bool started;                 /* the program's image has been announced */
	uint64_t *handlers;           /* entries of signal handlers */
	size_t n_handlers, cap_handlers;
};

extern struct ep_sb_plugin ep_sb;

/* blocks.c: the block of a translation; NULL when out of memory. */
struct ep_sb_block *ep_sb_block_intern(const struct ep_sb_block *block);
/* Marks all blocks that start at a signal handler, now and later. */
void ep_sb_handler_add(uint64_t addr);

/* vcpu.c: recording. The three kinds of tb_exec callback; payload: struct ep_sb_block. */
void ep_sb_run_taken(unsigned index, void *payload);
void ep_sb_run_insns(unsigned index, void *payload);
void ep_sb_run_exact(unsigned index, void *payload);
/* The calling thread's vCPU, made when it is new. */
struct ep_sb_vcpu *ep_sb_vcpu_self(unsigned index);
/* Brings the slot's totals up to date. */
void ep_sb_vcpu_publish(struct ep_sb_vcpu *vcpu);
/* The thread ends. */
void ep_sb_vcpu_exit(void);
/* The process ends: all threads' counts go out. */
void ep_sb_vcpu_exit_all(void);
/* Before execve(2), and when it came back. Under the lock. */
void ep_sb_vcpu_before_exec(struct ep_sb_vcpu *vcpu);
void ep_sb_vcpu_after_failed_exec(struct ep_sb_vcpu *vcpu);
/* In the child of a fork: only the calling thread is left. */
void ep_sb_vcpu_forked(uint32_t ppid, uint32_t ptid);
/* Branches recorded so far may name code that is about to be replaced. */
void ep_sb_vcpu_forget(struct ep_sb_vcpu *vcpu);

/* ring.c: a slot for the calling thread; NULL: none is free, which is counted. */
struct ep_sb_slot *ep_sb_slot_claim(uint32_t tid, unsigned char **ring_ret);
/*
 * Writes a record of head and body and tail, both may be empty. False: no room. Samples leave an
 * eighth of the ring to the other kinds, whose losses are counted here; losses of samples are left
 * to the caller.
 */
bool ep_sb_ring_write(struct ep_sb_vcpu *vcpu, enum ep_sb_record_type type, const void *body,
                      size_t n_body, const void *tail, size_t n_tail);

/*
 * softbrbe.c: appends text to a string of EP_SB_MAX_PATH bytes, commas doubled as QEMU's options
 * want it. False: it does not fit.
 */
bool ep_sb_append(char *to, const char *text);

/* exact.c: one more run of the straight line from `start` to `from`, which went `to`. */
void ep_sb_count(struct ep_sb_vcpu *vcpu, uint64_t start, uint64_t from, uint64_t to,
                 uint64_t info);
/* Gives the counts of a vCPU to the reader and starts anew. Under the lock. */
void ep_sb_table_seal(struct ep_sb_vcpu *vcpu, struct ep_sb_vcpu *writer);
/* Drops the table without giving it to anybody (it was copied by fork). */
void ep_sb_table_forget(struct ep_sb_vcpu *vcpu);

/* maps.c */
void ep_sb_maps_init(void);                     /* at load, before the program is mapped */
void ep_sb_maps_start(struct ep_sb_vcpu *vcpu); /* before the first block */
void ep_sb_maps_send(struct ep_sb_vcpu *vcpu);  /* all regions again. Under the lock */
void ep_sb_on_syscall(uint64_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2,
                      uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
/* Copies n bytes at an address of the program. False: they are not all there. */
bool ep_sb_guest_read(uint64_t addr, void *ret, size_t n);
void ep_sb_on_syscall_ret(uint64_t id, unsigned vcpu, int64_t num, int64_t ret);

/*
 * exec.c: executes QEMU for the program at `path` in place of the call under way; argv and envp are
 * the program's addresses. Returns if that program is not to be recorded.
 */
void ep_sb_exec_follow(struct ep_sb_vcpu *vcpu, const char *path, uint64_t argv, uint64_t envp);

/* regions.c: sets of executable memory. */
/* Adds a region, replacing what it overlaps; takes over `path`. False: out of memory. */
bool ep_sb_regions_add(struct ep_sb_regions *set, uint64_t start, uint64_t end, uint64_t pgoff,
                       char *path, bool is_file);
/* Cuts [start, end) out; the pieces are added to `removed` unless that is NULL. True: some were. */
bool ep_sb_regions_remove(struct ep_sb_regions *set, uint64_t start, uint64_t end,
                          struct ep_sb_regions *removed);
/* True if [start, end) lies in regions of the set altogether. */
bool ep_sb_regions_cover(const struct ep_sb_regions *set, uint64_t start, uint64_t end);
void ep_sb_regions_clear(struct ep_sb_regions *set);

#endif
