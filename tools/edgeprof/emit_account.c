/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of an emit, as text and as JSON. */
#include "emit_account.h"

#include "account.h"
#include "show_edges.h"
#include "table.h"

/* llvm-profgen's threshold, below which it advises more samples. */
#define DENSITY_ENOUGH 50.0

static uint64_t counted(const struct ep_edges *edges)
{
	uint64_t sum = 0, taken, mispredicted;

	for (size_t i = 0; i < edges->n_binaries; i++) {
		ep_edges_binary_taken(&edges->binaries[i], &taken, &mispredicted);
		sum = ep_count_add(sum, taken);
	}
	return sum;
}

static void read_totals(const struct ep_edges *edges, uint64_t *samples, uint64_t *records,
                        bool *weighted)
{
	*samples = *records = 0;
	*weighted = false;
	for (size_t i = 0; i < edges->n_provenance; i++) {
		*samples = ep_count_add(*samples, edges->provenance[i].n_samples);
		*records = ep_count_add(*records, edges->provenance[i].n_records);
		*weighted |= edges->provenance[i].weighted;
	}
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static const char *const match_names[] = {
    [EP_EMIT_MATCH_NONE] = "none",
    [EP_EMIT_MATCH_BUILD_ID] = "build-id",
    [EP_EMIT_MATCH_NAME] = "name",
    [EP_EMIT_MATCH_FORCED] = "forced",
};

static void print_match(const struct ep_args *args, const struct ep_emit_result *result)
{
	char id[EP_BUILD_ID_TEXT_MAX], sampled[EP_BUILD_ID_TEXT_MAX];

	ep_build_id_format(&result->build_id, id);
	ep_build_id_format(&result->sampled, sampled);
	if (result->match == EP_EMIT_MATCH_NAME)
		ep_cmd_note(args,
		            "warning: %s (%s): matched by its file name only, the samples have no "
		            "build-id",
		            result->binary, id);
	else if (result->match == EP_EMIT_MATCH_FORCED)
		ep_cmd_note(args, "warning: %s (%s): forced, the samples are of %s", result->binary,
		            id, sampled);
	else
		ep_cmd_note(args, "%s: %s", result->binary, id);
}

/* What -v adds: whence the samples and the debug information came. */
static void print_details(const struct ep_args *args, const struct ep_edges *edges,
                          const struct ep_emit_result *result)
{
	const struct ep_emit_account *a = &result->account;
	char units[EP_TEXT_COUNT_MAX];

	ep_account_print_inputs(args, edges);
	ep_account_print_binaries(args, edges);
	if (result->debug_file)
		ep_cmd_note(args, "debug information: %s, %s, %u read, %u damaged, %u without .dwo",
		            result->debug_file, ep_text_count(a->n_units, "units", units),
		            a->n_units_read, a->n_bad_units, a->n_missing_dwo);
}

static void print_profile(const struct ep_args *args, const struct ep_emit_result *result,
                          bool sampled)
{
	const struct ep_emit_account *a = &result->account;
	char functions[EP_TEXT_COUNT_MAX], lines[EP_TEXT_COUNT_MAX];

	ep_cmd_note(args, "%s: %s (%u with samples), %s, density %.1f", result->output,
	            ep_text_count(a->n_functions, "functions", functions), a->n_sampled,
	            ep_text_count(a->n_body, "lines", lines), a->density);
	if (sampled && a->density > 0 && a->density < DENSITY_ENOUGH)
		ep_cmd_note(args, "note: %.1f times as many samples would be better",
		            DENSITY_ENOUGH / a->density);
}

void ep_emit_account_print(const struct ep_args *args, const struct ep_edges *edges,
                           const struct ep_emit_result *result)
{
	const struct ep_emit_account *a = &result->account;
	char n_samples[EP_TEXT_COUNT_MAX], n_records[EP_TEXT_COUNT_MAX];
	uint64_t samples, records;
	bool weighted;

	read_totals(edges, &samples, &records, &weighted);
	print_match(args, result);
	if (args->verbose)
		print_details(args, edges, result);
	ep_cmd_note(args, "%s, %s%s; of what was counted %.1f %% is of this binary",
	            ep_text_count(samples, "samples", n_samples),
	            ep_text_count(records, "records", n_records), weighted ? " (weighted)" : "",
	            percent((double)result->taken, (double)counted(edges)));
	if (a->ranges)
		ep_cmd_note(
		    args,
		    "ranges used: %.1f %%; of the code they ran, %.1f %% is in functions, %.1f %% "
		    "has line info",
		    percent((double)a->ranges_used, (double)a->ranges),
		    percent(a->in_functions, a->executed), percent(a->with_lines, a->executed));
	ep_account_print_drops(args, " in fold:", &edges->drops);
	ep_account_print_drops(args, " in emit:", &a->drops);
	if (args->verbose)
		ep_account_print_notes(args, &edges->drops);
	if (result->output)
		print_profile(args, result, samples != 0);
}

static json_t *build_id_json(const struct ep_build_id *id)
{
	char text[EP_BUILD_ID_TEXT_MAX];

	return id->size ? json_string(ep_build_id_format(id, text)) : json_null();
}

static json_t *text_json(const char *text)
{
	return text ? ep_json_text(text) : json_null();
}

static json_t *result_json(const struct ep_emit_result *result, double all)
{
	const struct ep_emit_account *a = &result->account;
	json_t *json = json_object();

	json_object_set_new(json, "binary", ep_json_text(result->binary));
	json_object_set_new(json, "build_id", build_id_json(&result->build_id));
	json_object_set_new(json, "sampled_build_id", build_id_json(&result->sampled));
	json_object_set_new(json, "match", json_string(match_names[result->match]));
	json_object_set_new(json, "forced", json_boolean(result->match == EP_EMIT_MATCH_FORCED));
	json_object_set_new(json, "debug_file", text_json(result->debug_file));
	json_object_set_new(json, "output", text_json(result->output));
	if (result->error)
		json_object_set_new(json, "error", ep_json_text(result->error));
	json_object_set_new(json, "records", ep_json_u64(ep_count_round(a->records)));
	json_object_set_new(json, "taken", ep_json_u64(ep_count_round(result->taken)));
	json_object_set_new(json, "taken_percent", json_real(percent((double)result->taken, all)));
	json_object_set_new(json, "ranges", ep_json_u64(ep_count_round(a->ranges)));
	json_object_set_new(json, "ranges_used", ep_json_u64(ep_count_round(a->ranges_used)));
	json_object_set_new(json, "in_functions_percent",
	                    json_real(percent(a->in_functions, a->executed)));
	json_object_set_new(json, "with_lines_percent",
	                    json_real(percent(a->with_lines, a->executed)));
	json_object_set_new(json, "drops", ep_account_drops(&a->drops));
	json_object_set_new(json, "functions", json_integer(a->n_functions));
	json_object_set_new(json, "functions_sampled", json_integer(a->n_sampled));
	json_object_set_new(json, "lines", ep_json_u64(a->n_body));
	json_object_set_new(json, "max_line_count", ep_json_u64(a->max_body));
	json_object_set_new(json, "density", json_real(a->density));
	json_object_set_new(json, "units", json_integer(a->n_units));
	json_object_set_new(json, "units_read", json_integer(a->n_units_read));
	json_object_set_new(json, "units_damaged", json_integer(a->n_bad_units));
	return json;
}

json_t *ep_emit_account_json(const struct ep_args *args, const struct ep_emit_summary *summary)
{
	json_t *json = ep_json_report(args), *list = json_array(), *lost = json_array(),
	       *warned = json_array();
	double all = (double)counted(summary->edges);
	uint64_t samples, records;
	bool weighted;

	if (!json)
		return NULL;
	read_totals(summary->edges, &samples, &records, &weighted);
	json_object_set_new(json, "samples", ep_json_u64(samples));
	json_object_set_new(json, "records", ep_json_u64(records));
	json_object_set_new(json, "weighted", json_boolean(weighted));
	json_object_set_new(json, "drops", ep_account_drops(&summary->edges->drops));
	for (size_t i = 0; i < summary->n_results; i++)
		json_array_append_new(list, result_json(&summary->results[i], all));
	for (size_t i = 0; i < summary->n_missing; i++)
		json_array_append_new(lost, ep_json_text(summary->missing[i]));
	for (size_t i = 0; i < summary->warnings->n; i++)
		json_array_append_new(warned, ep_json_text(summary->warnings->v[i].first));
	json_object_set_new(json, "binaries", list);
	json_object_set_new(json, "not_found", lost);
	json_object_set_new(json, "warnings", warned);
	if (summary->error)
		json_object_set_new(json, "error", ep_json_text(summary->error));
	return json;
}
