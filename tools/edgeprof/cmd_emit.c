/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof emit: edges and a binary become a sample profile. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/out.h"
#include "base/vec.h"
#include "cmd.h"
#include "emit/emit.h"
#include "emit_account.h"
#include "emit_files.h"
#include "inputs.h"
#include "show_edges.h"
#include "sprof/write.h"

enum {
	OPT_BINARY = EP_OPT_VERB,
	OPT_DEBUG_FILE,
	OPT_FORMAT,
	OPT_MD5,
	OPT_COMPRESS,
	OPT_COMPAT,
	OPT_STACKS,
	OPT_FORCE,
	OPT_OUT_DIR,
	OPT_SEARCH,
};

static const struct ep_opt opts[] = {
    {OPT_BINARY, "binary", "FILE", "the program or library that ran"},
    {OPT_DEBUG_FILE, "debug-file", "FILE", "its debug information, where that is separate"},
    EP_OPT_OUTPUT_ENTRY,
    {OPT_FORMAT, "format", "FORMAT", "text, binary or extbinary (default: extbinary)"},
    {OPT_MD5, "md5", NULL, "write MD5 GUIDs in place of names (extbinary)"},
    {OPT_COMPRESS, "compress", "HOW", "none or zlib: compress sections (extbinary)"},
    {OPT_COMPAT, "compat", "TOOL", "llvm-profgen: give exactly what that tool gives"},
    {OPT_STACKS, "ignore-stack-samples", NULL, "do not use call stacks (they never are)"},
    {OPT_FORCE, "force", NULL, "take the binary although its build-id is another"},
    {OPT_OUT_DIR, "out-dir", "DIR", "emit every binary of the input to a file in DIR"},
    {OPT_SEARCH, "search", "PATH", "look for binaries and debug files in PATH; may be repeated"},
    EP_OPT_JOBS_ENTRY,
    EP_OPT_JSON_ENTRY,
    EP_OPT_REPORT_ENTRY,
    EP_OPT_VERBOSE_ENTRY,
    EP_OPT_COMMON_ENTRIES,
};

struct request {
	const char *binary, *debug_file, *output, *out_dir, *report;
	const char **search; /* room for as many as there are arguments */
	size_t n_search;
	struct ep_sprof_write_opts write;
	struct ep_emit_opts emit;
	bool force, json;
};

/* What a run has made. */
struct run {
	const struct ep_args *args;
	const struct request *request;
	struct ep_edges edges;
	struct ep_warnings warnings;
	EP_VEC(struct ep_emit_result) results;
	EP_VEC(const char *) missing;
	EP_VEC(char *) strings; /* owned, for the results */
	size_t n_done;          /* results without an error */
	struct ep_out report;   /* open if asked for */
};

static bool take_format(struct ep_args *args, struct request *request)
{
	static const char *const formats[] = {"text", "binary", "extbinary", NULL};
	int i = ep_args_choice(args, "format", args->value, formats);

	request->write.format = (enum ep_sprof_format)(EP_SPROF_TEXT + i);
	return i >= 0;
}

static bool take_choice(struct ep_args *args, int id, struct request *request)
{
	static const char *const compressions[] = {"none", "zlib", NULL};
	static const char *const tools[] = {"llvm-profgen", NULL};
	int i;

	if (id == OPT_FORMAT)
		return take_format(args, request);
	if (id == OPT_COMPRESS) {
		i = ep_args_choice(args, "compression", args->value, compressions);
		request->write.compress = i == 1;
		return i >= 0;
	}
	i = ep_args_choice(args, "tool", args->value, tools);
	request->emit.compat = i == 0;
	return i >= 0;
}

/* One option; false: it was wrong and said so. */
static bool take_option(struct ep_args *args, int id, struct request *request)
{
	uint64_t n;

	switch (id) {
	case OPT_BINARY:
		if (request->binary)
			ep_args_usage(args, "one --binary at a time; --out-dir emits several");
		else
			request->binary = args->value;
		return request->binary == args->value;
	case OPT_DEBUG_FILE:
		request->debug_file = args->value;
		return true;
	case 'o':
		request->output = args->value;
		return true;
	case OPT_OUT_DIR:
		request->out_dir = args->value;
		return true;
	case OPT_SEARCH:
		request->search[request->n_search++] = args->value;
		return true;
	case OPT_MD5:
		request->write.md5 = true;
		return true;
	case OPT_FORCE:
		request->force = true;
		return true;
	case OPT_STACKS:
		return true;
	case 'j':
		if (!ep_args_u64(args, "number of threads", args->value, 1, 256, &n))
			return false;
		request->emit.n_threads = (unsigned)n;
		return true;
	case EP_OPT_JSON:
		request->json = true;
		return true;
	case EP_OPT_REPORT:
		request->report = args->value;
		return true;
	default:
		return take_choice(args, id, request);
	}
}

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

/* False: something is wrong with the request as a whole, and said so. */
static bool check_request(struct ep_args *args, const struct request *request)
{
	int n_stdout = is_stdout(request->output) + is_stdout(request->report) + request->json;
	bool binary_format = request->write.format != EP_SPROF_TEXT;

	if (!ep_args_n_operands(args))
		ep_args_usage(args, "name the input: an .edges file, or a capture to fold");
	else if (!request->binary && !request->out_dir)
		ep_args_usage(args, "name the binary with --binary FILE, or --out-dir for all");
	else if (request->out_dir && (request->binary || request->output || request->debug_file))
		ep_args_usage(args, "--out-dir goes without --binary, --debug-file and -o");
	else if (!request->out_dir && !request->output)
		ep_args_usage(args, "name the output with -o FILE");
	else if (n_stdout > 1)
		ep_args_usage(args, "only one of output and report can go to standard output");
	else if (is_stdout(request->output) && binary_format && isatty(STDOUT_FILENO))
		ep_args_usage(args, "the output is binary and would garble the terminal");
	else if ((request->write.md5 || request->write.compress) &&
	         request->write.format != EP_SPROF_EXTBINARY)
		ep_args_usage(args, "--md5 and --compress need --format extbinary");
	else
		return true;
	return false;
}

/* False: args->status says how to exit. */
static bool parse(struct ep_args *args, struct request *request)
{
	int id;

	args->status = EP_EXIT_BAD;
	while ((id = ep_args_next(args)) != EP_ARGS_END)
		if (id == EP_ARGS_EXIT || !take_option(args, id, request))
			return false;
	return check_request(args, request);
}

static struct ep_error *write_profile(const struct request *request, struct ep_sprof *prof,
                                      const char *path)
{
	struct ep_out out;

	EP_TRY(ep_sprof_finalise(prof));
	EP_TRY(ep_out_open(path, &out));
	struct ep_error *err = ep_sprof_write(prof, &request->write, out.file);
	if (!err)
		return ep_out_commit(&out);
	ep_out_abort(&out);
	return err;
}

/* Keeps a string until the end of the run; NULL stays NULL, as what asprintf(3) leaves may be. */
static const char *keep(struct run *run, char *s)
{
	if (s && !ep_vec_push(&run->strings, s)) {
		free(s);
		return NULL;
	}
	return s;
}

/* Emits what was found of a binary to `output`. On errors `result` is filled as far as it got. */
static struct ep_error *emit_one(struct run *run, const struct ep_emit_found *found,
                                 struct ep_object *object, const char *output,
                                 struct ep_emit_result *result)
{
	const struct request *request = run->request;
	struct ep_emit_opts emit = request->emit;
	struct ep_sprof prof = {0};
	char *debug_file;

	result->sampled = found->binaries.v[0]->build_id;
	result->match = found->match;
	if (found->n_passed_over)
		ep_warn(&run->warnings, "unidentified-namesake",
		        "%s: samples of an unidentified binary of that name are left out",
		        object->path);
	EP_TRY(ep_emit_find_debug(object, request->debug_file, request->force, request->search,
	                          request->n_search, &debug_file));
	result->debug_file = keep(run, debug_file);
	if (!result->debug_file)
		return ep_error_nomem();
	if (strcmp(debug_file, object->path) != 0)
		emit.debug_path = debug_file;
	struct ep_error *err = ep_emit_profile(found->binaries.v, found->binaries.n, object, &emit,
	                                       &run->warnings, &prof, &result->account);
	if (!err)
		err = write_profile(request, &prof, output);
	if (!err)
		result->output = output;
	ep_sprof_deinit(&prof);
	return err;
}

/* Keeps what came of a binary, a failure too: that is when its account is needed most. */
static struct ep_error *keep_result(struct run *run, const struct ep_object *object,
                                    const struct ep_emit_found *found,
                                    struct ep_emit_result *result, const struct ep_error *err)
{
	result->build_id = object->build_id;
	result->binary = keep(run, strdup(object->path));
	result->error = err ? keep(run, strdup(err->message)) : NULL;
	for (size_t i = 0; i < found->binaries.n; i++) {
		uint64_t taken, mispredicted;

		ep_edges_binary_taken(found->binaries.v[i], &taken, &mispredicted);
		result->taken = ep_count_add(result->taken, taken);
	}
	if (!result->binary || (err && !result->error) || !ep_vec_push(&run->results, *result))
		return ep_error_nomem();
	run->n_done += !err;
	return NULL;
}

/* The first of two errors, the other destroyed. */
static struct ep_error *first_of(struct ep_error *err, struct ep_error *later)
{
	if (!err)
		return later;
	ep_error_destroy(later);
	return err;
}

static struct ep_error *emit_asked(struct run *run)
{
	const struct request *request = run->request;
	struct ep_emit_result result = {0};
	struct ep_emit_found found = {0};
	struct ep_object *object;

	EP_TRY(ep_object_open(request->binary, &object));
	struct ep_error *err = ep_emit_find(&run->edges, object, request->force, &found);
	if (!err)
		err = emit_one(run, &found, object, request->output, &result);
	err = first_of(err, keep_result(run, object, &found, &result, err));
	ep_emit_found_deinit(&found);
	ep_object_close(object);
	return err;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* DIR/NAME.ID.prof, where ID is the beginning of the build-id: names alone may repeat. */
static const char *output_name(struct run *run, const struct ep_object *object)
{
	char id[EP_BUILD_ID_TEXT_MAX], *path;

	ep_build_id_format(&object->build_id, id);
	const char *digits = strchr(id, ':') ? strchr(id, ':') + 1 : id;
	if (asprintf(&path, "%s/%s.%.16s.prof", run->request->out_dir, base_name(object->path),
	             digits) < 0)
		return NULL;
	return keep(run, path);
}

/* The file of a binary was opened: emits it, unless that was done for another form of its id. */
static struct ep_error *emit_file(struct run *run, const struct ep_edges_binary *binary,
                                  struct ep_object *object)
{
	const char *output = output_name(run, object);
	struct ep_emit_result result = {0};
	struct ep_emit_found found = {0};

	if (!output)
		return ep_error_nomem();
	struct ep_error *err = ep_emit_find(&run->edges, object, false, &found);
	if (!err && found.binaries.v[0] == binary) {
		err = emit_one(run, &found, object, output, &result);
		err = first_of(err, keep_result(run, object, &found, &result, err));
	}
	ep_emit_found_deinit(&found);
	return err;
}

/* One of many: what cannot be emitted is told and passed over. */
static struct ep_error *emit_in_turn(struct run *run, const struct ep_edges_binary *binary)
{
	struct ep_object *object;

	EP_TRY(ep_emit_find_binary(binary, run->request->search, run->request->n_search, &object));
	if (!object) {
		const char *name = binary->n_paths ? binary->paths[0] : "?";
		char id[EP_BUILD_ID_TEXT_MAX];

		ep_cmd_note(run->args, "%s (%s): not found, left out", name,
		            ep_build_id_format(&binary->build_id, id));
		return ep_vec_push(&run->missing, name) ? NULL : ep_error_nomem();
	}
	struct ep_error *err = emit_file(run, binary, object);
	ep_object_close(object);
	if (!err || (err->code != EP_ERROR_MISSING && err->code != EP_ERROR_BAD_DATA &&
	             err->code != EP_ERROR_UNSUPPORTED))
		return err;
	ep_cmd_note(run->args, "%s, left out", err->message);
	ep_error_destroy(err);
	return NULL;
}

static struct ep_error *emit_all(struct run *run)
{
	const char *dir = run->request->out_dir;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return ep_error_os(errno, "%s", dir);
	for (size_t i = 0; i < run->edges.n_binaries; i++)
		if (run->edges.binaries[i].n_ranges || run->edges.binaries[i].n_edges)
			EP_TRY(emit_in_turn(run, &run->edges.binaries[i]));
	if (run->n_done)
		return NULL;
	struct ep_error *err =
	    ep_error_create(EP_ERROR_MISSING, "%s: none of the %zu binaries could be emitted", dir,
	                    run->edges.n_binaries);
	return run->missing.n
	           ? ep_error_hint(err,
	                           "say with --search where the binaries that ran can be found")
	           : err;
}

static json_t *report_json(const struct run *run, const struct ep_error *failure)
{
	struct ep_emit_summary summary = {.edges = &run->edges,
	                                  .results = run->results.v,
	                                  .n_results = run->results.n,
	                                  .missing = run->missing.v,
	                                  .n_missing = run->missing.n,
	                                  .warnings = &run->warnings,
	                                  .error = failure ? failure->message : NULL};

	return ep_emit_account_json(run->args, &summary);
}

/* The account, of a run that failed too. */
static struct ep_error *report(struct run *run, const struct ep_error *failure)
{
	for (size_t i = 0; i < run->results.n; i++)
		ep_emit_account_print(run->args, &run->edges, &run->results.v[i]);
	if (run->report.file)
		EP_TRY(ep_json_commit(report_json(run, failure), &run->report));
	return run->request->json ? ep_json_write(report_json(run, failure), "-") : NULL;
}

static struct ep_error *load(struct run *run)
{
	const struct request *request = run->request;
	struct ep_fold_opts fold = {.n_threads = request->emit.n_threads,
	                            .weights = request->emit.compat ? EP_FOLD_WEIGHTS_NONE
	                                                            : EP_FOLD_WEIGHTS_AUTO,
	                            .binary_paths = &request->binary,
	                            .n_binaries = request->binary ? 1 : 0};

	return ep_inputs_fold(run->args, ep_args_operands(run->args),
	                      (size_t)ep_args_n_operands(run->args), &fold, &run->warnings,
	                      &run->edges);
}

static void run_deinit(struct run *run)
{
	for (size_t i = 0; i < run->strings.n; i++)
		free(run->strings.v[i]);
	ep_vec_deinit(&run->strings);
	ep_vec_deinit(&run->results);
	ep_vec_deinit(&run->missing);
	ep_edges_deinit(&run->edges);
	ep_warnings_deinit(&run->warnings);
	ep_out_abort(&run->report);
}

/* Nothing is begun whose result could not be kept, or would take the place of an input. */
static struct ep_error *open_report(struct run *run)
{
	const struct request *request = run->request;
	const char *inputs[] = {request->binary, request->debug_file};
	const char *outputs[] = {request->output, request->report};

	for (size_t i = 0; i < EP_ARRAY_LEN(outputs); i++) {
		EP_TRY(ep_inputs_spare((const char *const *)ep_args_operands(run->args),
		                       (size_t)ep_args_n_operands(run->args), outputs[i]));
		for (size_t k = 0; k < EP_ARRAY_LEN(inputs); k++)
			if (inputs[k])
				EP_TRY(ep_inputs_spare(&inputs[k], 1, outputs[i]));
	}
	return request->report ? ep_out_open(request->report, &run->report) : NULL;
}

static struct ep_error *do_emit(struct run *run)
{
	EP_TRY(load(run));
	return run->request->out_dir ? emit_all(run) : emit_asked(run);
}

static int emit(const struct ep_args *args, const struct request *request)
{
	struct run run = {.args = args, .request = request};
	struct ep_error *err = open_report(&run);

	if (!err) {
		err = do_emit(&run);
		ep_cmd_warnings(args, &run.warnings);
		err = first_of(err, report(&run, err));
	}
	int status = err ? ep_cmd_fail(args, err) : EP_EXIT_OK;
	run_deinit(&run);
	return status;
}

static int run_emit(struct ep_args *args)
{
	struct request request = {.write.format = EP_SPROF_EXTBINARY,
	                          .search = calloc((size_t)args->argc, sizeof(char *))};

	if (!request.search)
		return ep_cmd_fail(args, ep_error_nomem());
	int status = parse(args, &request) ? emit(args, &request) : args->status;
	free(request.search);
	return status;
}

const struct ep_cmd ep_cmd_emit = {
    .name = "emit",
    .summary = "Make a sample profile for the compiler",
    .synopsis = "--binary FILE [--format FORMAT] [--compat llvm-profgen] INPUT... -o FILE",
    .opts = opts,
    .fn = run_emit,
};
