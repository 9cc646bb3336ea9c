/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof show of LLVM sample profiles. */
#include <string.h>

#include "show.h"
#include "sprof/read.h"
#include "sprof/summary.h"
#include "sprof/write.h"
#include "table.h"

#define N_INLINEES 3 /* named beside a function */

/* A function's inlined copies: how many, and the hottest of those directly in it. */
struct inlinees {
	uint64_t n;
	const struct ep_sprof_func *hottest[N_INLINEES];
};

/* Everything that is shown. */
struct view {
	const struct ep_show_opts *opts;
	const struct ep_sprof *prof;
	struct ep_sprof_summary summary;
	double density;
	uint64_t total; /* of the functions' totals: what shares are of */
	uint64_t n_inlined, n_records, n_targets;
};

static bool detect(const void *data, size_t n)
{
	return ep_sprof_detect(data, n) != EP_SPROF_UNKNOWN;
}

static const char *format_name(enum ep_sprof_format format)
{
	switch (format) {
	case EP_SPROF_TEXT:
		return "text";
	case EP_SPROF_BINARY:
		return "binary";
	case EP_SPROF_EXTBINARY:
		return "extbinary";
	default:
		return "unknown";
	}
}

static const struct {
	uint32_t flag;
	const char *name;
} flag_names[] = {
    {EP_SPROF_MD5, "md5"},         {EP_SPROF_PROBE, "probe"},
    {EP_SPROF_FS, "fs"},           {EP_SPROF_PREINLINED, "preinlined"},
    {EP_SPROF_PARTIAL, "partial"},
};

/* Of the section types of ExtBinary, in LLVM's words. */
static const char *section_name(uint64_t type)
{
	static const char *const names[] = {"",
	                                    "summary",
	                                    "name table",
	                                    "symbol list",
	                                    "function offsets",
	                                    "function metadata",
	                                    "context names"};

	if (type < EP_ARRAY_LEN(names))
		return names[type];
	if (type == 32)
		return "functions";
	return type == EP_SPROF_SECTION_PROVENANCE ? "provenance" : "unknown";
}

static const char *name_of(const struct view *view, uint32_t name)
{
	return ep_strtab_get(&view->prof->names, name);
}

/* Text from the file, without the control characters a terminal would act on. */
static void print_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		putchar((unsigned char)s[i] < ' ' || s[i] == 0x7f ? '?' : s[i]);
}

static void print_name(const struct view *view, uint32_t name)
{
	print_text(name_of(view, name), ep_strtab_len(&view->prof->names, name));
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static void count_func(struct view *view, const struct ep_sprof_func *func)
{
	view->n_records += func->n_records;
	for (uint32_t i = 0; i < func->n_records; i++)
		view->n_targets += func->records[i].n_targets;
	view->n_inlined += func->n_calls;
	for (uint32_t i = 0; i < func->n_calls; i++)
		count_func(view, func->calls[i].func);
}

static struct ep_error *view_init(struct view *view, const struct ep_sprof *prof,
                                  const struct ep_show_opts *opts)
{
	*view = (struct view){.prof = prof, .opts = opts};
	for (size_t i = 0; i < prof->funcs.n; i++) {
		view->total = ep_count_add(view->total, prof->funcs.v[i]->total);
		count_func(view, prof->funcs.v[i]);
	}
	EP_TRY(ep_sprof_summarise(prof, &view->summary));
	return ep_sprof_density(prof, &view->density);
}

static size_t n_shown(const struct view *view)
{
	return (size_t)EP_MIN(view->opts->top, (uint64_t)view->prof->funcs.n);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static uint64_t n_inlined_in(const struct ep_sprof_func *func)
{
	uint64_t n = func->n_calls;

	for (uint32_t i = 0; i < func->n_calls; i++)
		n += n_inlined_in(func->calls[i].func);
	return n;
}

static struct inlinees inlinees_of(const struct ep_sprof_func *func)
{
	struct inlinees in = {.n = n_inlined_in(func)};

	for (uint32_t i = 0; i < func->n_calls; i++) {
		const struct ep_sprof_func *callee = func->calls[i].func;
		for (size_t k = 0; k < N_INLINEES; k++) {
			const struct ep_sprof_func *other = in.hottest[k];
			if (other && other->total >= callee->total)
				continue;
			in.hottest[k] = callee;
			callee = other;
			if (!callee)
				break;
		}
	}
	return in;
}

static void print_u64(const char *what, uint64_t v)
{
	printf("  %-22s %llu\n", what, (unsigned long long)v);
}

static void print_header(const struct view *view)
{
	const struct ep_sprof *prof = view->prof;
	bool any = false;

	printf("%s: LLVM sample profile, %s", view->opts->path, format_name(prof->format));
	if (prof->format != EP_SPROF_TEXT)
		printf(" version %llu", (unsigned long long)prof->version);
	printf("\n  %-22s ", "flags");
	for (size_t i = 0; i < EP_ARRAY_LEN(flag_names); i++) {
		if (!(prof->flags & flag_names[i].flag))
			continue;
		printf("%s%s", any ? ", " : "", flag_names[i].name);
		any = true;
	}
	printf("%s\n", any ? "" : "none");
	print_u64("functions", prof->funcs.n);
	print_u64("inlined copies", view->n_inlined);
	print_u64("records", view->n_records);
	print_u64("call targets", view->n_targets);
	print_u64("symbol list", prof->symbols.n);
}

static void print_sections(const struct view *view)
{
	const struct ep_sprof *prof = view->prof;

	if (!prof->sections.n)
		return;
	printf("\nsections\n  %10s  %-18s %12s %12s  %s\n", "type", "contents", "offset", "size",
	       "flags");
	for (size_t i = 0; i < prof->sections.n; i++) {
		const struct ep_sprof_section *s = &prof->sections.v[i];
		printf("  %10llu  %-18s %12llu %12llu  0x%llx%s\n", (unsigned long long)s->type,
		       section_name(s->type), (unsigned long long)s->offset,
		       (unsigned long long)s->size, (unsigned long long)s->flags,
		       s->flags & 1 ? " compressed" : "");
		if (s->type != EP_SPROF_SECTION_PROVENANCE || !s->data)
			continue;
		printf("  %10s  ", "");
		print_text((const char *)s->data, s->data_size);
		putchar('\n');
	}
}

static void print_summary(const struct view *view)
{
	const struct ep_sprof_summary *s = &view->summary;

	printf("\nsummary\n");
	print_u64("sum of counts", s->total_count);
	print_u64("highest count", s->max_count);
	print_u64("highest entry count", s->max_head);
	print_u64("hot from", s->hot_count);
	print_u64("cold up to", s->cold_count);
	printf("  %-22s %.1f\n", "density", view->density);
	printf("  %10s %20s %12s\n", "share", "of counts from", "records");
	for (size_t i = 0; i < EP_SPROF_N_CUTOFFS; i++)
		printf("  %9.4f%% %20llu %12llu\n", s->cutoffs[i].cutoff / 10000.0,
		       (unsigned long long)s->cutoffs[i].min_count,
		       (unsigned long long)s->cutoffs[i].n_counts);
}

static void print_func(const struct view *view, const struct ep_sprof_func *func)
{
	struct inlinees in = inlinees_of(func);

	printf("  %6.2f%% %20llu %16llu %8llu  ", percent(func->total, view->total),
	       (unsigned long long)func->total, (unsigned long long)func->head,
	       (unsigned long long)in.n);
	print_name(view, func->name);
	for (size_t i = 0; i < N_INLINEES && in.hottest[i]; i++) {
		fputs(i ? ", " : "  <- ", stdout);
		print_name(view, in.hottest[i]->name);
		printf(" %.1f%%", percent(in.hottest[i]->total, func->total));
	}
	putchar('\n');
}

static void print_funcs(const struct view *view)
{
	size_t n = n_shown(view);

	if (!n)
		return;
	printf("\nhottest functions (%zu of %zu)\n", n, (size_t)view->prof->funcs.n);
	printf("  %7s %20s %16s %8s  %s\n", "share", "total", "entries", "inlined",
	       "function  <- hottest inlined in it");
	for (size_t i = 0; i < n; i++)
		print_func(view, view->prof->funcs.v[i]);
}

static void print_symbols(const struct view *view)
{
	if (!view->opts->symbols)
		return;
	printf("\nsymbol list\n");
	for (size_t i = 0; i < view->prof->symbols.n; i++) {
		fputs("  ", stdout);
		print_name(view, view->prof->symbols.v[i]);
		putchar('\n');
	}
}

/* A name as JSON, whose strings are UTF-8: other bytes become U+FFFD. */
static json_t *json_name(const struct view *view, uint32_t name)
{
	const char *s = name_of(view, name);
	json_t *json = json_string(s);

	if (json)
		return json;
	char *text = malloc(3 * strlen(s) + 1), *p = text;
	if (!text)
		return NULL;
	for (; *s; s++) {
		if ((unsigned char)*s < 0x80) {
			*p++ = *s;
		} else {
			memcpy(p, "\xef\xbf\xbd", 3);
			p += 3;
		}
	}
	*p = '\0';
	json = json_string(text);
	free(text);
	return json;
}

static json_t *json_flags(uint32_t flags)
{
	json_t *list = json_array();

	for (size_t i = 0; i < EP_ARRAY_LEN(flag_names); i++)
		if (flags & flag_names[i].flag)
			json_array_append_new(list, json_string(flag_names[i].name));
	return list;
}

static json_t *json_sections(const struct ep_sprof *prof)
{
	json_t *list = json_array();

	for (size_t i = 0; i < prof->sections.n; i++) {
		const struct ep_sprof_section *s = &prof->sections.v[i];
		json_array_append_new(
		    list,
		    json_pack("{s:o,s:s,s:o,s:o,s:o}", "type", ep_json_u64(s->type), "contents",
		              section_name(s->type), "flags", ep_json_u64(s->flags), "offset",
		              ep_json_u64(s->offset), "size", ep_json_u64(s->size)));
	}
	return list;
}

/* The provenance section as it is, null when there is none or it is not JSON. */
static json_t *json_provenance(const struct ep_sprof *prof)
{
	json_t *json = NULL;

	for (size_t i = 0; i < prof->sections.n && !json; i++) {
		const struct ep_sprof_section *s = &prof->sections.v[i];
		if (s->type == EP_SPROF_SECTION_PROVENANCE && s->data)
			json = json_loadb((const char *)s->data, s->data_size, 0, NULL);
	}
	return json ? json : json_null();
}

static json_t *json_summary(const struct view *view)
{
	const struct ep_sprof_summary *s = &view->summary;
	json_t *cutoffs = json_array();

	for (size_t i = 0; i < EP_SPROF_N_CUTOFFS; i++)
		json_array_append_new(
		    cutoffs, json_pack("{s:i,s:o,s:o}", "cutoff", (int)s->cutoffs[i].cutoff,
		                       "min_count", ep_json_u64(s->cutoffs[i].min_count),
		                       "n_counts", ep_json_u64(s->cutoffs[i].n_counts)));
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:o}", "total_count",
	                 ep_json_u64(s->total_count), "max_count", ep_json_u64(s->max_count),
	                 "max_head", ep_json_u64(s->max_head), "n_counts", ep_json_u64(s->n_counts),
	                 "hot_count", ep_json_u64(s->hot_count), "cold_count",
	                 ep_json_u64(s->cold_count), "density", view->density, "cutoffs", cutoffs);
}

static json_t *json_func(const struct view *view, const struct ep_sprof_func *func)
{
	struct inlinees in = inlinees_of(func);
	json_t *inlinees = json_array();

	for (size_t i = 0; i < N_INLINEES && in.hottest[i]; i++)
		json_array_append_new(
		    inlinees, json_pack("{s:o,s:o}", "name", json_name(view, in.hottest[i]->name),
		                        "total", ep_json_u64(in.hottest[i]->total)));
	return json_pack("{s:o,s:o,s:f,s:o,s:o,s:o,s:o}", "name", json_name(view, func->name),
	                 "total", ep_json_u64(func->total), "share_percent",
	                 percent(func->total, view->total), "head", ep_json_u64(func->head),
	                 "n_records", ep_json_u64(func->n_records), "n_inlined", ep_json_u64(in.n),
	                 "hottest_inlined", inlinees);
}

static json_t *json_view(const struct ep_args *args, const struct view *view)
{
	const struct ep_sprof *prof = view->prof;
	json_t *json = ep_json_report(args), *funcs = json_array();

	for (size_t i = 0; i < n_shown(view); i++)
		json_array_append_new(funcs, json_func(view, prof->funcs.v[i]));
	json_object_set_new(json, "kind", json_string("sample-profile"));
	json_object_set_new(json, "file", ep_json_text(view->opts->path));
	json_object_set_new(json, "format", json_string(format_name(prof->format)));
	json_object_set_new(json, "version",
	                    prof->format == EP_SPROF_TEXT ? json_null()
	                                                  : ep_json_u64(prof->version));
	json_object_set_new(json, "flags", json_flags(prof->flags));
	json_object_set_new(json, "n_functions", ep_json_u64(prof->funcs.n));
	json_object_set_new(json, "n_inlined", ep_json_u64(view->n_inlined));
	json_object_set_new(json, "n_records", ep_json_u64(view->n_records));
	json_object_set_new(json, "n_targets", ep_json_u64(view->n_targets));
	json_object_set_new(json, "n_symbols", ep_json_u64(prof->symbols.n));
	json_object_set_new(json, "sections", json_sections(prof));
	json_object_set_new(json, "provenance", json_provenance(prof));
	json_object_set_new(json, "summary", json_summary(view));
	json_object_set_new(json, "functions", funcs);
	if (view->opts->symbols) {
		json_t *symbols = json_array();
		for (size_t i = 0; i < prof->symbols.n; i++)
			json_array_append_new(symbols, json_name(view, prof->symbols.v[i]));
		json_object_set_new(json, "symbols", symbols);
	}
	return json;
}

static struct ep_error *show_view(const struct ep_args *args, const struct view *view)
{
	if (view->opts->json)
		return ep_json_write(json_view(args, view), "-");
	print_header(view);
	print_sections(view);
	print_summary(view);
	print_funcs(view);
	print_symbols(view);
	return NULL;
}

static struct ep_error *show(const struct ep_args *args, const struct ep_file *file,
                             const struct ep_show_opts *opts)
{
	struct ep_warnings warnings = {0};
	struct ep_sprof_read_opts read = {.warnings = &warnings};
	struct ep_sprof prof;
	struct view view;

	struct ep_error *err = ep_sprof_read(file->data, file->size, opts->path, &read, &prof);
	ep_cmd_warnings(args, &warnings);
	ep_warnings_deinit(&warnings);
	if (err)
		return err;
	err = view_init(&view, &prof, opts);
	if (!err)
		err = show_view(args, &view);
	ep_sprof_deinit(&prof);
	return err;
}

const struct ep_show_kind ep_show_sprof = {
    .name = "LLVM sample profiles (text, binary, extbinary)",
    .detect = detect,
    .show = show,
};
