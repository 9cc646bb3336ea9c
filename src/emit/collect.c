/* SPDX-License-Identifier: BSD-2-Clause */
/* Units in parallel: counts of lines and calls from steps, branches and pieces. */
#include <string.h>

#include "base/parallel.h"
#include "base/search.h"
#include "emit/internal.h"

/* A stack is cut here: deeper ones only come from damaged debug information. */
#define DEPTH_MAX (EP_SPROF_DEPTH_MAX - 1)

/* Where code of a context is booked: itself, or a call site of the last ancestor with a name. */
struct place {
	uint32_t context; /* EP_SYM_NONE: nowhere */
	uint32_t line, discriminator;
	uint32_t depth;
	bool cut; /* line and discriminator are those of the call site */
};

struct unit_job {
	struct ep_emit_state *state;
	struct ep_unit_counts *out;
	struct ep_sym_pieces pieces;
	struct place *places;  /* by context */
	size_t i_zero, i_step; /* cursors in state->zero and state->steps */
	struct ep_code_cursor code;
};

/* Flow-sensitive discriminators are kept whole: each pass of the compiler takes its own bits. */
static uint32_t base_of(const struct unit_job *job, uint32_t discriminator)
{
	return job->state->flow_sensitive ? discriminator
	                                  : ep_emit_base_discriminator(discriminator);
}

static uint32_t duplication_of(const struct unit_job *job, uint32_t discriminator)
{
	return job->state->flow_sensitive ? 1 : ep_emit_duplication(discriminator);
}

static uint32_t line_offset(uint32_t line, uint32_t decl_line)
{
	return (line - decl_line) & EP_SPROF_OFFSET_MAX;
}

/* As llvm-profgen: a frame without a name ends the stack before it. */
static struct place place_of(const struct unit_job *job, uint32_t i)
{
	const struct ep_sym_context *context = &job->pieces.contexts.v[i];

	if (context->parent == EP_SYM_NONE)
		return (struct place){.context = context->name ? i : EP_SYM_NONE};
	struct place parent = job->places[context->parent];
	if (parent.context == EP_SYM_NONE || parent.cut)
		return parent;
	if (!context->name || parent.depth >= DEPTH_MAX) {
		parent.line = context->call_line;
		parent.discriminator = context->call_disc;
		parent.cut = true;
		return parent;
	}
	return (struct place){.context = i, .depth = parent.depth + 1};
}

static struct ep_error *add_contexts(struct unit_job *job)
{
	size_t n = job->pieces.contexts.n;

	job->places = calloc(n + 1, sizeof(*job->places));
	if (!job->places || !ep_vec_reserve(&job->out->contexts, n))
		return ep_error_nomem();
	for (uint32_t i = 0; i < n; i++) {
		const struct ep_sym_context *context = &job->pieces.contexts.v[i];
		struct ep_unit_context out = {.name = context->name, .parent = context->parent};

		job->places[i] = place_of(job, i);
		if (context->parent != EP_SYM_NONE) {
			out.offset = line_offset(context->call_line,
			                         job->pieces.contexts.v[context->parent].decl_line);
			out.discriminator = base_of(job, context->call_disc);
		}
		job->out->contexts.v[job->out->contexts.n++] = out;
	}
	return NULL;
}

/* The place of a piece: context, line and discriminator; false: it is booked nowhere. */
static bool piece_place(const struct unit_job *job, const struct ep_sym_piece *piece,
                        struct place *ret)
{
	*ret = job->places[piece->context];
	if (!ret->cut) {
		ret->line = piece->line;
		ret->discriminator = piece->discriminator;
	}
	return ret->context != EP_SYM_NONE;
}

/* A line of the place; false: no memory. Line 0 is no line: compiled code without a source. */
static bool add_line(struct unit_job *job, const struct place *place, uint64_t count)
{
	const struct ep_sym_context *context = &job->pieces.contexts.v[place->context];
	struct ep_unit_line *last =
	    job->out->lines.n ? &job->out->lines.v[job->out->lines.n - 1] : NULL;
	uint32_t location;

	if (!place->line && !job->state->opts->compat)
		return true;
	if (!ep_locations_add(&job->out->locations, line_offset(place->line, context->decl_line),
	                      base_of(job, place->discriminator), &location))
		return false;
	struct ep_unit_line line = {
	    .key = (uint64_t)place->context << 32 | location,
	    .count = ep_count_mul(count, duplication_of(job, place->discriminator)),
	};
	if (last && last->key == line.key) {
		last->count = EP_MAX(last->count, line.count);
		return true;
	}
	return ep_vec_push(&job->out->lines, line);
}

/* What did not run in a function that did is known to be cold. Pieces come in order. */
static bool is_zero(struct unit_job *job, const struct ep_sym_piece *piece)
{
	const ep_emit_interval_vec *zero = &job->state->zero;

	while (job->i_zero < zero->n && zero->v[job->i_zero].hi <= piece->lo)
		job->i_zero++;
	return job->i_zero < zero->n && zero->v[job->i_zero].lo < piece->hi &&
	       (!ep_code_covers(&job->state->code, &job->code, piece->lo) ||
	        ep_code_bytes(&job->state->code, &job->code, piece->lo, piece->hi));
}

static bool book_piece(struct unit_job *job, const struct ep_sym_piece *piece)
{
	const ep_steps *steps = &job->state->steps;
	struct place place;
	bool placed = piece_place(job, piece, &place), ran = false;

	while (job->i_step < steps->n && steps->v[job->i_step].last < piece->lo)
		job->i_step++;
	for (size_t i = job->i_step; i < steps->n && steps->v[i].lo < piece->hi; i++) {
		const struct ep_step *step = &steps->v[i];
		uint64_t lo = EP_MAX(piece->lo, step->lo);
		uint64_t bytes = ep_code_bytes(&job->state->code, &job->code, lo,
		                               EP_MIN(piece->hi - 1, step->last) + 1);

		if (!bytes)
			continue;
		job->out->in_functions += (double)bytes * (double)step->count;
		if (!placed)
			continue;
		ran = true;
		if (place.line)
			job->out->with_lines += (double)bytes * (double)step->count;
		struct ep_unit_context *context = &job->out->contexts.v[place.context];
		context->used = true;
		context->total = ep_count_add(context->total, ep_count_mul(step->count, bytes));
		if (!add_line(job, &place, step->count))
			return false;
	}
	if (ran || !placed || !is_zero(job, piece))
		return true;
	job->out->contexts.v[place.context].used = true;
	return add_line(job, &place, 0);
}

static size_t first_branch(const ep_emit_branches *branches, uint64_t from)
{
	return ep_search(i, 0, branches->n, branches->v[i].from < from);
}

static bool book_calls(struct unit_job *job, const struct ep_sym_piece *piece)
{
	const ep_emit_branches *branches = &job->state->branches;
	struct place place;

	if (!piece_place(job, piece, &place))
		return true;
	for (size_t i = first_branch(branches, piece->lo);
	     i < branches->n && branches->v[i].from < piece->hi; i++) {
		const struct ep_emit_branch *branch = &branches->v[i];
		struct ep_unit_call call = {
		    .context = place.context,
		    .offset =
		        line_offset(place.line, job->pieces.contexts.v[place.context].decl_line),
		    .discriminator = base_of(job, place.discriminator),
		    .group = branch->callee,
		    .count = branch->count,
		};

		if (!branch->from_known || branch->callee == EP_SYM_NONE ||
		    (!place.line && !job->state->opts->compat))
			continue;
		job->out->contexts.v[place.context].used = true;
		if (!ep_vec_push(&job->out->calls, call))
			return false;
	}
	return true;
}

static int compare_calls(const void *a, const void *b)
{
	const struct ep_unit_call *x = a, *y = b;

	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->discriminator != y->discriminator)
		return x->discriminator < y->discriminator ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

_Static_assert(sizeof(struct ep_unit_line) == sizeof(struct ep_pair), "lines are pairs");

/* A line's count is the greatest of its instructions. */
static struct ep_error *join_lines(struct ep_unit_counts *counts)
{
	size_t n = 0;

	if (!counts->lines.n)
		return NULL;
	EP_TRY(ep_pairs_sort((struct ep_pair *)counts->lines.v, counts->lines.n));
	for (size_t i = 0; i < counts->lines.n; i++) {
		struct ep_unit_line line = counts->lines.v[i];

		if (n && counts->lines.v[n - 1].key == line.key)
			counts->lines.v[n - 1].count =
			    EP_MAX(counts->lines.v[n - 1].count, line.count);
		else
			counts->lines.v[n++] = line;
	}
	counts->lines.n = n;
	return NULL;
}

/* A call's is the sum. */
static void join_calls(struct ep_unit_counts *counts)
{
	size_t n = 0;

	if (counts->calls.n)
		qsort(counts->calls.v, counts->calls.n, sizeof(*counts->calls.v), compare_calls);
	for (size_t i = 0; i < counts->calls.n; i++) {
		struct ep_unit_call call = counts->calls.v[i];

		if (n && !compare_calls(&counts->calls.v[n - 1], &call))
			counts->calls.v[n - 1].count =
			    ep_count_add(counts->calls.v[n - 1].count, call.count);
		else
			counts->calls.v[n++] = call;
	}
	counts->calls.n = n;
}

static struct ep_error *book(struct unit_job *job)
{
	EP_TRY(add_contexts(job));
	job->i_step = ep_steps_find(&job->state->steps, job->pieces.pieces.v[0].lo);
	for (size_t i = 0; i < job->pieces.pieces.n; i++) {
		const struct ep_sym_piece *piece = &job->pieces.pieces.v[i];

		if (!book_piece(job, piece) || !book_calls(job, piece))
			return ep_error_nomem();
	}
	join_calls(job->out);
	return join_lines(job->out);
}

static struct ep_error *collect_job(void *payload, size_t i_job, unsigned i_thread)
{
	struct ep_emit_state *state = payload;
	struct ep_intervals wanted = {state->wanted.v, state->wanted.n};
	struct unit_job job = {.state = state, .out = &state->units[i_job]};

	EP_TRY(ep_symboliser_pieces(state->sym, i_job, i_thread, &wanted, &job.pieces));
	struct ep_error *err = job.pieces.pieces.n ? book(&job) : NULL;
	ep_sym_pieces_deinit(&job.pieces);
	free(job.places);
	return err;
}

struct ep_error *ep_emit_collect(struct ep_emit_state *state)
{
	state->n_units = ep_symboliser_n_units(state->sym);
	state->units = calloc(state->n_units + 1, sizeof(*state->units));
	if (!state->units)
		return ep_error_nomem();
	return ep_parallel_for(state->n_threads, state->n_units, collect_job, state);
}

void ep_unit_counts_deinit(struct ep_unit_counts *counts)
{
	ep_vec_deinit(&counts->contexts);
	ep_vec_deinit(&counts->lines);
	ep_locations_deinit(&counts->locations);
	ep_vec_deinit(&counts->calls);
}
