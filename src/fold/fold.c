/* SPDX-License-Identifier: BSD-2-Clause */
/* The sink: events change address spaces, stacks go to the counting threads. */
#include "fold/fold.h"

#include <string.h>

#include "base/parallel.h"
#include "fold/binaries.h"
#include "fold/cpu.h"
#include "fold/pool.h"
#include "fold/result.h"
#include "fold/spaces.h"

/* Events being sampled; perf has one a CPU type, and few more. */
#define STREAMS_MAX 4096

struct stream {
	bool known, used;
	enum ep_sampling sampling;
	uint64_t period;
	bool exact;
	char *name;
};

struct ep_fold {
	struct ep_fold_opts opts;
	struct ep_fold_binaries binaries;
	struct ep_fold_spaces spaces;
	struct ep_fold_pool *pool;
	struct ep_fold_maps *linked; /* for an input without maps */
	bool linked_tried;
	struct ep_fold_cpu cpu;
	EP_VEC(struct stream) streams;
	struct ep_drops drops;
	uint64_t n_samples, n_records, n_counted;
	uint64_t n_linked_records; /* looked up in `linked` */
	uint64_t n_weighted;       /* stacks of a weight by rule 6 */
	uint64_t t_first_ns, t_last_ns;
	struct ep_warnings *warnings;
	bool finished;
};

static void add_to(uint64_t *sum, uint64_t n)
{
	*sum = ep_count_add(*sum, n);
}

struct ep_error *ep_fold_create(const struct ep_fold_opts *opts, struct ep_warnings *warnings,
                                struct ep_fold **ret)
{
	struct ep_fold *fold = calloc(1, sizeof(*fold));

	if (!fold)
		return ep_error_nomem();
	if (opts)
		fold->opts = *opts;
	fold->warnings = warnings;
	fold->spaces.warnings = warnings;
	fold->cpu = ep_fold_cpu_make("");
	unsigned n_threads = fold->opts.n_threads ? fold->opts.n_threads : ep_parallel_cpus();
	struct ep_error *err = ep_fold_binaries_init(&fold->binaries, &fold->opts, warnings);
	if (!err)
		err = ep_fold_pool_create(n_threads, &fold->pool);
	/* The caller's array of paths need not live on. */
	fold->opts.binary_paths = NULL;
	if (err) {
		ep_fold_destroy(fold);
		return err;
	}
	*ret = fold;
	return NULL;
}

void ep_fold_destroy(struct ep_fold *fold)
{
	if (!fold)
		return;
	ep_fold_pool_destroy(fold->pool);
	ep_fold_maps_unref(fold->linked);
	ep_fold_spaces_deinit(&fold->spaces);
	ep_fold_binaries_deinit(&fold->binaries);
	for (size_t i = 0; i < fold->streams.n; i++)
		free(fold->streams.v[i].name);
	ep_vec_deinit(&fold->streams);
	free(fold);
}

static struct ep_error *get_stream(struct ep_fold *fold, uint32_t i, struct stream **ret)
{
	if (i >= STREAMS_MAX)
		return ep_error_create(EP_ERROR_BAD_DATA, "event %u: more than %d events", i,
		                       STREAMS_MAX);
	if (i >= fold->streams.n) {
		size_t n_more = i + 1 - fold->streams.n;
		if (!ep_vec_reserve(&fold->streams, n_more))
			return ep_error_nomem();
		memset(&fold->streams.v[fold->streams.n], 0, n_more * sizeof(struct stream));
		fold->streams.n = i + 1;
	}
	*ret = &fold->streams.v[i];
	return NULL;
}

static struct ep_error *on_stream(struct ep_fold *fold, const struct ep_stream_info *info)
{
	struct stream *stream;

	EP_TRY(get_stream(fold, info->stream, &stream));
	char *name = strdup(info->name ? info->name : "");
	if (!name)
		return ep_error_nomem();
	free(stream->name);
	stream->name = name;
	stream->known = true;
	stream->sampling = info->sampling;
	stream->period = info->period;
	stream->exact = info->exact;
	return NULL;
}

/* An input without any map before its first address belongs to the one binary given (rule 8). */
static struct ep_error *find_maps(struct ep_fold *fold, int32_t pid, uint64_t n_records,
                                  struct ep_fold_maps **user_ret, struct ep_fold_maps **kernel_ret,
                                  bool *known_ret)
{
	/* Of a guest's kernel nothing is known: it is not the host's. */
	*kernel_ret = pid == EP_PID_GUEST ? NULL : fold->spaces.kernel;
	if (fold->spaces.any_map || pid == EP_PID_GUEST)
		return ep_fold_spaces_find(&fold->spaces, pid, user_ret, known_ret);
	if (!fold->linked_tried) {
		fold->linked_tried = true;
		EP_TRY(ep_fold_binaries_linked(&fold->binaries, &fold->spaces.room, &fold->linked));
	}
	*user_ret = fold->linked;
	*known_ret = fold->linked;
	if (fold->linked)
		add_to(&fold->n_linked_records, n_records);
	return NULL;
}

static enum ep_fold_span span_of(const struct ep_fold *fold, const struct stream *stream)
{
	if (fold->opts.weights == EP_FOLD_WEIGHTS_NONE)
		return EP_FOLD_SPAN_NONE;
	if (stream->sampling == EP_SAMPLING_INSTRUCTIONS)
		return EP_FOLD_SPAN_BYTES;
	return stream->sampling == EP_SAMPLING_CYCLES ? EP_FOLD_SPAN_CYCLES : EP_FOLD_SPAN_NONE;
}

static void note_time(struct ep_fold *fold, uint64_t t_ns)
{
	if (!t_ns)
		return;
	if (!fold->t_first_ns || t_ns < fold->t_first_ns)
		fold->t_first_ns = t_ns;
	fold->t_last_ns = EP_MAX(fold->t_last_ns, t_ns);
}

/* Why a sample gives nothing; -1: it is to be counted. */
static int sample_drop(const struct ep_sample *sample)
{
	if (!sample->branches)
		return EP_DROP_NO_STACK;
	if (!sample->n_branches)
		return EP_DROP_EMPTY_STACK;
	return sample->flags & EP_SAMPLE_CALL_STACK ? EP_DROP_CALL_STACK_MODE : -1;
}

static struct ep_error *on_sample(struct ep_fold *fold, const struct ep_event *event)
{
	const struct ep_sample *sample = &event->u.sample;
	uint64_t repeat = sample->repeat ? sample->repeat : 1;
	uint64_t n_records = ep_count_mul(sample->n_branches, repeat);
	struct ep_fold_maps *user, *kernel;
	struct stream *stream;
	bool known;

	EP_TRY(get_stream(fold, sample->stream, &stream));
	stream->used = true;
	note_time(fold, event->t_ns);
	add_to(&fold->n_samples, repeat);
	add_to(&fold->n_records, n_records);
	int why = sample_drop(sample);
	if (why >= 0) {
		add_to(&fold->drops.n[why], repeat);
		return NULL;
	}
	EP_TRY(find_maps(fold, event->pid, n_records, &user, &kernel, &known));
	if (!known)
		add_to(&fold->drops.notes[EP_NOTE_UNKNOWN_PID], repeat);
	struct ep_fold_job job = {.branches = sample->branches,
	                          .user = user,
	                          .kernel = kernel,
	                          .info_mask = sample->info_mask,
	                          .repeat = repeat,
	                          .n_branches = sample->n_branches,
	                          .open_types = fold->cpu.open_types,
	                          .filtered = sample->flags & EP_SAMPLE_FILTERED,
	                          .strip_duplicate_top = fold->cpu.duplicate_top,
	                          .gap_without_cycles = fold->cpu.gap_without_cycles,
	                          .span = (uint8_t)span_of(fold, stream)};
	fold->n_weighted += job.span != EP_FOLD_SPAN_NONE;
	return ep_fold_pool_add(fold->pool, &job, user, kernel, sample->flags & EP_SAMPLE_STABLE);
}

static struct ep_error *on_counted(struct ep_fold *fold, const struct ep_event *event)
{
	bool is_edge = event->type == EP_EVENT_EDGE, known;
	const struct ep_counted *counted = &event->u.counted;
	struct ep_fold_maps *user, *kernel;

	add_to(&fold->n_counted, counted->count);
	if (is_edge)
		add_to(&fold->n_records, counted->count);
	EP_TRY(find_maps(fold, event->pid, is_edge ? counted->count : 0, &user, &kernel, &known));
	return ep_fold_count_counted(ep_fold_pool_own(fold->pool), user, kernel, counted, is_edge);
}

/*
 * The part of a kernel's map where kernels are: old perfs gave the kernel a map from 0 to its
 * modules, which would hide what processes have there. False: nothing is left.
 */
static bool keep_kernel_half(struct ep_map *map)
{
	const uint64_t half = -(UINT64_C(1) << (EP_FOLD_BIN_SHIFT - 1));
	uint64_t below = map->start < half ? half - map->start : 0;

	if (map->len <= below)
		return false;
	map->start += below;
	map->len -= below;
	/* That of an image is no offset. */
	if (!ep_fold_is_kernel_image(map))
		map->pgoff += below;
	return true;
}

static struct ep_error *on_map(struct ep_fold *fold, const struct ep_event *event)
{
	bool is_kernel = event->u.map.is_kernel || event->pid == EP_PID_KERNEL;
	struct ep_map given = event->u.map;
	struct ep_fold_map map;

	if (event->pid == EP_PID_GUEST || (is_kernel && !keep_kernel_half(&given)))
		return NULL;
	EP_TRY(ep_fold_binaries_place(&fold->binaries, &given, &map));
	return ep_fold_spaces_map(&fold->spaces, event->pid, is_kernel, &map,
	                          fold->opts.keep_file_map);
}

static void on_lost(struct ep_fold *fold, enum ep_lost_reason reason, uint64_t n)
{
	enum ep_drop drop = reason == EP_LOST_RECORDER       ? EP_DROP_LOST_SAMPLES
	                    : reason == EP_LOST_NOT_FOLLOWED ? EP_DROP_NOT_FOLLOWED
	                                                     : EP_DROP_CORRUPT_INPUT;

	add_to(&fold->drops.n[drop], n);
}

static struct ep_error *on_event(void *payload, const struct ep_event *event)
{
	struct ep_fold *fold = payload;

	switch (event->type) {
	case EP_EVENT_SAMPLE:
		return on_sample(fold, event);
	case EP_EVENT_STREAM:
		return on_stream(fold, &event->u.stream);
	case EP_EVENT_EXEC:
		return ep_fold_spaces_exec(&fold->spaces, event->pid);
	case EP_EVENT_MAP:
		return on_map(fold, event);
	case EP_EVENT_UNMAP:
		return ep_fold_spaces_unmap(&fold->spaces, event->pid, event->u.unmap.start,
		                            event->u.unmap.len);
	case EP_EVENT_FORK:
		return ep_fold_spaces_fork(&fold->spaces, event->pid, event->u.fork.ppid);
	case EP_EVENT_EXIT:
		return event->tid == event->pid ? ep_fold_spaces_exit(&fold->spaces, event->pid)
		                                : NULL;
	case EP_EVENT_EDGE:
	case EP_EVENT_RANGE:
		return on_counted(fold, event);
	case EP_EVENT_LOST:
		on_lost(fold, event->u.lost.reason, event->u.lost.n);
		return NULL;
	case EP_EVENT_BUILD_ID:
		return ep_fold_binaries_late(&fold->binaries, event->u.build_id.path,
		                             &event->u.build_id.build_id);
	case EP_EVENT_CPU:
		fold->cpu = ep_fold_cpu_make(event->u.cpu.cpuid);
		return NULL;
	case EP_EVENT_COMM:
	case EP_EVENT_END:
		return NULL;
	}
	return NULL;
}

struct ep_event_sink ep_fold_sink(struct ep_fold *fold)
{
	return (struct ep_event_sink){.event = on_event, .payload = fold};
}

struct ep_fold_progress ep_fold_progress(const struct ep_fold *fold)
{
	return (struct ep_fold_progress){.n_samples = fold->n_samples,
	                                 .n_records = fold->n_records,
	                                 .n_dropped_records = ep_fold_pool_dropped(fold->pool)};
}

/* An error for a fold that counted nothing, by what was there instead. */
static struct ep_error *nothing_counted(const struct ep_fold *fold, const struct ep_drops *drops)
{
	const uint64_t *n = drops->n;

	if (!fold->n_samples && !fold->n_counted)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISSING, "no samples in the input"),
		    "was the program run while recording, and long enough for the period?");
	if (fold->n_samples && n[EP_DROP_NO_STACK] == fold->n_samples)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISSING, "recorded without branch stacks"),
		    "record them: perf record -j any,u ... (see edgeprof doctor)");
	if (n[EP_DROP_CALL_STACK_MODE])
		return ep_error_hint(ep_error_create(EP_ERROR_MISSING,
		                                     "branch stacks are in call-stack mode, which "
		                                     "records no history of branches"),
		                     "record with -j any,u and without --call-graph lbr");
	if (fold->n_samples && !fold->n_records)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISSING, "all branch stacks are empty"),
		    "the CPU recorded no branches: is the event or the privilege level filtered?");
	if (!fold->spaces.any_map && fold->binaries.n_given != 1)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISSING, "no maps in the input%s",
		                    fold->binaries.n_given ? ", and more than one --binary" : ""),
		    "perf script --show-mmap-events adds them; without them one "
		    "--binary says whose addresses these are");
	if (!fold->spaces.any_map)
		return ep_error_hint(
		    ep_error_create(EP_ERROR_MISSING, "%s: no branch lies in its code",
		                    fold->binaries.given[0]->path),
		    "an input without maps must hold addresses as linked in the given binary");
	return NULL;
}

static const struct why {
	enum ep_drop drop;
	const char *text, *hint;
} whys[] = {
    {EP_DROP_AMBIGUOUS_PROCESS, "samples have no pid, and processes map different files there",
     "add the pid to the input: perf script -F +pid"},
    {EP_DROP_KERNEL, "all branches are in the kernel, of which the input has no map",
     "record user code (-j any,u), or with permission to see kernel addresses"},
    {EP_DROP_ANONYMOUS, "all branches are in memory without a file", "JIT code has no profile"},
    {EP_DROP_UNMAPPED, "no branch lies in a file that was mapped",
     "were maps recorded for the processes sampled?"},
    {EP_DROP_HALF_RECORD, "all branch records lack one of their ends",
     "record all privilege levels, or fewer"},
};

/* The most frequent reason why nothing was counted. */
static struct ep_error *nothing_matched(const struct ep_drops *drops)
{
	const struct why *most = &whys[3];

	for (size_t i = 0; i < EP_ARRAY_LEN(whys); i++)
		if (drops->n[whys[i].drop] > drops->n[most->drop])
			most = &whys[i];
	if (!drops->n[most->drop])
		return ep_error_create(EP_ERROR_MISSING, "no branch record could be used");
	return ep_error_hint(ep_error_create(EP_ERROR_MISSING, "%s", most->text), "%s", most->hint);
}

/* Names of the events that took samples, each once, sorted and joined by commas. */
static struct ep_error *event_names(const struct ep_fold *fold, struct ep_arena *arena,
                                    const char **ret)
{
	struct ep_buf text = {0};
	const char *last = NULL;

	/* Selection by order: there are few streams, and equal names fall together. */
	for (;;) {
		const char *next = NULL;
		for (size_t i = 0; i < fold->streams.n; i++) {
			const struct stream *s = &fold->streams.v[i];
			if ((s->used || s->exact) && s->name && *s->name &&
			    (!last || strcmp(s->name, last) > 0) &&
			    (!next || strcmp(s->name, next) < 0))
				next = s->name;
		}
		if (!next)
			break;
		if (last)
			ep_buf_u8(&text, ',');
		ep_buf_put(&text, next, strlen(next));
		last = next;
	}
	*ret = text.failed ? NULL : ep_arena_strndup(arena, text.n ? (char *)text.v : "", text.n);
	ep_buf_deinit(&text);
	return *ret ? NULL : ep_error_nomem();
}

/* What all streams in use have in common. */
static void merge_streams(const struct ep_fold *fold, struct ep_provenance *entry)
{
	const struct stream *first = NULL;

	entry->exact = !fold->n_samples && fold->n_counted;
	for (size_t i = 0; i < fold->streams.n; i++) {
		const struct stream *s = &fold->streams.v[i];
		if (!s->used && !s->exact)
			continue;
		if (!first) {
			first = s;
			entry->sampling = s->sampling;
			entry->period = s->period;
		}
		if (s->sampling != first->sampling)
			entry->sampling = EP_SAMPLING_UNKNOWN;
		if (s->period != first->period)
			entry->period = 0;
	}
}

static struct ep_error *copy_text(struct ep_arena *arena, const char **text)
{
	const char *from = *text ? *text : "";

	*text = ep_arena_strndup(arena, from, strlen(from));
	return *text ? NULL : ep_error_nomem();
}

static struct ep_error *add_provenance(const struct ep_fold *fold,
                                       const struct ep_provenance *source, struct ep_edges *ret)
{
	struct ep_provenance *entry = ep_arena_calloc(&ret->arena, 1, sizeof(*entry));

	if (!entry)
		return ep_error_nomem();
	if (source)
		*entry = *source;
	EP_TRY(copy_text(&ret->arena, &entry->host));
	EP_TRY(copy_text(&ret->arena, &entry->kernel));
	EP_TRY(copy_text(&ret->arena, &entry->cpu));
	EP_TRY(copy_text(&ret->arena, &entry->tool));
	EP_TRY(event_names(fold, &ret->arena, &entry->event));
	merge_streams(fold, entry);
	entry->weighted = fold->n_weighted;
	if (!entry->t_start_ns)
		entry->t_start_ns = fold->t_first_ns;
	if (!entry->t_end_ns)
		entry->t_end_ns = fold->t_last_ns;
	entry->n_samples = fold->n_samples;
	entry->n_records = fold->n_records;
	entry->weight = EP_COUNT_ONE;
	entry->n_copies = 1;
	ret->provenance = entry;
	ret->n_provenance = 1;
	return NULL;
}

static struct ep_error *make_result(struct ep_fold *fold, const struct ep_provenance *source,
                                    struct ep_edges *ret)
{
	struct ep_fold_counter *counters;
	size_t n_counters = ep_fold_pool_counters(fold->pool, &counters);
	bool no_linked = fold->linked && fold->spaces.any_map;

	ret->drops = fold->drops;
	if (fold->spaces.any_map)
		ep_fold_binaries_warn_given(&fold->binaries);
	EP_TRY(add_provenance(fold, source, ret));
	EP_TRY(ep_fold_make_result(&fold->binaries, counters, n_counters, no_linked,
	                           fold->opts.n_threads, ret));
	if (no_linked)
		add_to(&ret->drops.n[EP_DROP_UNMAPPED], fold->n_linked_records);
	if (ret->n_binaries)
		return NULL;
	struct ep_error *err = nothing_counted(fold, &ret->drops);
	return err ? err : nothing_matched(&ret->drops);
}

struct ep_error *ep_fold_finish(struct ep_fold *fold, const struct ep_provenance *source,
                                struct ep_edges *ret)
{
	struct ep_edges edges = {0};

	if (fold->finished)
		return ep_error_create(EP_ERROR_BUG, "a fold was finished twice");
	fold->finished = true;
	struct ep_error *err = ep_fold_pool_finish(fold->pool);
	if (!err)
		err = make_result(fold, source, &edges);
	if (err) {
		ep_edges_deinit(&edges);
		return err;
	}
	*ret = edges;
	return NULL;
}
