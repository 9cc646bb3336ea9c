/* SPDX-License-Identifier: BSD-2-Clause */
/* Splitting stacks into edges and ranges and counting them (folding rules 2 to 6 and 9). */
#ifndef EP_FOLD_STACK_H
#define EP_FOLD_STACK_H

#include "base/vec.h"
#include "fold/maps.h"
#include "fold/table.h"
#include "record/drop.h"
#include "record/event.h"

/*
 * Weights of rule 6. A stack weighs n * TYPICAL / span, so that one of usual code weighs about 1
 * and counts of differently sampled captures stay comparable. Typical is what a taken branch
 * spans: 32 bytes of straight line, 8 cycles.
 */
#define EP_FOLD_TYPICAL_BYTES 32
#define EP_FOLD_TYPICAL_CYCLES 8
/* Bytes of the last instruction, which a range [start, end] does not tell. */
#define EP_FOLD_INSN_BYTES 4

enum ep_fold_span {
	EP_FOLD_SPAN_NONE,  /* every stack weighs 1 */
	EP_FOLD_SPAN_BYTES, /* of the ranges: the capture was driven by instructions */
	EP_FOLD_SPAN_CYCLES /* of the records, bytes where none has any */
};

/* One stack to be folded. */
struct ep_fold_job {
	const struct ep_branch *branches;
	const struct ep_fold_maps *user, *kernel; /* NULL: none */
	uint64_t info_mask;
	uint64_t repeat;
	uint32_t n_branches;
	uint32_t open_types; /* bit 1 << t: an exception whose source is not executed */
	bool filtered;
	bool strip_duplicate_top; /* the CPU has the erratum of rule 9 */
	bool gap_without_cycles;  /* see cpu.h */
	uint8_t span;             /* enum ep_fold_span */
};

/* A look-up that waits for its weight and its cache line. */
struct ep_fold_pending {
	uint64_t from, to, hash;
	uint32_t what;
	uint32_t mispredicted; /* all ones or 0 */
};

/* An exception that may return to where it was taken. */
struct ep_fold_suspended {
	uint64_t start, pc; /* ip of the range under way */
	struct ep_fold_map map;
	bool half; /* source of a half record: not counted unless stitched */
};

#define EP_FOLD_SUSPENDED_MAX 8

/* What one thread counts with; on cache lines of its own. */
struct ep_fold_counter {
	_Alignas(128) struct ep_fold_table table;
	struct ep_drops drops;
	uint64_t n_counted; /* edges and ranges that got into the table */
	EP_VEC(struct ep_fold_pending) pending;
	struct ep_fold_suspended suspended[EP_FOLD_SUSPENDED_MAX];
	size_t n_suspended;
};

/* For one of n_counters that count together: they share the limit of memory. Errors: NOMEM. */
struct ep_error *ep_fold_counter_init(struct ep_fold_counter *counter, unsigned n_counters)
    EP_MUST_CHECK;
void ep_fold_counter_deinit(struct ep_fold_counter *counter);

/* Counts one stack. Errors: NOMEM. */
struct ep_error *ep_fold_count_stack(struct ep_fold_counter *counter, const struct ep_fold_job *job)
    EP_MUST_CHECK;

/* Counts what a source has counted itself; `is_edge` or a range. Errors: NOMEM. */
struct ep_error *ep_fold_count_counted(struct ep_fold_counter *counter,
                                       const struct ep_fold_maps *user,
                                       const struct ep_fold_maps *kernel,
                                       const struct ep_counted *counted, bool is_edge)
    EP_MUST_CHECK;

#endif
