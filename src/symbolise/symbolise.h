/* SPDX-License-Identifier: BSD-2-Clause */
/* DWARF to inline stacks: which function, inlined where, and which line each stretch of code is. */
#ifndef EP_SYMBOLISE_SYMBOLISE_H
#define EP_SYMBOLISE_SYMBOLISE_H

#include "base/vec.h"
#include "object/object.h"

/* Code addresses [lo, hi), vaddr. Lists of them are sorted and disjoint. */
struct ep_interval {
	uint64_t lo, hi;
};

struct ep_intervals {
	struct ep_interval *v;
	size_t n;
};

/* True if [lo, hi) meets one of the intervals. */
bool ep_intervals_meet(const struct ep_intervals *intervals, uint64_t lo, uint64_t hi);

/* A stretch of a function; several when it is split into hot and cold parts. */
struct ep_sym_range {
	uint64_t lo, hi;
	uint32_t func; /* index in ep_sym_table.funcs */
};

/* A function with code, out of line. */
struct ep_sym_func {
	const char *name;          /* linkage name, else name; NULL: it has none */
	uint64_t die;              /* offset in .debug_info (or of the split unit) */
	uint32_t unit;             /* index of its unit */
	uint32_t ranges, n_ranges; /* in ep_sym_table.ranges, in the order of DWARF */
};

/* Functions by unit, then by the order of DWARF. */
struct ep_sym_table {
	struct ep_sym_func *funcs;
	struct ep_sym_range *ranges;
	uint32_t n_funcs, n_ranges;
};

#define EP_SYM_NONE UINT32_MAX

/* A function in the place it was inlined to; the chain of parents is the inline stack. */
struct ep_sym_context {
	const char *name;
	uint32_t parent;               /* EP_SYM_NONE: the out-of-line function itself */
	uint32_t decl_line;            /* of the abstract function, 0 if unknown */
	uint32_t call_line, call_disc; /* where the parent calls it; line 0: unknown */
};

/* Code of one context and one line; line 0: no line. Sorted, disjoint. */
struct ep_sym_piece {
	uint64_t lo, hi;
	uint32_t context, line, discriminator;
};

/* A parent comes before its children. */
struct ep_sym_pieces {
	EP_VEC(struct ep_sym_context) contexts;
	EP_VEC(struct ep_sym_piece) pieces;
};

void ep_sym_pieces_deinit(struct ep_sym_pieces *pieces);

struct ep_sym_opts {
	unsigned n_threads; /* how many may call ep_symboliser_pieces() at once; 0: per processor */
	/*
	 * As LLVM, believe in code that the linker threw away: its lines hide live ones, and the
	 * address 1, which llvm-profgen gives to branches from elsewhere, may lie in it.
	 */
	bool dead_code;
};

/* What could not be used. */
struct ep_sym_stats {
	uint32_t n_units, n_units_read;
	uint32_t n_bad_units;   /* malformed: left out, or read up to the damage */
	uint32_t n_missing_dwo; /* units whose split debug info was not found */
};

struct ep_symboliser;

/* An ELF file: the file at `path`; or, where data is not NULL, borrowed bytes of that name. */
struct ep_sym_source {
	const char *path;
	const void *data;
	size_t size;
};

/*
 * Opens the debug information of a file: the binary itself or its separate debug file. `binary`
 * gives the code ranges; both it and the source stay valid. Errors: OS; NOMEM; BAD_DATA; MISSING
 * when there is no .debug_info (the hint says what to do).
 */
struct ep_error *ep_symboliser_open(const struct ep_sym_source *source,
                                    const struct ep_object *binary, const struct ep_sym_opts *opts,
                                    struct ep_symboliser **ret) EP_MUST_CHECK;

/* NULL is allowed. Ends the life of all names. */
void ep_symboliser_close(struct ep_symboliser *sym);

/*
 * Finds the functions of the units that hold one of the intervals; of all units if `intervals` is
 * NULL. Called once; the table lives as long as the symboliser. Runs on all its threads.
 */
struct ep_error *ep_symboliser_functions(struct ep_symboliser *sym,
                                         const struct ep_intervals *intervals,
                                         const struct ep_sym_table **ret) EP_MUST_CHECK;

/* Units are counted from 0 in the order of .debug_info. */
size_t ep_symboliser_n_units(const struct ep_symboliser *sym);

/*
 * Gives the pieces of a unit that meet the intervals: whole functions as far as the unit owns their
 * addresses. Where units overlap, the first one owns. After ep_symboliser_functions(); callable by
 * several threads with different i_thread < n_threads. A damaged unit gives what it has.
 */
struct ep_error *ep_symboliser_pieces(struct ep_symboliser *sym, size_t i_unit, unsigned i_thread,
                                      const struct ep_intervals *intervals,
                                      struct ep_sym_pieces *ret) EP_MUST_CHECK;

/* Numbers so far; not while other threads work. */
struct ep_sym_stats ep_symboliser_stats(const struct ep_symboliser *sym);

#endif
