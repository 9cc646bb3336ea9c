/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof merge: adds .edges files up. */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "cmd.h"
#include "edges/edges.h"
#include "table.h"

enum { OPT_DUPLICATES = EP_OPT_VERB, OPT_QUARANTINE, OPT_FILES_FROM };

static const struct ep_opt opts[] = {
    EP_OPT_OUTPUT_ENTRY,
    {OPT_DUPLICATES, "allow-duplicates", NULL, "add the same capture up when it comes twice"},
    {OPT_QUARANTINE, "quarantine", NULL, "leave bad inputs out, list them, merge the others"},
    {OPT_FILES_FROM, "files-from", "LIST", "read names of further inputs from LIST, one a line"},
    EP_OPT_JOBS_ENTRY,
    EP_OPT_JSON_ENTRY,
    EP_OPT_VERBOSE_ENTRY,
    EP_OPT_COMMON_ENTRIES,
};

struct request {
	const char *output, *list;
	EP_VEC(const char *) inputs;
	char *list_text; /* that names of the list point into */
	struct ep_edges_merge_opts merge;
	bool json;
};

/* The names of a list: lines that are not empty. */
static struct ep_error *read_list(struct request *request)
{
	struct ep_file file;

	EP_TRY(ep_file_open(request->list, 0, &file));
	char *text = malloc(file.size + 1);
	if (text) {
		if (file.size)
			memcpy(text, file.data, file.size);
		text[file.size] = '\0';
	}
	bool has_nul = text && strlen(text) != file.size;
	ep_file_close(&file);
	request->list_text = text;
	if (!text)
		return ep_error_nomem();
	if (has_nul)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: not a list of names", request->list);
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line && !ep_vec_push(&request->inputs, line))
			return ep_error_nomem();
	return NULL;
}

static bool parse_option(struct ep_args *args, int id, struct request *request)
{
	uint64_t n;

	switch (id) {
	case 'o':
		request->output = args->value;
		break;
	case 'j':
		if (!ep_args_u64(args, "-j", args->value, 1, 256, &n))
			return false;
		request->merge.n_threads = (unsigned)n;
		break;
	case OPT_DUPLICATES:
		request->merge.allow_duplicates = true;
		break;
	case OPT_QUARANTINE:
		request->merge.quarantine = true;
		break;
	case OPT_FILES_FROM:
		request->list = args->value;
		break;
	case EP_OPT_JSON:
		request->json = true;
		break;
	}
	return true;
}

/* False: args->status says how to exit. */
static bool parse(struct ep_args *args, struct request *request)
{
	int id;

	while ((id = ep_args_next(args)) != EP_ARGS_END) {
		if (id == EP_ARGS_EXIT)
			return false;
		args->status = EP_EXIT_BAD;
		if (!parse_option(args, id, request))
			return false;
	}
	args->status = EP_EXIT_BAD;
	for (int i = 0; i < ep_args_n_operands(args); i++) {
		if (!ep_vec_push(&request->inputs, ep_args_operands(args)[i])) {
			ep_cmd_fail(args, ep_error_nomem());
			return false;
		}
	}
	struct ep_error *err = request->list ? read_list(request) : NULL;
	if (err) {
		ep_cmd_fail(args, err);
		return false;
	}
	bool to_stdout = request->output && !strcmp(request->output, "-");
	if (!request->output)
		ep_args_usage(args, "name the output with -o FILE");
	else if (!request->inputs.n)
		ep_args_usage(args, "name the files to merge");
	else if (to_stdout && request->json)
		ep_args_usage(args, "the report and the output cannot both be standard output");
	else if (to_stdout && isatty(STDOUT_FILENO))
		ep_args_usage(args, "the output is binary and would garble the terminal");
	else
		args->status = EP_EXIT_OK;
	return args->status == EP_EXIT_OK;
}

static json_t *bad_json(const struct ep_edges_merge_report *report)
{
	json_t *json = json_array();

	for (size_t i = 0; i < report->n_bad; i++) {
		json_t *entry = json_object();
		json_object_set_new(entry, "file", ep_json_text(report->bad[i].path));
		json_object_set_new(entry, "error", ep_json_text(report->bad[i].err->message));
		json_array_append_new(json, entry);
	}
	return json;
}

static json_t *report_json(const struct ep_args *args, const struct request *request,
                           const struct ep_edges_merge_report *report, bool done)
{
	json_t *json = ep_json_report(args);
	char digest[2 * EP_DIGEST_SIZE + 1];

	if (!json)
		return NULL;
	for (size_t i = 0; i < EP_DIGEST_SIZE; i++)
		sprintf(digest + 2 * i, "%02x", report->digest[i]);
	json_object_set_new(json, "output", done ? ep_json_text(request->output) : json_null());
	json_object_set_new(json, "n_inputs", ep_json_u64(request->inputs.n));
	json_object_set_new(json, "n_merged", ep_json_u64(report->n_merged));
	json_object_set_new(json, "bad", bad_json(report));
	json_object_set_new(json, "n_captures", ep_json_u64(report->n_provenance));
	json_object_set_new(json, "n_binaries", ep_json_u64(report->n_binaries));
	json_object_set_new(json, "n_edges", ep_json_u64(report->n_edges));
	json_object_set_new(json, "n_ranges", ep_json_u64(report->n_ranges));
	json_object_set_new(json, "n_saturated", ep_json_u64(report->n_saturated));
	json_object_set_new(json, "bytes", ep_json_u64(report->n_bytes));
	json_object_set_new(json, "digest", done ? json_string(digest) : json_null());
	return json;
}

/* Every bad input on a line of its own; one alone is the error itself unless it was left out. */
static void print_bad(const struct ep_args *args, const struct ep_edges_merge_report *report,
                      bool done)
{
	for (size_t i = 0; i < report->n_bad && (done || report->n_bad > 1); i++) {
		ep_autofree char *text = ep_text_harmless(report->bad[i].err->message);
		fprintf(stderr, "edgeprof %s: %s%s\n", args->cmd->name, done ? "left out: " : "",
		        text ? text : report->bad[i].path);
	}
}

/* The inputs that are no bad ones, whose list is in the same order. */
static void print_merged(const struct ep_args *args, const struct request *request,
                         const struct ep_edges_merge_report *report)
{
	size_t i_bad = 0;

	for (size_t i = 0; i < request->inputs.n; i++) {
		if (i_bad < report->n_bad && report->bad[i_bad].path == request->inputs.v[i])
			i_bad++;
		else
			ep_cmd_note(args, "merged: %s", request->inputs.v[i]);
	}
}

static void print_account(const struct ep_args *args, const struct request *request,
                          const struct ep_edges_merge_report *report)
{
	char files[EP_TEXT_COUNT_MAX], captures[EP_TEXT_COUNT_MAX], binaries[EP_TEXT_COUNT_MAX],
	    edges[EP_TEXT_COUNT_MAX], ranges[EP_TEXT_COUNT_MAX], bytes[EP_TEXT_COUNT_MAX];

	ep_cmd_note(args, "%s: %zu of %s, %s, %s, %s, %s, %s", request->output, report->n_merged,
	            ep_text_count(request->inputs.n, "files", files),
	            ep_text_count(report->n_provenance, "captures", captures),
	            ep_text_count(report->n_binaries, "binaries", binaries),
	            ep_text_count(report->n_edges, "edges", edges),
	            ep_text_count(report->n_ranges, "ranges", ranges),
	            ep_text_count(report->n_bytes, "bytes", bytes));
	if (report->n_saturated)
		ep_cmd_note(args, "warning: the largest value was reached by %s",
		            ep_text_count(report->n_saturated, "counts", edges));
}

static int merge(struct ep_args *args, const struct request *request)
{
	struct ep_edges_merge_report report = {0};
	int status = EP_EXIT_OK;
	struct ep_error *err = ep_edges_merge(request->inputs.v, request->inputs.n, request->output,
	                                      &request->merge, &report);

	print_bad(args, &report, !err);
	if (!err && args->verbose)
		print_merged(args, request, &report);
	if (!err)
		print_account(args, request, &report);
	if (request->json) {
		struct ep_error *json_err =
		    ep_json_write(report_json(args, request, &report, !err), "-");
		if (json_err)
			status = ep_cmd_fail(args, json_err);
	}
	if (err)
		status = ep_cmd_fail(args, err);
	ep_edges_merge_report_deinit(&report);
	return status;
}

static int run(struct ep_args *args)
{
	struct request request = {0};
	int status = parse(args, &request) ? merge(args, &request) : args->status;

	ep_vec_deinit(&request.inputs);
	free(request.list_text);
	return status;
}

const struct ep_cmd ep_cmd_merge = {
    .name = "merge",
    .summary = "Add .edges files up",
    .synopsis = "[--allow-duplicates] [--quarantine] [--files-from LIST] [-j N] -o OUT FILE...",
    .opts = opts,
    .fn = run,
};
