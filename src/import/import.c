/* SPDX-License-Identifier: BSD-2-Clause */
/* Which importer reads an input, and what all of them have in common. */
#include "import/import.h"

#include <string.h>

#include "import/input.h"
#include "import/perf_data.h"
#include "import/perf_script.h"
#include "record/raw.h"

/* Bytes looked at to tell what an input is. */
#define DETECT_SIZE ((size_t)64 << 10)

struct ep_import {
	struct ep_input in;
	enum ep_import_kind kind;
	struct ep_warnings *warnings;
};

static struct ep_error *run_perf_data(struct ep_input *in, const struct ep_event_sink *sink,
                                      struct ep_warnings *warnings, struct ep_import_info *ret)
{
	return ep_perf_data_run(in, sink, warnings, &ret->capture);
}

static struct ep_error *read_input(void *payload, void *buf, size_t n, size_t *n_ret)
{
	struct ep_input *in = payload;

	EP_TRY(ep_input_fill(in, n));
	*n_ret = EP_MIN(n, in->n);
	if (*n_ret)
		memcpy(buf, in->data, *n_ret);
	ep_input_consume(in, *n_ret);
	return NULL;
}

static struct ep_error *run_raw(struct ep_input *in, const struct ep_event_sink *sink,
                                struct ep_warnings *warnings, struct ep_import_info *ret)
{
	struct ep_raw_source source = {.name = in->name, .read = read_input, .payload = in};

	return ep_raw_read(&source, sink, warnings, &in->arena, &ret->capture);
}

/* By kind. */
static const struct importer {
	const char *name;
	bool (*detect)(const void *data, size_t n);
	struct ep_error *(*run)(struct ep_input *in, const struct ep_event_sink *sink,
	                        struct ep_warnings *warnings, struct ep_import_info *ret);
} importers[] = {
    [EP_IMPORT_PERF_DATA] = {"perf.data", ep_perf_data_detect, run_perf_data},
    [EP_IMPORT_PERF_SCRIPT] = {"perf script", ep_perf_script_detect, ep_perf_script_run},
    [EP_IMPORT_RAW] = {"raw capture", ep_raw_detect, run_raw},
};

/* Text last: the evidence that it has to give is weak. */
static const enum ep_import_kind detect_order[] = {EP_IMPORT_RAW, EP_IMPORT_PERF_DATA,
                                                   EP_IMPORT_PERF_SCRIPT};

const char *ep_import_kind_name(enum ep_import_kind kind)
{
	const char *name = (size_t)kind < EP_ARRAY_LEN(importers) ? importers[kind].name : NULL;

	return name ? name : "unknown";
}

/* A name for content that people give by mistake; NULL: nothing known. */
static const char *known_stranger(const unsigned char *p, size_t n)
{
	static const struct {
		const char *magic;
		size_t n;
		const char *what;
	} strangers[] = {
	    {"\177ELF", 4, "an ELF file"},
	    {"\x89"
	     "EPEDGE",
	     7, "a .edges file, which is folded already"},
	    {"\x1f\x8b", 2, "gzip data; unpack it first"},
	    {"\x28\xb5\x2f\xfd", 4, "zstd data; unpack it first"},
	    {"\xfd"
	     "7zXZ",
	     5, "xz data; unpack it first"},
	};

	for (size_t i = 0; i < EP_ARRAY_LEN(strangers); i++)
		if (n >= strangers[i].n && !memcmp(p, strangers[i].magic, strangers[i].n))
			return strangers[i].what;
	return NULL;
}

static struct ep_error *find_kind(struct ep_import *import)
{
	EP_TRY(ep_input_fill(&import->in, DETECT_SIZE));
	const unsigned char *p = import->in.data;
	size_t n = import->in.n;

	for (size_t i = 0; i < EP_ARRAY_LEN(detect_order); i++)
		if (importers[detect_order[i]].detect(p, n)) {
			import->kind = detect_order[i];
			return NULL;
		}
	const char *what = n ? known_stranger(p, n) : "empty";
	return ep_error_hint(ep_error_create(EP_ERROR_BAD_DATA, "%s: not a capture%s%s",
	                                     import->in.name, what ? ": " : "", what ? what : ""),
	                     "accepted are perf.data (file or pipe), the text of perf script with "
	                     "brstack, and raw captures of edgeprof record --raw");
}

struct ep_error *ep_import_open_input(struct ep_input *in, enum ep_import_kind kind,
                                      struct ep_warnings *warnings, struct ep_import **ret)
{
	struct ep_import *import = calloc(1, sizeof(*import));

	if (!import) {
		ep_input_close(in);
		return ep_error_nomem();
	}
	*import = (struct ep_import){.in = *in, .kind = kind, .warnings = warnings};
	struct ep_error *err = kind == EP_IMPORT_AUTO ? find_kind(import) : NULL;
	if (err) {
		ep_import_close(import);
		return err;
	}
	*ret = import;
	return NULL;
}

struct ep_error *ep_import_open(const char *path, enum ep_import_kind kind,
                                struct ep_warnings *warnings, struct ep_import **ret)
{
	struct ep_input in;

	EP_TRY(ep_input_open(path, &in));
	return ep_import_open_input(&in, kind, warnings, ret);
}

struct ep_error *ep_import_run(struct ep_import *import, const struct ep_event_sink *sink,
                               struct ep_import_info *ret)
{
	struct ep_import_info info = {.kind = import->kind};

	if ((size_t)import->kind >= EP_ARRAY_LEN(importers) || !importers[import->kind].run)
		return ep_error_create(EP_ERROR_USAGE, "%s: no importer of kind %d",
		                       import->in.name, import->kind);
	EP_TRY(importers[import->kind].run(&import->in, sink, import->warnings, &info));
	EP_TRY(ep_input_finish(&import->in, info.digest));
	*ret = info;
	return NULL;
}

void ep_import_close(struct ep_import *import)
{
	if (!import)
		return;
	ep_input_close(&import->in);
	free(import);
}
