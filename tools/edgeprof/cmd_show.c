/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof show: what is in a file, whichever of our kinds it is. */
#include <string.h>

#include "show.h"

enum { OPT_TOP = EP_OPT_VERB, OPT_SYMBOLS };

#define TOP_DEFAULT 20

static const struct ep_opt opts[] = {
    {OPT_TOP, "top", "N", "show the N hottest entries (default: 20)"},
    {OPT_SYMBOLS, "symbols", NULL, "list the names of a profile's symbol list"},
    EP_OPT_JSON_ENTRY,
    EP_OPT_COMMON_ENTRIES,
};

static const struct ep_show_kind *const kinds[] = {
    &ep_show_edges,
    &ep_show_sprof,
};

/* False: args->status says how to exit. */
static bool parse(struct ep_args *args, struct ep_show_opts *request)
{
	int id;

	*request = (struct ep_show_opts){.top = TOP_DEFAULT};
	args->status = EP_EXIT_BAD;
	while ((id = ep_args_next(args)) != EP_ARGS_END) {
		switch (id) {
		case EP_ARGS_EXIT:
			return false;
		case OPT_TOP:
			if (!ep_args_u64(args, "number", args->value, 0, UINT32_MAX, &request->top))
				return false;
			break;
		case OPT_SYMBOLS:
			request->symbols = true;
			break;
		case EP_OPT_JSON:
			request->json = true;
			break;
		}
	}
	if (ep_args_n_operands(args) != 1) {
		ep_args_usage(args, "name one file");
		return false;
	}
	request->path = ep_args_operands(args)[0];
	return true;
}

/* Of no known kind: the reader that takes text says best what is wrong, with the list as a hint. */
static struct ep_error *show_unknown(const struct ep_args *args, const struct ep_file *file,
                                     const struct ep_show_opts *request)
{
	struct ep_error *err = ep_show_sprof.show(args, file, request);
	char list[256] = "";

	if (!err)
		return NULL;
	for (size_t i = 0; i < EP_ARRAY_LEN(kinds); i++) {
		size_t n = strlen(list);
		snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", kinds[i]->name);
	}
	return ep_error_hint(err, "show reads: %s", list);
}

static struct ep_error *show(const struct ep_args *args, const struct ep_show_opts *request)
{
	struct ep_file file;
	struct ep_error *err;
	size_t i = 0;

	EP_TRY(ep_file_open(request->path, 0, &file));
	while (i < EP_ARRAY_LEN(kinds) && !kinds[i]->detect(file.data, file.size))
		i++;
	if (i < EP_ARRAY_LEN(kinds))
		err = kinds[i]->show(args, &file, request);
	else
		err = show_unknown(args, &file, request);
	ep_file_close(&file);
	return err;
}

static int run(struct ep_args *args)
{
	struct ep_show_opts request;

	if (!parse(args, &request))
		return args->status;
	struct ep_error *err = show(args, &request);
	return err ? ep_cmd_fail(args, err) : EP_EXIT_OK;
}

const struct ep_cmd ep_cmd_show = {
    .name = "show",
    .summary = "Show what is in a file",
    .synopsis = "[--top N] [--symbols] [--json] FILE",
    .opts = opts,
    .fn = run,
};
