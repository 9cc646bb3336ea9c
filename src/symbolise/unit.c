/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of a unit, and the code of those that are asked for. */
#include <dwarf.h>
#include <string.h>

#include "symbolise/internal.h"

/* Of LLVM, in a range for vendors: the discriminator of an inlined call. */
#define DW_AT_GNU_DISCRIMINATOR 0x2136

bool ep_sym_unit_die(struct ep_sym_view *view, struct ep_sym_unit *unit, Dwarf_Die *skeleton_ret,
                     Dwarf_Die *ret)
{
	Dwarf_Die split;
	uint8_t type;

	if (!dwarf_offdie(view->dwarf, unit->die, skeleton_ret) ||
	    dwarf_cu_info(skeleton_ret->cu, NULL, &type, NULL, &split, NULL, NULL, NULL)) {
		unit->bad = true;
		return false;
	}
	*ret = *skeleton_ret;
	if (type != DW_UT_skeleton)
		return true;
	unit->missing_dwo = !split.addr;
	if (split.addr)
		*ret = split;
	return true;
}

/* Where the unit of this DIE ends, as an offset in its own .debug_info. */
static Dwarf_Off unit_end(Dwarf_Die *die)
{
	Dwarf_Off start = dwarf_dieoffset(die) - dwarf_cuoffset(die), next;
	Dwarf_CU *cu = die->cu;
	size_t header;

	if (dwarf_nextcu(dwarf_cu_getdwarf(cu), start, &next, &header, NULL, NULL, NULL) != 0)
		return 0;
	return next;
}

static struct ep_error *add_function(const struct ep_symboliser *sym, Dwarf_Die *die,
                                     ep_sym_funcs *funcs, ep_sym_func_ranges *ranges)
{
	struct ep_sym_ranges it = ep_sym_ranges_init(die);
	struct ep_sym_func func = {.ranges = (uint32_t)ranges->n};
	struct ep_interval at;

	while (ep_sym_ranges_next(sym, &it, &at)) {
		if (ranges->n >= UINT32_MAX - 1 ||
		    !ep_vec_push(ranges, (struct ep_sym_range){at.lo, at.hi, (uint32_t)funcs->n}))
			return ep_error_nomem();
		func.n_ranges++;
	}
	if (!func.n_ranges)
		return NULL;
	func.name = ep_sym_attr_name(die);
	func.die = dwarf_dieoffset(die);
	return ep_vec_push(funcs, func) ? NULL : ep_error_nomem();
}

/* Neither functions nor parts of them are below such DIEs. */
static bool is_leaf_tag(int tag)
{
	switch (tag) {
	case DW_TAG_subroutine_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_GNU_call_site:
	case DW_TAG_call_site:
		return true;
	default:
		return false;
	}
}

struct ep_error *ep_sym_unit_functions(const struct ep_symboliser *sym, struct ep_sym_view *view,
                                       struct ep_sym_unit *unit, ep_sym_funcs *funcs,
                                       ep_sym_func_ranges *ranges)
{
	Dwarf_Die skeleton, die;

	if (!ep_sym_unit_die(view, unit, &skeleton, &die))
		return NULL;
	struct ep_sym_abbrevs abbrevs = {0};
	struct ep_sym_walk walk = ep_sym_walk_init(&die, unit_end(&die), &abbrevs);
	do {
		if (dwarf_tag(&walk.die) == DW_TAG_subprogram)
			EP_TRY(add_function(sym, &walk.die, funcs, ranges));
	} while (ep_sym_walk_next(&walk, false));
	unit->bad |= walk.bad;
	return NULL;
}

/* Names and lines of abstract functions, which many inlined copies share, by their DIE. */
struct origin {
	const void *die;
	const char *name;
	uint32_t decl_line;
};

struct pieces_job {
	const struct ep_symboliser *sym;
	struct ep_sym_unit *unit;
	struct ep_sym_view *view;
	Dwarf_Off end;
	struct ep_sym_abbrevs abbrevs;
	ep_sym_paints paints;
	ep_sym_rows rows;
	struct origin *origins; /* open addressing */
	size_t n_origins, n_slots;
	EP_VEC(uint32_t) levels; /* context by level of the walk */
	struct ep_sym_pieces *out;
};

static size_t origin_slot(const struct origin *slots, size_t n_slots, const void *die)
{
	size_t i = (size_t)((uintptr_t)die * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (n_slots - 1);

	while (slots[i].die && slots[i].die != die)
		i = (i + 1) & (n_slots - 1);
	return i;
}

static bool origins_grow(struct pieces_job *job)
{
	size_t n_slots = job->n_slots ? 2 * job->n_slots : 64;
	struct origin *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < job->n_slots; i++)
		if (job->origins[i].die)
			slots[origin_slot(slots, n_slots, job->origins[i].die)] = job->origins[i];
	free(job->origins);
	job->origins = slots;
	job->n_slots = n_slots;
	return true;
}

/*
 * Name and line of a function. Inlined copies have them from their abstract origin; an out-of-line
 * one may have a name of its own as well (GCC's constructors).
 */
static struct ep_error *function_of(struct pieces_job *job, Dwarf_Die *die, bool inlined,
                                    const char **name_ret, uint32_t *decl_ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die abstract, *origin = NULL;

	if (inlined && dwarf_attr(die, DW_AT_abstract_origin, &attr))
		origin = dwarf_formref_die(&attr, &abstract);
	if (!origin) {
		*name_ret = ep_sym_attr_name(die);
		*decl_ret = ep_sym_attr_u32_integrate(die, DW_AT_decl_line);
		return NULL;
	}
	if (job->n_origins >= job->n_slots / 2 && !origins_grow(job))
		return ep_error_nomem();
	struct origin *slot = &job->origins[origin_slot(job->origins, job->n_slots, origin->addr)];
	if (!slot->die) {
		slot->die = origin->addr;
		slot->name = ep_sym_attr_name(origin);
		slot->decl_line = ep_sym_attr_u32_integrate(origin, DW_AT_decl_line);
		job->n_origins++;
	}
	*name_ret = slot->name;
	*decl_ret = slot->decl_line;
	return NULL;
}

/* Opens the context of a function's or inlined function's DIE and paints its ranges. */
static struct ep_error *add_context(struct pieces_job *job, Dwarf_Die *die, uint32_t parent,
                                    uint32_t *ret)
{
	struct ep_sym_ranges it = ep_sym_ranges_init(die);
	struct ep_sym_context context = {.parent = parent};
	struct ep_sym_paint paint;

	EP_TRY(function_of(job, die, parent != EP_SYM_NONE, &context.name, &context.decl_line));
	if (parent != EP_SYM_NONE) {
		context.call_line = ep_sym_attr_u32(die, DW_AT_call_line);
		context.call_disc = ep_sym_attr_u32(die, DW_AT_GNU_DISCRIMINATOR);
	}
	paint.context = (uint32_t)job->out->contexts.n;
	if (paint.context >= EP_SYM_NONE - 1 || !ep_vec_push(&job->out->contexts, context))
		return ep_error_nomem();
	while (ep_sym_ranges_next(job->sym, &it, &paint.at))
		if (!ep_vec_push(&job->paints, paint))
			return ep_error_nomem();
	*ret = paint.context;
	return NULL;
}

/* Walks what is below a function. Nested functions are functions of their own. */
static struct ep_error *paint_function(struct pieces_job *job, Dwarf_Die *die)
{
	struct ep_sym_walk walk = ep_sym_walk_init(die, job->end, &job->abbrevs);
	uint32_t context;

	EP_TRY(add_context(job, die, EP_SYM_NONE, &context));
	job->levels.n = 0;
	if (!ep_vec_push(&job->levels, context))
		return ep_error_nomem();
	for (bool skip = false; ep_sym_walk_next(&walk, skip);) {
		int tag = dwarf_tag(&walk.die);

		job->levels.n = walk.level;
		context = job->levels.v[walk.level - 1];
		if (tag == DW_TAG_inlined_subroutine)
			EP_TRY(add_context(job, &walk.die, context, &context));
		if (!ep_vec_push(&job->levels, context))
			return ep_error_nomem();
		skip = tag == DW_TAG_subprogram || is_leaf_tag(tag);
	}
	job->unit->bad |= walk.bad;
	return NULL;
}

static bool is_wanted(const struct ep_symboliser *sym, const struct ep_sym_func *func,
                      const struct ep_intervals *intervals)
{
	for (uint32_t i = 0; i < func->n_ranges; i++) {
		const struct ep_sym_range *range = &sym->table.ranges[func->ranges + i];

		if (ep_intervals_meet(intervals, range->lo, range->hi))
			return true;
	}
	return false;
}

static struct ep_error *paint_functions(struct pieces_job *job, Dwarf_Die *unit_die,
                                        const struct ep_intervals *intervals)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit_die->cu);

	for (uint32_t i = 0; i < job->unit->n_funcs; i++) {
		const struct ep_sym_func *func = &job->sym->table.funcs[job->unit->funcs + i];
		Dwarf_Die die;

		if (!is_wanted(job->sym, func, intervals))
			continue;
		if (dwarf_offdie(dwarf, func->die, &die))
			EP_TRY(paint_function(job, &die));
		else
			job->unit->bad = true;
	}
	return ep_sym_paint_flatten(&job->paints);
}

static bool add_piece(struct pieces_job *job, const struct ep_sym_paint *paint,
                      const struct ep_sym_row *row, uint64_t lo, uint64_t hi)
{
	struct ep_sym_piece piece = {.lo = lo,
	                             .hi = hi,
	                             .context = paint->context,
	                             .line = row ? row->line : 0,
	                             .discriminator = row ? row->discriminator : 0};
	struct ep_sym_piece *last =
	    job->out->pieces.n ? &job->out->pieces.v[job->out->pieces.n - 1] : NULL;

	if (lo >= hi)
		return true;
	if (last && last->hi == lo && last->context == piece.context && last->line == piece.line &&
	    last->discriminator == piece.discriminator) {
		last->hi = hi;
		return true;
	}
	return ep_vec_push(&job->out->pieces, piece);
}

/* Lays the rows over [lo, hi) of a paint; what no row covers has no line. */
static bool add_pieces(struct pieces_job *job, const struct ep_sym_paint *paint, uint64_t lo,
                       uint64_t hi, size_t *i_row)
{
	while (*i_row && job->rows.v[*i_row - 1].at.hi > lo)
		--*i_row;
	while (*i_row < job->rows.n && job->rows.v[*i_row].at.hi <= lo)
		++*i_row;
	for (; lo < hi && *i_row < job->rows.n; ++*i_row) {
		const struct ep_sym_row *row = &job->rows.v[*i_row];

		if (row->at.lo >= hi)
			break;
		if (!add_piece(job, paint, NULL, lo, row->at.lo) ||
		    !add_piece(job, paint, row, EP_MAX(lo, row->at.lo), EP_MIN(hi, row->at.hi)))
			return false;
		lo = EP_MIN(hi, row->at.hi);
		if (row->at.hi >= hi)
			return true;
	}
	return add_piece(job, paint, NULL, lo, hi);
}

/* Paints, cut to the addresses that the unit owns, by rows. Everything is sorted. */
static bool combine(struct pieces_job *job)
{
	const struct ep_interval *owned;
	size_t i_owned = 0, i_row = 0;

	if (!job->unit->n_ranges)
		return true;
	owned = &job->sym->owned.v[job->unit->ranges];
	for (size_t i = 0; i < job->paints.n; i++) {
		const struct ep_sym_paint *paint = &job->paints.v[i];

		while (i_owned < job->unit->n_ranges && owned[i_owned].hi <= paint->at.lo)
			i_owned++;
		for (size_t j = i_owned; j < job->unit->n_ranges && owned[j].lo < paint->at.hi; j++)
			if (!add_pieces(job, paint, EP_MAX(paint->at.lo, owned[j].lo),
			                EP_MIN(paint->at.hi, owned[j].hi), &i_row))
				return false;
	}
	return true;
}

/* The addresses of the paints, for which rows are needed. */
static struct ep_error *read_rows(struct pieces_job *job, Dwarf_Die *skeleton)
{
	EP_VEC(struct ep_interval) wanted = {0};
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	bool bad = false;

	if (!job->paints.n || !dwarf_attr(skeleton, DW_AT_stmt_list, &attr) ||
	    dwarf_formudata(&attr, &offset))
		return NULL;
	for (size_t i = 0; i < job->paints.n; i++) {
		struct ep_interval at = job->paints.v[i].at;

		if (wanted.n && wanted.v[wanted.n - 1].hi == at.lo)
			wanted.v[wanted.n - 1].hi = at.hi;
		else if (!ep_vec_push(&wanted, at))
			return ep_error_nomem();
	}
	struct ep_intervals intervals = {wanted.v, wanted.n};
	struct ep_error *err = ep_sym_lines_read(job->sym, offset, &intervals, &job->rows, &bad);
	ep_vec_deinit(&wanted);
	job->unit->bad |= bad;
	return err;
}

static struct ep_error *run_job(struct pieces_job *job, const struct ep_intervals *intervals)
{
	Dwarf_Die skeleton, die;

	if (!ep_sym_unit_die(job->view, job->unit, &skeleton, &die))
		return NULL;
	job->end = unit_end(&die);
	EP_TRY(paint_functions(job, &die, intervals));
	EP_TRY(read_rows(job, &skeleton));
	return combine(job) ? NULL : ep_error_nomem();
}

struct ep_error *ep_symboliser_pieces(struct ep_symboliser *sym, size_t i_unit, unsigned i_thread,
                                      const struct ep_intervals *intervals,
                                      struct ep_sym_pieces *ret)
{
	struct ep_sym_pieces out = {0};
	struct pieces_job job = {
	    .sym = sym, .unit = &sym->units.v[i_unit], .view = &sym->views[i_thread], .out = &out};
	struct ep_error *err = job.unit->n_funcs ? run_job(&job, intervals) : NULL;

	ep_vec_deinit(&job.paints);
	ep_vec_deinit(&job.rows);
	ep_vec_deinit(&job.levels);
	free(job.origins);
	if (err)
		ep_sym_pieces_deinit(&out);
	else
		*ret = out;
	return err;
}
