/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: order of time in bounded memory, compressed records. */
#include "perf_data_case.h"

#include "import/perf_data_order.h"

static void begin(struct perf_builder *b, bool big_endian, bool pipe)
{
	pb_init(b, big_endian, pipe);
	pb_add_attr(b, &(struct pb_attr){.sample_type = ST_USUAL, .ids = {10}, .n_ids = 1});
}

static void add_sample(struct perf_builder *b, uint64_t t_ns, unsigned n)
{
	pb_sample(b, &(struct pb_sample){
	                 .pid = 7, .t_ns = t_ns, .branches = two_branches, .n_branches = n});
}

/* The times of the events in the order they came, and whether that is ascending. */
struct times {
	uint64_t n, last;
	bool ordered;
};

static struct ep_error *on_time(void *payload, const struct ep_event *event)
{
	struct times *times = payload;

	if (event->type != EP_EVENT_SAMPLE)
		return NULL;
	times->ordered &= event->t_ns >= times->last;
	times->last = event->t_ns;
	times->n++;
	return NULL;
}

static struct times run_times(struct perf_builder *b, size_t piece, struct ep_warnings *warnings)
{
	struct times times = {.ordered = true};
	struct ep_event_sink sink = {.event = on_time, .payload = &times};
	struct ep_input in;
	struct ep_capture_info info;
	const struct ep_buf *out = pb_finish(b);

	check_ok(ep_input_open_memory("t", out->v, out->n, piece, &in));
	check_ok(ep_perf_data_run(&in, &sink, warnings, &info));
	ep_input_close(&in);
	pb_deinit(b);
	return times;
}

/* Two CPUs' buffers a round: the later one starts before the end of the first. */
static void test_rounds(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct perf_builder b;
		struct ep_warnings warnings = {0};
		begin(&b, i & 1, i & 2);
		for (uint64_t round = 1; round < 20; round++) {
			for (uint64_t k = 0; k < 10; k++)
				add_sample(&b, round * 1000 + k * 100, 1);
			/* Those of the second reach back to the round before. */
			for (uint64_t k = 0; k < 13; k++)
				add_sample(&b, round * 1000 - 450 + k * 90, 1);
			pb_round(&b);
		}
		struct times times = run_times(&b, i & 4 ? 1000 : 0, &warnings);
		check_u64_eq(times.n, 19 * 23);
		assert_true(times.ordered);
		check_u64_eq(warnings.n, ep_warn_count(&warnings, "late-header"));
		ep_warnings_deinit(&warnings);
	}
}

/* The map that a sample needs came later in the file, but before it in time. */
static void test_maps_and_samples_in_order(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	begin(&b, false, true);
	add_sample(&b, 200, 0);
	add_sample(&b, 400, 0);
	pb_comm(&b, 7, "x", true, 100);
	pb_mmap(&b, 7, 0x1000, 0x1000, 0, "/a", 2, 150);
	pb_task(&b, false, 7, 1, 0, 300);
	pb_round(&b);
	run_builder(&b, 0, &o);
	check_text(&o, "EXEC 7/7 @100 \nCOMM 7/7 @100 x\n"
	               "MAP 7/7 @150 1000+1000@0 /a\n"
	               "STREAM -1/-1 @0 0 cycles sampling=3 period=0\n"
	               "SAMPLE 7/0 @200 ip=0 period=0 stream=0 n=0\n"
	               "EXIT 7/7 @300 \n"
	               "SAMPLE 7/0 @400 ip=0 period=0 stream=0 n=0\nEND -1/-1 @0 \n");
	outcome_deinit(&o);
}

struct collect {
	uint64_t t[4096];
	uint32_t attr[4096];
	size_t n;
};

static struct ep_error *collect(void *payload, const struct ep_perf_item *item)
{
	struct collect *c = payload;

	assert_true(c->n < EP_ARRAY_LEN(c->t));
	c->t[c->n] = item->t_ns;
	c->attr[c->n++] = item->attr;
	return NULL;
}

/* Random times: sorted, and stable where they are equal. */
static void test_order_is_stable(void **state)
{
	(void)state;
	struct collect c = {0};
	struct ep_perf_order order = {
	    .max_items = 10000, .max_chunks = 4, .deliver = collect, .payload = &c};
	uint32_t x = 12345;

	for (uint32_t i = 0; i < 4000; i++) {
		x = x * 1664525 + 1013904223;
		check_ok(ep_perf_order_add(&order, &(struct ep_perf_item){.t_ns = 1 + x / 7777777,
		                                                          .chunk = EP_PERF_NO_CHUNK,
		                                                          .attr = i}));
	}
	check_ok(ep_perf_order_flush(&order));
	check_u64_eq(c.n, 4000);
	for (size_t i = 1; i < c.n; i++)
		assert_true(c.t[i - 1] < c.t[i] ||
		            (c.t[i - 1] == c.t[i] && c.attr[i - 1] < c.attr[i]));
	check_u64_eq(order.n_late, 0);
	ep_perf_order_deinit(&order);
}

/* Over the limit the older half goes out; what comes too late then is counted. */
static void test_limit_of_items(void **state)
{
	(void)state;
	struct collect c = {0};
	struct ep_perf_order order = {
	    .max_items = 100, .max_chunks = 4, .deliver = collect, .payload = &c};

	for (uint64_t i = 0; i < 1000; i++) {
		check_ok(ep_perf_order_add(
		    &order, &(struct ep_perf_item){.t_ns = 1000 + i, .chunk = EP_PERF_NO_CHUNK}));
		assert_true(order.items.n - order.head <= 101);
	}
	assert_true(c.n >= 899);
	check_ok(ep_perf_order_add(&order,
	                           &(struct ep_perf_item){.t_ns = 5, .chunk = EP_PERF_NO_CHUNK}));
	check_ok(ep_perf_order_flush(&order));
	check_u64_eq(c.n, 1001);
	check_u64_eq(order.n_late, 1);
	ep_perf_order_deinit(&order);
}

/* Copies of records do not pile up either, and each stays whole until it is delivered. */
static void test_limit_of_chunks(void **state)
{
	(void)state;
	static unsigned char rec[60000];
	struct collect c = {0};
	struct ep_perf_order order = {
	    .max_items = 10000, .max_chunks = 5, .deliver = collect, .payload = &c};

	for (uint64_t i = 0; i < 1000; i++) {
		struct ep_perf_item item = {.t_ns = 1 + i};
		check_ok(ep_perf_order_copy(&order, rec, sizeof(rec), &item));
		check_ok(ep_perf_order_add(&order, &item));
		assert_true(order.n_used_chunks <= 6);
	}
	assert_true(order.chunks.n <= 7);
	check_ok(ep_perf_order_flush(&order));
	check_u64_eq(c.n, 1000);
	ep_perf_order_deinit(&order);
}

static void test_late_records_are_warned_of(void **state)
{
	(void)state;
	struct perf_builder b;
	struct ep_warnings warnings = {0};

	begin(&b, false, false);
	for (uint64_t i = 1; i <= 5; i++) {
		add_sample(&b, i * 100, 1);
		pb_round(&b);
	}
	add_sample(&b, 50, 1);
	struct times times = run_times(&b, 0, &warnings);
	check_u64_eq(times.n, 6);
	check_u64_eq(ep_warn_count(&warnings, "late-records"), 1);
	ep_warnings_deinit(&warnings);
}

/* 81 and 83, records across the compressed pieces, zstd stream over all packs. */
static void test_compressed(void **state)
{
	(void)state;
	for (int i = 0; i < 32; i++) {
		struct perf_builder b;
		struct ep_warnings warnings = {0};
		begin(&b, i & 1, i & 2);
		for (uint64_t pack = 0; pack < 20; pack++) {
			pb_pack_begin(&b);
			for (uint64_t k = 0; k < 50; k++)
				add_sample(&b, 1 + pack * 50 + (k ^ 1), k % 3);
			pb_pack_end(&b, i & 4 ? PERF_COMPRESSED : PERF_COMPRESSED2, i & 8 ? 37 : 0);
			pb_round(&b);
		}
		struct times times = run_times(&b, i & 16 ? 333 : 0, &warnings);
		check_u64_eq(times.n, 1000);
		assert_true(times.ordered);
		check_u64_eq(warnings.n, ep_warn_count(&warnings, "late-header"));
		ep_warnings_deinit(&warnings);
	}
}

/* Records of 60 kB, so that the decompressed stream wraps from chunk to chunk. */
static void test_compressed_large_records(void **state)
{
	(void)state;
	static struct ep_branch many[2500];
	struct perf_builder b;
	struct outcome o;

	for (size_t i = 0; i < EP_ARRAY_LEN(many); i++)
		many[i] = (struct ep_branch){i, i + 1, i << 4};
	begin(&b, false, false);
	pb_pack_begin(&b);
	for (uint64_t k = 0; k < 200; k++)
		pb_sample(&b, &(struct pb_sample){
		                  .t_ns = 1 + k, .branches = many, .n_branches = 2500 - k});
	pb_pack_end(&b, PERF_COMPRESSED, 1000);
	run_builder(&b, 0, &o);
	check_u64_eq(o.text.n_samples, 200);
	check_u64_eq(o.text.n_branches, 200 * 2500 - 199 * 100);
	check_u64_eq(o.text.n_stable, 0);
	check_u64_eq(o.text.n_corrupt, 0);
	outcome_deinit(&o);
}

/* Branches that do not compress, so that a pack becomes about n * 24 bytes. */
static void add_noise(struct perf_builder *b, unsigned n, uint64_t *seed, uint64_t t_ns)
{
	static struct ep_branch noise[2000];

	for (unsigned i = 0; i < n; i++)
		for (int k = 0; k < 3; k++) {
			*seed ^= *seed << 13;
			*seed ^= *seed >> 7;
			*seed ^= *seed << 17;
			((uint64_t *)&noise[i])[k] = *seed;
		}
	pb_sample(b, &(struct pb_sample){.t_ns = t_ns, .branches = noise, .n_branches = n});
}

/* COMPRESSED2 whose 16-bit size overflowed: one record, and several under one data size. */
static void test_oversized_compressed2(void **state)
{
	(void)state;
	for (int i = 0; i < 12; i++) {
		struct perf_builder b;
		struct outcome o;
		uint64_t seed = 88172645463325252u;
		const unsigned n_samples[] = {1, 4, 12};
		begin(&b, i & 1, i & 2);
		pb_pack_begin(&b);
		add_noise(&b, 100, &seed, 5);
		pb_pack_end(&b, PERF_COMPRESSED2, 0);
		pb_pack_begin(&b);
		/* 65,515 bytes still are one record; more are several. */
		if (i / 4 == 0) {
			pb_comm(&b, 7, "x", false, 7);
			add_noise(&b, 724, &seed, 8);
		}
		for (unsigned k = 0; k < n_samples[i / 4]; k++)
			add_noise(&b, 2000, &seed, 10 + k);
		pb_pack_end_oversized(&b, i & 2);
		add_sample(&b, 100, 2);
		pb_pack_begin(&b);
		add_noise(&b, 100, &seed, 200);
		pb_pack_end(&b, PERF_COMPRESSED2, 0);
		run_builder(&b, i & 1 ? 999 : 0, &o);
		check_u64_eq(o.text.n_samples, 3 + n_samples[i / 4] + (i / 4 == 0));
		check_u64_eq(o.text.n_corrupt, 0);
		check_u64_eq(ep_warn_count(&o.warnings, "oversized-record"), 1);
		outcome_deinit(&o);
	}
}

static void test_damaged_compression(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	begin(&b, false, false);
	add_sample(&b, 1, 1);
	pb_record(&b, PERF_COMPRESSED, 0, "no zstd data", 12);
	pb_record(&b, PERF_COMPRESSED, 0, "no zstd data", 12);
	pb_record(&b, PERF_COMPRESSED2, 0, "\x64\0\0\0\0\0\0\0", 8);
	pb_record(&b, PERF_COMPRESSED2, 0, "", 0);
	add_sample(&b, 2, 1);
	run_builder(&b, 0, &o);
	check_u64_eq(o.text.n_samples, 2);
	check_u64_eq(o.text.n_corrupt, 4);
	check_u64_eq(ep_warn_count(&o.warnings, "bad-compression"), 2);
	outcome_deinit(&o);
}

/* Damage inside what was compressed: a record without size. */
static void test_damage_inside_compressed(void **state)
{
	(void)state;
	static const unsigned char zeros[24];
	struct perf_builder b;
	struct outcome o;

	begin(&b, false, false);
	pb_pack_begin(&b);
	add_sample(&b, 1, 1);
	pb_bytes(&b, zeros, sizeof(zeros));
	for (int i = 0; i < 6; i++)
		add_sample(&b, 2, 1);
	pb_pack_end(&b, PERF_COMPRESSED2, 0);
	run_builder(&b, 0, &o);
	check_u64_eq(o.text.n_samples, 7);
	check_u64_eq(o.text.n_corrupt, 1);
	outcome_deinit(&o);
}

static void test_truncated_compression(void **state)
{
	(void)state;
	struct perf_builder b;
	uint64_t last = 0;

	begin(&b, false, true);
	for (uint64_t i = 1; i < 40; i++) {
		pb_pack_begin(&b);
		add_sample(&b, i, 2);
		pb_pack_end(&b, PERF_COMPRESSED2, 30);
	}
	const struct ep_buf *out = pb_finish(&b);
	for (size_t n = 300; n < out->n; n++) {
		struct outcome o;
		run_bytes(out->v, n, n % 3 * 50, &o);
		check_ok(o.err);
		assert_true(o.text.n_samples >= last);
		last = o.text.n_samples;
		outcome_deinit(&o);
	}
	assert_true(last > 0);
	pb_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rounds),
	    cmocka_unit_test(test_maps_and_samples_in_order),
	    cmocka_unit_test(test_order_is_stable),
	    cmocka_unit_test(test_limit_of_items),
	    cmocka_unit_test(test_limit_of_chunks),
	    cmocka_unit_test(test_late_records_are_warned_of),
	    cmocka_unit_test(test_compressed),
	    cmocka_unit_test(test_compressed_large_records),
	    cmocka_unit_test(test_oversized_compressed2),
	    cmocka_unit_test(test_damaged_compression),
	    cmocka_unit_test(test_damage_inside_compressed),
	    cmocka_unit_test(test_truncated_compression),
	};

	no_temporary_files();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
