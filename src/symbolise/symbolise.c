/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening debug information; finding units and their functions, in parallel. */
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>

#include "base/parallel.h"
#include "base/search.h"
#include "symbolise/internal.h"

/* Units a job takes at once: to look at, and to read. */
#define UNITS_PER_SCAN 64

bool ep_intervals_meet(const struct ep_intervals *intervals, uint64_t lo, uint64_t hi)
{
	/* The first interval that ends behind lo. */
	size_t first = ep_search(i, 0, intervals->n, intervals->v[i].hi <= lo);

	return first < intervals->n && intervals->v[first].lo < hi;
}

void ep_sym_pieces_deinit(struct ep_sym_pieces *pieces)
{
	ep_vec_deinit(&pieces->contexts);
	ep_vec_deinit(&pieces->pieces);
}

static struct ep_error *no_debug_info(const char *name)
{
	return ep_error_hint(
	    ep_error_create(EP_ERROR_MISSING, "%s: no line info: it has no .debug_info", name),
	    "build with -g (with -gline-tables-only clang needs -fdebug-info-for-profiling as "
	    "well) "
	    "and do not strip, or give the separate debug file with --debug-file");
}

static Elf_Scn *find_section(Elf *elf, const char *wanted)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name && (!strcmp(name, wanted) ||
		             (!strncmp(name, ".zdebug", 7) && !strcmp(name + 2, wanted + 1))))
			return scn;
	}
	return NULL;
}

static struct ep_error *open_elf(const struct ep_sym_source *source, struct ep_sym_view *view)
{
	if (!source->data) {
		view->fd = open(source->path, O_RDONLY | O_CLOEXEC);
		if (view->fd < 0)
			return ep_error_os(errno, "%s", source->path);
		view->elf = elf_begin(view->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
		return NULL;
	}
	view->copy = malloc(source->size + !source->size);
	if (!view->copy)
		return ep_error_nomem();
	memcpy(view->copy, source->data, source->size);
	view->elf = elf_memory(view->copy, source->size);
	return NULL;
}

static struct ep_error *open_view(const struct ep_sym_source *source, struct ep_sym_view *view)
{
	EP_TRY(open_elf(source, view));
	if (!view->elf || elf_kind(view->elf) != ELF_K_ELF)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: debug information: not an ELF file",
		                       source->path);
	view->dwarf = dwarf_begin_elf(view->elf, DWARF_C_READ, NULL);
	if (view->dwarf)
		return NULL;
	int code = dwarf_errno();
	if (!find_section(view->elf, ".debug_info") || !find_section(view->elf, ".debug_abbrev"))
		return no_debug_info(source->path);
	return ep_error_create(EP_ERROR_BAD_DATA, "%s: debug information: %s", source->path,
	                       dwarf_errmsg(code));
}

/* libdw has decompressed the sections it knows, .debug_line among them. */
static void find_debug_line(struct ep_symboliser *sym)
{
	Elf_Scn *scn = find_section(sym->views[0].elf, ".debug_line");
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	GElf_Ehdr ehdr;

	if (!data || !data->d_buf || !gelf_getehdr(sym->views[0].elf, &ehdr))
		return;
	sym->debug_line = ep_bytes_init(data->d_buf, data->d_size,
	                                ep_swap_for(ehdr.e_ident[EI_DATA] == ELFDATA2MSB));
}

/* The offsets of all compile units, from their headers. */
static struct ep_error *list_units(struct ep_symboliser *sym)
{
	Dwarf *dwarf = sym->views[0].dwarf;
	Dwarf_Off offset = 0, next;
	size_t header;

	for (; !dwarf_next_unit(dwarf, offset, &next, &header, NULL, NULL, NULL, NULL, NULL, NULL);
	     offset = next) {
		struct ep_sym_unit unit = {.die = offset + header, .next = next};

		if (next <= offset)
			break;
		if (sym->units.n >= UINT32_MAX - 1 || !ep_vec_push(&sym->units, unit))
			return ep_error_nomem();
	}
	if (!sym->units.n)
		return no_debug_info(sym->name);
	return NULL;
}

struct scan {
	struct ep_symboliser *sym;
	ep_sym_claims *claims; /* by job */
};

/* The addresses a unit claims: its own ranges, or where it has none those of its functions. */
static struct ep_error *scan_unit(struct scan *scan, size_t i_unit, unsigned i_thread,
                                  ep_sym_claims *claims)
{
	struct ep_symboliser *sym = scan->sym;
	struct ep_sym_view *view = &sym->views[i_thread];
	struct ep_sym_unit *unit = &sym->units.v[i_unit];
	struct ep_sym_claim claim = {.unit = (uint32_t)i_unit};
	size_t n_before = claims->n;
	Dwarf_Die skeleton, die;

	if (!ep_sym_unit_die(view, unit, &skeleton, &die) ||
	    (dwarf_tag(&skeleton) != DW_TAG_compile_unit &&
	     dwarf_tag(&skeleton) != DW_TAG_skeleton_unit))
		return NULL;
	struct ep_sym_ranges it = ep_sym_ranges_init(&skeleton);
	while (ep_sym_ranges_next(sym, &it, &claim.at))
		if (!ep_vec_push(claims, claim))
			return ep_error_nomem();
	if (claims->n > n_before || dwarf_hasattr(&skeleton, DW_AT_low_pc) ||
	    dwarf_hasattr(&skeleton, DW_AT_ranges))
		return NULL;

	ep_sym_funcs funcs = {0};
	ep_sym_func_ranges ranges = {0};
	struct ep_error *err = ep_sym_unit_functions(sym, view, unit, &funcs, &ranges);
	for (size_t i = 0; !err && i < ranges.n; i++) {
		claim.at = (struct ep_interval){ranges.v[i].lo, ranges.v[i].hi};
		if (!ep_vec_push(claims, claim))
			err = ep_error_nomem();
	}
	ep_vec_deinit(&funcs);
	ep_vec_deinit(&ranges);
	return err;
}

static struct ep_error *scan_job(void *payload, size_t i_job, unsigned i_thread)
{
	struct scan *scan = payload;
	size_t end = EP_MIN((i_job + 1) * UNITS_PER_SCAN, scan->sym->units.n);

	for (size_t i = i_job * UNITS_PER_SCAN; i < end; i++)
		EP_TRY(scan_unit(scan, i, i_thread, &scan->claims[i_job]));
	return NULL;
}

static struct ep_error *keep_owned(struct ep_symboliser *sym, ep_sym_claims *claims)
{
	EP_TRY(ep_sym_claims_settle(claims));
	if (claims->n > UINT32_MAX || !ep_vec_reserve(&sym->owned, claims->n))
		return ep_error_nomem();
	for (size_t i = 0; i < claims->n; i++) {
		struct ep_sym_unit *unit = &sym->units.v[claims->v[i].unit];

		if (!unit->n_ranges++)
			unit->ranges = (uint32_t)i;
		sym->owned.v[sym->owned.n++] = claims->v[i].at;
	}
	return NULL;
}

static struct ep_error *scan_units(struct ep_symboliser *sym)
{
	size_t n_jobs = (sym->units.n + UNITS_PER_SCAN - 1) / UNITS_PER_SCAN;
	struct scan scan = {.sym = sym, .claims = calloc(n_jobs + 1, sizeof(*scan.claims))};
	ep_sym_claims all = {0};

	if (!scan.claims)
		return ep_error_nomem();
	struct ep_error *err = ep_parallel_for(sym->n_threads, n_jobs, scan_job, &scan);
	for (size_t i = 0; i < n_jobs; i++) {
		if (!err && !ep_vec_reserve(&all, scan.claims[i].n))
			err = ep_error_nomem();
		for (size_t j = 0; !err && j < scan.claims[i].n; j++)
			all.v[all.n++] = scan.claims[i].v[j];
		ep_vec_deinit(&scan.claims[i]);
	}
	free(scan.claims);
	if (!err)
		err = keep_owned(sym, &all);
	ep_vec_deinit(&all);
	return err;
}

struct ep_error *ep_symboliser_open(const struct ep_sym_source *source,
                                    const struct ep_object *binary, const struct ep_sym_opts *opts,
                                    struct ep_symboliser **ret)
{
	struct ep_symboliser *sym = calloc(1, sizeof(*sym));
	struct ep_error *err = NULL;

	if (!sym)
		return ep_error_nomem();
	sym->name = source->path;
	sym->binary = binary;
	sym->dead_code = opts && opts->dead_code;
	sym->n_threads = opts && opts->n_threads ? opts->n_threads : ep_parallel_cpus();
	sym->views = calloc(sym->n_threads, sizeof(*sym->views));
	if (!sym->views)
		err = ep_error_nomem();
	for (unsigned i = 0; !err && i < sym->n_threads; i++)
		sym->views[i].fd = -1;
	elf_version(EV_CURRENT);
	for (unsigned i = 0; !err && i < sym->n_threads; i++)
		err = open_view(source, &sym->views[i]);
	if (!err) {
		find_debug_line(sym);
		err = list_units(sym);
	}
	if (!err)
		err = scan_units(sym);
	if (err)
		ep_symboliser_close(sym);
	else
		*ret = sym;
	return err;
}

void ep_symboliser_close(struct ep_symboliser *sym)
{
	if (!sym)
		return;
	for (unsigned i = 0; sym->views && i < sym->n_threads; i++) {
		dwarf_end(sym->views[i].dwarf);
		elf_end(sym->views[i].elf);
		if (sym->views[i].fd >= 0)
			close(sym->views[i].fd);
		free(sym->views[i].copy);
	}
	free(sym->views);
	ep_vec_deinit(&sym->units);
	ep_vec_deinit(&sym->owned);
	free(sym->table.funcs);
	free(sym->table.ranges);
	free(sym);
}

struct find {
	struct ep_symboliser *sym;
	const struct ep_intervals *intervals;
	ep_sym_funcs *funcs; /* by unit, as are: */
	ep_sym_func_ranges *ranges;
};

static struct ep_error *find_job(void *payload, size_t i_job, unsigned i_thread)
{
	struct find *find = payload;
	struct ep_symboliser *sym = find->sym;
	struct ep_sym_unit *unit = &sym->units.v[i_job];
	bool wanted = !find->intervals;

	for (uint32_t i = 0; !wanted && i < unit->n_ranges; i++) {
		struct ep_interval at = sym->owned.v[unit->ranges + i];

		wanted = ep_intervals_meet(find->intervals, at.lo, at.hi);
	}
	if (!wanted)
		return NULL;
	unit->read = true;
	return ep_sym_unit_functions(sym, &sym->views[i_thread], unit, &find->funcs[i_job],
	                             &find->ranges[i_job]);
}

/* Joins the lists of the units; indexes become those of the whole. */
static struct ep_error *join_functions(struct find *find)
{
	struct ep_sym_table *table = &find->sym->table;
	size_t n_funcs = 0, n_ranges = 0;

	for (size_t i = 0; i < find->sym->units.n; i++) {
		n_funcs += find->funcs[i].n;
		n_ranges += find->ranges[i].n;
	}
	if (n_funcs >= EP_SYM_NONE || n_ranges >= EP_SYM_NONE)
		return ep_error_nomem();
	table->funcs = calloc(n_funcs + 1, sizeof(*table->funcs));
	table->ranges = calloc(n_ranges + 1, sizeof(*table->ranges));
	if (!table->funcs || !table->ranges)
		return ep_error_nomem();
	for (size_t i = 0; i < find->sym->units.n; i++) {
		struct ep_sym_unit *unit = &find->sym->units.v[i];

		unit->funcs = table->n_funcs;
		unit->n_funcs = (uint32_t)find->funcs[i].n;
		for (size_t j = 0; j < find->funcs[i].n; j++) {
			struct ep_sym_func *func = &table->funcs[unit->funcs + j];

			*func = find->funcs[i].v[j];
			func->unit = (uint32_t)i;
			func->ranges += table->n_ranges;
		}
		for (size_t j = 0; j < find->ranges[i].n; j++) {
			struct ep_sym_range *range = &table->ranges[table->n_ranges + j];

			*range = find->ranges[i].v[j];
			range->func += unit->funcs;
		}
		table->n_funcs += unit->n_funcs;
		table->n_ranges += (uint32_t)find->ranges[i].n;
	}
	return NULL;
}

struct ep_error *ep_symboliser_functions(struct ep_symboliser *sym,
                                         const struct ep_intervals *intervals,
                                         const struct ep_sym_table **ret)
{
	struct find find = {.sym = sym,
	                    .intervals = intervals,
	                    .funcs = calloc(sym->units.n, sizeof(*find.funcs)),
	                    .ranges = calloc(sym->units.n, sizeof(*find.ranges))};
	struct ep_error *err = find.funcs && find.ranges ? NULL : ep_error_nomem();

	if (!err)
		err = ep_parallel_for(sym->n_threads, sym->units.n, find_job, &find);
	if (!err)
		err = join_functions(&find);
	for (size_t i = 0; i < sym->units.n; i++) {
		if (find.funcs)
			ep_vec_deinit(&find.funcs[i]);
		if (find.ranges)
			ep_vec_deinit(&find.ranges[i]);
	}
	free(find.funcs);
	free(find.ranges);
	if (!err)
		*ret = &sym->table;
	return err;
}

size_t ep_symboliser_n_units(const struct ep_symboliser *sym)
{
	return sym->units.n;
}

struct ep_sym_stats ep_symboliser_stats(const struct ep_symboliser *sym)
{
	struct ep_sym_stats stats = {.n_units = (uint32_t)sym->units.n};

	for (size_t i = 0; i < sym->units.n; i++) {
		stats.n_units_read += sym->units.v[i].read;
		stats.n_bad_units += sym->units.v[i].bad;
		stats.n_missing_dwo += sym->units.v[i].missing_dwo;
	}
	return stats;
}
