/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof show --json: .edges files, everything but the counts that are not among the hottest. */
#include <string.h>

#include "record/branch.h"
#include "record/machine.h"
#include "show_edges.h"
#include "table.h"

static json_t *hex(const uint8_t *bytes, size_t n)
{
	char text[2 * EP_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return json_string(text);
}

static json_t *address(uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)v);
	return json_string(text);
}

/* Whole records, and the exact number in units of 1/65536. */
static void set_count(json_t *json, const char *key, const char *fixed_key, uint64_t fixed)
{
	json_object_set_new(json, key, ep_json_u64(ep_count_round(fixed)));
	json_object_set_new(json, fixed_key, ep_json_u64(fixed));
}

static json_t *provenance_json(const struct ep_provenance *p)
{
	json_t *json = json_object();

	json_object_set_new(json, "digest", hex(p->digest, EP_DIGEST_SIZE));
	json_object_set_new(json, "host", ep_json_text(p->host));
	json_object_set_new(json, "kernel", ep_json_text(p->kernel));
	json_object_set_new(json, "cpu", ep_json_text(p->cpu));
	json_object_set_new(json, "event", ep_json_text(p->event));
	json_object_set_new(json, "tool", ep_json_text(p->tool));
	json_object_set_new(json, "sampling", json_string(ep_sampling_name(p->sampling)));
	json_object_set_new(json, "exact", json_boolean(p->exact));
	json_object_set_new(json, "weighted", json_boolean(p->weighted));
	json_object_set_new(json, "period", ep_json_u64(p->period));
	json_object_set_new(json, "t_start_ns", ep_json_u64(p->t_start_ns));
	json_object_set_new(json, "t_end_ns", ep_json_u64(p->t_end_ns));
	json_object_set_new(json, "n_samples", ep_json_u64(p->n_samples));
	json_object_set_new(json, "n_records", ep_json_u64(p->n_records));
	json_object_set_new(json, "weight_fixed", ep_json_u64(p->weight));
	json_object_set_new(json, "n_copies", ep_json_u64(p->n_copies));
	return json;
}

static json_t *binary_json(const struct ep_edges_binary *binary)
{
	static const char *const kinds[] = {"none", "gnu", "hash"};
	json_t *json = json_object(), *paths = json_array();
	char buf[EP_MACHINE_NAME_MAX];
	uint64_t taken, mispredicted;

	ep_edges_binary_taken(binary, &taken, &mispredicted);
	json_object_set_new(json, "build_id", hex(binary->build_id.bytes, binary->build_id.size));
	json_object_set_new(json, "build_id_kind",
	                    binary->build_id.kind < EP_ARRAY_LEN(kinds)
	                        ? json_string(kinds[binary->build_id.kind])
	                        : json_integer(binary->build_id.kind));
	json_object_set_new(json, "arch", json_string(ep_machine_name(binary->machine, buf)));
	json_object_set_new(json, "machine", json_integer(binary->machine));
	json_object_set_new(json, "space",
	                    json_string(binary->space == EP_SPACE_FOFF ? "foff" : "vaddr"));
	for (uint32_t i = 0; i < binary->n_paths; i++)
		json_array_append_new(paths, ep_json_text(binary->paths[i]));
	json_object_set_new(json, "paths", paths);
	json_object_set_new(json, "n_edges", ep_json_u64(binary->n_edges));
	json_object_set_new(json, "n_ranges", ep_json_u64(binary->n_ranges));
	set_count(json, "taken", "taken_fixed", taken);
	set_count(json, "mispredicted", "mispredicted_fixed", mispredicted);
	return json;
}

static json_t *types_json(uint32_t types)
{
	json_t *json = json_array();

	for (unsigned i = 0; i < EP_BRANCH_N_TYPES; i++) {
		const char *name = ep_branch_type_name(i);
		if (types >> i & 1)
			json_array_append_new(json, name ? json_string(name)
			                                 : json_sprintf("type-%u", i));
	}
	return json;
}

static json_t *edge_json(const struct ep_edges *edges, const struct ep_hot_edge *hot)
{
	static const char *const kinds[] = {"internal", "out", "in", "?"};
	const struct ep_edge *edge = hot->edge;
	json_t *json = json_object();

	json_object_set_new(json, "binary", json_integer(hot->binary - edges->binaries));
	json_object_set_new(json, "kind", json_string(kinds[edge->kind]));
	json_object_set_new(json, "peer",
	                    edge->peer ? json_integer((json_int_t)edge->peer - 1) : json_null());
	json_object_set_new(json, "from",
	                    edge->kind == EP_EDGE_IN ? json_null() : address(edge->from));
	json_object_set_new(json, "to",
	                    edge->kind == EP_EDGE_OUT ? json_null() : address(edge->to));
	json_object_set_new(json, "types", types_json(edge->types));
	set_count(json, "count", "count_fixed", edge->count);
	set_count(json, "mispredicted", "mispredicted_fixed", edge->mispreds);
	return json;
}

static json_t *range_json(const struct ep_edges *edges, const struct ep_hot_range *hot)
{
	json_t *json = json_object();

	json_object_set_new(json, "binary", json_integer(hot->binary - edges->binaries));
	json_object_set_new(json, "start", address(hot->range->start));
	json_object_set_new(json, "end", address(hot->range->end));
	json_object_set_new(json, "open_end", json_boolean(hot->range->open_end));
	set_count(json, "count", "count_fixed", hot->range->count);
	return json;
}

static json_t *reason_json(const char *name, unsigned number, uint64_t n, const char *unit)
{
	json_t *json = json_object();

	json_object_set_new(json, "name", json_string(name));
	json_object_set_new(json, "number", json_integer(number));
	json_object_set_new(json, "n", ep_json_u64(n));
	json_object_set_new(json, "unit", unit ? json_string(unit) : json_null());
	return json;
}

static json_t *reasons_json(const struct ep_edges *edges, bool notes)
{
	json_t *json = json_array();
	unsigned n_known = notes ? EP_NOTE_N : EP_DROP_N;

	for (unsigned i = 0; i < n_known; i++) {
		uint64_t n = notes ? edges->drops.notes[i] : edges->drops.n[i];
		if (n)
			json_array_append_new(
			    json, reason_json(notes ? ep_note_name(i) : ep_drop_name(i), i, n,
			                      notes ? ep_note_unit(i) : ep_drop_unit(i)));
	}
	for (size_t i = 0; i < edges->n_unknown_reasons; i++) {
		const struct ep_edges_reason *r = &edges->unknown_reasons[i];
		char name[32];
		snprintf(name, sizeof(name), "%s-%u", notes ? "note" : "reason", r->number);
		if (r->is_note == notes)
			json_array_append_new(json, reason_json(name, r->number, r->n, NULL));
	}
	return json;
}

static void set_lists(json_t *json, const struct ep_edges_summary *s)
{
	json_t *inputs = json_array(), *binaries = json_array();
	json_t *hot_edges = json_array(), *hot_ranges = json_array();

	for (size_t i = 0; i < s->edges->n_provenance; i++)
		json_array_append_new(inputs, provenance_json(&s->edges->provenance[i]));
	for (size_t i = 0; i < s->edges->n_binaries; i++)
		json_array_append_new(binaries, binary_json(&s->edges->binaries[i]));
	for (size_t i = 0; i < s->n_hot_edges; i++)
		json_array_append_new(hot_edges, edge_json(s->edges, &s->hot_edges[i]));
	for (size_t i = 0; i < s->n_hot_ranges; i++)
		json_array_append_new(hot_ranges, range_json(s->edges, &s->hot_ranges[i]));
	json_object_set_new(json, "inputs", inputs);
	json_object_set_new(json, "binaries", binaries);
	json_object_set_new(json, "hottest_edges", hot_edges);
	json_object_set_new(json, "hottest_ranges", hot_ranges);
}

json_t *ep_show_edges_json(const struct ep_args *args, const struct ep_file *file,
                           const struct ep_show_opts *opts, const struct ep_edges_summary *s)
{
	json_t *json = ep_json_report(args);

	if (!json)
		return NULL;
	json_object_set_new(json, "file", ep_json_text(opts->path));
	json_object_set_new(json, "kind", json_string("edges"));
	json_object_set_new(json, "bytes", ep_json_u64(file->size));
	json_object_set_new(json, "digest", hex(s->edges->digest, EP_DIGEST_SIZE));
	set_count(json, "taken", "taken_fixed", s->taken);
	set_count(json, "mispredicted", "mispredicted_fixed", s->mispredicted);
	json_object_set_new(json, "n_edges", ep_json_u64(s->n_edges));
	json_object_set_new(json, "n_ranges", ep_json_u64(s->n_ranges));
	json_object_set_new(json, "n_saturated", ep_json_u64(s->n_saturated));
	json_object_set_new(json, "n_skipped_parts", ep_json_u64(s->edges->n_unknown_blocks));
	set_lists(json, s);
	json_object_set_new(json, "dropped", reasons_json(s->edges, false));
	json_object_set_new(json, "notes", reasons_json(s->edges, true));
	return json;
}
