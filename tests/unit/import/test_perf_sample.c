/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: the fields of samples, branch flags, what events count. */
#include "perf_data_case.h"

#include "import/perf_data_reader.h"

#define N_READ_FORMATS 32

/* Each field before the stack that may be there or not, in all combinations that matter. */
static void test_every_field_before_the_stack(void **state)
{
	(void)state;
	const uint64_t optional[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
	                             PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,  PERF_SAMPLE_READ,
	                             PERF_SAMPLE_CALLCHAIN,  PERF_SAMPLE_RAW,  UINT64_C(3) << 12};

	for (unsigned set = 0; set < 1u << EP_ARRAY_LEN(optional); set++) {
		struct perf_builder b;
		struct outcome o;
		uint64_t st = ST_USUAL;
		for (size_t i = 0; i < EP_ARRAY_LEN(optional); i++)
			st |= set >> i & 1 ? optional[i] : 0;
		pb_init(&b, set & 1, set & 2);
		pb_add_attr(&b,
		            &(struct pb_attr){.sample_type = st,
		                              .read_format = set % N_READ_FORMATS,
		                              .branch_type = PERF_BRANCH_ANY |
		                                             (set & 4 ? PERF_BRANCH_HW_INDEX : 0),
		                              .ids = {10},
		                              .n_ids = 1});
		pb_sample(&b, &(struct pb_sample){.pid = 7,
		                                  .tid = 8,
		                                  .t_ns = 1000,
		                                  .ip = 0x401100,
		                                  .period = 4001,
		                                  .n_callchain = set % 5,
		                                  .n_raw = set % 29,
		                                  .branches = two_branches,
		                                  .n_branches = 2});
		run_builder(&b, 0, &o);
		check_text(&o, "STREAM -1/-1 @0 0 cycles sampling=3 period=0\n"
		               "SAMPLE 7/8 @1000 ip=401100 period=4001 stream=0 n=2 "
		               "401010>401100P/7/0 401200>401000M/0/0\n"
		               "END -1/-1 @0 \n");
		check_u64_eq(o.warnings.n, 0);
		outcome_deinit(&o);
	}
}

static void test_every_read_format(void **state)
{
	(void)state;
	for (unsigned format = 0; format < 2 * N_READ_FORMATS; format++) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, format >= N_READ_FORMATS, false);
		pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL | PERF_SAMPLE_READ,
		                                  .read_format = format % N_READ_FORMATS});
		pb_sample(
		    &b, &(struct pb_sample){.t_ns = 1, .branches = two_branches, .n_branches = 2});
		run_builder(&b, 0, &o);
		check_has(&o, "n=2 401010>401100P/7/0 401200>401000M/0/0\n");
		outcome_deinit(&o);
	}
}

/* The index word before the entries and the counters behind them are not taken for entries. */
static void test_hw_index_and_counters(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, i & 4, false);
		pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL,
		                                  .branch_type = PERF_BRANCH_ANY |
		                                                 (uint64_t)(i & 1) << 17 |
		                                                 (uint64_t)(i >> 1 & 1) << 19});
		pb_sample(
		    &b, &(struct pb_sample){.t_ns = 1, .branches = two_branches, .n_branches = 2});
		run_builder(&b, 0, &o);
		check_has(&o, "n=2 401010>401100P/7/0 401200>401000M/0/0\n");
		outcome_deinit(&o);
	}
}

#define INFO(type, spec, new_type, priv)                                                           \
	((uint64_t)(type) << EP_INFO_TYPE_SHIFT | (uint64_t)(spec) << EP_INFO_SPEC_SHIFT |         \
	 (uint64_t)(new_type) << EP_INFO_NEW_TYPE_SHIFT | (uint64_t)(priv) << EP_INFO_PRIV_SHIFT)

/* All bits of an entry, in both byte orders; those perf does not define are left out. */
static void test_branch_flags(void **state)
{
	(void)state;
	const struct ep_branch branches[] = {
	    {1, 2, 0xffff << EP_INFO_CYCLES_SHIFT | INFO(6, 1, 0, 1) | EP_INFO_MISPRED},
	    {3, 4, 0x8001 << EP_INFO_CYCLES_SHIFT | INFO(15, 3, 2, 3) | EP_INFO_PREDICTED},
	    {5, 6, INFO(1, 0, 9, 4) | EP_INFO_IN_TX | EP_INFO_ABORT | UINT64_C(3) << 40},
	};

	for (int i = 0; i < 4; i++) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, i & 1, i & 2);
		pb_add_attr(
		    &b, &(struct pb_attr){.sample_type = ST_USUAL,
		                          .branch_type = PERF_BRANCH_ANY | PERF_BRANCH_PRIV_SAVE});
		pb_sample(&b,
		          &(struct pb_sample){.t_ns = 1, .branches = branches, .n_branches = 3});
		run_builder(&b, 0, &o);
		check_has(&o, "n=3 1>2M/65535/6s1p1 3>4P/32769/18s3p3 5>6/0/1p4\n");
		outcome_deinit(&o);
	}
}

/* What a stack recorded with these bits of branch_sample_type is. */
static void test_branch_sample_type(void **state)
{
	(void)state;
	static const struct {
		uint64_t branch_type;
		const char *want;
	} cases[] = {
	    {PERF_BRANCH_ANY | 1, "n=2 401010>401100P/7/0p1 401200>401000M/0/0\n"},
	    {PERF_BRANCH_ANY | PERF_BRANCH_NO_FLAGS, "n=2 401010>401100/7/0p1 401200>401000/0/0\n"},
	    {PERF_BRANCH_ANY | PERF_BRANCH_NO_CYCLES, "n=2 401010>401100P/0/0p1 401200"},
	    {1 << 4 | 1, "n=2 filtered 4"}, /* ANY_CALL */
	    {1 << 5 | 2, "n=2 filtered 4"}, /* ANY_RETURN */
	    {1 << 6, "n=2 filtered 4"},     /* IND_CALL */
	    {1 << 10, "n=2 filtered 4"},    /* COND */
	    {1 << 12, "n=2 filtered 4"},    /* IND_JUMP */
	    {1 << 13, "n=2 filtered 4"},    /* CALL */
	    {1 << 4 | PERF_BRANCH_ANY, "n=2 4"},
	    {1 << 8 | PERF_BRANCH_ANY, "n=2 filtered 4"}, /* IN_TX */
	    {PERF_BRANCH_CALL_STACK | 1 << 4 | 1, "n=2 call-stack 4"},
	    {0, "n=2 4"}, /* made of a trace by perf inject */
	    {PERF_BRANCH_HW_INDEX, "n=2 4"},
	};
	struct ep_branch branches[2];

	memcpy(branches, two_branches, sizeof(branches));
	branches[0].info |= INFO(0, 0, 0, 1);
	for (size_t i = 0; i < EP_ARRAY_LEN(cases); i++) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, false, false);
		pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL,
		                                  .branch_type = cases[i].branch_type |
		                                                 PERF_BRANCH_PRIV_SAVE});
		pb_sample(&b,
		          &(struct pb_sample){.t_ns = 1, .branches = branches, .n_branches = 2});
		run_builder(&b, 0, &o);
		check_has(&o, cases[i].want);
		outcome_deinit(&o);
	}
}

/* Privileges that were not asked for may be left over from another sample. */
static void test_privilege_needs_priv_save(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;
	struct ep_branch branch = {1, 2, INFO(1, 0, 0, 2)};

	pb_init(&b, false, false);
	pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL, .branch_type = PERF_BRANCH_ANY});
	pb_sample(&b, &(struct pb_sample){.t_ns = 1, .branches = &branch, .n_branches = 1});
	run_builder(&b, 0, &o);
	check_has(&o, "n=1 1>2/0/1\n");
	outcome_deinit(&o);
}

/* "perf inject" marks those of an SPE trace that were not taken: they are no records. */
static void test_branches_not_taken(void **state)
{
	(void)state;
	const struct ep_branch branches[] = {
	    {1, 2, EP_INFO_PREDICTED},
	    {3, 4, EP_INFO_PREDICTED | UINT64_C(1) << PERF_BRANCH_NOT_TAKEN_BIT},
	    {5, 6, EP_INFO_MISPRED},
	};

	for (int i = 0; i < 4; i++) {
		struct perf_builder b;
		struct outcome o;
		pb_init(&b, i & 1, false);
		pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL,
		                                  .branch_type = PERF_BRANCH_HW_INDEX |
		                                                 (i & 2 ? PERF_BRANCH_ANY : 0)});
		pb_sample(&b,
		          &(struct pb_sample){.t_ns = 1, .branches = branches, .n_branches = 3});
		run_builder(&b, 0, &o);
		/* From a kernel the bit is reserved and means nothing. */
		check_has(&o,
		          i & 2 ? "n=3 1>2P/0/0 3>4P/0/0 5>6M/0/0\n" : "n=2 1>2P/0/0 5>6M/0/0\n");
		check_u64_eq(ep_warn_count(&o.warnings, "not-taken"), !(i & 2));
		outcome_deinit(&o);
	}
}

static void test_samples_without_stack(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	pb_init(&b, false, false);
	pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL & ~PERF_SAMPLE_BRANCH_STACK});
	pb_sample(&b, &(struct pb_sample){.t_ns = 1});
	run_builder(&b, 0, &o);
	check_has(&o, "n=0 no-stack\n");
	outcome_deinit(&o);
	pb_init(&b, true, false);
	pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL});
	pb_sample(&b, &(struct pb_sample){.t_ns = 1});
	run_builder(&b, 0, &o);
	check_has(&o, "n=0\n");
	outcome_deinit(&o);
}

static void test_bare_samples(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	/* No pid, no time, no period: only the stack. */
	pb_init(&b, false, false);
	pb_add_attr(&b, &(struct pb_attr){.sample_type = PERF_SAMPLE_BRANCH_STACK, .period = 50});
	pb_sample(&b, &(struct pb_sample){.branches = two_branches, .n_branches = 1});
	run_builder(&b, 0, &o);
	check_has(&o, "SAMPLE -1/-1 @0 ip=0 period=50 stream=0 n=1 ");
	outcome_deinit(&o);
}

static void test_guests_and_the_dying(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	pb_init(&b, false, false);
	pb_add_attr(&b, &(struct pb_attr){.sample_type = ST_USUAL});
	pb_sample(&b, &(struct pb_sample){.pid = 7, .misc = 5, .t_ns = 1});
	pb_sample(&b, &(struct pb_sample){.pid = 7, .misc = 4, .t_ns = 2});
	pb_sample(&b, &(struct pb_sample){.pid = UINT32_MAX, .tid = UINT32_MAX, .t_ns = 3});
	pb_sample(&b, &(struct pb_sample){.pid = UINT32_MAX - 1, .t_ns = 4});
	pb_sample(&b, &(struct pb_sample){.pid = 0, .misc = 1, .t_ns = 5});
	run_builder(&b, 0, &o);
	check_has(&o, "SAMPLE -3/0 @1 ");
	check_has(&o, "SAMPLE -3/0 @2 ");
	check_has(&o, "SAMPLE -1/-1 @3 ");
	check_has(&o, "SAMPLE -1/0 @4 ");
	check_has(&o, "SAMPLE 0/0 @5 ");
	outcome_deinit(&o);
}

/* Counts inside a sample that its size does not hold cost this sample only. */
static void test_counts_over_the_record(void **state)
{
	(void)state;
	const uint64_t lies[] = {3, 1 << 20, UINT64_MAX / 24 + 1, UINT64_MAX};

	for (size_t i = 0; i < EP_ARRAY_LEN(lies); i++)
		for (int field = 0; field < 3; field++) {
			const uint64_t bits[] = {0, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_READ};
			struct perf_builder b;
			struct outcome o;
			struct ep_buf body = {0};
			pb_init(&b, i & 1, false);
			pb_add_attr(&b, &(struct pb_attr){.sample_type = PERF_SAMPLE_BRANCH_STACK |
			                                                 bits[field],
			                                  .read_format = PERF_FORMAT_GROUP});
			pb_u64(&b, &body, lies[i]);
			pb_u64(&b, &body, 1);
			pb_u64(&b, &body, 2);
			pb_record(&b, PERF_SAMPLE, 2, body.v, body.n);
			ep_buf_deinit(&body);
			pb_sample(&b,
			          &(struct pb_sample){.branches = two_branches, .n_branches = 2});
			run_builder(&b, 0, &o);
			check_u64_eq(o.text.n_corrupt, 1);
			check_u64_eq(o.text.n_samples, 1);
			check_u64_eq(o.text.n_branches, 2);
			check_u64_eq(ep_warn_count(&o.warnings, "bad-sample"), 1);
			outcome_deinit(&o);
		}
}

static void test_raw_over_the_record(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;
	struct ep_buf body = {0};

	pb_init(&b, false, false);
	pb_add_attr(&b,
	            &(struct pb_attr){.sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_RAW});
	pb_u32(&b, &body, UINT32_MAX);
	pb_u32(&b, &body, 0);
	pb_record(&b, PERF_SAMPLE, 2, body.v, body.n);
	ep_buf_deinit(&body);
	run_builder(&b, 0, &o);
	check_u64_eq(o.text.n_corrupt, 1);
	outcome_deinit(&o);
}

static void test_what_events_count(void **state)
{
	(void)state;
	static const char intel[] = "GenuineIntel,6,85,4", amd[] = "AuthenticAMD,25,17,1";
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *name, *arch, *cpuid;
		enum ep_sampling want;
	} cases[] = {
	    {0, 0, "cycles", "x86_64", "", EP_SAMPLING_CYCLES},
	    {0, UINT64_C(10) << 32, "cpu_core/cycles/", "x86_64", "", EP_SAMPLING_CYCLES},
	    {0, 1, "instructions:u", "", "", EP_SAMPLING_INSTRUCTIONS},
	    {0, 4, "branches:u", "", "", EP_SAMPLING_OTHER},
	    {1, 0, "cpu-clock", "", "", EP_SAMPLING_OTHER},
	    {4, 0x20c4, "", "x86_64", intel, EP_SAMPLING_TAKEN_BRANCHES},
	    {4, 0x20c4, "br_inst_retired.near_taken:uppp", "x86_64", intel,
	     EP_SAMPLING_TAKEN_BRANCHES},
	    {4, 0xc4, "r00c4", "x86_64", intel, EP_SAMPLING_OTHER},
	    {4, 0xc4, "", "x86_64", amd, EP_SAMPLING_TAKEN_BRANCHES},
	    {4, 0xc4, "ex_ret_brn_tkn", "x86_64", amd, EP_SAMPLING_TAKEN_BRANCHES},
	    {4, 0x3c, "", "x86_64", intel, EP_SAMPLING_CYCLES},
	    {4, 0x76, "", "x86_64", amd, EP_SAMPLING_CYCLES},
	    {4, 0xc0, "", "i686", intel, EP_SAMPLING_INSTRUCTIONS},
	    {4, 0x811f, "r811f:u", "aarch64", "", EP_SAMPLING_TAKEN_BRANCHES},
	    {4, 0x811f, "", "aarch64", "", EP_SAMPLING_TAKEN_BRANCHES},
	    {4, 0x11, "", "aarch64", "", EP_SAMPLING_CYCLES},
	    {4, 0x08, "", "aarch64", "", EP_SAMPLING_INSTRUCTIONS},
	    {4, 0x21, "br_retired", "aarch64", "", EP_SAMPLING_OTHER},
	    {8, 0x811f, "armv8_pmuv3_0/config=0x811f/", "aarch64", "", EP_SAMPLING_TAKEN_BRANCHES},
	    {8, 0x11, "cs_etm/autofdo/u", "aarch64", "", EP_SAMPLING_OTHER},
	    {4, 0x534088, "br_inst_exec:taken", "x86_64", intel, EP_SAMPLING_TAKEN_BRANCHES},
	    {4, 0x1234, "", "riscv64", "", EP_SAMPLING_UNKNOWN},
	};

	for (size_t i = 0; i < EP_ARRAY_LEN(cases); i++) {
		enum ep_sampling got = ep_perf_sampling(
		    cases[i].type, cases[i].config, cases[i].name, cases[i].arch, cases[i].cpuid);
		if (got != cases[i].want)
			fail_msg("case %zu (%s): %d, not %d", i, cases[i].name, got, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_field_before_the_stack),
	    cmocka_unit_test(test_every_read_format),
	    cmocka_unit_test(test_hw_index_and_counters),
	    cmocka_unit_test(test_branch_flags),
	    cmocka_unit_test(test_branch_sample_type),
	    cmocka_unit_test(test_privilege_needs_priv_save),
	    cmocka_unit_test(test_branches_not_taken),
	    cmocka_unit_test(test_samples_without_stack),
	    cmocka_unit_test(test_bare_samples),
	    cmocka_unit_test(test_guests_and_the_dying),
	    cmocka_unit_test(test_counts_over_the_record),
	    cmocka_unit_test(test_raw_over_the_record),
	    cmocka_unit_test(test_what_events_count),
	};

	no_temporary_files();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
