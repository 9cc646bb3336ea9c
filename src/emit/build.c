/* SPDX-License-Identifier: BSD-2-Clause */
/* The profile from the counts of all units, in the order of units: the same for any threads. */
#include <string.h>

#include "emit/internal.h"

/* Initialisers that compilers make: one name for many different functions, of no use to anybody. */
static bool is_ambiguous(const char *name)
{
	return !strncmp(name, "__cxx_global_var_init", 21) || !strncmp(name, "__tls_init", 10);
}

/* Totals count for all callers, and who is used has used callers. Children lie behind parents. */
static void add_up(struct ep_unit_counts *unit)
{
	for (size_t i = unit->contexts.n; i-- > 0;) {
		struct ep_unit_context *context = &unit->contexts.v[i];

		if (!context->used || context->parent == EP_SYM_NONE)
			continue;
		struct ep_unit_context *parent = &unit->contexts.v[context->parent];
		parent->used = true;
		parent->total = ep_count_add(parent->total, context->total);
	}
}

/* The profile's function of each used context; NULL: left out. */
static struct ep_error *add_functions(struct ep_sprof *prof, struct ep_unit_counts *unit,
                                      struct ep_sprof_func **funcs)
{
	for (size_t i = 0; i < unit->contexts.n; i++) {
		const struct ep_unit_context *context = &unit->contexts.v[i];
		struct ep_sprof_func *parent = NULL;
		uint32_t name;

		if (context->parent != EP_SYM_NONE)
			parent = funcs[context->parent];
		if (!context->used || !context->name || is_ambiguous(context->name) ||
		    (context->parent != EP_SYM_NONE && !parent))
			continue;
		EP_TRY(ep_sprof_name(prof, context->name, strlen(context->name), &name));
		if (parent)
			EP_TRY(ep_sprof_callee(prof, parent, context->offset,
			                       context->discriminator, name, &funcs[i]));
		else
			EP_TRY(ep_sprof_func(prof, name, &funcs[i]));
		funcs[i]->total = ep_count_add(funcs[i]->total, context->total);
	}
	return NULL;
}

static struct ep_error *callee_name(struct ep_sprof *prof, const struct ep_emit_state *state,
                                    uint32_t group, uint32_t *ret)
{
	const char *name = state->functions.groups[group].name;

	return ep_sprof_name(prof, name, ep_emit_canonical_length(name), ret);
}

static struct ep_error *add_unit(struct ep_emit_state *state, struct ep_sprof *prof,
                                 struct ep_unit_counts *unit, struct ep_sprof_func **funcs)
{
	struct ep_sprof_record *record;
	uint32_t name;

	EP_TRY(add_functions(prof, unit, funcs));
	for (size_t i = 0; i < unit->lines.n; i++) {
		const struct ep_unit_line *line = &unit->lines.v[i];
		const struct ep_location *at = &unit->locations.v.v[line->key & UINT32_MAX];
		struct ep_sprof_func *func = funcs[line->key >> 32];

		if (func)
			EP_TRY(ep_sprof_body_max(prof, func, at->offset, at->discriminator,
			                         line->count));
	}
	for (size_t i = 0; i < unit->calls.n; i++) {
		const struct ep_unit_call *call = &unit->calls.v[i];

		if (!funcs[call->context])
			continue;
		EP_TRY(callee_name(prof, state, call->group, &name));
		EP_TRY(ep_sprof_record(prof, funcs[call->context], call->offset,
		                       call->discriminator, &record));
		EP_TRY(ep_sprof_target_add(prof, record, name, ep_count_round(call->count)));
	}
	state->account->in_functions += unit->in_functions;
	state->account->with_lines += unit->with_lines;
	return NULL;
}

static struct ep_error *add_units(struct ep_emit_state *state, struct ep_sprof *prof)
{
	for (size_t i = 0; i < state->n_units; i++) {
		struct ep_unit_counts *unit = &state->units[i];

		if (!unit->contexts.n)
			continue;
		struct ep_sprof_func **funcs =
		    calloc(unit->contexts.n, sizeof(struct ep_sprof_func *));
		if (!funcs)
			return ep_error_nomem();
		add_up(unit);
		struct ep_error *err = add_unit(state, prof, unit, funcs);
		free(funcs);
		ep_unit_counts_deinit(unit);
		if (err)
			return err;
	}
	return NULL;
}

/* Whoever branches to the first instruction of a function enters it. */
static struct ep_error *add_heads(struct ep_emit_state *state, struct ep_sprof *prof)
{
	uint64_t *heads = calloc(state->functions.n_groups + 1, sizeof(*heads));
	struct ep_error *err = heads ? NULL : ep_error_nomem();

	for (size_t i = 0; !err && i < state->branches.n; i++) {
		const struct ep_emit_branch *branch = &state->branches.v[i];

		if (branch->callee != EP_SYM_NONE)
			heads[branch->callee] = ep_count_add(heads[branch->callee], branch->count);
	}
	for (uint32_t i = 0; !err && i < state->functions.n_groups; i++) {
		struct ep_sprof_func *func;
		uint32_t name;

		if (!heads[i] || is_ambiguous(state->functions.groups[i].name))
			continue;
		err = callee_name(prof, state, i, &name);
		if (!err)
			err = ep_sprof_func(prof, name, &func);
		if (!err)
			func->head = ep_count_add(func->head, ep_count_round(heads[i]));
	}
	free(heads);
	return err;
}

/* A line that calls runs at least as often as it calls. Depth is bounded by the builder. */
static void raise_lines(struct ep_sprof_func *func, bool nested)
{
	for (uint32_t i = 0; i < func->n_records; i++) {
		struct ep_sprof_record *record = &func->records[i];
		uint64_t sum = 0;

		for (uint32_t j = 0; j < record->n_targets; j++)
			sum = ep_count_add(sum, record->targets[j].count);
		record->count = EP_MAX(record->count, sum);
	}
	for (uint32_t i = 0; nested && i < func->n_calls; i++)
		raise_lines(func->calls[i].func, nested);
}

struct ep_error *ep_emit_build(struct ep_emit_state *state, struct ep_sprof *ret)
{
	if (state->flow_sensitive)
		ret->flags |= EP_SPROF_FS;
	EP_TRY(add_units(state, ret));
	EP_TRY(add_heads(state, ret));
	for (size_t i = 0; i < ret->funcs.n; i++)
		raise_lines(ret->funcs.v[i], !state->opts->compat);
	return NULL;
}
