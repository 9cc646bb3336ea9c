/* SPDX-License-Identifier: BSD-2-Clause */
/* Which function of the debug information is at, or is entered at, an address. */
#include <string.h>

#include "base/search.h"
#include "emit/internal.h"

static int compare_ranges(const void *a, const void *b)
{
	const struct ep_func_range *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int compare_groups(const void *a, const void *b)
{
	const struct ep_func_range *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The group of a function: its own; in compat mode that of its name. */
static struct ep_error *group_of(struct ep_functions *f, struct ep_strtab *names, bool compat,
                                 const struct ep_sym_func *func, uint32_t *ret)
{
	uint32_t group = (uint32_t)f->n_groups;

	if (compat)
		EP_TRY(ep_strtab_add(names, func->name, strlen(func->name), &group));
	if (group == f->n_groups)
		f->groups[f->n_groups++].name = func->name;
	*ret = group;
	return NULL;
}

/* LLVM passes over functions without a name. */
static struct ep_error *add_functions(struct ep_functions *f, const struct ep_sym_table *table,
                                      const struct ep_object *object, bool compat)
{
	struct ep_strtab names = {0};
	struct ep_error *err = NULL;

	for (uint32_t i = 0; !err && i < table->n_funcs; i++) {
		const struct ep_sym_func *func = &table->funcs[i];
		uint32_t group;

		if (!func->name)
			continue;
		err = group_of(f, &names, compat, func, &group);
		for (uint32_t j = 0; !err && j < func->n_ranges; j++) {
			const struct ep_sym_range *range = &table->ranges[func->ranges + j];

			if (!ep_object_is_text(object, range->lo))
				continue;
			f->groups[group].n_ranges++;
			f->all[f->n_all] = (struct ep_func_range){.lo = range->lo,
			                                          .hi = range->hi,
			                                          .group = group,
			                                          .order = (uint32_t)f->n_all};
			f->n_all++;
		}
	}
	ep_strtab_deinit(&names);
	return err;
}

struct ep_error *ep_functions_build(const struct ep_sym_table *table,
                                    const struct ep_object *object, const struct ep_symbol *symbols,
                                    size_t n_symbols, bool compat, struct ep_functions *ret)
{
	struct ep_functions f = {.symbols = symbols, .n_symbols = n_symbols};
	struct ep_error *err = NULL;

	f.all = calloc((size_t)table->n_ranges + 1, sizeof(*f.all));
	f.ranges = calloc((size_t)table->n_ranges + 1, sizeof(*f.ranges));
	f.groups = calloc((size_t)table->n_funcs + 1, sizeof(*f.groups));
	if (!f.all || !f.ranges || !f.groups)
		err = ep_error_nomem();
	else
		err = add_functions(&f, table, object, compat);
	if (err) {
		ep_functions_deinit(&f);
		return err;
	}
	memcpy(f.ranges, f.all, f.n_all * sizeof(*f.all));
	qsort(f.ranges, f.n_all, sizeof(*f.ranges), compare_ranges);
	for (size_t i = 0; i < f.n_all; i++)
		if (!i || f.ranges[i].lo != f.ranges[f.n_ranges - 1].lo)
			f.ranges[f.n_ranges++] = f.ranges[i];
	qsort(f.all, f.n_all, sizeof(*f.all), compare_groups);
	*ret = f;
	return NULL;
}

void ep_functions_deinit(struct ep_functions *functions)
{
	free(functions->all);
	free(functions->ranges);
	free(functions->groups);
	*functions = (struct ep_functions){0};
}

/* The number of ranges that start at or before vaddr. */
static size_t count_to(const struct ep_functions *f, uint64_t vaddr)
{
	return ep_search(i, 0, f->n_ranges, f->ranges[i].lo <= vaddr);
}

const struct ep_func_range *ep_functions_find(const struct ep_functions *functions, uint64_t vaddr)
{
	size_t n = count_to(functions, vaddr);

	return n && vaddr < functions->ranges[n - 1].hi ? &functions->ranges[n - 1] : NULL;
}

static bool names_match(const char *symbol, const char *function)
{
	size_t n = ep_emit_canonical_length(symbol);

	return strlen(function) == n && !memcmp(symbol, function, n);
}

/*
 * LLVM's rule: a range is where its function is entered if it is the only one and has a symbol, or
 * if a symbol in it has the function's name. So the cold part of a split function is no entry.
 */
static bool is_entry(const struct ep_functions *f, const struct ep_func_range *range)
{
	const struct ep_func_group *group = &f->groups[range->group];
	size_t first = ep_search(i, 0, f->n_symbols, f->symbols[i].vaddr < range->lo);

	for (size_t i = first; i < f->n_symbols && f->symbols[i].vaddr < range->hi; i++)
		if (group->n_ranges == 1 || names_match(f->symbols[i].name, group->name))
			return true;
	return false;
}

const struct ep_func_group *ep_functions_entry(const struct ep_functions *functions, uint64_t vaddr)
{
	size_t n = count_to(functions, vaddr);
	const struct ep_func_range *range = n ? &functions->ranges[n - 1] : NULL;

	if (!range || range->lo != vaddr || !is_entry(functions, range))
		return NULL;
	return &functions->groups[range->group];
}
