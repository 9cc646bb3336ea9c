/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages, JSON and progress of the verbs. */
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/out.h"
#include "cmd.h"
#include "table.h"

/* A line on standard error. Names from files may be in it: a terminal gets no control characters.
 */
static void EP_PRINTF(1, 0) print_line(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	ep_autofree char *harmless = ep_text_harmless(text);
	fprintf(stderr, "%s\n", harmless ? harmless : "out of memory");
	free(text);
}

static void EP_PRINTF(1, 2) print(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(fmt, ap);
	va_end(ap);
}

int ep_cmd_fail(const struct ep_args *args, struct ep_error *err)
{
	print("edgeprof %s: %s", args->cmd->name, err->message);
	if (err->hint)
		print("hint: %s", err->hint);
	ep_error_destroy(err);
	return EP_EXIT_BAD;
}

void ep_cmd_warnings(const struct ep_args *args, const struct ep_warnings *warnings)
{
	for (size_t i = 0; i < warnings->n && !args->quiet; i++) {
		const struct ep_warning *w = &warnings->v[i];
		const char *text = w->first ? w->first : w->kind;
		if (w->count > 1)
			print("edgeprof %s: warning: %s (and %llu more like it)", args->cmd->name,
			      text, (unsigned long long)w->count - 1);
		else
			print("edgeprof %s: warning: %s", args->cmd->name, text);
	}
}

void ep_cmd_note(const struct ep_args *args, const char *fmt, ...)
{
	va_list ap;

	if (args->quiet)
		return;
	fprintf(stderr, "edgeprof %s: ", args->cmd->name);
	va_start(ap, fmt);
	print_line(fmt, ap);
	va_end(ap);
}

json_t *ep_json_u64(uint64_t v)
{
	char text[24];

	if (v <= UINT64_C(1) << 53)
		return json_integer((json_int_t)v);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return json_string(text);
}

json_t *ep_json_report(const struct ep_args *args)
{
	char schema[64];

	snprintf(schema, sizeof(schema), "edgeprof.%s/1", args->cmd->name);
	return json_pack("{s:s}", "schema", schema);
}

static struct ep_error *write_json(json_t *json, struct ep_out *out)
{
	const char *name = out->path ? out->path : "standard output";

	if (!json)
		return ep_error_nomem();
	if (json_dumpf(json, out->file, JSON_INDENT(2)) < 0)
		return ep_error_create(EP_ERROR_OS, "%s: cannot write the report", name);
	fputc('\n', out->file);
	return ep_out_commit(out);
}

struct ep_error *ep_json_commit(json_t *json, struct ep_out *out)
{
	struct ep_error *err = write_json(json, out);

	ep_out_abort(out);
	json_decref(json);
	return err;
}

struct ep_error *ep_json_write(json_t *json, const char *path)
{
	struct ep_out out;
	struct ep_error *err = ep_out_open(path, &out);

	if (!err)
		return ep_json_commit(json, &out);
	json_decref(json);
	return err;
}

static bool is_terminal(FILE *stream)
{
	const char *term = getenv("TERM");

	return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}

bool ep_tty_color(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR");

	return is_terminal(stream) && !(no_color && *no_color);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void ep_progress_init(struct ep_progress *progress, const struct ep_args *args)
{
	/* The first line only after a while: short runs stay clean. */
	*progress = (struct ep_progress){.on = !args->quiet && is_terminal(stderr),
	                                 .t_next_ns = now_ns() + 300000000u};
}

bool ep_progress_due(struct ep_progress *progress)
{
	return progress->on && now_ns() >= progress->t_next_ns;
}

void ep_progress_show(struct ep_progress *progress, const char *fmt, ...)
{
	va_list ap;

	if (!progress->on)
		return;
	fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
	progress->shown = true;
	progress->t_next_ns = now_ns() + 100000000u;
}

void ep_progress_end(struct ep_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
