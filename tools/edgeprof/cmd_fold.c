/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof fold: captures become counted edges. */
#include <string.h>

#include "account.h"
#include "cmd.h"
#include "inputs.h"

enum { OPT_BINARY = EP_OPT_VERB, OPT_WEIGHTS, OPT_KEEP_FILE_MAP };

static const struct ep_opt opts[] = {
    EP_OPT_OUTPUT_ENTRY,
    {OPT_BINARY, "binary", "FILE", "an ELF file that the capture ran; may be given again"},
    {OPT_WEIGHTS, "weights", "HOW", "auto or none: every sample counts 1 (default: auto)"},
    {OPT_KEEP_FILE_MAP, "keep-file-map", NULL,
     "code copied to anonymous memory still belongs to its file"},
    EP_OPT_JOBS_ENTRY,
    EP_OPT_JSON_ENTRY,
    EP_OPT_REPORT_ENTRY,
    EP_OPT_VERBOSE_ENTRY,
    EP_OPT_COMMON_ENTRIES,
};

struct request {
	struct ep_fold_opts fold;
	const char **binaries; /* room for as many as there are arguments */
	const char *output, *report;
	bool json;
};

/* One option; false: it was wrong and said so. */
static bool take_option(struct ep_args *args, int id, struct request *request)
{
	static const char *const weights[] = {"auto", "none", NULL};
	uint64_t n;
	int i;

	switch (id) {
	case 'o':
		request->output = args->value;
		return true;
	case 'j':
		if (!ep_args_u64(args, "number of threads", args->value, 1, 1024, &n))
			return false;
		request->fold.n_threads = (unsigned)n;
		return true;
	case OPT_BINARY:
		request->binaries[request->fold.n_binaries++] = args->value;
		return true;
	case OPT_WEIGHTS:
		i = ep_args_choice(args, "weights", args->value, weights);
		request->fold.weights = i == 1 ? EP_FOLD_WEIGHTS_NONE : EP_FOLD_WEIGHTS_AUTO;
		return i >= 0;
	case OPT_KEEP_FILE_MAP:
		request->fold.keep_file_map = true;
		return true;
	case EP_OPT_JSON:
		request->json = true;
		return true;
	case EP_OPT_REPORT:
		request->report = args->value;
		return true;
	}
	return false;
}

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

/* False: args->status says how to exit. */
static bool parse(struct ep_args *args, struct request *request)
{
	int id;

	args->status = EP_EXIT_BAD;
	while ((id = ep_args_next(args)) != EP_ARGS_END)
		if (id == EP_ARGS_EXIT || !take_option(args, id, request))
			return false;
	int n_stdin = 0,
	    n_stdout = is_stdout(request->output) + is_stdout(request->report) + request->json;
	for (int i = 0; i < ep_args_n_operands(args); i++)
		n_stdin += is_stdout(ep_args_operands(args)[i]);
	if (!ep_args_n_operands(args))
		ep_args_usage(args, "name one or more inputs");
	else if (!request->output)
		ep_args_usage(args, "name the output with -o FILE");
	else if (n_stdin > 1)
		ep_args_usage(args, "standard input can be read once only");
	else if (n_stdout > 1)
		ep_args_usage(args, "only one of output and report can go to standard output");
	else
		return true;
	return false;
}

/* The output first: a report is of a file that is there. */
static struct ep_error *write_all(const struct ep_args *args, const struct request *request,
                                  const struct ep_edges *edges, const struct ep_warnings *warnings,
                                  struct ep_out *report)
{
	EP_TRY(ep_edges_write(edges, request->output));
	if (report->file)
		EP_TRY(ep_json_commit(ep_account_json(args, edges, warnings), report));
	if (request->json)
		EP_TRY(ep_json_write(ep_account_json(args, edges, warnings), "-"));
	return NULL;
}

/* Nothing is begun whose result could not be kept, or would take the place of an input. */
static struct ep_error *open_report(const struct ep_args *args, const struct request *request,
                                    struct ep_out *ret)
{
	const char *const *inputs = (const char *const *)ep_args_operands(args);
	size_t n = (size_t)ep_args_n_operands(args);

	EP_TRY(ep_inputs_spare(inputs, n, request->output));
	EP_TRY(ep_inputs_spare(inputs, n, request->report));
	return request->report ? ep_out_open(request->report, ret) : NULL;
}

static int fold(const struct ep_args *args, struct request *request)
{
	struct ep_warnings warnings = {0};
	struct ep_edges edges = {0};
	struct ep_out report = {0};
	struct ep_error *err = open_report(args, request, &report);

	request->fold.binary_paths = request->binaries;
	if (!err)
		err = ep_inputs_fold(args, ep_args_operands(args), (size_t)ep_args_n_operands(args),
		                     &request->fold, &warnings, &edges);
	if (!err)
		err = write_all(args, request, &edges, &warnings, &report);
	ep_out_abort(&report);
	ep_cmd_warnings(args, &warnings);
	if (!err)
		ep_account_print(args, &edges);
	ep_edges_deinit(&edges);
	ep_warnings_deinit(&warnings);
	return err ? ep_cmd_fail(args, err) : EP_EXIT_OK;
}

static int run(struct ep_args *args)
{
	struct request request = {.binaries = calloc((size_t)args->argc, sizeof(char *))};

	if (!request.binaries)
		return ep_cmd_fail(args, ep_error_nomem());
	int status = parse(args, &request) ? fold(args, &request) : args->status;
	free(request.binaries);
	return status;
}

const struct ep_cmd ep_cmd_fold = {
    .name = "fold",
    .summary = "Fold captures into counted edges",
    .synopsis = "[--binary FILE]... [--weights auto|none] [-j N] INPUT... -o FILE.edges",
    .opts = opts,
    .fn = run,
};
