/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: headers of file and pipe, both byte orders, events, damage. */
#include "perf_data_case.h"

static void add_usual(struct perf_builder *b)
{
	pb_add_attr(b, &(struct pb_attr){.sample_type = ST_USUAL,
	                                 .period = 4000,
	                                 .branch_type = PERF_BRANCH_ANY | 1,
	                                 .ids = {10},
	                                 .n_ids = 1,
	                                 .name = "cycles:u"});
}

static void add_sample(struct perf_builder *b, uint32_t attr, uint64_t t_ns, unsigned n)
{
	pb_sample(b, &(struct pb_sample){.attr = attr,
	                                 .pid = 7,
	                                 .tid = 8,
	                                 .t_ns = t_ns,
	                                 .ip = 0x401100,
	                                 .period = 4001,
	                                 .branches = two_branches,
	                                 .n_branches = n});
}

#define STREAM "STREAM -1/-1 @0 0 cycles:u sampling=3 period=4000\n"
#define SAMPLE_1000                                                                                \
	"SAMPLE 7/8 @1000 ip=401100 period=4001 stream=0 n=2 401010>401100P/7/0 "                  \
	"401200>401000M/0/0\n"
#define SAMPLE_2000 "SAMPLE 7/8 @2000 ip=401100 period=4001 stream=0 n=1 401010>401100P/7/0\n"
#define END "END -1/-1 @0 \n"

static void test_file_and_pipe_of_both_byte_orders(void **state)
{
	(void)state;
	for (int i = 0; i < 12; i++) {
		struct perf_builder b;
		struct outcome o;
		bool pipe = i & 1, big = i & 2;
		size_t piece = (size_t[]){0, 1, 4096}[i / 4];
		pb_init(&b, big, pipe);
		add_usual(&b);
		pb_feature_string(&b, PERF_FEAT_HOSTNAME, "box");
		add_sample(&b, 0, 1000, 2);
		add_sample(&b, 0, 2000, 1);
		run_builder(&b, piece, &o);
		if (pipe || !piece)
			check_text(&o, STREAM SAMPLE_1000 SAMPLE_2000 END);
		else /* a file through a pipe tells its names behind the samples */
			check_text(&o,
			           "STREAM -1/-1 @0 0 cycles sampling=3 period=4000\n" SAMPLE_1000
			               SAMPLE_2000 STREAM END);
		assert_string_equal(o.info.host, "box");
		check_u64_eq(o.info.t_start_ns, 1000);
		check_u64_eq(o.info.t_end_ns, 2000);
		check_u64_eq(o.warnings.n, !pipe && piece);
		check_u64_eq(ep_warn_count(&o.warnings, "late-header"), !pipe && piece);
		check_u64_eq(o.text.n_stable, piece || big ? 0 : 2);
		outcome_deinit(&o);
	}
}

/* Stored on the way, a file through a pipe gives the same as a mapped one. */
static void test_file_through_a_pipe(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	unsetenv("TMPDIR");
	pb_init(&b, false, false);
	add_usual(&b);
	add_sample(&b, 0, 1000, 2);
	add_sample(&b, 0, 2000, 1);
	run_builder(&b, 7, &o);
	check_text(&o, STREAM SAMPLE_1000 SAMPLE_2000 END);
	check_u64_eq(o.warnings.n, 0);
	outcome_deinit(&o);
	no_temporary_files();
}

static void test_version_1_magic(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, big, false);
		b.magic = "PERFFILE";
		add_usual(&b);
		add_sample(&b, 0, 1000, 2);
		run_builder(&b, 0, &o);
		check_text(&o, STREAM SAMPLE_1000 END);
		outcome_deinit(&o);
	}
}

/* Sizes of all versions so far, odd ones, and one from the future. */
static void test_attr_sizes(void **state)
{
	(void)state;
	const uint32_t sizes[] = {64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 500};

	for (size_t i = 0; i < 4 * EP_ARRAY_LEN(sizes); i++) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, i & 1, i & 2);
		pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL,
		                                  .period = 4000,
		                                  .size = sizes[i / 4],
		                                  .branch_type = PERF_BRANCH_ANY,
		                                  .ids = {10},
		                                  .n_ids = 1});
		b.attr_stride = i % 3 ? 0 : 600;
		add_sample(&b, 0, 1000, 2);
		run_builder(&b, 0, &o);
		check_text(&o, "STREAM -1/-1 @0 0 cycles sampling=3 period=4000\n" SAMPLE_1000 END);
		check_u64_eq(o.warnings.n, 0);
		outcome_deinit(&o);
	}
}

static void test_headers_that_make_no_sense(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;
	unsigned char file[600];

	pb_init(&b, false, false);
	add_usual(&b);
	const struct ep_buf *out = pb_finish(&b);
	size_t n = EP_MIN(out->n, sizeof(file));
	/* The header's size; bytes of an attr; where attrs are; how many bytes of them. */
	const size_t places[] = {8, 16, 24, 32};
	for (size_t i = 0; i < EP_ARRAY_LEN(places); i++) {
		memcpy(file, out->v, n);
		memset(file + places[i], i == 3 ? 0 : 0x2a, 8);
		run_bytes(file, n, 0, &o);
		assert_non_null(o.err);
		assert_int_equal(o.err->code, EP_ERROR_BAD_DATA);
		outcome_deinit(&o);
	}
	for (size_t cut = 0; cut < 104; cut++) {
		run_bytes(out->v, cut, 0, &o);
		assert_non_null(o.err);
		assert_int_equal(o.err->code, EP_ERROR_BAD_DATA);
		outcome_deinit(&o);
	}
	assert_false(ep_perf_data_detect("PERFIL", 6));
	assert_false(ep_perf_data_detect("PERFILE3", 8));
	pb_deinit(&b);
}

static void add_two_events(struct perf_builder *b, uint64_t common, uint64_t only_second)
{
	pb_add_attr(b, &(struct pb_attr){.config = 0,
	                                 .sample_type = ST_USUAL | common,
	                                 .ids = {10, 11},
	                                 .n_ids = 2,
	                                 .name = "cycles:u"});
	pb_add_attr(b, &(struct pb_attr){.config = 1,
	                                 .sample_type = ST_USUAL | common | only_second,
	                                 .ids = {20, 21},
	                                 .n_ids = 2,
	                                 .name = "instructions:u"});
}

/* Told apart by IDENTIFIER, by ID, both also where the rest of their samples differs. */
static void test_several_events(void **state)
{
	(void)state;
	const uint64_t kinds[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_ID};

	for (int i = 0; i < 16; i++) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, i & 1, i & 2);
		add_two_events(&b, kinds[i >> 2 & 1], i & 8 ? PERF_SAMPLE_CALLCHAIN : 0);
		pb_mmap(&b, 7, 0x1000, 0x1000, 0, "/x", 2, 500);
		for (uint64_t id = 10; id < 30; id += id == 11 ? 9 : 1) {
			if (id > 21)
				break;
			pb_sample(&b, &(struct pb_sample){.attr = id >= 20,
			                                  .id = id,
			                                  .pid = 7,
			                                  .tid = 7,
			                                  .t_ns = 1000 + id,
			                                  .n_callchain = 3,
			                                  .branches = two_branches,
			                                  .n_branches = 1});
		}
		run_builder(&b, 0, &o);
		check_text(&o,
		           "MAP 7/7 @500 1000+1000@0 /x\n"
		           "STREAM -1/-1 @0 0 cycles:u sampling=3 period=0\n"
		           "SAMPLE 7/7 @1010 ip=0 period=0 stream=0 n=1 401010>401100P/7/0\n"
		           "SAMPLE 7/7 @1011 ip=0 period=0 stream=0 n=1 401010>401100P/7/0\n"
		           "STREAM -1/-1 @0 1 instructions:u sampling=2 period=0\n"
		           "SAMPLE 7/7 @1020 ip=0 period=0 stream=1 n=1 401010>401100P/7/0\n"
		           "SAMPLE 7/7 @1021 ip=0 period=0 stream=1 n=1 401010>401100P/7/0\n" END);
		outcome_deinit(&o);
	}
}

/* Without ids: agreeing layouts are read as one event of unknown sampling, others refused. */
static void test_events_without_ids(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	pb_init(&b, false, false);
	add_two_events(&b, 0, 0);
	add_sample(&b, 1, 1000, 2);
	run_builder(&b, 0, &o);
	check_text(&o, "STREAM -1/-1 @0 0 cycles:u sampling=0 period=0\n" SAMPLE_1000 END);
	check_u64_eq(ep_warn_count(&o.warnings, "ambiguous-event"), 1);
	outcome_deinit(&o);

	pb_init(&b, false, false);
	add_two_events(&b, 0, PERF_SAMPLE_CALLCHAIN);
	add_sample(&b, 1, 1000, 2);
	const struct ep_buf *out = pb_finish(&b);
	run_bytes(out->v, out->n, 0, &o);
	assert_non_null(o.err);
	assert_int_equal(o.err->code, EP_ERROR_UNSUPPORTED);
	assert_non_null(o.err->hint);
	outcome_deinit(&o);
	pb_deinit(&b);
}

static void test_unknown_event_id(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	pb_init(&b, false, false);
	add_two_events(&b, PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_CALLCHAIN);
	pb_sample(&b, &(struct pb_sample){.id = 999, .t_ns = 5});
	add_sample(&b, 0, 1000, 2);
	run_builder(&b, 0, &o);
	check_u64_eq(o.text.n_corrupt, 1);
	check_u64_eq(o.text.n_samples, 1);
	outcome_deinit(&o);
}

/* In a pipe, EVENT_UPDATE gives an event its name. */
static void test_event_update(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;
	struct ep_buf body = {0};

	pb_init(&b, true, true);
	pb_add_attr(
	    &b, &(struct pb_attr){
	            .type = 4, .config = 0x1234, .sample_type = ST_USUAL, .ids = {10}, .n_ids = 1});
	pb_u64(&b, &body, 2);
	pb_u64(&b, &body, 10);
	ep_buf_put(&body, "my_event", 9);
	pb_record(&b, PERF_EVENT_UPDATE, 0, body.v, body.n);
	ep_buf_deinit(&body);
	add_sample(&b, 0, 1000, 2);
	run_builder(&b, 0, &o);
	check_has(&o, "STREAM -1/-1 @0 0 my_event ");
	outcome_deinit(&o);
}

/* data.size 0 and no features: read to the end of the file, no clean end. */
static void test_killed_recorder(void **state)
{
	(void)state;
	for (size_t piece = 0; piece < 100; piece += 99) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, false, false);
		b.unfinished = true;
		add_usual(&b);
		pb_feature_string(&b, PERF_FEAT_HOSTNAME, "never written");
		add_sample(&b, 0, 1000, 2);
		add_sample(&b, 0, 2000, 1);
		run_builder(&b, piece, &o);
		check_text(
		    &o,
		    "STREAM -1/-1 @0 0 cycles sampling=3 period=4000\n" SAMPLE_1000 SAMPLE_2000);
		check_u64_eq(ep_warn_count(&o.warnings, "unfinished"), 1);
		outcome_deinit(&o);
	}
}

/* Every prefix of a file and of a pipe: the samples that are whole, no crash, no clean end. */
static void test_every_truncation(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct perf_builder b;
		pb_init(&b, i & 1, i & 2);
		add_usual(&b);
		pb_feature_string(&b, PERF_FEAT_HOSTNAME, "box");
		pb_build_id(&b, 2, "\1\2\3\4", 4, true, "/x");
		add_sample(&b, 0, 1000, 2);
		pb_comm(&b, 7, "name", true, 1500);
		add_sample(&b, 0, 2000, 1);
		const struct ep_buf *out = pb_finish(&b);
		uint64_t last = 0;
		for (size_t n = 0; n < out->n; n++) {
			struct outcome o;
			run_bytes(out->v, n, n % 5, &o);
			assert_true(!o.err || o.err->code == EP_ERROR_BAD_DATA);
			assert_true(o.text.n_samples >= last);
			last = o.text.n_samples;
			outcome_deinit(&o);
		}
		check_u64_eq(last, 2);
		pb_deinit(&b);
	}
}

static void test_torn_last_record_is_counted(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	pb_init(&b, false, true);
	add_usual(&b);
	add_sample(&b, 0, 1000, 2);
	add_sample(&b, 0, 2000, 1);
	const struct ep_buf *out = pb_finish(&b);
	run_bytes(out->v, out->n - 9, 0, &o);
	check_ok(o.err);
	check_u64_eq(o.text.n_samples, 1);
	check_u64_eq(o.text.n_corrupt, 1);
	assert_false(o.text.ended);
	outcome_deinit(&o);
	pb_deinit(&b);
}

/* Where the records end, by a file's header. */
static uint64_t end_of_records(const struct ep_buf *file)
{
	return ep_load_u64(file->v + 40, false) + ep_load_u64(file->v + 48, false);
}

/* The header tells how much is missing, also where the cut is between two records. */
static void test_cut_between_records_is_counted(void **state)
{
	(void)state;
	struct perf_builder whole, start;
	struct outcome o;

	pb_init(&start, false, false);
	add_usual(&start);
	add_sample(&start, 0, 1000, 2);
	pb_init(&whole, false, false);
	add_usual(&whole);
	add_sample(&whole, 0, 1000, 2);
	for (int i = 0; i < 2000; i++)
		add_sample(&whole, 0, 2000, 2);
	size_t n = (size_t)end_of_records(pb_finish(&start));
	const struct ep_buf *out = pb_finish(&whole);
	for (size_t piece = 0; piece < 100; piece += 99) {
		for (size_t more = 0; more < 16; more += 8) {
			run_bytes(out->v, n + more, piece, &o);
			check_ok(o.err);
			check_u64_eq(o.text.n_samples, 1);
			/* As many as must have been in that many bytes. */
			check_u64_eq(o.text.n_corrupt, (end_of_records(out) - n + 65534) / 65535);
			assert_true(o.text.n_corrupt > 1);
			check_u64_eq(ep_warn_count(&o.warnings, "truncated"), 1);
			assert_false(o.text.ended);
			outcome_deinit(&o);
		}
	}
	pb_deinit(&start);
	pb_deinit(&whole);
}

/* Behind a record without size the walk finds the next one, wherever it starts. */
static void test_resync(void **state)
{
	(void)state;
	static const unsigned char junk[100000] = {0, 0, 0, 0, 0, 0, 0, 0, 5};

	for (int i = 0; i < 12; i++) {
		struct perf_builder b;
		struct outcome o;
		const size_t sizes[] = {8, 13, sizeof(junk)};
		pb_init(&b, i & 1, i & 2);
		add_usual(&b);
		add_sample(&b, 0, 1000, 2);
		pb_bytes(&b, junk, sizes[i / 4]);
		for (int k = 0; k < 5; k++)
			add_sample(&b, 0, 2000, 1);
		run_builder(&b, i & 4 ? 777 : 0, &o);
		check_u64_eq(o.text.n_samples, 6);
		check_u64_eq(o.text.n_corrupt, 1);
		check_u64_eq(ep_warn_count(&o.warnings, "bad-record"), 1);
		outcome_deinit(&o);
	}
}

static void test_unknown_records_and_payloads_are_skipped(void **state)
{
	(void)state;
	static const unsigned char fake[64] = {9, 0, 0, 0, 0, 0, 8, 0};
	for (int i = 0; i < 4; i++) {
		struct perf_builder b;
		struct outcome o;
		struct ep_buf body = {0};
		pb_init(&b, i & 1, i & 2);
		add_usual(&b);
		pb_record(&b, 200, 0, fake, 64);
		pb_record(&b, 79, 0, fake, 64);  /* TIME_CONV with surplus bytes */
		pb_u64(&b, &body, sizeof(fake)); /* AUXTRACE: payload not in its size */
		ep_buf_put(&body, fake, 32);
		pb_record(&b, PERF_AUXTRACE, 0, body.v, body.n);
		pb_bytes(&b, fake, sizeof(fake));
		body.n = 0;
		pb_u32(&b, &body, 59); /* TRACING_DATA: padded to 64 */
		pb_u32(&b, &body, 0);
		pb_record(&b, PERF_TRACING_DATA, 0, body.v, body.n);
		pb_bytes(&b, fake, 64);
		ep_buf_deinit(&body);
		add_sample(&b, 0, 1000, 2);
		run_builder(&b, i & 2 ? 50 : 0, &o);
		check_text(&o, STREAM SAMPLE_1000 END);
		check_u64_eq(ep_warn_count(&o.warnings, "unknown-record"), 1);
		check_u64_eq(o.warnings.n, 1);
		outcome_deinit(&o);
	}
}

static void test_sample_before_its_event(void **state)
{
	(void)state;
	struct perf_builder b, empty;
	struct outcome o;
	struct ep_buf all = {0};

	pb_init(&empty, false, true);
	pb_record(&empty, PERF_SAMPLE, 0, "12345678", 8);
	const struct ep_buf *first = pb_finish(&empty);
	pb_init(&b, false, true);
	add_usual(&b);
	add_sample(&b, 0, 1000, 2);
	const struct ep_buf *second = pb_finish(&b);
	ep_buf_put(&all, first->v, first->n);
	ep_buf_put(&all, second->v + 16, second->n - 16);
	run_bytes(all.v, all.n, 0, &o);
	check_ok(o.err);
	check_u64_eq(o.text.n_samples, 1);
	check_u64_eq(o.text.n_corrupt, 1);
	outcome_deinit(&o);
	ep_buf_deinit(&all);
	pb_deinit(&b);
	pb_deinit(&empty);
}

/* Events may be described in front of any sample: their ids join those known so far. */
static void test_events_described_late(void **state)
{
	(void)state;
	struct perf_builder b[2];
	struct outcome o;
	struct ep_buf all = {0};
	const uint64_t ids[2][2] = {{10, 30}, {5, 20}};

	for (int i = 0; i < 2; i++) {
		pb_init(&b[i], false, true);
		pb_add_attr(&b[i],
		            &(struct pb_attr){.config = (uint64_t)i,
		                              .sample_type = ST_USUAL | PERF_SAMPLE_IDENTIFIER,
		                              .ids = {ids[i][0], ids[i][1]},
		                              .n_ids = 2});
		for (int k = 0; k < 4; k++)
			pb_sample(&b[i], &(struct pb_sample){.id = ids[i ? k & 1 : 0][k >> 1],
			                                     .t_ns = 100 + (uint64_t)(i * 10 + k)});
		const struct ep_buf *out = pb_finish(&b[i]);
		ep_buf_put(&all, out->v + 16 * i, out->n - 16 * (size_t)i);
	}
	run_bytes(all.v, all.n, 0, &o);
	check_ok(o.err);
	check_u64_eq(o.text.n_samples, 8);
	check_u64_eq(o.text.n_corrupt, 0);
	check_has(&o, "SAMPLE 0/0 @110 ip=0 period=0 stream=0 ");
	check_has(&o, "SAMPLE 0/0 @111 ip=0 period=0 stream=1 ");
	check_has(&o, "SAMPLE 0/0 @112 ip=0 period=0 stream=0 ");
	check_has(&o, "SAMPLE 0/0 @113 ip=0 period=0 stream=1 ");
	outcome_deinit(&o);
	ep_buf_deinit(&all);
	pb_deinit(&b[0]);
	pb_deinit(&b[1]);
}

/* A record that would reach over the end of the data section into what follows. */
static void test_record_over_the_end_of_data(void **state)
{
	(void)state;
	for (size_t piece = 0; piece < 100; piece += 99) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, false, false);
		add_usual(&b);
		pb_feature_string(&b, PERF_FEAT_HOSTNAME, "box");
		add_sample(&b, 0, 1000, 2);
		size_t last = b.data.n;
		add_sample(&b, 0, 2000, 1);
		b.data.v[last + 6] += 8;
		run_builder(&b, piece, &o);
		check_u64_eq(o.text.n_samples, 1);
		check_u64_eq(o.text.n_corrupt, 1);
		assert_false(o.text.ended);
		outcome_deinit(&o);
	}
}

static struct ep_error *refuse(void *payload, const struct ep_event *event)
{
	(void)payload;
	return event->type == EP_EVENT_SAMPLE ? ep_error_create(EP_ERROR_INTERRUPTED, "enough")
	                                      : NULL;
}

static void test_sink_errors_end_the_run(void **state)
{
	(void)state;
	struct perf_builder b;
	struct ep_input in;
	struct ep_capture_info info;
	struct ep_event_sink sink = {.event = refuse};

	pb_init(&b, false, false);
	add_usual(&b);
	add_sample(&b, 0, 1000, 2);
	const struct ep_buf *out = pb_finish(&b);
	check_ok(ep_input_open_memory("t", out->v, out->n, 0, &in));
	check_fails(EP_ERROR_INTERRUPTED, ep_perf_data_run(&in, &sink, NULL, &info));
	ep_input_close(&in);
	pb_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_file_and_pipe_of_both_byte_orders),
	    cmocka_unit_test(test_file_through_a_pipe),
	    cmocka_unit_test(test_version_1_magic),
	    cmocka_unit_test(test_attr_sizes),
	    cmocka_unit_test(test_headers_that_make_no_sense),
	    cmocka_unit_test(test_several_events),
	    cmocka_unit_test(test_events_without_ids),
	    cmocka_unit_test(test_unknown_event_id),
	    cmocka_unit_test(test_event_update),
	    cmocka_unit_test(test_killed_recorder),
	    cmocka_unit_test(test_every_truncation),
	    cmocka_unit_test(test_cut_between_records_is_counted),
	    cmocka_unit_test(test_torn_last_record_is_counted),
	    cmocka_unit_test(test_resync),
	    cmocka_unit_test(test_unknown_records_and_payloads_are_skipped),
	    cmocka_unit_test(test_sample_before_its_event),
	    cmocka_unit_test(test_events_described_late),
	    cmocka_unit_test(test_record_over_the_end_of_data),
	    cmocka_unit_test(test_sink_errors_end_the_run),
	};

	no_temporary_files();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
