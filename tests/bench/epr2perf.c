/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns a raw capture into the perf.data that `perf record -b -c N` would have written. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/out.h"
#include "base/strtab.h"
#include "import/perf_data_abi.h"
#include "object/object.h"
#include "record/raw.h"
#include "support/perf_builder.h"

#define BRANCH_USER UINT64_C(1)
#define MISC_USER 2
/* perf writes a round whenever it has been through all buffers; so often here. */
#define ROUND_SAMPLES 4096
#define PAGE UINT64_C(4096)
/* The builder's own limit of a record: 65535 bytes. */
#define STACK_MAX 2000

struct converter {
	struct perf_builder builder;
	struct ep_strtab paths; /* files whose build-id is in the header already */
	uint64_t n_samples, n_branches;
	bool has_attr;
};

static void add_attr(struct converter *c, uint64_t period)
{
	/* BR_INST_RETIRED.NEAR_TAKEN:u of Intel's big cores. */
	struct pb_attr attr = {.type = 4,
	                       .config = 0x20c4,
	                       .period = period,
	                       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	                                      PERF_SAMPLE_CPU | PERF_SAMPLE_BRANCH_STACK,
	                       .branch_type = PERF_BRANCH_ANY | BRANCH_USER,
	                       .size = 128,
	                       .ids = {11},
	                       .n_ids = 1,
	                       .name = "br_inst_retired.near_taken:u"};

	if (!c->has_attr)
		pb_add_attr(&c->builder, &attr);
	c->has_attr = true;
}

static void add_map(struct converter *c, const struct ep_event *event, uint64_t start, uint64_t end)
{
	const struct ep_map *map = &event->u.map;

	if (start < end)
		pb_mmap2(&c->builder, (uint32_t)event->pid, map->start + start - map->pgoff,
		         end - start, start, map->path, MISC_USER, 5, NULL, event->t_ns);
}

/*
 * A map as Linux reports it: QEMU's recorder may know only that some pages of the file are
 * executable, the kernel maps each segment by itself, in whole pages.
 */
static void add_segments(struct converter *c, const struct ep_event *event,
                         const struct ep_object *object)
{
	const struct ep_map *map = &event->u.map;

	for (size_t i = 0; i < object->n_segments; i++) {
		const struct ep_segment *segment = &object->segments[i];
		uint64_t start = segment->foff & ~(PAGE - 1);
		uint64_t end = (segment->foff + segment->file_size + PAGE - 1) & ~(PAGE - 1);
		if (segment->executable)
			add_map(c, event, EP_MAX(start, map->pgoff),
			        EP_MIN(end, map->pgoff + map->len));
	}
}

/* The build-id of a file that was mapped goes to the header, once. */
static struct ep_error *add_file_map(struct converter *c, const struct ep_event *event)
{
	const struct ep_map *map = &event->u.map;
	uint32_t n = c->paths.n, id;
	struct ep_object *object;

	ep_autoerr err = ep_object_open(map->path, &object);
	if (err) { /* not ELF: perf does not list it either */
		add_map(c, event, map->pgoff, map->pgoff + map->len);
		return NULL;
	}
	add_segments(c, event, object);
	struct ep_build_id build_id = object->build_id;
	ep_object_close(object);
	EP_TRY(ep_strtab_add(&c->paths, map->path, strlen(map->path), &id));
	if (id == n && build_id.kind == EP_BUILD_ID_GNU)
		pb_build_id(&c->builder, MISC_USER, build_id.bytes, EP_MIN(build_id.size, 20u),
		            true, map->path);
	return NULL;
}

static void add_sample(struct converter *c, const struct ep_event *event)
{
	const struct ep_sample *in = &event->u.sample;
	uint32_t n = EP_MIN(in->n_branches, (uint32_t)STACK_MAX);
	struct ep_branch stack[STACK_MAX];

	for (uint32_t i = 0; i < n; i++) {
		memcpy(&stack[i], &in->branches[i], sizeof(stack[i]));
		uint64_t known = EP_INFO_MISPRED | EP_INFO_PREDICTED;
		stack[i].info = in->info_mask & stack[i].info & known ? stack[i].info & known
		                                                      : EP_INFO_PREDICTED;
	}
	struct pb_sample out = {.pid = (uint32_t)event->pid,
	                        .tid = (uint32_t)event->tid,
	                        .cpu = event->cpu == UINT32_MAX ? 0 : event->cpu,
	                        .t_ns = event->t_ns,
	                        .ip = in->ip,
	                        .misc = MISC_USER,
	                        .branches = stack,
	                        .n_branches = n};
	pb_sample(&c->builder, &out);
	c->n_branches += n;
	if (++c->n_samples % ROUND_SAMPLES == 0)
		pb_round(&c->builder);
}

static struct ep_error *on_event(void *payload, const struct ep_event *event)
{
	struct converter *c = payload;
	uint32_t pid = (uint32_t)event->pid;

	switch (event->type) {
	case EP_EVENT_STREAM:
		add_attr(c, event->u.stream.period);
		break;
	case EP_EVENT_EXEC:
		pb_comm(&c->builder, pid, "program", true, event->t_ns);
		break;
	case EP_EVENT_COMM:
		pb_comm(&c->builder, pid, event->u.comm.name, false, event->t_ns);
		break;
	case EP_EVENT_FORK:
		pb_task(&c->builder, true, pid, (uint32_t)event->u.fork.ppid, 0, event->t_ns);
		break;
	case EP_EVENT_EXIT:
		pb_task(&c->builder, false, pid, pid, 0, event->t_ns);
		break;
	case EP_EVENT_MAP:
		if (event->u.map.is_file)
			return add_file_map(c, event);
		break;
	case EP_EVENT_SAMPLE:
		add_sample(c, event);
		break;
	default:
		break;
	}
	return NULL;
}

static struct ep_error *read_file(void *payload, void *buf, size_t n, size_t *n_ret)
{
	*n_ret = fread(buf, 1, n, payload);
	return NULL;
}

static struct ep_error *convert(const char *in_path, const char *out_path)
{
	struct converter c = {0};
	struct ep_event_sink sink = {.event = on_event, .payload = &c};
	struct ep_raw_source source = {.name = in_path, .read = read_file};
	struct ep_warnings warnings = {0};
	struct ep_arena arena = {0};
	struct ep_capture_info info;
	FILE *file = fopen(in_path, "rb");

	if (!file)
		return ep_error_create(EP_ERROR_OS, "%s: cannot be opened", in_path);
	source.payload = file;
	pb_init(&c.builder, false, false);
	struct ep_error *err = ep_raw_read(&source, &sink, &warnings, &arena, &info);
	fclose(file);
	if (!err && (warnings.n || !c.n_samples))
		err = ep_error_create(EP_ERROR_BAD_DATA, "%s: %s", in_path,
		                      warnings.n ? warnings.v[0].first : "no samples");
	if (!err) {
		pb_feature_string(&c.builder, PERF_FEAT_HOSTNAME, info.host);
		pb_feature_string(&c.builder, PERF_FEAT_OSRELEASE, info.kernel);
		pb_feature_string(&c.builder, PERF_FEAT_ARCH, info.arch);
		const struct ep_buf *out = pb_finish(&c.builder);
		err = ep_out_write(out_path, out->v, out->n);
	}
	if (!err)
		printf("%" PRIu64 " %" PRIu64 "\n", c.n_samples, c.n_branches);
	pb_deinit(&c.builder);
	ep_strtab_deinit(&c.paths);
	ep_arena_deinit(&arena);
	ep_warnings_deinit(&warnings);
	return err;
}

/* Prints the numbers of samples and of branch records. */
int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: epr2perf IN.epr OUT.perf.data\n");
		return 2;
	}
	struct ep_error *err = convert(argv[1], argv[2]);
	if (err)
		fprintf(stderr, "epr2perf: %s\n", err->message);
	ep_error_destroy(err);
	return err ? 2 : 0;
}
