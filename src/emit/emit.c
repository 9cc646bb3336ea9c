/* SPDX-License-Identifier: BSD-2-Clause */
/* The road from the edges of a binary to its profile, step by step. */
#include <string.h>

#include "base/parallel.h"
#include "emit/internal.h"
#include "sprof/summary.h"

static struct ep_error *nothing(const struct ep_emit_state *state, const char *what,
                                const char *hint)
{
	const struct ep_drops *drops = &state->account->drops;
	size_t most = 0;

	for (size_t i = 1; i < EP_DROP_N; i++)
		if (drops->n[i] > drops->n[most])
			most = i;
	struct ep_error *err =
	    drops->n[most]
	        ? ep_error_create(EP_ERROR_MISSING, "%s: %s; most were dropped as %s (%s)",
	                          state->object->path, what, ep_drop_name((enum ep_drop)most),
	                          ep_drop_help((enum ep_drop)most))
	        : ep_error_create(EP_ERROR_MISSING, "%s: %s", state->object->path, what);

	return ep_error_hint(err, "%s", hint);
}

/* All addresses that samples name. */
static struct ep_error *sampled(const struct ep_emit_state *state, ep_emit_interval_vec *ret)
{
	if (!ep_vec_reserve(ret, state->ranges.n + 2 * state->branches.n))
		return ep_error_nomem();
	for (size_t i = 0; i < state->ranges.n; i++)
		ret->v[ret->n++] =
		    (struct ep_interval){state->ranges.v[i].start, state->ranges.v[i].last + 1};
	for (size_t i = 0; i < state->branches.n; i++) {
		const struct ep_emit_branch *branch = &state->branches.v[i];

		ret->v[ret->n++] = (struct ep_interval){branch->to, branch->to + 1};
		if (branch->from_known)
			ret->v[ret->n++] = (struct ep_interval){branch->from, branch->from + 1};
	}
	return ep_emit_intervals_join(ret);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static struct ep_error *build_code(struct ep_emit_state *state,
                                   const struct ep_intervals *intervals)
{
	EP_VEC(uint64_t) starts = {0};
	bool compat = state->opts->compat;
	size_t n_ranges = compat ? 0 : state->table->n_ranges;

	if (!ep_vec_reserve(&starts, state->n_symbols + n_ranges))
		return ep_error_nomem();
	for (size_t i = 0; i < state->n_symbols; i++)
		starts.v[starts.n++] = state->symbols[i].vaddr;
	for (size_t i = 0; i < n_ranges; i++)
		starts.v[starts.n++] = state->table->ranges[i].lo;
	if (starts.n)
		qsort(starts.v, starts.n, sizeof(*starts.v), compare_u64);
	struct ep_code_starts list = {starts.v, starts.n};
	struct ep_error *err =
	    ep_code_build(state->object, intervals, &list, compat, state->n_threads, &state->code);
	ep_vec_deinit(&starts);
	return err;
}

/*
 * Whom each branch enters. A jump back to the first instruction from inside the same function is a
 * loop; llvm-profgen takes it for a call.
 */
static void find_callees(struct ep_emit_state *state)
{
	for (size_t i = 0; i < state->branches.n; i++) {
		struct ep_emit_branch *branch = &state->branches.v[i];
		const struct ep_func_group *group =
		    ep_functions_entry(&state->functions, branch->to);

		if (!group)
			continue;
		branch->callee = (uint32_t)(group - state->functions.groups);
		if (state->opts->compat || !branch->from_known)
			continue;
		const struct ep_func_range *from =
		    ep_functions_find(&state->functions, branch->from);
		const struct ep_code_insn *insn = ep_code_at(&state->code, branch->from);
		if (from && insn && from->group == branch->callee &&
		    (insn->cls == EP_INSN_COND || insn->cls == EP_INSN_JUMP ||
		     insn->cls == EP_INSN_IND_JUMP))
			branch->callee = EP_SYM_NONE;
	}
}

/* Functions in which a range starts count as looked at: the rest of them is known not to run. */
static struct ep_error *touch_functions(struct ep_emit_state *state)
{
	struct ep_functions *f = &state->functions;
	uint64_t *lost = &state->account->drops.n[EP_DROP_NO_FUNCTION];

	for (size_t i = 0; i < state->ranges.n; i++) {
		const struct ep_func_range *range = ep_functions_find(f, state->ranges.v[i].start);

		if (range)
			f->groups[range->group].touched = true;
		else
			*lost = ep_count_add(*lost, ep_count_round(state->ranges.v[i].count));
	}
	for (size_t i = 0; i < f->n_all; i++) {
		struct ep_interval at = {f->all[i].lo, f->all[i].hi};

		if (f->groups[f->all[i].group].touched && !ep_vec_push(&state->zero, at))
			return ep_error_nomem();
	}
	EP_TRY(ep_emit_intervals_join(&state->zero));
	EP_TRY(sampled(state, &state->wanted));
	if (!ep_vec_reserve(&state->wanted, state->zero.n))
		return ep_error_nomem();
	for (size_t i = 0; i < state->zero.n; i++)
		state->wanted.v[state->wanted.n++] = state->zero.v[i];
	return ep_emit_intervals_join(&state->wanted);
}

static void measure_executed(struct ep_emit_state *state)
{
	struct ep_code_cursor cursor = {0};

	for (size_t i = 0; i < state->steps.n; i++) {
		const struct ep_step *step = &state->steps.v[i];
		uint64_t bytes = ep_code_bytes(&state->code, &cursor, step->lo, step->last + 1);

		state->account->executed += (double)bytes * (double)step->count;
	}
}

static struct ep_error *symbolise(struct ep_emit_state *state)
{
	ep_emit_interval_vec all = {0};
	struct ep_error *err = sampled(state, &all);
	struct ep_intervals intervals = {all.v, all.n};

	if (!err)
		err = ep_symboliser_functions(state->sym, state->opts->compat ? NULL : &intervals,
		                              &state->table);
	if (!err)
		err = build_code(state, &intervals);
	ep_vec_deinit(&all);
	return err;
}

static struct ep_error *load(struct ep_emit_state *state,
                             const struct ep_edges_binary *const *binaries, size_t n)
{
	unsigned machine = state->object->machine;

	for (size_t i = 0; i < n; i++) {
		if (binaries[i]->machine && binaries[i]->machine != machine)
			return ep_error_create(EP_ERROR_MISMATCH,
			                       "%s: machine %u, but the samples are of machine %u",
			                       state->object->path, machine, binaries[i]->machine);
		EP_TRY(ep_emit_load(state, binaries[i]));
	}
	ep_emit_sort(state);
	return NULL;
}

static struct ep_error *nothing_fits(struct ep_emit_state *state)
{
	return nothing(state, "no sample fits the code of this binary",
	               "it is not the binary that ran, though it may have its name");
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static bool has_samples(const struct ep_sprof_func *func)
{
	for (uint32_t i = 0; i < func->n_records; i++)
		if (func->records[i].count)
			return true;
	for (uint32_t i = 0; i < func->n_calls; i++)
		if (has_samples(func->calls[i].func))
			return true;
	return false;
}

static struct ep_error *measure_profile(const struct ep_sprof *prof,
                                        struct ep_emit_account *account)
{
	struct ep_sprof_summary summary;

	EP_TRY(ep_sprof_summarise(prof, &summary));
	account->n_functions = (uint32_t)summary.n_funcs;
	account->n_body = summary.n_counts;
	account->max_body = summary.max_count;
	for (size_t i = 0; i < prof->funcs.n; i++)
		account->n_sampled += has_samples(prof->funcs.v[i]);
	return ep_sprof_density(prof, &account->density);
}

static struct ep_error *run(struct ep_emit_state *state,
                            const struct ep_edges_binary *const *binaries, size_t n,
                            struct ep_sprof *ret)
{
	EP_TRY(load(state, binaries, n));
	if (!state->ranges.n && !state->branches.n)
		return nothing(state, "no samples of this binary",
		               "is it the binary that ran? `edgeprof show` lists what was sampled");
	EP_TRY(symbolise(state));
	bool had_ranges = state->ranges.n;
	ep_emit_check(state);
	if (!state->ranges.n && !state->branches.n)
		return nothing_fits(state);
	EP_TRY(ep_functions_build(state->table, state->object, state->symbols, state->n_symbols,
	                          state->opts->compat, &state->functions));
	find_callees(state);
	EP_TRY(touch_functions(state));
	EP_TRY(ep_steps_build(&state->ranges, &state->steps));
	measure_executed(state);
	EP_TRY(ep_emit_collect(state));
	EP_TRY(ep_emit_build(state, ret));
	if (!ret->funcs.n && had_ranges && !state->ranges.n)
		return nothing_fits(state);
	/* Stacks filtered by type have no ranges, but their calls are worth something. */
	if (!ret->funcs.n || (state->steps.n && state->account->with_lines <= 0))
		return nothing(state, "no line info for the code that was sampled",
		               "build the sampled code with -g (with -gline-tables-only clang "
		               "needs -fdebug-info-for-profiling as well), or give its debug file "
		               "with --debug-file");
	return measure_profile(ret, state->account);
}

static void fill_stats(struct ep_emit_state *state, struct ep_warnings *warnings)
{
	struct ep_sym_stats stats = ep_symboliser_stats(state->sym);
	struct ep_emit_account *account = state->account;

	account->n_units = stats.n_units;
	account->n_units_read = stats.n_units_read;
	account->n_bad_units = stats.n_bad_units;
	account->n_missing_dwo = stats.n_missing_dwo;
	if (stats.n_bad_units)
		ep_warn(warnings, "bad-debug-info",
		        "%s: %u units of debug information are damaged and used as far as they go",
		        state->object->path, stats.n_bad_units);
	if (stats.n_missing_dwo)
		ep_warn(warnings, "missing-dwo",
		        "%s: the .dwo files of %u units were not found: their code has no names",
		        state->object->path, stats.n_missing_dwo);
	if (account->max_body > UINT32_MAX)
		ep_warn(warnings, "count-over-32-bit",
		        "%s: a line has %llu samples; compilers keep 32 bits of a weight",
		        state->object->path, (unsigned long long)account->max_body);
}

static void state_deinit(struct ep_emit_state *state)
{
	for (size_t i = 0; state->units && i < state->n_units; i++)
		ep_unit_counts_deinit(&state->units[i]);
	free(state->units);
	ep_vec_deinit(&state->ranges);
	ep_vec_deinit(&state->branches);
	ep_vec_deinit(&state->wanted);
	ep_vec_deinit(&state->zero);
	ep_vec_deinit(&state->steps);
	ep_code_deinit(&state->code);
	ep_functions_deinit(&state->functions);
	ep_symboliser_close(state->sym);
}

/* Clang marks a program built for flow-sensitive profiles by the name of a variable. */
static bool is_flow_sensitive(const struct ep_object *object)
{
	static const char mark[] = "\0__llvm_fs_discriminator__";
	const struct ep_section *names = ep_object_section(object, ".strtab");

	/* With both its NULs: the whole name. */
	return names && names->data && !names->compressed &&
	       memmem(names->data, (size_t)names->size, mark, sizeof(mark));
}

/* Symbols come from the debug file where the binary has lost its own. */
static struct ep_error *open_symbols(struct ep_emit_state *state, struct ep_object **debug_ret)
{
	const struct ep_emit_opts *opts = state->opts;
	struct ep_object *source = state->object;

	if (opts->debug_path && !ep_object_section(state->object, ".symtab")) {
		EP_TRY(opts->debug_data ? ep_object_open_memory(opts->debug_data, opts->debug_size,
		                                                opts->debug_path, debug_ret)
		                        : ep_object_open(opts->debug_path, debug_ret));
		source = *debug_ret;
	}
	state->flow_sensitive = is_flow_sensitive(source);
	return ep_object_symbols(source, &state->symbols, &state->n_symbols);
}

/* More than there are processors gain nothing, and each may decompress debug information anew. */
static unsigned count_threads(unsigned wanted)
{
	enum { ALWAYS = 8 };
	unsigned cpus = ep_parallel_cpus();

	return wanted ? EP_MIN(wanted, EP_MAX(cpus, (unsigned)ALWAYS)) : cpus;
}

struct ep_error *ep_emit_profile(const struct ep_edges_binary *const *binaries, size_t n,
                                 struct ep_object *object, const struct ep_emit_opts *opts,
                                 struct ep_warnings *warnings, struct ep_sprof *ret,
                                 struct ep_emit_account *account_ret)
{
	struct ep_emit_state state = {.opts = opts, .object = object, .account = account_ret};
	struct ep_object *debug = NULL;

	*account_ret = (struct ep_emit_account){0};
	if (!ep_isa_known(object->machine))
		return ep_error_create(EP_ERROR_UNSUPPORTED,
		                       "%s: machine %u is not supported, only x86-64 and AArch64",
		                       object->path, object->machine);
	state.n_threads = count_threads(opts->n_threads);
	struct ep_sym_opts sym_opts = {.n_threads = state.n_threads, .dead_code = opts->compat};
	struct ep_sym_source source = {.path = opts->debug_path ? opts->debug_path : object->path,
	                               .data = opts->debug_data,
	                               .size = opts->debug_size};
	struct ep_error *err = ep_symboliser_open(&source, object, &sym_opts, &state.sym);
	if (!err)
		err = open_symbols(&state, &debug);
	if (!err)
		err = run(&state, binaries, n, ret);
	if (state.sym)
		fill_stats(&state, warnings);
	state_deinit(&state);
	ep_object_close(debug);
	return err;
}
