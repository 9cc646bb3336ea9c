/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof show: .edges files as text. */
#include "show_edges.h"
#include "record/machine.h"

#include <string.h>

#include "record/branch.h"
#include "table.h"

void ep_edges_binary_taken(const struct ep_edges_binary *binary, uint64_t *taken_ret,
                           uint64_t *mispredicted_ret)
{
	uint64_t taken = 0, mispredicted = 0;

	for (size_t i = 0; i < binary->n_edges; i++) {
		if (ep_edge_is_second(&binary->edges[i]))
			continue;
		taken = ep_count_add(taken, binary->edges[i].count);
		mispredicted = ep_count_add(mispredicted, binary->edges[i].mispreds);
	}
	*taken_ret = taken;
	*mispredicted_ret = mispredicted;
}

const char *ep_types_name(uint32_t types, char *buf, size_t n_buf)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < EP_BRANCH_N_TYPES; i++) {
		const char *name = ep_branch_type_name(i);
		if (!(types >> i & 1))
			continue;
		if (name)
			snprintf(buf + n, n_buf - n, "%s%s", n ? "," : "", name);
		else
			snprintf(buf + n, n_buf - n, "%stype-%u", n ? "," : "", i);
		n = strlen(buf);
	}
	return buf;
}

const char *ep_sampling_name(unsigned sampling)
{
	static const char *const names[] = {
	    [EP_SAMPLING_UNKNOWN] = "unknown",
	    [EP_SAMPLING_TAKEN_BRANCHES] = "taken-branches",
	    [EP_SAMPLING_INSTRUCTIONS] = "instructions",
	    [EP_SAMPLING_CYCLES] = "cycles",
	    [EP_SAMPLING_OTHER] = "other",
	};

	return sampling < EP_ARRAY_LEN(names) ? names[sampling] : "unknown";
}

const char *ep_binary_name(const struct ep_edges_binary *binary, char buf[EP_BUILD_ID_TEXT_MAX])
{
	if (binary->n_paths) {
		const char *slash = strrchr(binary->paths[0], '/');
		return slash && slash[1] ? slash + 1 : binary->paths[0];
	}
	return ep_build_id_format(&binary->build_id, buf);
}

static int hotter_edge(const void *a, const void *b)
{
	const struct ep_hot_edge *x = a, *y = b;

	if (x->edge->count != y->edge->count)
		return x->edge->count > y->edge->count ? -1 : 1;
	if (x->binary != y->binary)
		return x->binary < y->binary ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static int hotter_range(const void *a, const void *b)
{
	const struct ep_hot_range *x = a, *y = b;

	if (x->range->count != y->range->count)
		return x->range->count > y->range->count ? -1 : 1;
	if (x->binary != y->binary)
		return x->binary < y->binary ? -1 : 1;
	return x->range < y->range ? -1 : x->range > y->range;
}

static struct ep_error *summarise(const struct ep_edges *edges, uint64_t top,
                                  struct ep_edges_summary *ret)
{
	struct ep_edges_summary s = {.edges = edges};

	for (size_t i = 0; i < edges->n_binaries; i++) {
		s.n_edges += edges->binaries[i].n_edges;
		s.n_ranges += edges->binaries[i].n_ranges;
	}
	s.hot_edges = calloc(s.n_edges + 1, sizeof(*s.hot_edges));
	s.hot_ranges = calloc(s.n_ranges + 1, sizeof(*s.hot_ranges));
	if (!s.hot_edges || !s.hot_ranges) {
		free(s.hot_edges);
		free(s.hot_ranges);
		return ep_error_nomem();
	}
	for (size_t i = 0; i < edges->n_binaries; i++) {
		const struct ep_edges_binary *binary = &edges->binaries[i];
		uint64_t taken, mispredicted;
		ep_edges_binary_taken(binary, &taken, &mispredicted);
		s.taken = ep_count_add(s.taken, taken);
		s.mispredicted = ep_count_add(s.mispredicted, mispredicted);
		for (size_t k = 0; k < binary->n_edges; k++) {
			const struct ep_edge *edge = &binary->edges[k];
			s.n_saturated += edge->count == UINT64_MAX;
			if (!ep_edge_is_second(edge))
				s.hot_edges[s.n_hot_edges++] = (struct ep_hot_edge){binary, edge};
		}
		for (size_t k = 0; k < binary->n_ranges; k++) {
			const struct ep_range *range = &binary->ranges[k];
			s.n_saturated += range->count == UINT64_MAX;
			s.hot_ranges[s.n_hot_ranges++] = (struct ep_hot_range){binary, range};
		}
	}
	qsort(s.hot_edges, s.n_hot_edges, sizeof(*s.hot_edges), hotter_edge);
	qsort(s.hot_ranges, s.n_hot_ranges, sizeof(*s.hot_ranges), hotter_range);
	s.n_hot_edges = (size_t)EP_MIN((uint64_t)s.n_hot_edges, top);
	s.n_hot_ranges = (size_t)EP_MIN((uint64_t)s.n_hot_ranges, top);
	*ret = s;
	return NULL;
}

static void print_header(const struct ep_file *file, const struct ep_show_opts *opts,
                         const struct ep_edges_summary *s)
{
	char a[32], b[32], c[32], d[32];

	printf("%s: counted edges, %s bytes, content ", opts->path, ep_text_number(file->size, a));
	for (size_t i = 0; i < EP_DIGEST_SIZE; i++)
		printf("%02x", s->edges->digest[i]);
	printf("\n%s taken branches, %.2f %% mispredicted; %s edges and %s ranges in %zu "
	       "%s\n",
	       ep_text_number(ep_count_round(s->taken), b),
	       s->taken ? 100.0 * (double)s->mispredicted / (double)s->taken : 0.0,
	       ep_text_number(s->n_edges, c), ep_text_number(s->n_ranges, d), s->edges->n_binaries,
	       s->edges->n_binaries == 1 ? "binary" : "binaries");
	if (s->n_saturated)
		printf("%zu counts reached the largest value\n", s->n_saturated);
	if (s->edges->n_unknown_blocks)
		printf("%zu parts of a newer version were skipped\n", s->edges->n_unknown_blocks);
}

static void print_provenance(const struct ep_edges *edges, uint64_t top)
{
	struct ep_table t = {.headings = {"host", "tool", "event", ">period", ">samples",
	                                  ">records", ">seconds", "weights", "kernel", "cpu",
	                                  "digest"}};
	size_t n = (size_t)EP_MIN((uint64_t)edges->n_provenance, top);

	ep_table_title(stdout, "Inputs");
	for (size_t i = 0; i < n; i++) {
		const struct ep_provenance *p = &edges->provenance[i];
		ep_table_cell(&t, "%s", *p->host ? p->host : "-");
		ep_table_cell(&t, "%s", *p->tool ? p->tool : "-");
		ep_table_cell(&t, "%s%s", *p->event ? p->event : "-", p->exact ? " (exact)" : "");
		ep_table_number(&t, p->period);
		ep_table_number(&t, p->n_samples);
		ep_table_number(&t, p->n_records);
		if (p->t_end_ns > p->t_start_ns)
			ep_table_cell(&t, "%.3f", (double)(p->t_end_ns - p->t_start_ns) / 1e9);
		else
			ep_table_cell(&t, "-");
		ep_table_cell(&t, "%s", p->weighted ? "auto" : "none");
		ep_table_cell(&t, "%s", *p->kernel ? p->kernel : "-");
		ep_table_cell(&t, "%s", *p->cpu ? p->cpu : "-");
		char text[16];
		snprintf(text, sizeof(text), "%02x%02x%02x%02x", p->digest[0], p->digest[1],
		         p->digest[2], p->digest[3]);
		if (p->n_copies > 1)
			ep_table_cell(&t, "%s x %llu", text, (unsigned long long)p->n_copies);
		else
			ep_table_cell(&t, "%s", text);
	}
	ep_table_print(&t, stdout);
	if (n < edges->n_provenance)
		printf("  and %zu more: --top N, --json\n", edges->n_provenance - n);
}

static void print_binaries(const struct ep_edges_summary *s)
{
	struct ep_table t = {.headings = {"build-id", "arch", "addresses", ">edges", ">ranges",
	                                  ">taken", ">share", "", "path"}};

	ep_table_title(stdout, "Binaries");
	for (size_t i = 0; i < s->edges->n_binaries; i++) {
		const struct ep_edges_binary *binary = &s->edges->binaries[i];
		char id[EP_BUILD_ID_TEXT_MAX], buf[EP_MACHINE_NAME_MAX];
		uint64_t taken, mispredicted;
		ep_edges_binary_taken(binary, &taken, &mispredicted);
		ep_table_cell(&t, "%s", ep_build_id_format(&binary->build_id, id));
		ep_table_cell(&t, "%s", ep_machine_name(binary->machine, buf));
		ep_table_cell(&t, "%s", binary->space == EP_SPACE_FOFF ? "foff" : "vaddr");
		ep_table_number(&t, binary->n_edges);
		ep_table_number(&t, binary->n_ranges);
		ep_table_number(&t, ep_count_round(taken));
		ep_table_share(&t, (double)taken, (double)s->taken);
		ep_table_bar(&t, (double)taken, (double)s->taken);
		if (binary->n_paths > 1)
			ep_table_cell(&t, "%s (and %u more)", binary->paths[0],
			              binary->n_paths - 1);
		else
			ep_table_cell(&t, "%s", binary->n_paths ? binary->paths[0] : "-");
	}
	ep_table_print(&t, stdout);
}

/* The end of an edge that lies in another binary. */
static void other_end(struct ep_table *t, const struct ep_edges *edges, const struct ep_edge *edge)
{
	char id[EP_BUILD_ID_TEXT_MAX];

	if (edge->peer)
		ep_table_cell(t, "(%s)", ep_binary_name(&edges->binaries[edge->peer - 1], id));
	else
		ep_table_cell(t, "(elsewhere)");
}

static void print_hot_edges(const struct ep_edges_summary *s)
{
	struct ep_table t = {
	    .headings = {">count", ">share", "", ">mispred", "from", "to", "type", "binary"}};

	ep_table_title(stdout, "Hottest edges");
	for (size_t i = 0; i < s->n_hot_edges; i++) {
		const struct ep_edge *edge = s->hot_edges[i].edge;
		char types[512], id[EP_BUILD_ID_TEXT_MAX];
		ep_table_number(&t, ep_count_round(edge->count));
		ep_table_share(&t, (double)edge->count, (double)s->taken);
		ep_table_bar(&t, (double)edge->count, (double)s->hot_edges[0].edge->count);
		ep_table_share(&t, (double)edge->mispreds, (double)edge->count);
		if (edge->kind == EP_EDGE_IN)
			other_end(&t, s->edges, edge);
		else
			ep_table_cell(&t, "0x%llx", (unsigned long long)edge->from);
		if (edge->kind == EP_EDGE_OUT)
			other_end(&t, s->edges, edge);
		else
			ep_table_cell(&t, "0x%llx", (unsigned long long)edge->to);
		ep_table_cell(&t, "%s", ep_types_name(edge->types, types, sizeof(types)));
		ep_table_cell(&t, "%s", ep_binary_name(s->hot_edges[i].binary, id));
	}
	ep_table_print(&t, stdout);
}

static void print_hot_ranges(const struct ep_edges_summary *s)
{
	struct ep_table t = {.headings = {">count", "", "start", "end", ">bytes", "", "binary"}};

	ep_table_title(stdout, "Hottest ranges");
	for (size_t i = 0; i < s->n_hot_ranges; i++) {
		const struct ep_range *range = s->hot_ranges[i].range;
		char id[EP_BUILD_ID_TEXT_MAX];
		ep_table_number(&t, ep_count_round(range->count));
		ep_table_bar(&t, (double)range->count, (double)s->hot_ranges[0].range->count);
		ep_table_cell(&t, "0x%llx", (unsigned long long)range->start);
		ep_table_cell(&t, "0x%llx", (unsigned long long)range->end);
		ep_table_number(&t, range->end - range->start);
		ep_table_cell(&t, "%s", range->open_end ? "interrupted before its end" : "");
		ep_table_cell(&t, "%s", ep_binary_name(s->hot_ranges[i].binary, id));
	}
	ep_table_print(&t, stdout);
}

static void print_reasons(const struct ep_edges *edges, bool notes)
{
	struct ep_table t = {.headings = {notes ? "note" : "reason", ">number", "of", "meaning"}};
	unsigned n_known = notes ? EP_NOTE_N : EP_DROP_N;
	size_t n_shown = 0;

	for (unsigned i = 0; i < n_known; i++) {
		uint64_t n = notes ? edges->drops.notes[i] : edges->drops.n[i];
		if (!n)
			continue;
		n_shown++;
		ep_table_cell(&t, "%s", notes ? ep_note_name(i) : ep_drop_name(i));
		ep_table_number(&t, n);
		ep_table_cell(&t, "%s", notes ? ep_note_unit(i) : ep_drop_unit(i));
		ep_table_cell(&t, "%s", notes ? ep_note_help(i) : ep_drop_help(i));
	}
	for (size_t i = 0; i < edges->n_unknown_reasons; i++) {
		const struct ep_edges_reason *r = &edges->unknown_reasons[i];
		if (r->is_note != notes)
			continue;
		n_shown++;
		ep_table_cell(&t, "%s-%u", notes ? "note" : "reason", r->number);
		ep_table_number(&t, r->n);
		ep_table_cell(&t, "-");
		ep_table_cell(&t, "of a newer version");
	}
	if (notes && !n_shown)
		return;
	ep_table_title(stdout, notes ? "Notes (counted all the same)" : "Dropped");
	if (n_shown)
		ep_table_print(&t, stdout);
	else
		puts("  nothing");
}

static void print_text(const struct ep_file *file, const struct ep_show_opts *opts,
                       const struct ep_edges_summary *s)
{
	print_header(file, opts, s);
	print_provenance(s->edges, opts->top);
	print_binaries(s);
	if (s->n_hot_edges)
		print_hot_edges(s);
	if (s->n_hot_ranges)
		print_hot_ranges(s);
	print_reasons(s->edges, false);
	print_reasons(s->edges, true);
}

static struct ep_error *show(const struct ep_args *args, const struct ep_file *file,
                             const struct ep_show_opts *opts)
{
	struct ep_edges_summary summary = {0};
	struct ep_edges edges;

	EP_TRY(ep_edges_decode(file->data, file->size, opts->path, &edges));
	struct ep_error *err = summarise(&edges, opts->top, &summary);
	if (!err && opts->json)
		err = ep_json_write(ep_show_edges_json(args, file, opts, &summary), "-");
	else if (!err)
		print_text(file, opts, &summary);
	free(summary.hot_edges);
	free(summary.hot_ranges);
	ep_edges_deinit(&edges);
	return err;
}

const struct ep_show_kind ep_show_edges = {
    .name = "counted edges (.edges)",
    .detect = ep_edges_detect,
    .show = show,
};
