/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw captures: every event comes back, and no damage goes unseen. */
#include "record/raw.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/vec.h"
#include "support/check.h"

static char dir[] = "/tmp/ep_raw.XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const files[] = {"rt",    "trunc",  "flip",  "trail", "long",
	                                    "names", "limits", "fail2", "other"};

	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(files); i++) {
		char name[32];
		snprintf(name, sizeof(name), "%s.epr", files[i]);
		unlink(name);
	}
	return chdir("/") || rmdir(dir); /* fails if a temporary file was left behind */
}

/* Events as text, one a line, so that two streams are compared whole and seen when they differ. */
struct log {
	struct ep_buf text;
	size_t n_events, n_lost, n_end;
	size_t fail_at; /* event at which the sink fails; 0: never */
};

static void log_build_id(struct ep_buf *buf, const struct ep_build_id *id)
{
	ep_buf_printf(buf, " id=%u/%u:", id->kind, id->size);
	for (size_t i = 0; i < EP_BUILD_ID_MAX; i++)
		ep_buf_printf(buf, "%02x", id->bytes[i]);
}

static void log_sample(struct ep_buf *buf, const struct ep_sample *s)
{
	ep_buf_printf(buf, " flags=%x mask=%llx ip=%llx period=%llu repeat=%llu stream=%u n=%u%s",
	              s->flags & ~EP_SAMPLE_STABLE, (unsigned long long)s->info_mask,
	              (unsigned long long)s->ip, (unsigned long long)s->period,
	              (unsigned long long)s->repeat, s->stream, s->n_branches,
	              s->branches ? "" : " none");
	for (uint32_t i = 0; i < s->n_branches; i++) {
		struct ep_branch b;
		memcpy(&b, s->branches + i, sizeof(b));
		ep_buf_printf(buf, " %llx>%llx/%llx", (unsigned long long)b.from,
		              (unsigned long long)b.to, (unsigned long long)b.info);
	}
}

static void log_counted(struct ep_buf *buf, const struct ep_counted *c)
{
	ep_buf_printf(buf, " %llx>%llx n=%llu m=%llu type=%u open=%d", (unsigned long long)c->from,
	              (unsigned long long)c->to, (unsigned long long)c->count,
	              (unsigned long long)c->mispreds, c->type, c->open_end);
}

static void log_body(struct ep_buf *buf, const struct ep_event *e)
{
	switch (e->type) {
	case EP_EVENT_STREAM:
		ep_buf_printf(buf, " %u sampling=%d period=%llu '%s' exact=%d", e->u.stream.stream,
		              e->u.stream.sampling, (unsigned long long)e->u.stream.period,
		              e->u.stream.name, e->u.stream.exact);
		break;
	case EP_EVENT_MAP:
		ep_buf_printf(buf, " %llx+%llx@%llx '%s' %d%d", (unsigned long long)e->u.map.start,
		              (unsigned long long)e->u.map.len, (unsigned long long)e->u.map.pgoff,
		              e->u.map.path, e->u.map.is_file, e->u.map.is_kernel);
		log_build_id(buf, &e->u.map.build_id);
		break;
	case EP_EVENT_UNMAP:
		ep_buf_printf(buf, " %llx+%llx", (unsigned long long)e->u.unmap.start,
		              (unsigned long long)e->u.unmap.len);
		break;
	case EP_EVENT_FORK:
		ep_buf_printf(buf, " %d/%d", e->u.fork.ppid, e->u.fork.ptid);
		break;
	case EP_EVENT_COMM:
		ep_buf_printf(buf, " '%s'", e->u.comm.name);
		break;
	case EP_EVENT_SAMPLE:
		log_sample(buf, &e->u.sample);
		break;
	case EP_EVENT_EDGE:
	case EP_EVENT_RANGE:
		log_counted(buf, &e->u.counted);
		break;
	case EP_EVENT_LOST:
		ep_buf_printf(buf, " %d n=%llu", e->u.lost.reason, (unsigned long long)e->u.lost.n);
		break;
	case EP_EVENT_END:
		ep_buf_printf(buf, " %llu %llu", (unsigned long long)e->u.end.n_samples,
		              (unsigned long long)e->u.end.n_events);
		break;
	case EP_EVENT_BUILD_ID:
		ep_buf_printf(buf, " '%s' %d", e->u.build_id.path, e->u.build_id.is_kernel);
		log_build_id(buf, &e->u.build_id.build_id);
		break;
	case EP_EVENT_CPU:
		ep_buf_printf(buf, " '%s'", e->u.cpu.cpuid);
		break;
	case EP_EVENT_EXEC:
	case EP_EVENT_EXIT:
		break;
	}
}

static struct ep_error *log_event(void *payload, const struct ep_event *e)
{
	struct log *log = payload;

	if (++log->n_events == log->fail_at)
		return ep_error_create(EP_ERROR_INTERRUPTED, "stopped");
	log->n_lost += e->type == EP_EVENT_LOST && e->u.lost.reason == EP_LOST_CORRUPT;
	log->n_end += e->type == EP_EVENT_END;
	ep_buf_printf(&log->text, "%d pid=%d tid=%d cpu=%u t=%llu", e->type, e->pid, e->tid, e->cpu,
	              (unsigned long long)e->t_ns);
	log_body(&log->text, e);
	ep_buf_u8(&log->text, '\n');
	return NULL;
}

static const char *log_text(struct log *log)
{
	ep_buf_u8(&log->text, 0);
	return (const char *)log->text.v;
}

/* True if `log` is `whole`, or its first lines and then perhaps one LOST event. */
static bool is_prefix(const struct log *log, const struct log *whole)
{
	size_t n = log->text.n;

	if (log->n_lost && n) {
		n--;
		while (n && log->text.v[n - 1] != '\n')
			n--;
	}
	return n <= whole->text.n && (!n || !memcmp(log->text.v, whole->text.v, n));
}

static const struct ep_capture_info some_info = {.host = "box",
                                                 .kernel = "6.1.0",
                                                 .cpu = "Some CPU",
                                                 .cpuid = "GenuineIntel,6,85,7",
                                                 .arch = "x86_64",
                                                 .cmdline = "prog --with args"};

static const struct ep_build_id gnu_id = {.kind = EP_BUILD_ID_GNU, .size = 3, .bytes = {1, 2, 3}};

static const struct ep_branch some_branches[] = {
    {0x401010, 0x401000, EP_INFO_PREDICTED | 1u << EP_INFO_TYPE_SHIFT},
    {0xffffffff81000000, 0x401008, EP_INFO_MISPRED | EP_INFO_DISCONTINUITY | EP_INFO_PC_MOVED},
    {0, 0, 0},
    {UINT64_MAX, 1, UINT64_MAX},
};

/* One of each type, with values at their limits. */
static const struct ep_event all_events[] = {
    {.type = EP_EVENT_CPU,
     .pid = EP_PID_UNKNOWN,
     .tid = -1,
     .cpu = UINT32_MAX,
     .u.cpu.cpuid = "GenuineIntel,6,85,7"},
    {.type = EP_EVENT_STREAM,
     .pid = -1,
     .tid = -1,
     .cpu = UINT32_MAX,
     .u.stream = {7, EP_SAMPLING_TAKEN_BRANCHES, 1009, "branches:u", true}},
    {.type = EP_EVENT_EXEC, .pid = INT32_MAX, .tid = INT32_MIN, .cpu = 0, .t_ns = UINT64_MAX},
    {.type = EP_EVENT_MAP,
     .pid = 5,
     .tid = 6,
     .cpu = 3,
     .t_ns = 1,
     .u.map = {0x400000, 0x2000, 0x1000, {0}, "/bin/prog", true, false}},
    {.type = EP_EVENT_MAP,
     .pid = EP_PID_KERNEL,
     .tid = 0,
     .cpu = UINT32_MAX - 1,
     .t_ns = 2,
     .u.map = {UINT64_MAX, UINT64_MAX, UINT64_MAX, gnu_id, "[kernel.kallsyms]_text", false, true}},
    {.type = EP_EVENT_UNMAP, .pid = 5, .tid = 5, .t_ns = 3, .u.unmap = {0x401000, 0x1000}},
    {.type = EP_EVENT_FORK, .pid = 8, .tid = 8, .t_ns = 4, .u.fork = {-1, 5}},
    {.type = EP_EVENT_COMM, .pid = 8, .tid = 8, .t_ns = 5, .u.comm.name = "name with space"},
    {.type = EP_EVENT_COMM, .pid = 8, .tid = 8, .t_ns = 5, .u.comm.name = ""},
    {.type = EP_EVENT_SAMPLE,
     .pid = 8,
     .tid = 9,
     .cpu = 1,
     .t_ns = 100,
     .u.sample = {.branches = some_branches,
                  .n_branches = 4,
                  .info_mask = EP_INFO_PERF_MASK,
                  .ip = 0x401020,
                  .period = 997,
                  .repeat = 1,
                  .stream = 7}},
    {.type = EP_EVENT_SAMPLE,
     .pid = 8,
     .tid = 9,
     .cpu = 1,
     .t_ns = 50,
     .u.sample =
         {.flags = EP_SAMPLE_FILTERED, .ip = 1, .repeat = UINT64_MAX, .stream = UINT32_MAX}},
    {.type = EP_EVENT_SAMPLE,
     .pid = 8,
     .tid = 9,
     .cpu = 1,
     .t_ns = 200,
     .u.sample = {.branches = some_branches,
                  .n_branches = 0,
                  .flags = EP_SAMPLE_FILTERED,
                  .repeat = 1,
                  .stream = UINT32_MAX}},
    {.type = EP_EVENT_EDGE, .pid = 8, .tid = 9, .u.counted = {0x401010, 0x401000, 12, 3, 4, false}},
    {.type = EP_EVENT_RANGE,
     .pid = 8,
     .tid = 9,
     .u.counted = {0x401000, 0x401010, UINT64_MAX, 0, 0, true}},
    {.type = EP_EVENT_EXIT, .pid = 8, .tid = 9},
    {.type = EP_EVENT_LOST, .pid = -1, .tid = -1, .u.lost = {EP_LOST_RECORDER, 17}},
    {.type = EP_EVENT_BUILD_ID,
     .pid = -1,
     .tid = -1,
     .u.build_id = {"/bin/prog",
                    {.kind = EP_BUILD_ID_HASH, .size = 32, .bytes = {[31] = 9}},
                    true}},
    {.type = EP_EVENT_END, .pid = -1, .tid = -1, .u.end = {3, UINT64_MAX}},
};

#define N_ALL EP_ARRAY_LEN(all_events)

static struct ep_raw_writer *new_writer(const char *path, const struct ep_event_sink *tee)
{
	struct ep_raw_writer *w;

	check_ok(ep_raw_writer_create(path, &some_info, tee, &w));
	return w;
}

static void send_all(struct ep_raw_writer *w)
{
	struct ep_event_sink sink = ep_raw_writer_sink(w);

	for (size_t i = 0; i < N_ALL; i++)
		check_ok(sink.event(sink.payload, &all_events[i]));
}

static void expect_all(struct log *log)
{
	for (size_t i = 0; i < N_ALL; i++)
		check_ok(log_event(log, &all_events[i]));
}

/* A capture of all_events, in several blocks; the caller closes it. */
static struct ep_file small_capture(const char *path)
{
	struct ep_raw_writer *w = new_writer(path, NULL);
	struct ep_event_sink sink = ep_raw_writer_sink(w);
	struct ep_file file;

	for (size_t i = 0; i < N_ALL; i++) {
		check_ok(sink.event(sink.payload, &all_events[i]));
		if (i % 5 == 4)
			check_ok(ep_raw_writer_flush(w));
	}
	check_ok(ep_raw_writer_commit(w, NULL));
	check_ok(ep_file_open(path, 0, &file));
	return file;
}

/* Reads with guard pages behind the data. */
static struct ep_error *read_into(const void *data, size_t n, struct log *log,
                                  struct ep_warnings *warnings)
{
	struct ep_event_sink sink = {.event = log_event, .payload = log};
	struct ep_arena arena = {0};
	struct ep_capture_info info;
	void *guarded = check_guard(data, n);
	struct ep_error *err =
	    ep_raw_read_memory("mem", guarded, n, &sink, warnings, &arena, &info);

	check_guard_free(guarded, n);
	ep_arena_deinit(&arena);
	return err;
}

static void round_trip(void **state)
{
	struct log want = {0}, tee = {0}, got = {0};
	struct ep_event_sink tee_sink = {.event = log_event, .payload = &tee};
	struct ep_event_sink got_sink = {.event = log_event, .payload = &got};
	struct ep_raw_writer *w = new_writer("rt.epr", &tee_sink);
	struct ep_warnings warnings = {0};
	struct ep_arena arena = {0};
	struct ep_capture_info info;
	uint8_t digest[EP_DIGEST_SIZE], digest2[EP_DIGEST_SIZE];
	struct ep_file file;

	(void)state;
	expect_all(&want);
	send_all(w);
	check_ok(ep_raw_writer_commit(w, digest));
	assert_string_equal(log_text(&tee), log_text(&want));
	check_ok(ep_file_open("rt.epr", 0, &file));
	ep_digest(file.data, file.size, digest2);
	assert_memory_equal(digest, digest2, EP_DIGEST_SIZE);
	assert_true(ep_raw_detect(file.data, file.size));
	check_ok(ep_raw_read_memory("rt.epr", file.data, file.size, &got_sink, &warnings, &arena,
	                            &info));
	assert_string_equal(log_text(&got), log_text(&want));
	assert_int_equal(warnings.n, 0);
	assert_string_equal(info.host, "box");
	assert_string_equal(info.kernel, "6.1.0");
	assert_string_equal(info.cpu, "Some CPU");
	assert_string_equal(info.cpuid, "GenuineIntel,6,85,7");
	assert_string_equal(info.arch, "x86_64");
	assert_string_equal(info.cmdline, "prog --with args");
	check_u64_eq(info.t_start_ns, 50);
	check_u64_eq(info.t_end_ns, 200);
	ep_file_close(&file);
	ep_arena_deinit(&arena);
	ep_buf_deinit(&want.text);
	ep_buf_deinit(&tee.text);
	ep_buf_deinit(&got.text);
}

/* The whole file gives everything; any shorter one says so and gives what comes first. */
static void every_truncation(void **state)
{
	struct log want = {0};
	struct ep_file file = small_capture("trunc.epr");
	size_t n_errors = 0, best = 0;

	(void)state;
	expect_all(&want);
	for (size_t n = 0; n < file.size; n++) {
		struct log got = {0};
		struct ep_warnings warnings = {0};
		ep_autoerr err = read_into(file.data, n, &got, &warnings);
		if (err) {
			assert_int_equal(err->code, EP_ERROR_BAD_DATA);
			assert_int_equal(got.n_events, 0);
			n_errors++;
		} else {
			check_u64_eq(ep_warn_count(&warnings, "torn-capture"), 1);
			check_u64_eq(got.n_lost, 1);
			check_u64_eq(got.n_end, 0);
			assert_true(is_prefix(&got, &want));
			best = EP_MAX(best, got.n_events);
		}
		ep_warnings_deinit(&warnings);
		ep_buf_deinit(&got.text);
	}
	assert_true(n_errors >= 24 && n_errors < 200); /* header and first block */
	check_u64_eq(best, N_ALL);                     /* all but END, and LOST */
	ep_file_close(&file);
	ep_buf_deinit(&want.text);
}

static void every_bit_flip(void **state)
{
	struct log want = {0};
	struct ep_file file = small_capture("flip.epr");
	unsigned char *copy = malloc(file.size);

	(void)state;
	assert_non_null(copy);
	expect_all(&want);
	memcpy(copy, file.data, file.size);
	for (size_t bit = 0; bit < 8 * file.size; bit++) {
		struct log got = {0};
		struct ep_warnings warnings = {0};
		copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
		ep_autoerr err = read_into(copy, file.size, &got, &warnings);
		copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
		if (err) {
			assert_int_equal(err->code, EP_ERROR_BAD_DATA);
			assert_int_equal(got.n_events, 0);
		} else {
			check_u64_eq(warnings.n, 1);
			check_u64_eq(got.n_lost, 1);
			check_u64_eq(got.n_end, 0);
			assert_true(is_prefix(&got, &want));
		}
		ep_warnings_deinit(&warnings);
		ep_buf_deinit(&got.text);
	}
	free(copy);
	ep_file_close(&file);
	ep_buf_deinit(&want.text);
}

static void trailing_data(void **state)
{
	struct ep_file file = small_capture("trail.epr");
	unsigned char *longer = calloc(1, file.size + 1);
	struct log got = {0};
	struct ep_warnings warnings = {0};

	(void)state;
	assert_non_null(longer);
	memcpy(longer, file.data, file.size);
	check_ok(read_into(longer, file.size + 1, &got, &warnings));
	check_u64_eq(ep_warn_count(&warnings, "damaged-capture"), 1);
	check_u64_eq(got.n_lost, 1);
	ep_warnings_deinit(&warnings);
	ep_buf_deinit(&got.text);
	free(longer);
	ep_file_close(&file);
}

/* The events of a long capture, made again by number. */
static void make_event(uint64_t i, struct ep_branch branches[32], char name[32],
                       struct ep_event *ret)
{
	*ret = (struct ep_event){.pid = 100, .tid = 100 + (int32_t)(i % 4), .cpu = 1, .t_ns = i};
	if (i % 50 == 0) {
		snprintf(name, 32, "/lib/lib%llu.so", (unsigned long long)i);
		ret->type = EP_EVENT_MAP;
		ret->u.map = (struct ep_map){.start = i << 12,
		                             .len = 4096,
		                             .path = name,
		                             .build_id = gnu_id,
		                             .is_file = true};
		return;
	}
	for (uint64_t k = 0; k < 32; k++)
		branches[k] = (struct ep_branch){.from = (i * 2654435761u + k * 40503) & 0xfffff,
		                                 .to = (i * 40503 + k * 2654435761u) & 0xfffff,
		                                 .info = (i + k) & EP_INFO_PERF_MASK};
	ret->type = EP_EVENT_SAMPLE;
	ret->u.sample = (struct ep_sample){.branches = branches,
	                                   .n_branches = (uint32_t)(i % 33),
	                                   .repeat = 1,
	                                   .period = i,
	                                   .ip = i};
}

struct long_check {
	uint64_t i;
	size_t n_wrong;
};

static struct ep_error *check_long(void *payload, const struct ep_event *got)
{
	struct long_check *c = payload;
	struct ep_branch branches[32];
	struct ep_event want;
	struct log a = {0}, b = {0};
	char name[32];

	make_event(c->i++, branches, name, &want);
	EP_TRY(log_event(&a, got));
	EP_TRY(log_event(&b, &want));
	c->n_wrong += strcmp(log_text(&a), log_text(&b)) != 0;
	ep_buf_deinit(&a.text);
	ep_buf_deinit(&b.text);
	return NULL;
}

static struct ep_error *read_file(void *payload, void *buf, size_t n, size_t *n_ret)
{
	*n_ret = fread(buf, 1, n, payload);
	return NULL;
}

static void many_blocks(void **state)
{
	enum { N = 100000 };
	struct ep_raw_writer *w = new_writer("long.epr", NULL);
	struct ep_event_sink sink = ep_raw_writer_sink(w);
	struct ep_branch branches[32];
	struct long_check check = {0};
	struct ep_event_sink check_sink = {.event = check_long, .payload = &check};
	struct ep_warnings warnings = {0};
	struct ep_arena arena = {0};
	struct ep_capture_info info;
	char name[32];

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		struct ep_event event;
		make_event(i, branches, name, &event);
		check_ok(sink.event(sink.payload, &event));
	}
	check_ok(ep_raw_writer_commit(w, NULL));
	FILE *file = fopen("long.epr", "rb");
	assert_non_null(file);
	struct ep_raw_source source = {.name = "long.epr", .read = read_file, .payload = file};
	check_ok(ep_raw_read(&source, &check_sink, &warnings, &arena, &info));
	fclose(file);
	check_u64_eq(check.i, N);
	check_u64_eq(check.n_wrong, 0);
	assert_int_equal(warnings.n, 0);
	ep_arena_deinit(&arena);
}

/* Thousands of different names do not make a block that cannot be read. */
static void many_strings(void **state)
{
	enum { N = 70000 };
	struct ep_raw_writer *w = new_writer("names.epr", NULL);
	struct ep_event_sink sink = ep_raw_writer_sink(w);
	struct ep_warnings warnings = {0};
	struct log got = {0};
	struct ep_file file;
	char name[16];

	(void)state;
	for (int i = 0; i < N; i++) {
		struct ep_event event = {.type = EP_EVENT_COMM, .u.comm.name = name};
		snprintf(name, sizeof(name), "%d", i);
		check_ok(sink.event(sink.payload, &event));
	}
	check_ok(ep_raw_writer_commit(w, NULL));
	check_ok(ep_file_open("names.epr", 0, &file));
	check_ok(read_into(file.data, file.size, &got, &warnings));
	check_u64_eq(got.n_events, N);
	assert_non_null(strstr(log_text(&got), "'69999'"));
	assert_int_equal(warnings.n, 0);
	ep_file_close(&file);
	ep_buf_deinit(&got.text);
}

static void refuse(struct ep_event event)
{
	struct ep_raw_writer *w = new_writer("refuse.epr", NULL);
	struct ep_event_sink sink = ep_raw_writer_sink(w);

	check_fails(EP_ERROR_BAD_DATA, sink.event(sink.payload, &event));
	ep_raw_writer_abort(w);
}

static void limits(void **state)
{
	char *text = malloc(EP_RAW_STRING_MAX + 2);
	struct ep_branch *many = calloc(EP_RAW_BRANCHES_MAX, sizeof(*many));
	struct ep_event sample = {
	    .type = EP_EVENT_SAMPLE,
	    .u.sample = {.branches = many, .n_branches = EP_RAW_BRANCHES_MAX}};
	struct ep_warnings warnings = {0};
	struct log got = {0};
	struct ep_file file;

	(void)state;
	assert_non_null(text);
	assert_non_null(many);
	memset(text, 'a', EP_RAW_STRING_MAX + 1);
	text[EP_RAW_STRING_MAX + 1] = '\0';
	struct ep_event comm = {.type = EP_EVENT_COMM, .u.comm.name = text};
	refuse(comm);
	refuse((struct ep_event){
	    .type = EP_EVENT_SAMPLE,
	    .u.sample = {.branches = many, .n_branches = EP_RAW_BRANCHES_MAX + 1}});
	refuse((struct ep_event){.type = EP_EVENT_EDGE, .u.counted.type = EP_BRANCH_N_TYPES});
	refuse((struct ep_event){.type = EP_EVENT_LOST});
	refuse((struct ep_event){.type = (enum ep_event_type)99});
	refuse((struct ep_event){.type = EP_EVENT_MAP,
	                         .u.map = {.path = "", .build_id = {.kind = 1, .size = 33}}});
	text[EP_RAW_STRING_MAX] = '\0';
	memset(many, 0xa5, EP_RAW_BRANCHES_MAX * sizeof(*many));
	struct ep_raw_writer *w = new_writer("limits.epr", NULL);
	struct ep_event_sink sink = ep_raw_writer_sink(w);
	check_ok(sink.event(sink.payload, &comm));
	check_ok(sink.event(sink.payload, &sample));
	check_ok(ep_raw_writer_commit(w, NULL));
	check_ok(ep_file_open("limits.epr", 0, &file));
	check_ok(read_into(file.data, file.size, &got, &warnings));
	check_u64_eq(got.n_events, 2);
	assert_int_equal(warnings.n, 0);
	ep_file_close(&file);
	ep_buf_deinit(&got.text);
	free(text);
	free(many);
}

static void failing_sinks(void **state)
{
	struct log tee = {.fail_at = 3};
	struct ep_event_sink tee_sink = {.event = log_event, .payload = &tee};
	struct ep_raw_writer *w = new_writer("fail.epr", &tee_sink);
	struct ep_event_sink sink = ep_raw_writer_sink(w);
	struct stat st;

	(void)state;
	check_ok(sink.event(sink.payload, &all_events[0]));
	check_ok(sink.event(sink.payload, &all_events[1]));
	check_fails(EP_ERROR_INTERRUPTED, sink.event(sink.payload, &all_events[2]));
	ep_raw_writer_abort(w);
	assert_int_equal(stat("fail.epr", &st), -1);
	ep_buf_deinit(&tee.text);

	struct ep_file file = small_capture("fail2.epr");
	struct log got = {.fail_at = 4};
	check_fails(EP_ERROR_INTERRUPTED, read_into(file.data, file.size, &got, NULL));
	ep_file_close(&file);
	ep_buf_deinit(&got.text);
	ep_raw_writer_abort(NULL);
}

static void other_files(void **state)
{
	struct ep_file file = small_capture("other.epr");
	struct log got = {0};

	(void)state;
	check_fails(EP_ERROR_BAD_DATA, read_into("", 0, &got, NULL));
	check_fails(EP_ERROR_BAD_DATA, read_into("PERFILE2________", 16, &got, NULL));
	assert_false(ep_raw_detect(file.data, 7));
	ep_file_close(&file);
	ep_buf_deinit(&got.text);
}

/* The file of the worked example in FORMAT.md: the lines that go on at the offset reached. */
static size_t read_dump(unsigned char *ret, size_t max)
{
	FILE *file = fopen(EP_FORMAT_MD, "r");
	char line[256];
	size_t n = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		unsigned offset, byte;
		int used, step;
		if (sscanf(line, "%4x: %n", &offset, &used) != 1 || offset != n)
			continue;
		while (n < max && sscanf(line + used, "%2x%n", &byte, &step) == 1) {
			ret[n++] = (unsigned char)byte;
			used += step;
			if (line[used] == ' ')
				used++;
			if (line[used] == ' ' || line[used] == '|')
				break;
		}
	}
	fclose(file);
	return n;
}

static void worked_dump(void **state)
{
	static const char want[] =
	    "3 pid=7 tid=7 cpu=4294967295 t=10 400000+1000@0 '/p' 10 id=1/2:"
	    "abcd000000000000000000000000000000000000000000000000000000000000\n"
	    "8 pid=7 tid=8 cpu=0 t=25 flags=0 mask=ffffffff ip=400120 period=1000 repeat=1 "
	    "stream=0 n=2 400110>400100/400002 400104>400108/100001\n"
	    "12 pid=-1 tid=-1 cpu=4294967295 t=25 1 0\n";
	unsigned char dump[1024];
	size_t n = read_dump(dump, sizeof(dump));
	struct ep_warnings warnings = {0};
	struct log got = {0};

	(void)state;
	check_ok(read_into(dump, n, &got, &warnings));
	assert_int_equal(warnings.n, 0);
	assert_string_equal(log_text(&got), want);
	ep_buf_deinit(&got.text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(round_trip),     cmocka_unit_test(every_truncation),
	    cmocka_unit_test(every_bit_flip), cmocka_unit_test(trailing_data),
	    cmocka_unit_test(many_blocks),    cmocka_unit_test(many_strings),
	    cmocka_unit_test(limits),         cmocka_unit_test(failing_sinks),
	    cmocka_unit_test(other_files),    cmocka_unit_test(worked_dump),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
