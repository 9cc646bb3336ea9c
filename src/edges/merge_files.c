/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging any number of files: in a tree when there are many, without the bad ones if so asked. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/out.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "edges/merge.h"

#define FAN_IN_MAX 64u           /* inputs open at once a thread: each costs some 300 kB */
#define FILES_MAX 512u           /* files open at once, all threads together */
#define FILES_SPARE ((rlim_t)48) /* descriptors left to the rest of the program */
#define LEVELS_MAX 16u           /* of the tree: at least 2^16 groups of inputs */
#define THREADS_MAX 16u
#define GROUP_MIN 4u /* so few inputs are not worth a thread and a file between */

/* One file of the list. */
struct input {
	const char *path, *name;
	FILE *spooled;        /* a pipe's bytes, as it can be read only once; else NULL */
	struct ep_error *err; /* why it is bad, or NULL */
};

struct tree {
	struct input **inputs; /* those that take part */
	size_t n_inputs;
	size_t group_size, fan_in;
	unsigned n_threads;
	bool allow_duplicates;
	FILE *out;
	const char *out_name;
	const char *near_path; /* where files between lie */
	size_t i_group;        /* the first of the batch that runs now */
	FILE *batch[THREADS_MAX];
	EP_VEC(FILE *) levels[LEVELS_MAX]; /* merged groups, waiting */
	struct ep_edges_streams_result result;
	struct ep_edges_streams_result group_results[THREADS_MAX];
};

static struct ep_error *spool(struct input *input, int fd, const char *near_path)
{
	char buf[1 << 16];
	bool first = true;
	size_t n = 1;

	EP_TRY(ep_out_open_unnamed(near_path, &input->spooled));
	while (n) {
		EP_TRY(ep_read_full(fd, input->name, buf, sizeof(buf), &n));
		if (fwrite(buf, 1, n, input->spooled) != n)
			return ep_error_os(errno, "%s: temporary copy", input->name);
		/* What is no .edges file may have no end either; the merge will refuse it. */
		if (first && !ep_edges_detect(buf, n))
			break;
		first = false;
	}
	if (fflush(input->spooled) != 0)
		return ep_error_os(errno, "%s: temporary copy", input->name);
	return NULL;
}

/* Copies what is not a regular file; one that cannot be opened is noticed when it is merged. */
static struct ep_error *spool_if_pipe(struct input *input, const char *near_path)
{
	bool is_stdin = !strcmp(input->path, "-");
	struct stat st;

	input->name = is_stdin ? "standard input" : input->path;
	if (!is_stdin && (stat(input->path, &st) < 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return NULL;
	ep_autoclose int own_fd = is_stdin ? -1 : open(input->path, O_RDONLY | O_CLOEXEC);
	if (!is_stdin && own_fd < 0)
		return NULL;
	return spool(input, is_stdin ? STDIN_FILENO : own_fd, near_path);
}

static struct ep_error *open_input(const struct input *input, struct ep_edges_source *ret)
{
	int fd = input->spooled ? fcntl(fileno(input->spooled), F_DUPFD_CLOEXEC, 3)
	                        : open(input->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ep_error_os(errno, "%s", input->name);
	*ret = (struct ep_edges_source){.fd = fd, .name = input->name};
	return NULL;
}

/* Merges inputs [first, first + n) into `out`. */
static struct ep_error *merge_inputs(struct tree *tree, size_t first, size_t n, FILE *out,
                                     struct ep_edges_streams_result *ret)
{
	ep_autofree struct ep_edges_source *sources = calloc(n, sizeof(*sources));
	struct ep_error *err = sources ? NULL : ep_error_nomem();
	size_t n_open = 0;

	for (; !err && n_open < n; n_open += !err)
		err = open_input(tree->inputs[first + n_open], &sources[n_open]);
	if (!err)
		err = ep_edges_merge_streams(sources, n, tree->allow_duplicates, out,
		                             tree->out_name, ret);
	for (size_t i = 0; i < n_open; i++)
		close(sources[i].fd);
	return err;
}

/* Merges already merged groups into `out` and closes them. */
static struct ep_error *merge_groups(struct tree *tree, FILE **groups, size_t n, FILE *out)
{
	ep_autofree struct ep_edges_source *sources = calloc(n, sizeof(*sources));
	struct ep_error *err = sources ? NULL : ep_error_nomem();

	for (size_t i = 0; sources && i < n; i++)
		sources[i] = (struct ep_edges_source){fileno(groups[i]), "temporary file"};
	if (!err)
		err = ep_edges_merge_streams(sources, n, tree->allow_duplicates, out,
		                             tree->out_name, &tree->result);
	for (size_t i = 0; i < n; i++)
		fclose(groups[i]);
	return err;
}

static struct ep_error *flush_group(FILE *file, const char *name)
{
	return fflush(file) == 0 ? NULL : ep_error_os(errno, "%s: temporary file", name);
}

/* A job of a batch: one group of inputs. */
static struct ep_error *merge_group_job(void *payload, size_t i_job, unsigned i_thread)
{
	struct tree *tree = payload;
	size_t first = (tree->i_group + i_job) * tree->group_size;
	size_t n = EP_MIN(tree->group_size, tree->n_inputs - first);

	(void)i_thread;
	EP_TRY(ep_out_open_unnamed(tree->near_path, &tree->batch[i_job]));
	EP_TRY(merge_inputs(tree, first, n, tree->batch[i_job], &tree->group_results[i_job]));
	return flush_group(tree->batch[i_job], tree->out_name);
}

/* Puts a merged group into a level; a full level becomes one group of the next. */
static struct ep_error *add_group(struct tree *tree, FILE *group)
{
	struct ep_error *err = NULL;

	for (unsigned i = 0; i < LEVELS_MAX; i++) {
		if (!ep_vec_push(&tree->levels[i], group)) {
			fclose(group);
			return ep_error_nomem();
		}
		if (tree->levels[i].n < tree->fan_in || i + 1 == LEVELS_MAX)
			return NULL;
		err = ep_out_open_unnamed(tree->near_path, &group);
		if (err)
			return err;
		size_t n = tree->levels[i].n;
		tree->levels[i].n = 0;
		err = merge_groups(tree, tree->levels[i].v, n, group);
		if (!err)
			err = flush_group(group, tree->out_name);
		if (err) {
			fclose(group);
			return err;
		}
	}
	return NULL;
}

static struct ep_error *merge_batch(struct tree *tree, size_t n)
{
	memset(tree->batch, 0, sizeof(tree->batch));
	memset(tree->group_results, 0, sizeof(tree->group_results));
	struct ep_error *err = ep_parallel_for(tree->n_threads, n, merge_group_job, tree);
	for (size_t i = 0; i < n; i++) {
		if (tree->group_results[i].duplicate)
			tree->result = tree->group_results[i];
		if (!err)
			err = add_group(tree, tree->batch[i]);
		else if (tree->batch[i])
			fclose(tree->batch[i]);
	}
	return err;
}

/* Merges what waits in the levels into the output, fan_in at a time. */
static struct ep_error *merge_levels(struct tree *tree)
{
	EP_VEC(FILE *) all = {0};
	struct ep_error *err = NULL;
	size_t n = 0;

	for (unsigned i = 0; i < LEVELS_MAX; i++)
		n += tree->levels[i].n;
	if (!ep_vec_reserve(&all, n))
		return ep_error_nomem();
	for (unsigned i = 0; i < LEVELS_MAX; i++) {
		for (size_t k = 0; k < tree->levels[i].n; k++)
			all.v[all.n++] = tree->levels[i].v[k];
		tree->levels[i].n = 0;
	}
	while (!err && all.n > tree->fan_in) {
		FILE *group;
		err = ep_out_open_unnamed(tree->near_path, &group);
		if (err)
			break;
		err = merge_groups(tree, all.v, tree->fan_in, group);
		all.n -= tree->fan_in;
		memmove(all.v, all.v + tree->fan_in, all.n * sizeof(*all.v));
		all.v[all.n++] = group;
		if (!err)
			err = flush_group(group, tree->out_name);
	}
	if (!err) {
		err = merge_groups(tree, all.v, all.n, tree->out);
		all.n = 0;
	}
	for (size_t i = 0; i < all.n; i++)
		fclose(all.v[i]);
	ep_vec_deinit(&all);
	return err;
}

static struct ep_error *merge_tree(struct tree *tree)
{
	size_t n_groups = (tree->n_inputs + tree->group_size - 1) / tree->group_size;
	struct ep_error *err = NULL;

	if (n_groups == 1)
		return merge_inputs(tree, 0, tree->n_inputs, tree->out, &tree->result);
	for (tree->i_group = 0; !err && tree->i_group < n_groups;) {
		size_t n = EP_MIN((size_t)tree->n_threads, n_groups - tree->i_group);
		err = merge_batch(tree, n);
		tree->i_group += n;
	}
	if (!err)
		err = merge_levels(tree);
	for (unsigned i = 0; i < LEVELS_MAX; i++) {
		for (size_t k = 0; k < tree->levels[i].n; k++)
			fclose(tree->levels[i].v[k]);
		ep_vec_deinit(&tree->levels[i]);
	}
	return err;
}

static size_t fair_fan_in(unsigned n_threads)
{
	struct rlimit limit;
	size_t n_files = FILES_MAX;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < FILES_MAX + FILES_SPARE)
		n_files = limit.rlim_cur > 2 * FILES_SPARE ? limit.rlim_cur - FILES_SPARE
		                                           : limit.rlim_cur / 3;
	/* As many again wait in the levels of the tree, of which two are in use as a rule. */
	size_t fan_in = n_files / (n_threads + 2);
	return EP_MAX(EP_MIN(fan_in, FAN_IN_MAX), 2);
}

static void plan(struct tree *tree, const struct ep_edges_merge_opts *opts)
{
	unsigned n_threads = opts->n_threads ? opts->n_threads : ep_parallel_cpus();

	tree->n_threads = EP_MIN(n_threads, THREADS_MAX);
	tree->fan_in =
	    opts->n_open_max ? EP_MAX(opts->n_open_max, 2u) : fair_fan_in(tree->n_threads);
	tree->group_size = tree->fan_in;
	/* When there are less inputs than threads could take, each thread gets its share. */
	size_t share = (tree->n_inputs + tree->n_threads - 1) / tree->n_threads;
	if (share >= GROUP_MIN)
		tree->group_size = EP_MIN(share, tree->fan_in);
}

struct check {
	struct input *inputs;
	const struct ep_provenance *capture; /* looked for, or NULL */
	bool *holds;
};

static struct ep_error *check_job(void *payload, size_t i_job, unsigned i_thread)
{
	struct check *check = payload;
	struct input *input = &check->inputs[i_job];
	struct ep_edges_source source;
	bool holds = false;

	(void)i_thread;
	input->err = open_input(input, &source);
	if (input->err)
		return NULL;
	input->err = ep_edges_check_stream(&source, check->capture, &holds);
	close(source.fd);
	if (check->holds)
		check->holds[i_job] = holds;
	return NULL;
}

/* Reads all inputs to their end and moves what is wrong with them to the report. */
static struct ep_error *find_bad(struct input *inputs, size_t n, unsigned n_threads,
                                 struct ep_edges_merge_report *report)
{
	struct check check = {.inputs = inputs};
	EP_VEC(struct ep_edges_bad_input) bad = {0};
	bool lost = false;

	EP_TRY(ep_parallel_for(n_threads, n, check_job, &check));
	for (size_t i = 0; i < n; i++) {
		struct ep_edges_bad_input entry = {inputs[i].path, inputs[i].err};
		if (entry.err && !ep_vec_push(&bad, entry)) {
			lost = true;
			ep_error_destroy(entry.err);
			inputs[i].err = NULL;
		}
	}
	report->bad = bad.v;
	report->n_bad = bad.n;
	return lost ? ep_error_nomem() : NULL;
}

/* A better message for a duplicate: the inputs that hold it, also behind files between. */
static struct ep_error *name_duplicate(struct input *inputs, size_t n, unsigned n_threads,
                                       const struct ep_provenance *capture, struct ep_error *err)
{
	ep_autofree bool *holds = calloc(n, sizeof(*holds));
	struct check check = {.inputs = inputs, .capture = capture, .holds = holds};
	const char *names[2] = {NULL};
	size_t n_names = 0;

	if (holds)
		ep_error_destroy(ep_parallel_for(n_threads, n, check_job, &check));
	for (size_t i = 0; holds && i < n; i++) {
		if (holds[i] && n_names++ < 2)
			names[n_names - 1] = inputs[i].name;
		ep_error_destroy(inputs[i].err);
		inputs[i].err = NULL;
	}
	if (n_names >= 2) {
		ep_error_destroy(err);
		err = ep_error_create(EP_ERROR_MISMATCH,
		                      "%s and %s hold the same capture (%zu inputs do)", names[0],
		                      names[1], n_names);
	}
	return ep_error_hint(err, "give each capture once, or --allow-duplicates to add them up");
}

static struct ep_error *all_bad(const struct ep_edges_merge_report *report, size_t n,
                                bool quarantine)
{
	const struct ep_error *first = report->bad[0].err;

	if (quarantine)
		return ep_error_create(EP_ERROR_MISSING, "no input is left: all %zu are bad", n);
	struct ep_error *err =
	    report->n_bad == 1
	        ? ep_error_create(first->code, "%s", first->message)
	        : ep_error_create(first->code, "%zu of %zu inputs are bad", report->n_bad, n);
	if (report->n_bad == 1 && first->hint)
		err = ep_error_hint(err, "%s", first->hint);
	return report->n_bad < n ? ep_error_hint(err, "--quarantine merges the others") : err;
}

/* Merges the inputs that have no error into an output that is open. */
static struct ep_error *merge_good(struct input *inputs, size_t n, struct ep_out *out,
                                   const char *out_name, const struct ep_edges_merge_opts *opts,
                                   struct ep_edges_merge_report *report)
{
	ep_autofree struct input **good = calloc(n, sizeof(*good));
	struct tree tree = {.inputs = good,
	                    .allow_duplicates = opts->allow_duplicates,
	                    .out = out->file,
	                    .out_name = out_name,
	                    .near_path = out->tmp_path};

	if (!good)
		return ep_error_nomem();
	for (size_t i = 0; i < n; i++)
		if (!inputs[i].err)
			good[tree.n_inputs++] = &inputs[i];
	plan(&tree, opts);
	struct ep_error *err = merge_tree(&tree);
	if (err && tree.result.duplicate)
		return name_duplicate(inputs, n, tree.n_threads, &tree.result.capture, err);
	if (err)
		return err;
	struct ep_edges_bad_input *bad = report->bad;
	size_t n_bad = report->n_bad;
	*report = tree.result.totals;
	report->bad = bad;
	report->n_bad = n_bad;
	report->n_merged = tree.n_inputs;
	return NULL;
}

/* An error that may be an input's own, rather than the output's or the machine's. */
static bool may_be_input(const struct ep_error *err)
{
	return err->code == EP_ERROR_BAD_DATA || err->code == EP_ERROR_UNSUPPORTED ||
	       err->code == EP_ERROR_OS;
}

static struct ep_error *merge_to(struct input *inputs, size_t n, struct ep_out *out,
                                 const char *out_name, const struct ep_edges_merge_opts *opts,
                                 struct ep_edges_merge_report *report)
{
	/* What was sent to a pipe cannot be taken back: its inputs are checked before. */
	bool check_first = !out->tmp_path;
	struct ep_error *err = NULL;

	if (!check_first) {
		err = merge_good(inputs, n, out, out_name, opts, report);
		if (!err || !may_be_input(err))
			return err;
	}
	struct ep_error *check_err = find_bad(inputs, n, opts->n_threads, report);
	if (check_err || report->n_bad || check_first) {
		ep_error_destroy(err);
		err = check_err;
	}
	if (err)
		return err;
	if (report->n_bad && (!opts->quarantine || report->n_bad == n))
		return all_bad(report, n, opts->quarantine);
	if (!check_first &&
	    (fseek(out->file, 0, SEEK_SET) != 0 || ftruncate(fileno(out->file), 0) < 0))
		return ep_error_os(errno, "%s", out_name);
	return merge_good(inputs, n, out, out_name, opts, report);
}

static struct ep_error *merge_all(struct input *inputs, size_t n, const char *out_path,
                                  const struct ep_edges_merge_opts *opts,
                                  struct ep_edges_merge_report *report)
{
	struct ep_out out = {0};
	struct ep_error *err = NULL;

	EP_TRY(ep_out_open(out_path, &out));
	for (size_t i = 0; !err && i < n; i++)
		err = spool_if_pipe(&inputs[i], out.tmp_path);
	if (!err)
		err = merge_to(inputs, n, &out, out_path, opts, report);
	if (err) {
		ep_out_abort(&out);
		return err;
	}
	return ep_out_commit(&out);
}

struct ep_error *ep_edges_merge(const char *const *paths, size_t n_paths, const char *out_path,
                                const struct ep_edges_merge_opts *opts,
                                struct ep_edges_merge_report *report)
{
	static const struct ep_edges_merge_opts defaults = {0};
	ep_autofree struct input *inputs = calloc(n_paths, sizeof(*inputs));

	if (!n_paths)
		return ep_error_create(EP_ERROR_MISSING, "nothing to merge");
	if (!inputs)
		return ep_error_nomem();
	for (size_t i = 0; i < n_paths; i++)
		inputs[i].path = paths[i];
	struct ep_error *err =
	    merge_all(inputs, n_paths, out_path, opts ? opts : &defaults, report);
	for (size_t i = 0; i < n_paths; i++)
		if (inputs[i].spooled)
			fclose(inputs[i].spooled);
	return err;
}

void ep_edges_merge_report_deinit(struct ep_edges_merge_report *report)
{
	for (size_t i = 0; i < report->n_bad; i++)
		ep_error_destroy(report->bad[i].err);
	free(report->bad);
	*report = (struct ep_edges_merge_report){0};
}
