/* SPDX-License-Identifier: BSD-2-Clause */
/* Folding of several inputs, one by one, and their merge. */
#include "inputs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "import/import.h"
#include "import/input.h"

/* Events between two looks at the clock. */
#define PROGRESS_STEP 4096

/* Passes events on to the fold and shows how far it has come. */
struct watcher {
	struct ep_event_sink inner;
	const struct ep_fold *fold;
	const char *name;
	struct ep_progress progress;
	unsigned n_events;
};

static struct ep_error *watch(void *payload, const struct ep_event *event)
{
	struct watcher *w = payload;

	if (!(++w->n_events % PROGRESS_STEP) && ep_progress_due(&w->progress)) {
		struct ep_fold_progress p = ep_fold_progress(w->fold);
		ep_progress_show(&w->progress, "%s: %llu samples, %llu records", w->name,
		                 (unsigned long long)p.n_samples, (unsigned long long)p.n_records);
	}
	return w->inner.event(w->inner.payload, event);
}

static struct ep_provenance make_source(const struct ep_import_info *info)
{
	struct ep_provenance source = {.host = info->capture.host,
	                               .kernel = info->capture.kernel,
	                               .cpu = info->capture.cpu,
	                               .event = "",
	                               .tool = ep_import_kind_name(info->kind),
	                               .t_start_ns = info->capture.t_start_ns,
	                               .t_end_ns = info->capture.t_end_ns,
	                               .weight = EP_COUNT_ONE,
	                               .n_copies = 1};

	memcpy(source.digest, info->digest, sizeof(source.digest));
	return source;
}

static struct ep_error *run_fold(const struct ep_args *args, const char *path,
                                 struct ep_import *import, struct ep_fold *fold,
                                 struct ep_edges *ret)
{
	struct watcher w = {.inner = ep_fold_sink(fold), .fold = fold, .name = path};
	struct ep_event_sink sink = w.inner;
	struct ep_import_info info;

	ep_progress_init(&w.progress, args);
	if (w.progress.on)
		sink = (struct ep_event_sink){watch, &w};
	struct ep_error *err = ep_import_run(import, &sink, &info);
	ep_progress_end(&w.progress);
	if (err)
		return err;
	struct ep_provenance source = make_source(&info);
	err = ep_fold_finish(fold, &source, ret);
	if (err)
		return ep_error_wrap(err, "%s", path);
	ep_edges_default_arch(ret, info.capture.arch);
	return NULL;
}

/* Takes `in`, which is of no further use to the caller. */
static struct ep_error *fold_capture(const struct ep_args *args, const char *path,
                                     struct ep_input *in, const struct ep_fold_opts *opts,
                                     struct ep_warnings *warnings, struct ep_edges *ret)
{
	struct ep_import *import;
	struct ep_fold *fold;

	EP_TRY(ep_import_open_input(in, EP_IMPORT_AUTO, warnings, &import));
	struct ep_error *err = ep_fold_create(opts, warnings, &fold);
	if (!err) {
		err = run_fold(args, path, import, fold, ret);
		ep_fold_destroy(fold);
	}
	ep_import_close(import);
	return err;
}

/* Reads a .edges file that has been opened already; takes `in`. */
static struct ep_error *read_edges(struct ep_input *in, struct ep_edges *ret)
{
	struct ep_error *err = NULL;

	while (!err && !in->eof)
		err = ep_input_fill(in, in->n + 1);
	if (!err)
		err = ep_edges_decode(in->data, in->n, in->name, ret);
	ep_input_close(in);
	return err;
}

static struct ep_error *load(const struct ep_args *args, const char *path,
                             const struct ep_fold_opts *opts, struct ep_warnings *warnings,
                             struct ep_edges *ret)
{
	struct ep_input in;

	EP_TRY(ep_input_open(path, &in));
	struct ep_error *err = ep_input_fill(&in, 64);
	if (err) {
		ep_input_close(&in);
		return err;
	}
	if (ep_edges_detect(in.data, in.n))
		return read_edges(&in, ret);
	return fold_capture(args, path, &in, opts, warnings, ret);
}

/* A capture in one of the inputs. */
struct capture {
	uint8_t digest[EP_DIGEST_SIZE];
	const char *input; /* borrowed */
};

/* A temporary folder with the edges of each input. */
struct parts {
	char *folder;
	EP_VEC(char *) paths;
	EP_VEC(struct capture) captures;
};

static struct ep_error *parts_init(struct parts *parts)
{
	const char *tmp = getenv("TMPDIR");

	*parts = (struct parts){0};
	if (asprintf(&parts->folder, "%s/edgeprof.XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0) {
		parts->folder = NULL;
		return ep_error_nomem();
	}
	if (mkdtemp(parts->folder))
		return NULL;
	struct ep_error *err = ep_error_os(errno, "%s", parts->folder);
	free(parts->folder);
	parts->folder = NULL;
	return ep_error_hint(err, "set TMPDIR to a folder that can be written");
}

static void parts_deinit(struct parts *parts)
{
	for (size_t i = 0; i < parts->paths.n; i++) {
		unlink(parts->paths.v[i]);
		free(parts->paths.v[i]);
	}
	ep_vec_deinit(&parts->paths);
	ep_vec_deinit(&parts->captures);
	if (parts->folder)
		rmdir(parts->folder);
	free(parts->folder);
}

/* A name for a further file in the folder, which goes with it. */
static struct ep_error *parts_name(struct parts *parts, const char **ret)
{
	char *path;

	if (asprintf(&path, "%s/%zu.edges", parts->folder, parts->paths.n) < 0)
		return ep_error_nomem();
	if (!ep_vec_push(&parts->paths, path)) {
		free(path);
		return ep_error_nomem();
	}
	*ret = path;
	return NULL;
}

static struct ep_error *parts_add(struct parts *parts, const char *input,
                                  const struct ep_edges *edges)
{
	const char *path;

	for (size_t i = 0; i < edges->n_provenance; i++) {
		struct capture capture = {.input = input};
		memcpy(capture.digest, edges->provenance[i].digest, sizeof(capture.digest));
		if (!ep_vec_push(&parts->captures, capture))
			return ep_error_nomem();
	}
	EP_TRY(parts_name(parts, &path));
	return ep_edges_write(edges, path);
}

static int compare_captures(const void *a, const void *b)
{
	const struct capture *x = a, *y = b;

	return memcmp(x->digest, y->digest, sizeof(x->digest));
}

/* The merge would find doubles too, but knows nothing of the names that the user gave. */
static struct ep_error *parts_check(struct parts *parts)
{
	struct capture *v = parts->captures.v;

	qsort(v, parts->captures.n, sizeof(*v), compare_captures);
	for (size_t i = 1; i < parts->captures.n; i++)
		if (!compare_captures(&v[i - 1], &v[i]))
			return ep_error_hint(
			    ep_error_create(EP_ERROR_MISMATCH, "%s and %s hold the same capture",
			                    v[i - 1].input, v[i].input),
			    "give each capture once; 'edgeprof merge --allow-duplicates' adds "
			    "them up on purpose");
	return NULL;
}

static struct ep_error *parts_merge(struct parts *parts, unsigned n_threads, struct ep_edges *ret)
{
	struct ep_edges_merge_opts opts = {.n_threads = n_threads};
	struct ep_edges_merge_report report = {0};
	size_t n = parts->paths.n;
	const char *path;

	EP_TRY(parts_name(parts, &path));
	struct ep_error *err =
	    ep_edges_merge((const char *const *)parts->paths.v, n, path, &opts, &report);
	ep_edges_merge_report_deinit(&report);
	return err ? err : ep_edges_read(path, ret);
}

static struct ep_error *fold_parts(const struct ep_args *args, char *const *paths, size_t n_paths,
                                   const struct ep_fold_opts *opts, struct ep_warnings *warnings,
                                   struct parts *parts, struct ep_edges *ret)
{
	for (size_t i = 0; i < n_paths; i++) {
		struct ep_edges edges;
		EP_TRY(load(args, paths[i], opts, warnings, &edges));
		struct ep_error *err = parts_add(parts, paths[i], &edges);
		ep_edges_deinit(&edges);
		EP_TRY(err);
	}
	EP_TRY(parts_check(parts));
	return parts_merge(parts, opts->n_threads, ret);
}

struct ep_error *ep_inputs_fold(const struct ep_args *args, char *const *paths, size_t n_paths,
                                const struct ep_fold_opts *opts, struct ep_warnings *warnings,
                                struct ep_edges *ret)
{
	struct parts parts;

	if (n_paths == 1)
		return load(args, paths[0], opts, warnings, ret);
	EP_TRY(parts_init(&parts));
	struct ep_error *err = fold_parts(args, paths, n_paths, opts, warnings, &parts, ret);
	parts_deinit(&parts);
	return err;
}

struct ep_error *ep_inputs_spare(const char *const *paths, size_t n_paths, const char *output)
{
	struct stat out, in;

	if (!output || !strcmp(output, "-") || stat(output, &out) || !S_ISREG(out.st_mode))
		return NULL;
	for (size_t i = 0; i < n_paths; i++)
		if (strcmp(paths[i], "-") != 0 && !stat(paths[i], &in) && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino)
			return ep_error_hint(ep_error_create(EP_ERROR_USAGE,
			                                     "%s: is an input and would be lost",
			                                     output),
			                     "name another file for the output");
	return NULL;
}
