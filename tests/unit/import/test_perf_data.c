/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: file and pipe, byte orders, sample fields, events. */
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

static void add_two_samples(struct perf_builder *b)
{
	struct pb_sample s = {.pid = 7,
	                      .tid = 8,
	                      .t_ns = 1000,
	                      .ip = 0x401100,
	                      .period = 4001,
	                      .branches = two_branches,
	                      .n_branches = 2};

	pb_sample(b, &s);
	s.t_ns = 2000;
	s.n_branches = 1;
	pb_sample(b, &s);
}

#define TWO_SAMPLES                                                                                \
	"STREAM -1/-1 @0 0 cycles:u sampling=3 period=4000\n"                                      \
	"SAMPLE 7/8 @1000 ip=401100 period=4001 stream=0 n=2 401010>401100P/7/0 "                  \
	"401200>401000M/0/0\n"                                                                     \
	"SAMPLE 7/8 @2000 ip=401100 period=4001 stream=0 n=1 401010>401100P/7/0\n"                 \
	"END -1/-1 @0 \n"

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
		add_two_samples(&b);
		run_builder(&b, piece, &o);
		if (pipe || !piece) /* a file through a pipe tells its names at the end */
			check_text(&o, TWO_SAMPLES);
		else
			check_has(&o, "END");
		assert_string_equal(o.info.host, "box");
		check_u64_eq(o.info.t_start_ns, 1000);
		check_u64_eq(o.info.t_end_ns, 2000);
		check_u64_eq(o.warnings.n, 0);
		check_u64_eq(o.text.n_stable, piece || big ? 0 : 2);
		outcome_deinit(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_file_and_pipe_of_both_byte_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
