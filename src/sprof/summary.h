/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of a whole sample profile: LLVM's profile summary, and the density. */
#ifndef EP_SPROF_SUMMARY_H
#define EP_SPROF_SUMMARY_H

#include "sprof/sprof.h"

#define EP_SPROF_N_CUTOFFS 16

/* The highest counts that together make `cutoff` millionths of the sum: least of them, how many. */
struct ep_sprof_cutoff {
	uint32_t cutoff;
	uint64_t min_count, n_counts;
};

/* As LLVM's ProfileSummaryBuilder makes it; sums saturate. */
struct ep_sprof_summary {
	uint64_t total_count, max_count; /* of the body records, inlined ones included */
	uint64_t max_head;
	uint64_t n_counts; /* body records, those of count 0 included */
	uint64_t n_funcs;  /* top level */
	struct ep_sprof_cutoff cutoffs[EP_SPROF_N_CUTOFFS];
	uint64_t hot_count;  /* least count of a hot record: the minimum at 99% */
	uint64_t cold_count; /* greatest count of a cold record: the minimum at 99.9999% */
};

/* Errors: NOMEM. */
struct ep_error *ep_sprof_summarise(const struct ep_sprof *prof, struct ep_sprof_summary *ret)
    EP_MUST_CHECK;

/*
 * llvm-profgen's measure of sampling depth: the least of (sum of the body counts / number of
 * records) over the densest functions that together hold 99% of the sum. 0 for an empty profile.
 * Errors: NOMEM.
 */
struct ep_error *ep_sprof_density(const struct ep_sprof *prof, double *ret) EP_MUST_CHECK;

#endif
