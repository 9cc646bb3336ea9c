/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of emit share. */
#ifndef EP_EMIT_INTERNAL_H
#define EP_EMIT_INTERNAL_H

#include "emit/emit.h"
#include "isa/isa.h"
#include "symbolise/symbolise.h"

/* A range of the binary: vaddr, first instruction and last one executed (inclusive). */
struct ep_emit_range {
	uint64_t start, last;
	uint64_t count; /* fixed point */
	bool open;      /* before the check: `last` was not executed */
};

/* A branch into this binary: vaddr. */
struct ep_emit_branch {
	uint64_t from, to;
	uint64_t count; /* fixed point */
	uint32_t types;
	uint32_t callee; /* group of the function entered, EP_SYM_NONE: it is no entry */
	bool from_known; /* has lines of this binary */
};

typedef EP_VEC(struct ep_emit_range) ep_emit_ranges;
typedef EP_VEC(struct ep_emit_branch) ep_emit_branches;
typedef EP_VEC(struct ep_interval) ep_emit_interval_vec;

/* sort.c: sorts by key, stably, in linear time. */
struct ep_pair {
	uint64_t key, value;
};

struct ep_error *ep_pairs_sort(struct ep_pair *v, size_t n) EP_MUST_CHECK;

/* sweep.c: sorts intervals and joins those that touch. */
struct ep_error *ep_emit_intervals_join(ep_emit_interval_vec *intervals) EP_MUST_CHECK;

/* code.c: instructions of the code that was executed. */
struct ep_code_insn {
	uint32_t offset; /* from the region's start */
	uint8_t length, cls;
};

struct ep_code_region {
	uint64_t lo, hi; /* what is decoded */
	struct ep_code_insn *insns;
	size_t n;
	bool gaps; /* some bytes are no instructions */
};

struct ep_code {
	const struct ep_object *object;
	EP_VEC(struct ep_code_region) regions; /* sorted, disjoint */
	EP_VEC(uint64_t) leaves;               /* instructions that never go on, sorted */
};

/* Where to begin decoding; sorted. */
struct ep_code_starts {
	const uint64_t *v;
	size_t n;
};

/*
 * Decodes what holds the intervals, from the last known start in the same section. With `compat`,
 * code that llvm-profgen does not see is left out: sections named .plt, and what lies before the
 * first start of its section.
 */
struct ep_error *ep_code_build(const struct ep_object *object, const struct ep_intervals *intervals,
                               const struct ep_code_starts *starts, bool compat, unsigned n_threads,
                               struct ep_code *ret) EP_MUST_CHECK;
void ep_code_deinit(struct ep_code *code);

/* The instruction that begins at vaddr; NULL: none known. */
const struct ep_code_insn *ep_code_at(const struct ep_code *code, uint64_t vaddr);

/* Where a series of look-ups stands; zero at the start. Going up is fast. */
struct ep_code_cursor {
	size_t region, insn;
};

/* Bytes of the instructions that begin in [lo, hi). */
uint64_t ep_code_bytes(const struct ep_code *code, struct ep_code_cursor *cursor, uint64_t lo,
                       uint64_t hi);

/* True if code there is decoded. */
bool ep_code_covers(const struct ep_code *code, struct ep_code_cursor *cursor, uint64_t vaddr);

/* True if an instruction that never goes on begins in [lo, hi). */
bool ep_code_leaves(const struct ep_code *code, uint64_t lo, uint64_t hi);

/* functions.c: DWARF's functions by address. */
struct ep_func_range {
	uint64_t lo, hi;
	uint32_t group;
	uint32_t order; /* in DWARF */
};

/* A function; with `compat`, all functions of one name. */
struct ep_func_group {
	const char *name;
	uint32_t n_ranges;
	bool touched; /* a range starts in it */
};

struct ep_functions {
	struct ep_func_range *ranges; /* by lo, unique */
	size_t n_ranges;
	struct ep_func_range *all; /* by group, all of them */
	size_t n_all;
	struct ep_func_group *groups;
	size_t n_groups;
	const struct ep_symbol *symbols;
	size_t n_symbols;
};

struct ep_error *ep_functions_build(const struct ep_sym_table *table,
                                    const struct ep_object *object, const struct ep_symbol *symbols,
                                    size_t n_symbols, bool compat, struct ep_functions *ret)
    EP_MUST_CHECK;
void ep_functions_deinit(struct ep_functions *functions);

/* The range that holds vaddr, or NULL. */
const struct ep_func_range *ep_functions_find(const struct ep_functions *functions, uint64_t vaddr);

/* The function that is entered at vaddr: its group, or NULL. */
const struct ep_func_group *ep_functions_entry(const struct ep_functions *functions,
                                               uint64_t vaddr);

/* sweep.c: how often each instruction ran: those that begin in [lo, last] `count` times. */
struct ep_step {
	uint64_t lo, last;
	uint64_t count; /* whole, not 0 */
};

typedef EP_VEC(struct ep_step) ep_steps;

/* From ranges sorted by start. Steps are sorted and disjoint. */
struct ep_error *ep_steps_build(const ep_emit_ranges *ranges, ep_steps *ret) EP_MUST_CHECK;

/* The first step that ends at or behind vaddr. */
size_t ep_steps_find(const ep_steps *steps, uint64_t vaddr);

/* location.c: the places in functions that a unit names, each once. */
struct ep_location {
	uint32_t offset, discriminator;
};

struct ep_locations {
	EP_VEC(struct ep_location) v;
	uint32_t *slots; /* index + 1, open addressing */
	size_t n_slots;
};

/* The index of a location, new or not; false: no memory. */
bool ep_locations_add(struct ep_locations *locations, uint32_t offset, uint32_t discriminator,
                      uint32_t *ret);
void ep_locations_deinit(struct ep_locations *locations);

/* collect.c: what a unit gives to the profile. */
struct ep_unit_line {
	uint64_t key; /* context in the upper half, index of the location in the lower */
	uint64_t count;
};

struct ep_unit_call {
	uint32_t context, offset, discriminator;
	uint32_t group; /* callee */
	uint64_t count;
};

struct ep_unit_context {
	const char *name;
	uint32_t parent;                /* EP_SYM_NONE: top level */
	uint32_t offset, discriminator; /* of the call in the parent */
	uint64_t total;                 /* of its own code */
	bool used;
};

struct ep_unit_counts {
	EP_VEC(struct ep_unit_context) contexts;
	EP_VEC(struct ep_unit_line) lines; /* sorted, unique */
	struct ep_locations locations;
	EP_VEC(struct ep_unit_call) calls;
	double in_functions, with_lines;
};

struct ep_emit_state {
	const struct ep_emit_opts *opts;
	struct ep_object *object;
	const struct ep_symbol *symbols; /* of the binary or its debug file */
	size_t n_symbols;
	bool flow_sensitive; /* discriminators of LLVM's flow-sensitive profiles */
	struct ep_emit_account *account;
	unsigned n_threads;
	ep_emit_ranges ranges;     /* sorted by start */
	ep_emit_branches branches; /* sorted by from */
	struct ep_symboliser *sym;
	const struct ep_sym_table *table;
	struct ep_code code;
	struct ep_functions functions;
	ep_emit_interval_vec wanted; /* whose pieces are needed */
	ep_emit_interval_vec zero;   /* of touched functions: what did not run counts 0 */
	ep_steps steps;
	struct ep_unit_counts *units;
	size_t n_units;
};

struct ep_error *ep_emit_collect(struct ep_emit_state *state) EP_MUST_CHECK;
void ep_unit_counts_deinit(struct ep_unit_counts *counts);

/* check.c: edges and ranges to vaddr, and those of them that the code does not bear out. */
struct ep_error *ep_emit_load(struct ep_emit_state *state, const struct ep_edges_binary *binary)
    EP_MUST_CHECK;
void ep_emit_sort(struct ep_emit_state *state);
void ep_emit_check(struct ep_emit_state *state);

/* build.c: the units' counts become the profile. */
struct ep_error *ep_emit_build(struct ep_emit_state *state, struct ep_sprof *ret) EP_MUST_CHECK;

#endif
