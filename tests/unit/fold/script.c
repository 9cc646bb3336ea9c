/* SPDX-License-Identifier: BSD-2-Clause */
/* Event streams written down as calls, and look-ups in what fold made of them. */
#include "script.h"

#include <string.h>

void script_begin(struct script *s, const struct ep_fold_opts *opts)
{
	*s = (struct script){0};
	check_ok(ep_fold_create(opts, &s->warnings, &s->fold));
	s->sink = ep_fold_sink(s->fold);
}

void script_event(struct script *s, struct ep_event *event)
{
	event->t_ns = ++s->t_ns;
	if (!event->tid)
		event->tid = event->pid;
	check_ok(s->sink.event(s->sink.payload, event));
}

void script_stream(struct script *s, enum ep_sampling sampling, uint64_t period, const char *name)
{
	struct ep_event e = {.type = EP_EVENT_STREAM,
	                     .u.stream = {.sampling = sampling, .period = period, .name = name}};

	script_event(s, &e);
}

void script_cpu(struct script *s, const char *cpuid)
{
	struct ep_event e = {.type = EP_EVENT_CPU, .u.cpu.cpuid = cpuid};

	script_event(s, &e);
}

static struct ep_map make_map(uint64_t start, uint64_t len, uint64_t pgoff, const char *path,
                              uint8_t id)
{
	struct ep_map map = {.start = start,
	                     .len = len,
	                     .pgoff = pgoff,
	                     .path = path ? path : "//anon",
	                     .is_file = path};
	uint8_t bytes[20];

	memset(bytes, id, sizeof(bytes));
	if (id)
		map.build_id = ep_build_id_make(EP_BUILD_ID_GNU, bytes, sizeof(bytes));
	return map;
}

void script_map(struct script *s, int32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
                const char *path, uint8_t id)
{
	struct ep_event e = {
	    .type = EP_EVENT_MAP, .pid = pid, .u.map = make_map(start, len, pgoff, path, id)};

	script_event(s, &e);
}

void script_kernel_map(struct script *s, uint64_t start, uint64_t len, uint64_t pgoff,
                       const char *path, uint8_t id)
{
	struct ep_event e = {.type = EP_EVENT_MAP,
	                     .pid = EP_PID_KERNEL,
	                     .u.map = make_map(start, len, pgoff, path, id)};

	e.u.map.is_kernel = true;
	script_event(s, &e);
}

void script_unmap(struct script *s, int32_t pid, uint64_t start, uint64_t len)
{
	struct ep_event e = {
	    .type = EP_EVENT_UNMAP, .pid = pid, .u.unmap = {.start = start, .len = len}};

	script_event(s, &e);
}

void script_exec(struct script *s, int32_t pid)
{
	struct ep_event e = {.type = EP_EVENT_EXEC, .pid = pid};

	script_event(s, &e);
}

void script_fork(struct script *s, int32_t pid, int32_t ppid)
{
	struct ep_event e = {
	    .type = EP_EVENT_FORK, .pid = pid, .u.fork = {.ppid = ppid, .ptid = ppid}};

	script_event(s, &e);
}

void script_exit(struct script *s, int32_t pid)
{
	struct ep_event e = {.type = EP_EVENT_EXIT, .pid = pid};

	script_event(s, &e);
}

void script_sample(struct script *s, int32_t pid, const struct ep_branch *branches, uint32_t n)
{
	struct ep_event e = {.type = EP_EVENT_SAMPLE,
	                     .pid = pid,
	                     .u.sample = {.branches = branches,
	                                  .n_branches = n,
	                                  .flags = s->flags,
	                                  .info_mask = UINT64_MAX,
	                                  .ip = n ? branches[0].to + 4 : 0,
	                                  .repeat = 1}};

	script_event(s, &e);
}

void script_end(struct script *s)
{
	struct ep_provenance source = {.digest = {1, 2, 3}, .host = "here", .tool = "test"};

	check_ok(ep_fold_finish(s->fold, &source, &s->edges));
}

void script_fails(struct script *s, const char *message, const char *hint)
{
	struct ep_error *err = ep_fold_finish(s->fold, NULL, &s->edges);

	assert_non_null(err);
	assert_int_equal(err->code, EP_ERROR_MISSING);
	if (!strstr(err->message, message) || !err->hint || !strstr(err->hint, hint))
		fail_msg("message '%s', hint '%s'", err->message, err->hint ? err->hint : "");
	ep_error_destroy(err);
	script_deinit(s);
}

void script_deinit(struct script *s)
{
	ep_edges_deinit(&s->edges);
	ep_fold_destroy(s->fold);
	ep_warnings_deinit(&s->warnings);
}

const struct ep_edges_binary *find_binary(const struct ep_edges *edges, uint8_t id,
                                          const char *path)
{
	for (size_t i = 0; i < edges->n_binaries; i++) {
		const struct ep_edges_binary *b = &edges->binaries[i];
		if (id ? b->build_id.size && b->build_id.bytes[0] == id
		       : b->n_paths && !strcmp(b->paths[0], path))
			return b;
	}
	return NULL;
}

const struct ep_edge *find_edge(const struct ep_edges *edges, uint8_t id, enum ep_edge_kind kind,
                                uint64_t from, uint64_t to)
{
	const struct ep_edges_binary *b = find_binary(edges, id, "");

	for (size_t i = 0; b && i < b->n_edges; i++)
		if (b->edges[i].kind == kind && b->edges[i].from == from && b->edges[i].to == to)
			return &b->edges[i];
	return NULL;
}

uint64_t edge_count(const struct ep_edges *edges, uint8_t id, uint64_t from, uint64_t to)
{
	const struct ep_edge *e = find_edge(edges, id, EP_EDGE_INTERNAL, from, to);

	return e ? ep_count_round(e->count) : 0;
}

const struct ep_range *find_range(const struct ep_edges *edges, uint8_t id, uint64_t start,
                                  uint64_t end, bool open_end)
{
	const struct ep_edges_binary *b = find_binary(edges, id, "");

	for (size_t i = 0; b && i < b->n_ranges; i++)
		if (b->ranges[i].start == start && b->ranges[i].end == end &&
		    b->ranges[i].open_end == open_end)
			return &b->ranges[i];
	return NULL;
}

uint64_t range_count(const struct ep_edges *edges, uint8_t id, uint64_t start, uint64_t end)
{
	const struct ep_range *r = find_range(edges, id, start, end, false);

	return r ? ep_count_round(r->count) : 0;
}

size_t n_edges(const struct ep_edges *edges)
{
	size_t n = 0;

	for (size_t i = 0; i < edges->n_binaries; i++)
		n += edges->binaries[i].n_edges;
	return n;
}

size_t n_ranges(const struct ep_edges *edges)
{
	size_t n = 0;

	for (size_t i = 0; i < edges->n_binaries; i++)
		n += edges->binaries[i].n_ranges;
	return n;
}

static void check_same_binary(const struct ep_edges_binary *a, const struct ep_edges_binary *b)
{
	assert_int_equal(ep_edges_compare_binaries(a, b), 0);
	assert_int_equal(a->n_paths, b->n_paths);
	for (size_t i = 0; i < a->n_paths; i++)
		assert_string_equal(a->paths[i], b->paths[i]);
	assert_int_equal(a->n_edges, b->n_edges);
	for (size_t i = 0; i < a->n_edges; i++) {
		assert_int_equal(ep_edges_compare_edges(&a->edges[i], &b->edges[i]), 0);
		check_u64_eq(a->edges[i].count, b->edges[i].count);
		check_u64_eq(a->edges[i].mispreds, b->edges[i].mispreds);
		assert_int_equal(a->edges[i].types, b->edges[i].types);
	}
	assert_int_equal(a->n_ranges, b->n_ranges);
	for (size_t i = 0; i < a->n_ranges; i++) {
		assert_int_equal(ep_edges_compare_ranges(&a->ranges[i], &b->ranges[i]), 0);
		check_u64_eq(a->ranges[i].count, b->ranges[i].count);
	}
}

void check_same_edges(const struct ep_edges *a, const struct ep_edges *b)
{
	assert_int_equal(a->n_binaries, b->n_binaries);
	for (size_t i = 0; i < a->n_binaries; i++)
		check_same_binary(&a->binaries[i], &b->binaries[i]);
	assert_memory_equal(&a->drops, &b->drops, sizeof(a->drops));
}
