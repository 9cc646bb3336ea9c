/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges and ranges against the code they claim to come from (folding rule 7). */
#include "emit/internal.h"

/* No straight line of code is longer; such a range is two records that do not belong together. */
#define RANGE_MAX (UINT64_C(1) << 24)

static void drop(struct ep_emit_state *state, enum ep_drop reason, uint64_t count)
{
	uint64_t *n = &state->account->drops.n[reason];

	*n = ep_count_add(*n, ep_count_round(count));
}

static bool to_vaddr(const struct ep_emit_state *state, enum ep_space space, uint64_t addr,
                     uint64_t *ret)
{
	if (space == EP_SPACE_FOFF)
		return ep_object_foff_to_vaddr(state->object, addr, ret);
	*ret = addr;
	return true;
}

static bool load_range(struct ep_emit_state *state, enum ep_space space,
                       const struct ep_range *range)
{
	struct ep_emit_range out = {.count = range->count, .open = range->open_end};

	if (!range->count)
		return true;
	state->account->ranges = ep_count_add(state->account->ranges, range->count);
	if (!to_vaddr(state, space, range->start, &out.start) ||
	    !to_vaddr(state, space, range->end, &out.last))
		drop(state, EP_DROP_BAD_VADDR, range->count);
	else if (!ep_object_is_text(state->object, out.start) ||
	         !ep_object_is_text(state->object, out.last))
		drop(state, EP_DROP_NOT_TEXT, range->count);
	else if (out.last < out.start)
		drop(state, EP_DROP_NEGATIVE_RANGE, range->count);
	else if (out.last - out.start > RANGE_MAX)
		drop(state, EP_DROP_RANGE_TOO_LONG, range->count);
	else
		return ep_vec_push(&state->ranges, out);
	return true;
}

/* Edges that leave the binary name no function of it and are not needed. */
static bool load_edge(struct ep_emit_state *state, enum ep_space space, const struct ep_edge *edge)
{
	struct ep_emit_branch out = {.count = edge->count,
	                             .types = edge->types,
	                             .callee = EP_SYM_NONE,
	                             .from_known = edge->kind == EP_EDGE_INTERNAL};

	state->account->records = ep_count_add(state->account->records, edge->count);
	if (edge->kind == EP_EDGE_OUT || !edge->count)
		return true;
	if ((out.from_known && !to_vaddr(state, space, edge->from, &out.from)) ||
	    !to_vaddr(state, space, edge->to, &out.to))
		drop(state, EP_DROP_BAD_VADDR, edge->count);
	else if ((out.from_known && !ep_object_is_text(state->object, out.from)) ||
	         !ep_object_is_text(state->object, out.to))
		drop(state, EP_DROP_NOT_TEXT, edge->count);
	else
		return ep_vec_push(&state->branches, out);
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct ep_emit_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->last > y->last) - (x->last < y->last);
}

static int compare_branches(const void *a, const void *b)
{
	const struct ep_emit_branch *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

struct ep_error *ep_emit_load(struct ep_emit_state *state, const struct ep_edges_binary *binary)
{
	for (size_t i = 0; i < binary->n_ranges; i++)
		if (!load_range(state, binary->space, &binary->ranges[i]))
			return ep_error_nomem();
	for (size_t i = 0; i < binary->n_edges; i++)
		if (!load_edge(state, binary->space, &binary->edges[i]))
			return ep_error_nomem();
	return NULL;
}

/* The ranges of one binary are in order as they come. */
void ep_emit_sort(struct ep_emit_state *state)
{
	const struct ep_emit_range *v = state->ranges.v;
	size_t i = 1;

	while (i < state->ranges.n && compare_ranges(&v[i - 1], &v[i]) <= 0)
		i++;
	if (i < state->ranges.n)
		qsort(state->ranges.v, state->ranges.n, sizeof(*v), compare_ranges);
	if (state->branches.n)
		qsort(state->branches.v, state->branches.n, sizeof(*state->branches.v),
		      compare_branches);
}

/* EP_DROP_N: the code bears the range out. llvm-profgen looks at less. */
static enum ep_drop check_range(const struct ep_emit_state *state,
                                const struct ep_emit_range *range)
{
	const struct ep_code_insn *first = ep_code_at(&state->code, range->start);
	const struct ep_code_insn *last = ep_code_at(&state->code, range->last);

	if (!first || !last)
		return EP_DROP_NOT_INSN_START;
	if (ep_code_leaves(&state->code, range->start, range->last))
		return EP_DROP_NOT_STRAIGHT;
	if (!state->opts->compat && !range->open && !ep_insn_transfers(last->cls))
		return EP_DROP_NOT_TRANSFER;
	return EP_DROP_N;
}

static void check_ranges(struct ep_emit_state *state)
{
	size_t n = 0;

	for (size_t i = 0; i < state->ranges.n; i++) {
		struct ep_emit_range range = state->ranges.v[i];
		enum ep_drop reason = check_range(state, &range);

		if (reason != EP_DROP_N) {
			drop(state, reason, range.count);
			continue;
		}
		state->account->ranges_used =
		    ep_count_add(state->account->ranges_used, range.count);
		if (range.open && !state->opts->compat) {
			if (range.start == range.last)
				continue;
			range.last--;
		}
		state->ranges.v[n++] = range;
	}
	state->ranges.n = n;
}

/* All recorded types are exceptions, which strike anywhere. */
static bool only_exceptions(uint32_t types)
{
	for (unsigned t = 0; t < EP_BRANCH_N_TYPES; t++)
		if (types >> t & 1 && !ep_type_is_exception((enum ep_branch_type)t))
			return false;
	return types != 0;
}

static bool agrees(uint32_t types, enum ep_insn_class cls)
{
	for (unsigned t = 0; t < EP_BRANCH_N_TYPES; t++)
		if (types >> t & 1 && ep_insn_agrees(cls, (enum ep_branch_type)t))
			return true;
	return !types;
}

static enum ep_drop check_source(const struct ep_emit_state *state,
                                 const struct ep_emit_branch *branch)
{
	const struct ep_code_insn *at = ep_code_at(&state->code, branch->from);
	struct ep_insn insn;
	size_t n = 0;

	if (!at)
		return EP_DROP_NOT_INSN_START;
	if (only_exceptions(branch->types))
		return EP_DROP_N;
	if (!ep_insn_transfers(at->cls))
		return EP_DROP_NOT_TRANSFER;
	if (!agrees(branch->types, at->cls))
		return EP_DROP_WRONG_TYPE;
	const unsigned char *bytes = ep_object_bytes(state->object, branch->from, &n);
	ep_isa_decode(state->object->machine, bytes, n, branch->from, &insn);
	return insn.has_target && insn.target != branch->to ? EP_DROP_WRONG_TARGET : EP_DROP_N;
}

/* The address of whatever is not in this binary, in llvm-profgen's books. */
#define COMPAT_EXTERNAL 1

static void mark_external(const struct ep_emit_state *state, struct ep_emit_branch *branch)
{
	if (branch->from_known && ep_code_at(&state->code, branch->from))
		return;
	/* It looks that address up like any other: dead code may lie there. */
	branch->from = COMPAT_EXTERNAL;
	branch->from_known = true;
}

static void check_branches(struct ep_emit_state *state)
{
	size_t n = 0;

	for (size_t i = 0; i < state->branches.n; i++) {
		struct ep_emit_branch branch = state->branches.v[i];
		enum ep_drop reason = EP_DROP_N;

		if (!ep_code_at(&state->code, branch.to))
			reason = EP_DROP_NOT_INSN_START;
		else if (state->opts->compat)
			mark_external(state, &branch);
		else if (branch.from_known)
			reason = check_source(state, &branch);
		if (reason == EP_DROP_N)
			state->branches.v[n++] = branch;
		else
			drop(state, reason, branch.count);
	}
	state->branches.n = n;
	if (n && state->opts->compat)
		qsort(state->branches.v, n, sizeof(*state->branches.v), compare_branches);
}

void ep_emit_check(struct ep_emit_state *state)
{
	check_ranges(state);
	check_branches(state);
}
