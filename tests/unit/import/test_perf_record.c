/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: maps, tasks, losses, build-ids, header features. */
#include "perf_data_case.h"

#include "record/build_id.h"

static const unsigned char id20[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                       11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
#define ID20 " id=0102030405060708090a0b0c0d0e0f1011121314"

static void begin(struct perf_builder *b, bool big_endian, bool pipe)
{
	pb_init(b, big_endian, pipe);
	pb_add_attr(b, &(struct pb_attr){
	                   .sample_type = ST_USUAL | PERF_SAMPLE_CPU, .ids = {10}, .n_ids = 1});
}

#define END "END -1/-1 @0 \n"

static void test_maps(void **state)
{
	(void)state;
	struct ep_build_id id = ep_build_id_make(EP_BUILD_ID_GNU, id20, 20);
	struct ep_build_id id8 = ep_build_id_make(EP_BUILD_ID_GNU, id20, 8);

	for (int i = 0; i < 4; i++) {
		struct perf_builder b;
		struct outcome o;
		begin(&b, i & 1, i & 2);
		pb_mmap(&b, 7, 0x400000, 0x1000, 0x2000, "/bin/a b", 2, 0);
		pb_mmap2(&b, 7, 0x500000, 0x1000, 0, "/bin/c (deleted)", 2, 5, NULL, 100);
		pb_mmap2(&b, 7, 0x600000, 0x1000, 0, "/bin/d", 2, 5, &id, 110);
		pb_mmap2(&b, 7, 0x610000, 0x1000, 0, "/bin/d8", 2, 5, &id8, 111);
		pb_mmap2(&b, 7, 0x700000, 0x1000, 0, "//anon", 2, 7, NULL, 120);
		pb_mmap2(&b, 7, 0x710000, 0x1000, 0, "[vdso]", 2, 5, NULL, 121);
		pb_mmap2(&b, 7, 0x720000, 0x1000, 0, "", 2, 5, NULL, 122);
		pb_mmap2(&b, 7, 0x730000, 0x1000, 0, "/memfd:jit (deleted)", 2, 5, NULL, 123);
		run_builder(&b, 0, &o);
		check_text(&o, "MAP 7/7 @0 400000+1000@2000 /bin/a b\n"
		               "MAP 7/7 @100 500000+1000@0 /bin/c (deleted)\n"
		               "MAP 7/7 @110 600000+1000@0 /bin/d" ID20 "\n"
		               "MAP 7/7 @111 610000+1000@0 /bin/d8 id=0102030405060708\n"
		               "MAP 7/7 @120 700000+1000@0 //anon anon\n"
		               "MAP 7/7 @121 710000+1000@0 [vdso] anon\n"
		               "MAP 7/7 @122 720000+1000@0  anon\n"
		               "MAP 7/7 @123 730000+1000@0 /memfd:jit (deleted) anon\n" END);
		check_u64_eq(o.warnings.n, 0);
		outcome_deinit(&o);
	}
}

/* Memory that is not code ends the code it replaces. */
static void test_data_maps_unmap(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	begin(&b, false, false);
	pb_mmap(&b, 7, 0x400000, 0x1000, 0, "/bin/a", 2 | PERF_MISC_MMAP_DATA, 100);
	pb_mmap2(&b, 7, 0x500000, 0x1000, 0, "/bin/c", 2, 3, NULL, 110);
	run_builder(&b, 0, &o);
	check_text(&o, "UNMAP 7/7 @100 400000+1000\nUNMAP 7/7 @110 500000+1000\n" END);
	outcome_deinit(&o);
}

static void test_kernel_maps(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	begin(&b, false, false);
	pb_mmap(&b, UINT32_MAX, 0xffffffff81000000, 0x1000000, 0xffffffff81000190,
	        "[kernel.kallsyms]_text", 1, 0);
	pb_mmap2(&b, UINT32_MAX, 0xffff800000000000, 0x1000, 0, "[kernel.kallsyms]_stext", 1, 0,
	         NULL, 0);
	pb_mmap(&b, UINT32_MAX, 0xffffffffa0000000, 0x1000, 0, "/lib/modules/6/nf-nat.ko.xz", 1, 0);
	pb_mmap(&b, UINT32_MAX, 0xffffffffa0010000, 0, 0, "[hidden]", 1, 0);
	pb_mmap(&b, 55, 0x1000, 0x1000, 0, "[guest.kernel.kallsyms]", 4, 0);
	run_builder(&b, 0, &o);
	check_text(
	    &o,
	    "MAP -2/0 @0 ffffffff81000000+1000000@ffffffff81000190 [kernel.kallsyms]_text kernel\n"
	    "MAP -2/0 @0 ffff800000000000+1000@0 [kernel.kallsyms]_stext kernel\n"
	    "MAP -2/0 @0 ffffffffa0000000+1000@0 /lib/modules/6/nf-nat.ko.xz kernel\n" END);
	outcome_deinit(&o);
}

static void test_maps_that_make_no_sense(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;
	struct ep_buf body = {0};

	begin(&b, false, false);
	pb_mmap(&b, 7, UINT64_MAX - 10, 0x1000, 0, "/wraps", 2, 100);
	pb_mmap(&b, UINT32_MAX, 0x1000, 0x1000, 0, "/nobodys", 2, 110);
	ep_buf_put(&body, "\7\0\0\0\7\0\0\0", 8); /* a path without its end, and no trailer */
	for (int i = 0; i < 12; i++)
		pb_u64(&b, &body, UINT64_C(0x6161616161616161));
	pb_record(&b, PERF_MMAP, 2, body.v, body.n);
	pb_record(&b, PERF_MMAP, 2, body.v, 40);
	pb_record(&b, PERF_MMAP2, 2, body.v, 60);
	pb_record(&b, PERF_COMM, 2, body.v, 40);
	pb_record(&b, PERF_FORK, 2, body.v, 40);
	pb_record(&b, PERF_LOST, 2, body.v, 33);
	pb_record(&b, PERF_LOST, 2, body.v, 8);
	pb_mmap(&b, 7, 0x1000, 0x1000, 0, "/late", 2 | PERF_MISC_MAP_TIMEOUT, UINT64_MAX);
	ep_buf_deinit(&body);
	run_builder(&b, 0, &o);
	check_u64_eq(o.text.n_corrupt, 9);
	check_has(&o, "MAP 7/7 @0 1000+1000@0 /late\n");
	check_u64_eq(ep_warn_count(&o.warnings, "maps-incomplete"), 1);
	assert_true(o.text.ended);
	outcome_deinit(&o);
}

static void test_tasks(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct perf_builder b;
		struct outcome o;
		begin(&b, i & 1, i & 2);
		pb_comm(&b, 7, "old", false, 0);
		pb_task(&b, true, 8, 7, 0, 100);
		pb_comm(&b, 8, "new name", true, 110);
		pb_task(&b, true, 9, 1, 0, 0);                      /* made up, by old versions */
		pb_task(&b, true, 10, 1, PERF_MISC_FORK_EXEC, 120); /* by new ones */
		pb_task(&b, true, 8, 8, 0, 130);                    /* a thread */
		pb_task(&b, false, 8, 7, 0, 140);
		run_builder(&b, 0, &o);
		check_text(&o, "COMM 7/7 @0 old\n"
		               "EXEC 9/9 @0 \n"
		               "FORK 8/8 @100 from 7/7\n"
		               "EXEC 8/8 @110 \n"
		               "COMM 8/8 @110 new name\n"
		               "EXEC 10/10 @120 \n"
		               "FORK 8/8 @130 from 8/8\n"
		               "EXIT 8/8 @140 \n" END);
		outcome_deinit(&o);
	}
}

static void test_losses(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	begin(&b, false, false);
	pb_lost(&b, false, 5, 0, 100);
	pb_lost(&b, false, 6, 0, 110);
	pb_lost(&b, true, 20, 0, 120);                  /* by the PMU */
	pb_lost(&b, true, 90, PERF_MISC_LOST_BPF, 130); /* filtered on purpose */
	pb_lost(&b, true, 13, 0, 0); /* perf's sum of the first two, and 2 more */
	run_builder(&b, 0, &o);
	check_u64_eq(o.text.n_lost, 33);
	check_has(&o, "LOST -1/-1 @100 reason=1 n=5\nLOST -1/-1 @110 reason=1 n=6\n"
	              "LOST -1/-1 @120 reason=1 n=20\nLOST -1/-1 @0 reason=1 n=2\n" END);
	outcome_deinit(&o);
}

/* No trailer: such records stand where they are in the input. */
static void test_no_sample_id_all(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	pb_init(&b, false, false);
	pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL, .no_sample_id_all = true});
	pb_mmap(&b, 7, 0x1000, 0x1000, 0, "/a", 2, 0);
	pb_sample(&b, &(struct pb_sample){.pid = 7, .t_ns = 100});
	pb_mmap(&b, 7, 0x2000, 0x1000, 0, "/b", 2, 0);
	pb_sample(&b, &(struct pb_sample){.pid = 7, .t_ns = 200});
	pb_task(&b, false, 7, 1, 0, 250);
	run_builder(&b, 0, &o);
	check_text(&o, "MAP 7/7 @0 1000+1000@0 /a\n"
	               "STREAM -1/-1 @0 0 cycles sampling=3 period=0\n"
	               "SAMPLE 7/0 @100 ip=0 period=0 stream=0 n=0\n"
	               "MAP 7/7 @100 2000+1000@0 /b\n"
	               "SAMPLE 7/0 @200 ip=0 period=0 stream=0 n=0\n"
	               "EXIT 7/7 @200 \n" END);
	outcome_deinit(&o);
}

static void add_mapped_files(struct perf_builder *b)
{
	struct ep_build_id own = ep_build_id_make(EP_BUILD_ID_GNU, "own", 3);

	pb_build_id(b, 2, id20, 20, true, "/bin/a");
	pb_build_id(b, 2, id20, 8, false, "/bin/short"); /* size not told: padded with zeros */
	pb_build_id(b, 1, id20, 20, true, "[kernel.kallsyms]");
	pb_build_id(b, 1, id20, 4, true, "/lib/modules/6/kernel/nf_nat.ko");
	pb_build_id(b, 1, id20, 5, true, "[ext4]");
	pb_build_id(b, 2, id20, 6, true, "/bin/two");
	pb_build_id(b, 2, id20, 7, true, "/bin/two");
	pb_build_id(b, 5, id20, 7, true, "/bin/guests");
	pb_mmap(b, 7, 0x1000, 0x1000, 0, "/bin/a", 2, 100);
	pb_mmap(b, 7, 0x2000, 0x1000, 0, "/bin/short", 2, 101);
	pb_mmap(b, UINT32_MAX, 0xf000, 0x1000, 0, "[kernel.kallsyms]_text", 1, 102);
	pb_mmap(b, UINT32_MAX, 0x10000, 0x1000, 0, "/lib/modules/6/kernel/nf-nat.ko.xz", 1, 103);
	pb_mmap(b, UINT32_MAX, 0x11000, 0x1000, 0, "/lib/ext4.ko", 1, 104);
	pb_mmap(b, 7, 0x3000, 0x1000, 0, "/bin/two", 2, 105);
	pb_mmap(b, 7, 0x4000, 0x1000, 0, "/bin/guests", 2, 106);
	pb_mmap2(b, 8, 0x1000, 0x1000, 0, "/bin/a", 2, 5, &own, 107);
}

/* A file tells its build-ids before the maps are sent. */
static void test_build_ids_of_a_file(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct perf_builder b;
		struct outcome o;
		begin(&b, big, false);
		add_mapped_files(&b);
		run_builder(&b, 0, &o);
		check_text(&o,
		           "MAP 7/7 @100 1000+1000@0 /bin/a" ID20 "\n"
		           "MAP 7/7 @101 2000+1000@0 /bin/short id=0102030405060708\n"
		           "MAP -2/0 @102 f000+1000@0 [kernel.kallsyms]_text kernel" ID20 "\n"
		           "MAP -2/0 @103 10000+1000@0 /lib/modules/6/kernel/nf-nat.ko.xz kernel "
		           "id=01020304\n"
		           "MAP -2/0 @104 11000+1000@0 /lib/ext4.ko kernel id=0102030405\n"
		           "MAP 7/7 @105 3000+1000@0 /bin/two\n"
		           "MAP 7/7 @106 4000+1000@0 /bin/guests\n"
		           "MAP 8/8 @107 1000+1000@0 /bin/a id=6f776e\n" END);
		check_u64_eq(ep_warn_count(&o.warnings, "ambiguous-build-id"), 1);
		outcome_deinit(&o);
	}
}

/* A pipe, or a file through a pipe, tells them behind: by the paths of the maps. */
static void test_late_build_ids(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct perf_builder b;
		struct outcome o;
		begin(&b, i & 1, i & 2);
		add_mapped_files(&b);
		pb_round(&b);
		pb_round(&b);
		run_builder(&b, 500, &o);
		check_has(&o, "MAP 7/7 @100 1000+1000@0 /bin/a\n");
		check_has(&o, "MAP 8/8 @107 1000+1000@0 /bin/a id=6f776e\n"
		              "BUILD_ID -1/-1 @0 [kernel.kallsyms]_text kernel" ID20 "\n"
		              "BUILD_ID -1/-1 @0 /lib/modules/6/kernel/nf-nat.ko.xz kernel "
		              "id=01020304\n"
		              "BUILD_ID -1/-1 @0 /lib/ext4.ko kernel id=0102030405\n"
		              "BUILD_ID -1/-1 @0 /bin/a" ID20 "\n"
		              "BUILD_ID -1/-1 @0 /bin/short id=0102030405060708\n" END);
		outcome_deinit(&o);
	}
}

static void test_capture_info(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct perf_builder b;
		struct outcome o;
		struct ep_buf cmdline = {0};
		begin(&b, i & 1, i & 2);
		pb_feature_string(&b, PERF_FEAT_HOSTNAME, "box");
		pb_feature_string(&b, PERF_FEAT_OSRELEASE, "6.1.0");
		pb_feature_string(&b, PERF_FEAT_ARCH, "x86_64");
		pb_feature_string(&b, PERF_FEAT_CPUDESC, "A CPU");
		pb_feature_string(&b, PERF_FEAT_CPUID, "GenuineIntel,6,85,4");
		pb_u32(&b, &cmdline, 2);
		pb_u32(&b, &cmdline, 8);
		ep_buf_put(&cmdline, "perf\0\0\0\0", 8);
		pb_u32(&b, &cmdline, 8);
		ep_buf_put(&cmdline, "record\0", 8);
		pb_feature(&b, PERF_FEAT_CMDLINE, cmdline.v, cmdline.n);
		ep_buf_deinit(&cmdline);
		pb_sample(&b, &(struct pb_sample){.t_ns = 50});
		run_builder(&b, i & 4, &o);
		assert_string_equal(o.info.host, "box");
		assert_string_equal(o.info.kernel, "6.1.0");
		assert_string_equal(o.info.arch, "x86_64");
		assert_string_equal(o.info.cpu, "A CPU");
		assert_string_equal(o.info.cpuid, "GenuineIntel,6,85,4");
		assert_string_equal(o.info.cmdline, "perf record");
		if (i & 2 || !(i & 4)) /* known before the first sample */
			check_has(&o, "CPU -1/-1 @0 GenuineIntel,6,85,4\nSTREAM");
		check_u64_eq(o.warnings.n, i & 4 && !(i & 2));
		outcome_deinit(&o);
	}
}

/* Whatever is wrong with metadata, samples are kept and a warning tells. */
static void test_damaged_features(void **state)
{
	(void)state;
	static const unsigned char junk[64] = {0xff, 0xff, 0xff, 0xff, 0xff,
	                                       0xff, 0xff, 0xff, 0,    1};
	static const unsigned char zeros[64];

	for (unsigned i = 0; i < 8; i++)
		for (unsigned feature = PERF_FEAT_BUILD_ID; feature < 32; feature++) {
			struct perf_builder b;
			struct outcome o;
			/* In a pipe, build-ids are records like all others. */
			begin(&b, i & 1, i & 2 && feature != PERF_FEAT_BUILD_ID);
			pb_feature(&b, feature, i & 4 ? zeros : junk, feature % 9 + 1);
			pb_sample(&b, &(struct pb_sample){
			                  .t_ns = 50, .branches = two_branches, .n_branches = 2});
			run_builder(&b, 0, &o);
			check_u64_eq(o.text.n_branches, 2);
			assert_true(o.text.ended);
			outcome_deinit(&o);
		}
}

/* perf 6.12 wrote more padding behind build-id records than their sizes count. */
static void test_padded_build_id_records(void **state)
{
	(void)state;
	for (size_t pad = 4; pad <= 64; pad += 4) {
		struct perf_builder b;
		struct outcome o;
		static const unsigned char zeros[64];
		begin(&b, pad & 4, false);
		pb_build_id(&b, 2, id20, 20, true, "/bin/a");
		ep_buf_put(&b.features[0].body, zeros, pad);
		pb_build_id(&b, 2, id20, 8, true, "/bin/b");
		ep_buf_put(&b.features[0].body, zeros, pad);
		pb_mmap(&b, 7, 0x1000, 0x1000, 0, "/bin/a", 2, 100);
		pb_mmap(&b, 7, 0x2000, 0x1000, 0, "/bin/b", 2, 101);
		run_builder(&b, 0, &o);
		check_has(&o, "/bin/a" ID20 "\n");
		check_has(&o, "/bin/b id=0102030405060708\n");
		check_u64_eq(o.warnings.n, 0);
		outcome_deinit(&o);
	}
}

/* A record that cannot be believed ends the section; those before it count. */
static void test_bad_build_id_record(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	begin(&b, false, false);
	pb_build_id(&b, 2, id20, 20, true, "/bin/a");
	ep_buf_put(&b.features[0].body, "\0\0\0\0\2\0\11\0 and more", 17);
	pb_mmap(&b, 7, 0x1000, 0x1000, 0, "/bin/a", 2, 100);
	run_builder(&b, 0, &o);
	check_has(&o, "/bin/a" ID20 "\n");
	check_u64_eq(ep_warn_count(&o.warnings, "bad-feature"), 1);
	outcome_deinit(&o);
}

/* The table of sections may point anywhere. */
static void test_features_outside_the_file(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	begin(&b, false, false);
	pb_sample(&b, &(struct pb_sample){.t_ns = 50});
	pb_feature_string(&b, PERF_FEAT_HOSTNAME, "box");
	const struct ep_buf *out = pb_finish(&b);
	memset(out->v + out->n - 68 - 16, 0xee, 16);
	run_bytes(out->v, out->n, 0, &o);
	check_ok(o.err);
	check_u64_eq(o.text.n_samples, 1);
	assert_string_equal(o.info.host, "");
	check_u64_eq(ep_warn_count(&o.warnings, "bad-feature"), 1);
	outcome_deinit(&o);
	pb_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_maps),
	    cmocka_unit_test(test_data_maps_unmap),
	    cmocka_unit_test(test_kernel_maps),
	    cmocka_unit_test(test_maps_that_make_no_sense),
	    cmocka_unit_test(test_tasks),
	    cmocka_unit_test(test_losses),
	    cmocka_unit_test(test_no_sample_id_all),
	    cmocka_unit_test(test_build_ids_of_a_file),
	    cmocka_unit_test(test_late_build_ids),
	    cmocka_unit_test(test_capture_info),
	    cmocka_unit_test(test_damaged_features),
	    cmocka_unit_test(test_padded_build_id_records),
	    cmocka_unit_test(test_bad_build_id_record),
	    cmocka_unit_test(test_features_outside_the_file),
	};

	no_temporary_files();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
