/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of symbolise share. */
#ifndef EP_SYMBOLISE_INTERNAL_H
#define EP_SYMBOLISE_INTERNAL_H

#include <elfutils/libdw.h>

#include "base/bytes.h"
#include "symbolise/symbolise.h"

/* Nesting of DIEs beyond this is malformed. */
#define EP_SYM_DEPTH_MAX 4096

struct ep_sym_unit {
	Dwarf_Off die;             /* of the unit's DIE in .debug_info */
	Dwarf_Off next;            /* of the next unit's header */
	uint32_t ranges, n_ranges; /* owned addresses, in ep_symboliser.owned */
	uint32_t funcs, n_funcs;   /* in the table */
	bool read, bad, missing_dwo;
};

/*
 * libdw is not thread-safe: every thread has its own view of the same bytes. It writes to section
 * headers when it decompresses, so views are mapped privately, or copies.
 */
struct ep_sym_view {
	int fd; /* -1: none */
	void *copy;
	Elf *elf;
	Dwarf *dwarf;
};

struct ep_symboliser {
	const char *name;
	const struct ep_object *binary;
	bool dead_code;
	unsigned n_threads;
	struct ep_sym_view *views;
	struct ep_bytes debug_line; /* decompressed, borrowed of view 0; empty if there is none */
	EP_VEC(struct ep_sym_unit) units;
	EP_VEC(struct ep_interval) owned; /* by unit */
	struct ep_sym_table table;
};

/*
 * walk.c: abbreviations of a unit by their code, as far as they are known; zero at the start. libdw
 * takes a lock for each look-up.
 */
struct ep_sym_abbrevs {
	Dwarf_Abbrev *v[1024];
};

/* A walk over a DIE and all below it, in the order of the file. */
struct ep_sym_walk {
	Dwarf_Die die;
	struct ep_sym_abbrevs *abbrevs;
	const unsigned char *end; /* of the unit */
	unsigned level;           /* 0: where it started */
	bool bad;                 /* ended at something malformed */
};

struct ep_sym_walk ep_sym_walk_init(const Dwarf_Die *start, Dwarf_Off unit_end,
                                    struct ep_sym_abbrevs *abbrevs);

/* Moves to the next DIE; false at the end. With `skip` not to a child. */
bool ep_sym_walk_next(struct ep_sym_walk *walk, bool skip);

/* attr.c: attributes as they are wanted here, 0 or NULL where there are none. */
uint32_t ep_sym_attr_u32(Dwarf_Die *die, unsigned name);
uint32_t ep_sym_attr_u32_integrate(Dwarf_Die *die, unsigned name);
const char *ep_sym_attr_name(Dwarf_Die *die);

/* Iterates the address ranges of a DIE that begin in code: false at the end. */
struct ep_sym_ranges {
	Dwarf_Die *die;
	ptrdiff_t offset;
	Dwarf_Addr base;
	uint64_t n_left;
};

struct ep_sym_ranges ep_sym_ranges_init(Dwarf_Die *die);
bool ep_sym_ranges_next(const struct ep_symboliser *sym, struct ep_sym_ranges *it,
                        struct ep_interval *ret);

/* owner.c: which unit owns an address. */
struct ep_sym_claim {
	struct ep_interval at;
	uint32_t unit;
};

typedef EP_VEC(struct ep_sym_claim) ep_sym_claims;

/*
 * Sorts claims by unit and address such that they are disjoint: where several overlap, the owner of
 * the stretch before goes on, else the first unit begins. The result may be longer.
 */
struct ep_error *ep_sym_claims_settle(ep_sym_claims *claims) EP_MUST_CHECK;

/* paint.c: what is painted later covers what was there, as in LLVM's DWARFUnit address map. */
struct ep_sym_paint {
	struct ep_interval at;
	uint32_t context;
};

typedef EP_VEC(struct ep_sym_paint) ep_sym_paints;

/* Replaces the paints by the visible, sorted, disjoint parts. */
struct ep_error *ep_sym_paint_flatten(ep_sym_paints *paints) EP_MUST_CHECK;

/* unit.c: the unit's DIE, of split debug info that of the split unit; false: unreadable. */
bool ep_sym_unit_die(struct ep_sym_view *view, struct ep_sym_unit *unit, Dwarf_Die *skeleton_ret,
                     Dwarf_Die *ret);

typedef EP_VEC(struct ep_sym_func) ep_sym_funcs;
typedef EP_VEC(struct ep_sym_range) ep_sym_func_ranges;

/* Appends the functions of a unit, with ranges counted from the list's own start. */
struct ep_error *ep_sym_unit_functions(const struct ep_symboliser *sym, struct ep_sym_view *view,
                                       struct ep_sym_unit *unit, ep_sym_funcs *funcs,
                                       ep_sym_func_ranges *ranges) EP_MUST_CHECK;

/* line.c */
struct ep_sym_row {
	struct ep_interval at;
	uint32_t line, discriminator;
};

typedef EP_VEC(struct ep_sym_row) ep_sym_rows;

/*
 * Reads the line program at `offset` of .debug_line and gives the rows that meet the intervals,
 * sorted and disjoint. False through bad_ret: malformed; the rows before the damage are there.
 */
struct ep_error *ep_sym_lines_read(const struct ep_symboliser *sym, uint64_t offset,
                                   const struct ep_intervals *intervals, ep_sym_rows *rows,
                                   bool *bad_ret) EP_MUST_CHECK;

#endif
