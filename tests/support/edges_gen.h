/* SPDX-License-Identifier: BSD-2-Clause */
/* Made-up edge tables, the same for the same seed. */
#ifndef EP_TESTS_EDGES_GEN_H
#define EP_TESTS_EDGES_GEN_H

#include "edges/edges.h"

/* A pseudo-random sequence (splitmix64): the state is its only memory. */
uint64_t gen_u64(uint64_t *state);

/* A number below n. */
uint64_t gen_below(uint64_t *state, uint64_t n);

struct gen_edges_opts {
	unsigned n_binaries; /* drawn from a pool of 12, so that tables share some */
	unsigned n_rows;     /* edges, and as many ranges, a binary; before equal ones are joined */
	bool wild;           /* any 64-bit numbers, instead of likely ones */
};

/*
 * A table with one provenance entry of its own (digest and host made of the seed), ready to be
 * written. Fails the running test when there is no memory.
 */
void gen_edges(uint64_t seed, const struct gen_edges_opts *opts, struct ep_edges *ret);

/* Fails the running test if the two differ in anything. */
void gen_edges_check_equal(const struct ep_edges *a, const struct ep_edges *b);

#endif
