/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of a fold, as text and as JSON. */
#include "account.h"

#include "record/build_id.h"
#include "show_edges.h"
#include "table.h"

/* Sums over all inputs and binaries. */
struct totals {
	uint64_t n_samples, n_records;
	uint64_t n_edges, n_ranges;       /* different ones */
	uint64_t edge_count, range_count; /* fixed point */
};

static uint64_t sum_edges(const struct ep_edges_binary *b)
{
	uint64_t taken, mispredicted;

	ep_edges_binary_taken(b, &taken, &mispredicted);
	return taken;
}

static uint64_t sum_ranges(const struct ep_edges_binary *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->n_ranges; i++)
		sum = ep_count_add(sum, b->ranges[i].count);
	return sum;
}

static struct totals sum_up(const struct ep_edges *edges)
{
	struct totals t = {0};

	for (size_t i = 0; i < edges->n_provenance; i++) {
		t.n_samples = ep_count_add(t.n_samples, edges->provenance[i].n_samples);
		t.n_records = ep_count_add(t.n_records, edges->provenance[i].n_records);
	}
	for (size_t i = 0; i < edges->n_binaries; i++) {
		const struct ep_edges_binary *b = &edges->binaries[i];
		t.n_edges += b->n_edges;
		t.n_ranges += b->n_ranges;
		t.edge_count = ep_count_add(t.edge_count, sum_edges(b));
		t.range_count = ep_count_add(t.range_count, sum_ranges(b));
	}
	return t;
}

void ep_account_print_inputs(const struct ep_args *args, const struct ep_edges *edges)
{
	char samples[EP_TEXT_COUNT_MAX], records[EP_TEXT_COUNT_MAX];

	for (size_t i = 0; i < edges->n_provenance; i++) {
		const struct ep_provenance *p = &edges->provenance[i];
		ep_cmd_note(args, "input: %s%s%s%s%s, sampled by %s%s, %s, %s%s", p->tool,
		            p->host[0] ? " of " : "", p->host, p->event[0] ? ", event " : "",
		            p->event, ep_sampling_name(p->sampling), p->exact ? " (exact)" : "",
		            ep_text_count(p->n_samples, "samples", samples),
		            ep_text_count(p->n_records, "records", records),
		            p->weighted ? ", weighted" : "");
	}
}

void ep_account_print_binaries(const struct ep_args *args, const struct ep_edges *edges)
{
	char id[EP_BUILD_ID_TEXT_MAX], n_edges[EP_TEXT_COUNT_MAX], n_ranges[EP_TEXT_COUNT_MAX],
	    taken[EP_TEXT_COUNT_MAX];

	for (size_t i = 0; i < edges->n_binaries; i++) {
		const struct ep_edges_binary *b = &edges->binaries[i];
		ep_cmd_note(args, "binary: %s %s: %s, %s, %s", ep_build_id_format(&b->build_id, id),
		            b->n_paths ? b->paths[0] : "(no path)",
		            ep_text_count(b->n_edges, "edges", n_edges),
		            ep_text_count(b->n_ranges, "ranges", n_ranges),
		            ep_text_count(ep_count_round(sum_edges(b)), "records", taken));
	}
}

void ep_account_print_drops(const struct ep_args *args, const char *where,
                            const struct ep_drops *drops)
{
	char n[EP_TEXT_COUNT_MAX];

	for (unsigned i = 0; i < EP_DROP_N; i++)
		if (drops->n[i])
			ep_cmd_note(args, "dropped%s %s, %s: %s", where,
			            ep_text_count(drops->n[i], ep_drop_unit(i), n), ep_drop_name(i),
			            ep_drop_help(i));
}

void ep_account_print_notes(const struct ep_args *args, const struct ep_drops *drops)
{
	char n[EP_TEXT_COUNT_MAX];

	for (unsigned i = 0; i < EP_NOTE_N; i++)
		if (drops->notes[i])
			ep_cmd_note(args, "note: %s, %s: %s",
			            ep_text_count(drops->notes[i], ep_note_unit(i), n),
			            ep_note_name(i), ep_note_help(i));
}

static void print_unknown_reasons(const struct ep_args *args, const struct ep_edges *edges)
{
	char n[32];

	for (size_t i = 0; i < edges->n_unknown_reasons; i++) {
		const struct ep_edges_reason *r = &edges->unknown_reasons[i];
		ep_cmd_note(args, "%s %s, for reason %u of a newer version",
		            r->is_note ? "note:" : "dropped", ep_text_number(r->n, n), r->number);
	}
}

void ep_account_print(const struct ep_args *args, const struct ep_edges *edges)
{
	struct totals t = sum_up(edges);
	char inputs[EP_TEXT_COUNT_MAX], samples[EP_TEXT_COUNT_MAX], records[EP_TEXT_COUNT_MAX],
	    n_edges[EP_TEXT_COUNT_MAX], ranges[EP_TEXT_COUNT_MAX], binaries[EP_TEXT_COUNT_MAX];

	if (args->verbose)
		ep_account_print_inputs(args, edges);
	ep_cmd_note(args, "%s, %s, %s: %s and %s in %s",
	            ep_text_count(edges->n_provenance, "inputs", inputs),
	            ep_text_count(t.n_samples, "samples", samples),
	            ep_text_count(t.n_records, "records", records),
	            ep_text_count(t.n_edges, "edges", n_edges),
	            ep_text_count(t.n_ranges, "ranges", ranges),
	            ep_text_count(edges->n_binaries, "binaries", binaries));
	if (args->verbose)
		ep_account_print_binaries(args, edges);
	ep_account_print_drops(args, "", &edges->drops);
	ep_account_print_notes(args, &edges->drops);
	print_unknown_reasons(args, edges);
}

/* Adds a member, taking the value; false when out of memory. */
static bool put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

/* A weighted count in whole records. */
static json_t *json_count(uint64_t fixed)
{
	return ep_json_u64(ep_count_round(fixed));
}

static void digest_text(const uint8_t digest[EP_DIGEST_SIZE], char ret[2 * EP_DIGEST_SIZE + 1])
{
	for (size_t i = 0; i < EP_DIGEST_SIZE; i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

static json_t *json_input(const struct ep_provenance *p)
{
	char digest[2 * EP_DIGEST_SIZE + 1];
	json_t *o = json_object();

	digest_text(p->digest, digest);
	bool ok =
	    put(o, "kind", ep_json_text(p->tool)) && put(o, "digest", json_string(digest)) &&
	    put(o, "host", ep_json_text(p->host)) && put(o, "kernel", ep_json_text(p->kernel)) &&
	    put(o, "cpu", ep_json_text(p->cpu)) && put(o, "event", ep_json_text(p->event)) &&
	    put(o, "sampling", json_string(ep_sampling_name(p->sampling))) &&
	    put(o, "period", ep_json_u64(p->period)) && put(o, "exact", json_boolean(p->exact)) &&
	    put(o, "weighted", json_boolean(p->weighted)) &&
	    put(o, "t_start_ns", ep_json_u64(p->t_start_ns)) &&
	    put(o, "t_end_ns", ep_json_u64(p->t_end_ns)) &&
	    put(o, "samples", ep_json_u64(p->n_samples)) &&
	    put(o, "records", ep_json_u64(p->n_records)) &&
	    put(o, "copies", ep_json_u64(p->n_copies));
	if (ok)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *json_paths(const struct ep_edges_binary *b)
{
	json_t *paths = json_array();

	for (uint32_t i = 0; paths && i < b->n_paths; i++)
		if (json_array_append_new(paths, ep_json_text(b->paths[i]))) {
			json_decref(paths);
			return NULL;
		}
	return paths;
}

static json_t *json_binary(const struct ep_edges_binary *b)
{
	char id[EP_BUILD_ID_TEXT_MAX];
	json_t *o = json_object();
	bool ok = put(o, "build_id",
	              b->build_id.size ? json_string(ep_build_id_format(&b->build_id, id))
	                               : json_null()) &&
	          put(o, "paths", json_paths(b)) && put(o, "edges", ep_json_u64(b->n_edges)) &&
	          put(o, "ranges", ep_json_u64(b->n_ranges)) &&
	          put(o, "edge_count", json_count(sum_edges(b))) &&
	          put(o, "range_count", json_count(sum_ranges(b)));

	if (ok)
		return o;
	json_decref(o);
	return NULL;
}

static bool put_inputs(json_t *report, const struct ep_edges *edges)
{
	json_t *inputs = json_array(), *binaries = json_array();
	bool ok = inputs && binaries;

	for (size_t i = 0; ok && i < edges->n_provenance; i++)
		ok = !json_array_append_new(inputs, json_input(&edges->provenance[i]));
	for (size_t i = 0; ok && i < edges->n_binaries; i++)
		ok = !json_array_append_new(binaries, json_binary(&edges->binaries[i]));
	ok &= put(report, "inputs", inputs);
	ok &= put(report, "binaries", binaries);
	return ok;
}

json_t *ep_account_drops(const struct ep_drops *drops)
{
	json_t *dropped = json_object(), *noted = json_object(), *both = json_object();
	bool ok = dropped && noted && both;

	for (int i = 0; ok && i < EP_DROP_N; i++)
		if (drops->n[i])
			ok = put(dropped, ep_drop_name(i), ep_json_u64(drops->n[i]));
	for (int i = 0; ok && i < EP_NOTE_N; i++)
		if (drops->notes[i])
			ok = put(noted, ep_note_name(i), ep_json_u64(drops->notes[i]));
	ok &= put(both, "dropped", dropped);
	ok &= put(both, "noted", noted);
	if (ok)
		return both;
	json_decref(both);
	return NULL;
}

static json_t *json_warnings(const struct ep_warnings *warnings)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < warnings->n; i++) {
		const struct ep_warning *w = &warnings->v[i];
		json_t *o = json_object();
		bool ok = put(o, "kind", json_string(w->kind)) &&
		          put(o, "count", ep_json_u64(w->count)) &&
		          put(o, "first", ep_json_text(w->first ? w->first : ""));
		if (json_array_append_new(list, o) || !ok) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *ep_account_json(const struct ep_args *args, const struct ep_edges *edges,
                        const struct ep_warnings *warnings)
{
	struct totals t = sum_up(edges);
	json_t *report = ep_json_report(args), *drops = ep_account_drops(&edges->drops);
	bool ok = report && drops && put(report, "samples", ep_json_u64(t.n_samples)) &&
	          put(report, "records", ep_json_u64(t.n_records)) &&
	          put(report, "edges", ep_json_u64(t.n_edges)) &&
	          put(report, "ranges", ep_json_u64(t.n_ranges)) &&
	          put(report, "edge_count", json_count(t.edge_count)) &&
	          put(report, "range_count", json_count(t.range_count)) &&
	          !json_object_update(report, drops) && put_inputs(report, edges) &&
	          put(report, "warnings", json_warnings(warnings));

	json_decref(drops);
	if (ok)
		return report;
	json_decref(report);
	return NULL;
}
