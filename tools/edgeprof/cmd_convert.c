/* SPDX-License-Identifier: BSD-2-Clause */
/* edgeprof convert: a sample profile from one format to another. */
#include <string.h>

#include "base/file.h"
#include "base/out.h"
#include "cmd.h"
#include "sprof/read.h"
#include "sprof/write.h"

enum { OPT_FORMAT = EP_OPT_VERB, OPT_MD5, OPT_COMPRESS };

static const struct ep_opt opts[] = {
    EP_OPT_OUTPUT_ENTRY,
    {OPT_FORMAT, "format", "FORMAT", "text, binary or extbinary (default: extbinary)"},
    {OPT_MD5, "md5", NULL, "write GUIDs in place of function names"},
    {OPT_COMPRESS, "compress", "METHOD", "compress the sections: zlib or none (default: none)"},
    EP_OPT_COMMON_ENTRIES,
};

struct request {
	const char *input, *output;
	struct ep_sprof_write_opts write;
};

/* False: args->status says how to exit. */
static bool parse(struct ep_args *args, struct request *request)
{
	static const char *const formats[] = {"text", "binary", "extbinary", NULL};
	static const enum ep_sprof_format format_ids[] = {EP_SPROF_TEXT, EP_SPROF_BINARY,
	                                                  EP_SPROF_EXTBINARY};
	static const char *const methods[] = {"none", "zlib", NULL};
	int id, i;

	*request = (struct request){.write.format = EP_SPROF_EXTBINARY};
	args->status = EP_EXIT_BAD;
	while ((id = ep_args_next(args)) != EP_ARGS_END) {
		switch (id) {
		case EP_ARGS_EXIT:
			return false;
		case 'o':
			request->output = args->value;
			break;
		case OPT_FORMAT:
			i = ep_args_choice(args, "format", args->value, formats);
			if (i < 0)
				return false;
			request->write.format = format_ids[i];
			break;
		case OPT_MD5:
			request->write.md5 = true;
			break;
		case OPT_COMPRESS:
			i = ep_args_choice(args, "method", args->value, methods);
			if (i < 0)
				return false;
			request->write.compress = i == 1;
			break;
		}
	}
	if (ep_args_n_operands(args) != 1) {
		ep_args_usage(args, "name one profile");
		return false;
	}
	request->input = ep_args_operands(args)[0];
	if (!request->output) {
		ep_args_usage(args, "name the output with -o FILE");
		return false;
	}
	if (!strcmp(request->output, "-") && request->write.format != EP_SPROF_TEXT &&
	    isatty(STDOUT_FILENO)) {
		ep_args_usage(args, "a binary profile is not written to a terminal");
		return false;
	}
	return true;
}

/* The provenance goes along where the new format has a place for it. */
static void keep_provenance(const struct ep_sprof *prof, struct ep_sprof_write_opts *write)
{
	for (size_t i = 0; i < prof->sections.n && write->format == EP_SPROF_EXTBINARY; i++) {
		const struct ep_sprof_section *s = &prof->sections.v[i];
		if (s->type != EP_SPROF_SECTION_PROVENANCE || !s->data)
			continue;
		write->provenance = s->data;
		write->provenance_size = s->data_size;
	}
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static bool has_attributes(const struct ep_sprof_func *func)
{
	if (func->attributes)
		return true;
	for (uint32_t i = 0; i < func->n_calls; i++)
		if (has_attributes(func->calls[i].func))
			return true;
	return false;
}

static bool loses_attributes(const struct ep_sprof *prof, const struct ep_sprof_write_opts *write)
{
	if (write->format == EP_SPROF_TEXT ||
	    (write->format == EP_SPROF_EXTBINARY && (prof->flags & EP_SPROF_PREINLINED)))
		return false;
	for (size_t i = 0; i < prof->funcs.n; i++)
		if (has_attributes(prof->funcs.v[i]))
			return true;
	return false;
}

/* What the new format cannot hold is said, never dropped in silence. */
static void tell_losses(const struct ep_args *args, const struct ep_sprof *prof,
                        const struct ep_sprof_write_opts *write)
{
	bool ext = write->format == EP_SPROF_EXTBINARY, has_provenance = false;

	for (size_t i = 0; i < prof->sections.n; i++)
		has_provenance |= prof->sections.v[i].type == EP_SPROF_SECTION_PROVENANCE;
	if ((prof->flags & EP_SPROF_MD5) && write->format == EP_SPROF_TEXT)
		ep_cmd_note(args, "the profile holds GUIDs, not names: the text has them as "
		                  "numbers, and compilers cannot use it");
	if (prof->symbols.n && !ext)
		ep_cmd_note(args, "the symbol list (%zu names) is left out: only extbinary has one",
		            prof->symbols.n);
	if (has_provenance && !ext)
		ep_cmd_note(args, "the provenance is left out: only extbinary has one");
	if (loses_attributes(prof, write))
		ep_cmd_note(args, "inlining attributes are left out: the format has them only for "
		                  "profiles of a pre-inliner");
	if ((prof->flags & (EP_SPROF_FS | EP_SPROF_PARTIAL)) && !ext)
		ep_cmd_note(args, "the flags of the profile are left out: only extbinary has them");
}

static struct ep_error *write_profile(const struct request *request, const struct ep_sprof *prof)
{
	struct ep_out out = {0};

	EP_TRY(ep_out_open(request->output, &out));
	struct ep_error *err = ep_sprof_write(prof, &request->write, out.file);
	if (err) {
		ep_out_abort(&out);
		return ep_error_wrap(err, "%s", request->input);
	}
	return ep_out_commit(&out);
}

static struct ep_error *convert(const struct ep_args *args, struct request *request)
{
	struct ep_warnings warnings = {0};
	struct ep_sprof_read_opts read = {.warnings = &warnings};
	struct ep_sprof prof = {0};
	struct ep_file file;

	EP_TRY(ep_file_open(request->input, 0, &file));
	struct ep_error *err = ep_sprof_read(file.data, file.size, request->input, &read, &prof);
	ep_file_close(&file);
	ep_cmd_warnings(args, &warnings);
	ep_warnings_deinit(&warnings);
	if (err)
		return err;
	keep_provenance(&prof, &request->write);
	err = write_profile(request, &prof);
	if (!err)
		tell_losses(args, &prof, &request->write);
	ep_sprof_deinit(&prof);
	return err;
}

static int run(struct ep_args *args)
{
	struct request request;

	if (!parse(args, &request))
		return args->status;
	struct ep_error *err = convert(args, &request);
	return err ? ep_cmd_fail(args, err) : EP_EXIT_OK;
}

const struct ep_cmd ep_cmd_convert = {
    .name = "convert",
    .summary = "Convert a sample profile between formats",
    .synopsis = "[--format FORMAT] [--md5] [--compress zlib] -o OUT IN",
    .opts = opts,
    .fn = run,
};
