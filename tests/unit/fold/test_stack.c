/* SPDX-License-Identifier: BSD-2-Clause */
/* Folding rules 3, 4, 5, 6 and 9: splitting stacks, ends elsewhere, weights, errata. */
#include "fold/stack.h"

#include "fold/cpu.h"
#include "script.h"

#define X UINT64_C(0x400000)           /* the program, foff = ip - X */
#define L UINT64_C(0x7f0000000000)     /* a library */
#define J UINT64_C(0x700000000000)     /* JIT memory */
#define K UINT64_C(0xffffffff81000000) /* the kernel, of which there is no map */

static void begin(struct script *s)
{
	const struct ep_fold_opts opts = {.n_threads = 1};

	script_begin(s, &opts);
	script_map(s, 1, X, 0x400000, 0, "/bin/x", 7);
	script_map(s, 1, L, 0x10000, 0, "/lib/l.so", 9);
	script_map(s, 1, J, 0x10000, 0, NULL, 0);
}

/* Rule 4: N records give N edges and N-1 ranges; the sample's own address ends none. */
static void test_n_edges_n_minus_1_ranges(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, B(X + 0x30, X + 0x40), B(X + 0x20, X + 0x28), B(X + 0x10, X + 0x18));
	script_end(&s);
	assert_int_equal(n_edges(&s.edges), 3);
	assert_int_equal(n_ranges(&s.edges), 2);
	check_u64_eq(range_count(&s.edges, 7, 0x18, 0x20), 1);
	check_u64_eq(range_count(&s.edges, 7, 0x28, 0x30), 1);
	assert_true(ep_drops_empty(&s.edges.drops));
	script_deinit(&s);
}

/* Rule 3, recipe 6: half records and filler end the run; no range reaches over them. */
static void test_half_records(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, B(X + 0x60, X + 0x70), B(X + 0x50, X + 0x58), B(0, X + 0x48),
	             B(X + 0x40, X + 0x44), B(X + 0x30, 0), B(X + 0x20, X + 0x28), B(0, 0),
	             B(X + 0x10, X + 0x18));
	script_end(&s);
	assert_int_equal(n_edges(&s.edges), 5);
	assert_int_equal(n_ranges(&s.edges), 1);
	check_u64_eq(range_count(&s.edges, 7, 0x58, 0x60), 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_HALF_RECORD], 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_FILLER], 1);
	script_deinit(&s);
}

/* Rule 3: an end in no map ends the run; rule 5: the other end still makes an edge. */
static void test_unmapped_end(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, B(X + 0x30, X + 0x40), B(X + 0x20, X + 0x28), B(0x1000, X + 0x18),
	             B(0x2000, 0x3000), B(X + 0x10, 0x4000));
	script_end(&s);
	assert_int_equal(n_edges(&s.edges), 4);
	assert_int_equal(n_ranges(&s.edges), 2);
	check_u64_eq(range_count(&s.edges, 7, 0x18, 0x20), 1);
	assert_non_null(find_edge(&s.edges, 7, EP_EDGE_IN, 0, 0x18));
	assert_non_null(find_edge(&s.edges, 7, EP_EDGE_OUT, 0x10, 0));
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 1);
	check_u64_eq(s.edges.drops.notes[EP_NOTE_EXTERNAL], 2);
	script_deinit(&s);
}

/* Rule 3: wrong-path entries are dropped and end the run. */
static void test_wrong_path(void **state)
{
	(void)state;
	const uint64_t wrong = (uint64_t)EP_SPEC_WRONG_PATH << EP_INFO_SPEC_SHIFT;
	const uint64_t right = UINT64_C(3) << EP_INFO_SPEC_SHIFT;
	struct script s;

	begin(&s);
	script_stack(&s, 1, BI(X + 0x30, X + 0x40, right), BI(X + 0x20, X + 0x28, right),
	             BI(X + 0x1c, X + 0x20, wrong), BI(X + 0x10, X + 0x18, right));
	script_end(&s);
	assert_int_equal(n_edges(&s.edges), 3);
	assert_int_equal(n_ranges(&s.edges), 1);
	check_u64_eq(range_count(&s.edges, 7, 0x28, 0x30), 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_WRONG_PATH], 1);
	script_deinit(&s);
}

/* Rule 3: a discontinuity is kept and noted, one that moved the PC joins nothing. */
static void test_discontinuity(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, BI(X + 0x30, X + 0x40, EP_INFO_DISCONTINUITY | EP_INFO_PC_MOVED),
	             BI(X + 0x20, X + 0x28, EP_INFO_DISCONTINUITY), B(X + 0x10, X + 0x18));
	script_end(&s);
	assert_int_equal(n_edges(&s.edges), 3);
	assert_int_equal(n_ranges(&s.edges), 1);
	check_u64_eq(range_count(&s.edges, 7, 0x18, 0x20), 1);
	check_u64_eq(s.edges.drops.notes[EP_NOTE_ACROSS_DISCONTINUITY], 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_RANGE_PC_MOVED], 1);
	script_deinit(&s);
}

/* Rule 3: as Linux gives BRBE's CCU bit, cycles are missing where others have them. */
static void test_gap_without_cycles(void **state)
{
	(void)state;
	const uint64_t timed = 7u << EP_INFO_CYCLES_SHIFT;
	struct script s;

	begin(&s);
	script_cpu(&s, "0x00000000410fd4f0");
	script_stack(&s, 1, BI(X + 0x30, X + 0x40, timed), B(X + 0x20, X + 0x28),
	             BI(X + 0x10, X + 0x18, timed), B(X + 0x8, X + 0xc));
	/* No cycles at all: they were not recorded. */
	script_stack(&s, 1, B(X + 0x30, X + 0x40), B(X + 0x20, X + 0x28));
	script_cpu(&s, "GenuineIntel,6,143,8");
	script_stack(&s, 1, B(X + 0x30, X + 0x40), BI(X + 0x20, X + 0x28, timed));
	script_end(&s);
	check_u64_eq(range_count(&s.edges, 7, 0x18, 0x20), 1);
	check_u64_eq(range_count(&s.edges, 7, 0x28, 0x30), 3);
	check_u64_eq(s.edges.drops.notes[EP_NOTE_ACROSS_DISCONTINUITY], 1);
	script_deinit(&s);
}

/* Rule 3: an exception's source was not executed, so the range before it is half open. */
static void test_exception_is_half_open(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	/* A signal handler at 0x100: execution does not go on where it was interrupted. */
	script_stack(&s, 1, B(X + 0x110, X + 0x120), BT(K + 0x20, X + 0x100, EP_BRANCH_ERET),
	             BT(X + 0x20, K, EP_BRANCH_IRQ), B(X + 0x10, X + 0x18));
	script_end(&s);
	assert_non_null(find_range(&s.edges, 7, 0x18, 0x20, true));
	assert_null(find_range(&s.edges, 7, 0x18, 0x20, false));
	check_u64_eq(range_count(&s.edges, 7, 0x100, 0x110), 1);
	assert_int_equal(n_ranges(&s.edges), 2);
	assert_non_null(find_edge(&s.edges, 7, EP_EDGE_OUT, 0x20, 0));
	check_u64_eq(s.edges.drops.notes[EP_NOTE_STITCHED], 0);
	script_deinit(&s);
}

/* Rule 3: an IRQ/ERET pair that returns to the same PC is stitched, with what lies between. */
static void test_interrupt_is_stitched(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, B(X + 0x30, X + 0x40), BT(K + 0x20, X + 0x20, EP_BRANCH_ERET),
	             B(K + 0x10, K + 0x18), BT(X + 0x20, K, EP_BRANCH_IRQ), B(X + 0x10, X + 0x18));
	/* As recorded when only one level may be seen: two half records. */
	script_stack(&s, 1, B(X + 0x230, X + 0x240), BT(0, X + 0x220, EP_BRANCH_ERET),
	             BT(X + 0x220, 0, EP_BRANCH_IRQ), B(X + 0x210, X + 0x218));
	script_end(&s);
	check_u64_eq(range_count(&s.edges, 7, 0x18, 0x30), 1);
	check_u64_eq(range_count(&s.edges, 7, 0x218, 0x230), 1);
	assert_int_equal(n_ranges(&s.edges), 2);
	check_u64_eq(s.edges.drops.notes[EP_NOTE_STITCHED], 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_KERNEL], 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_HALF_RECORD], 2);
	script_deinit(&s);
}

/* More interrupts in one another than are kept track of: nothing gets lost. */
static void test_nested_interrupts(void **state)
{
	(void)state;
	struct ep_branch stack[40];
	struct script s;

	begin(&s);
	for (size_t i = 0; i < 20; i++) {
		stack[39 - 2 * i] = (struct ep_branch)B(X + 0x10, X + 0x100 * (i + 1));
		stack[38 - 2 * i] =
		    (struct ep_branch)BT(X + 0x100 * (i + 1) + 8, X + 8, EP_BRANCH_IRQ);
	}
	script_sample(&s, 1, stack, 40);
	script_end(&s);
	for (uint64_t i = 1; i <= 20; i++)
		assert_non_null(find_range(&s.edges, 7, 0x100 * i, 0x100 * i + 8, true));
	script_deinit(&s);
}

/* LBR names the SYSCALL instruction itself, BRBE the one behind an SVC. */
static void test_syscall_by_cpu(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, BT(X + 0x20, K, EP_BRANCH_SYSCALL), B(X + 0x10, X + 0x18));
	script_cpu(&s, "AuthenticAMD,25,17,1");
	script_stack(&s, 1, BT(X + 0x40, K, EP_BRANCH_SYSCALL), B(X + 0x10, X + 0x38));
	script_end(&s);
	assert_non_null(find_range(&s.edges, 7, 0x18, 0x20, true));
	assert_non_null(find_range(&s.edges, 7, 0x38, 0x40, false));
	script_deinit(&s);
}

/* Recipe 7: kernel entries without a kernel map end the range there, quietly. */
static void test_kernel_entries_in_a_user_stack(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, B(X + 0x30, X + 0x40), B(K + 0x30, X + 0x28), B(K + 0x10, K + 0x20),
	             B(X + 0x20, K), B(X + 0x10, X + 0x18));
	script_end(&s);
	check_u64_eq(range_count(&s.edges, 7, 0x18, 0x20), 1);
	check_u64_eq(range_count(&s.edges, 7, 0x28, 0x30), 1);
	assert_int_equal(n_ranges(&s.edges), 2);
	assert_int_equal(n_edges(&s.edges), 4);
	check_u64_eq(s.edges.drops.n[EP_DROP_KERNEL], 1);
	assert_int_equal(s.warnings.n, 0);
	script_deinit(&s);
}

/* Rule 5: branches between two binaries are in both, with the other one as peer. */
static void test_cross_binary_edges(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, B(L + 0x110, X + 0x18), B(X + 0x14, L + 0x100), B(X + 0x8, X + 0x10),
	             B(J + 0x20, X + 0), B(J + 0x10, J + 0x18));
	script_end(&s);
	const struct ep_edge *out = find_edge(&s.edges, 7, EP_EDGE_OUT, 0x14, 0);
	const struct ep_edge *in = find_edge(&s.edges, 9, EP_EDGE_IN, 0, 0x100);
	assert_non_null(out);
	assert_non_null(in);
	assert_int_equal(s.edges.binaries[out->peer - 1].build_id.bytes[0], 9);
	assert_int_equal(s.edges.binaries[in->peer - 1].build_id.bytes[0], 7);
	assert_int_equal(find_edge(&s.edges, 7, EP_EDGE_IN, 0, 0)->peer, 0);
	check_u64_eq(range_count(&s.edges, 9, 0x100, 0x110), 1);
	check_u64_eq(range_count(&s.edges, 7, 0x10, 0x14), 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_ANONYMOUS], 1);
	check_u64_eq(s.edges.drops.notes[EP_NOTE_EXTERNAL], 3);
	script_deinit(&s);
}

/* Recipe 18: entries out of order and ranges no code can have are counted, not fed. */
static void test_bad_ranges(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, B(X + 0x10, X + 0x18), B(X + 0x8, X + 0x20));
	script_stack(&s, 1, B(X + 0x200000, X + 0x18), B(X + 0x8, X + 0x20));
	script_stack(&s, 1, B(L + 0x30, L + 0x18), B(X + 0x8, X + 0x20));
	script_end(&s);
	assert_int_equal(n_ranges(&s.edges), 0);
	check_u64_eq(s.edges.drops.n[EP_DROP_NEGATIVE_RANGE], 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_RANGE_TOO_LONG], 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_RANGE_CROSSES_MAP], 1);
	script_deinit(&s);
}

/* Rule 4: type-filtered stacks give edges only; call-stack mode is refused. */
static void test_filtered_and_call_stack(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	s.flags = EP_SAMPLE_FILTERED;
	script_stack(&s, 1, B(X + 0x30, X + 0x40), B(X + 0x20, X + 0x28), B(X + 0x10, X + 0x18));
	s.flags = EP_SAMPLE_CALL_STACK;
	script_stack(&s, 1, B(X + 0x130, X + 0x40), B(X + 0x120, X + 0x28));
	s.flags = 0;
	script_sample(&s, 1, NULL, 0);
	const struct ep_branch none = B(0, 0);
	script_sample(&s, 1, &none, 0);
	script_end(&s);
	assert_int_equal(n_edges(&s.edges), 3);
	assert_int_equal(n_ranges(&s.edges), 0);
	check_u64_eq(s.edges.drops.n[EP_DROP_RANGE_FILTERED], 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_CALL_STACK_MODE], 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_NO_STACK], 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_EMPTY_STACK], 1);
	script_deinit(&s);
}

/* Recipe 16: the same edge with other flags is one edge; mispredicts are summed apart. */
static void test_flags_do_not_split_edges(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stack(&s, 1, BI(X + 0x10, X + 0x8, EP_INFO_MISPRED | 5u << EP_INFO_CYCLES_SHIFT),
	             BI(X + 0x10, X + 0x8, EP_INFO_PREDICTED),
	             BT(X + 0x10, X + 0x8, EP_BRANCH_COND), B(X + 0x10, X + 0x8));
	script_end(&s);
	assert_int_equal(n_edges(&s.edges), 1);
	const struct ep_edge *edge = find_edge(&s.edges, 7, EP_EDGE_INTERNAL, 0x10, 0x8);
	check_u64_eq(edge->count, 4 * EP_COUNT_ONE);
	check_u64_eq(edge->mispreds, EP_COUNT_ONE);
	assert_int_equal(edge->types, 1u << EP_BRANCH_COND | 1u << EP_BRANCH_UNKNOWN);
	check_u64_eq(range_count(&s.edges, 7, 0x8, 0x10), 3);
	script_deinit(&s);
}

/* Bits of info that the mask clears are noise. */
static void test_info_mask(void **state)
{
	(void)state;
	const struct ep_branch stack[] = {BI(X + 0x30, X + 0x8, UINT64_MAX),
	                                  BI(X + 0x10, X + 0x8, UINT64_MAX)};
	struct ep_event e = {.type = EP_EVENT_SAMPLE,
	                     .pid = 1,
	                     .u.sample = {.branches = stack, .n_branches = 2, .repeat = 3}};
	struct script s;

	begin(&s);
	script_event(&s, &e);
	script_end(&s);
	assert_int_equal(find_edge(&s.edges, 7, EP_EDGE_INTERNAL, 0x10, 0x8)->types, 1);
	check_u64_eq(range_count(&s.edges, 7, 0x8, 0x30), 3);
	check_u64_eq(s.edges.provenance[0].n_samples, 3);
	check_u64_eq(s.edges.provenance[0].n_records, 6);
	script_deinit(&s);
}

static void two_weights(struct script *s, enum ep_sampling sampling, enum ep_fold_weights weights,
                        unsigned cycles)
{
	const struct ep_fold_opts opts = {.weights = weights, .n_threads = 1};
	const uint64_t info = (uint64_t)cycles << EP_INFO_CYCLES_SHIFT;

	script_begin(s, &opts);
	script_map(s, 1, X, 0x400000, 0, "/bin/x", 7);
	script_stream(s, sampling, 1000, "e");
	/* 28 bytes and the last instruction: typical. 4 times that; and 4 times the cycles. */
	script_stack(s, 1, BI(X + 28, X + 0x1000, info), BI(X + 0x2000, X, info));
	script_stack(s, 1, BI(X + 0x3000 + 124, X + 0x4000, 4 * info),
	             BI(X + 0x5000, X + 0x3000, 4 * info));
	script_end(s);
}

/* Rule 6: weights by what the capture counted. */
static void test_weights(void **state)
{
	(void)state;
	static const struct {
		enum ep_sampling sampling;
		enum ep_fold_weights weights;
		unsigned cycles;
		uint64_t first, second; /* in quarters */
	} cases[] = {
	    {EP_SAMPLING_TAKEN_BRANCHES, EP_FOLD_WEIGHTS_AUTO, 8, 4, 4},
	    {EP_SAMPLING_UNKNOWN, EP_FOLD_WEIGHTS_AUTO, 8, 4, 4},
	    {EP_SAMPLING_OTHER, EP_FOLD_WEIGHTS_AUTO, 8, 4, 4},
	    {EP_SAMPLING_INSTRUCTIONS, EP_FOLD_WEIGHTS_AUTO, 8, 4, 1},
	    {EP_SAMPLING_INSTRUCTIONS, EP_FOLD_WEIGHTS_NONE, 8, 4, 4},
	    {EP_SAMPLING_CYCLES, EP_FOLD_WEIGHTS_AUTO, 16, 2, 0},
	    {EP_SAMPLING_CYCLES, EP_FOLD_WEIGHTS_AUTO, 4, 8, 2},
	    {EP_SAMPLING_CYCLES, EP_FOLD_WEIGHTS_AUTO, 0, 4, 1},
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct script s;
		two_weights(&s, cases[i].sampling, cases[i].weights, cases[i].cycles);
		const struct ep_edge *a = find_edge(&s.edges, 7, EP_EDGE_INTERNAL, 0x2000, 0);
		const struct ep_edge *b = find_edge(&s.edges, 7, EP_EDGE_INTERNAL, 0x5000, 0x3000);
		check_u64_eq(a->count, cases[i].first * EP_COUNT_ONE / 4);
		check_u64_eq(b->count, cases[i].second ? cases[i].second * EP_COUNT_ONE / 4
		                                       : EP_COUNT_ONE / 8);
		check_u64_eq(find_range(&s.edges, 7, 0, 28, false)->count, a->count);
		assert_int_equal(s.edges.provenance[0].weighted,
		                 cases[i].weights == EP_FOLD_WEIGHTS_AUTO &&
		                     (cases[i].sampling == EP_SAMPLING_INSTRUCTIONS ||
		                      cases[i].sampling == EP_SAMPLING_CYCLES));
		script_deinit(&s);
	}
}

/* Rule 6: the longest stack of the longest ranges still counts, the shortest is bounded. */
static void test_weight_bounds(void **state)
{
	(void)state;
	struct script s;

	begin(&s);
	script_stream(&s, EP_SAMPLING_INSTRUCTIONS, 0, "instructions");
	script_stack(&s, 1, B(X + EP_FOLD_RANGE_MAX, X + 0x8), B(X + 0x10, X));
	script_stack(&s, 1, B(X + 0x20, X + 0x20), B(X + 0x20, X + 0x20));
	script_stack(&s, 1, B(X + 0x40, X + 0x48));
	script_end(&s);
	check_u64_eq(find_edge(&s.edges, 7, EP_EDGE_INTERNAL, 0x10, 0)->count, 1);
	check_u64_eq(edge_count(&s.edges, 7, 0x20, 0x20), 16);
	check_u64_eq(edge_count(&s.edges, 7, 0x40, 0x48), 1);
	script_deinit(&s);
}

static void duplicate_top(struct script *s, const char *cpuid)
{
	begin(s);
	script_cpu(s, cpuid);
	script_stack(s, 1, B(X + 0x20, X + 0x80), B(X + 0x20, X + 0x80), B(X + 0x10, X + 0x18));
	/* A loop of one block, as often as the program took it. */
	script_stack(s, 1, B(X + 0x110, X + 0x100), B(X + 0x110, X + 0x100));
	/* A longer one is a loop for sure when it is there three times. */
	script_stack(s, 1, B(X + 0x700, X + 0x400), B(X + 0x700, X + 0x400),
	             B(X + 0x700, X + 0x400));
	script_stack(s, 1, B(X + 0xa00, X + 0x800), B(X + 0xa00, X + 0x800),
	             B(X + 0x900, X + 0x800));
	/* Only the top is doubled by the erratum. */
	script_stack(s, 1, B(X + 0x210, X + 0x280), B(X + 0x300, X + 0x380),
	             B(X + 0x300, X + 0x380));
	script_end(s);
}

/* Rule 9, recipe 17: by CPU model only, and real tight loops are kept. */
static void test_duplicate_top(void **state)
{
	(void)state;
	struct script s;

	duplicate_top(&s, "GenuineIntel,6,85,7");
	check_u64_eq(edge_count(&s.edges, 7, 0x20, 0x80), 1);
	check_u64_eq(edge_count(&s.edges, 7, 0x110, 0x100), 2);
	check_u64_eq(edge_count(&s.edges, 7, 0x300, 0x380), 2);
	check_u64_eq(edge_count(&s.edges, 7, 0x700, 0x400), 3);
	check_u64_eq(edge_count(&s.edges, 7, 0xa00, 0x800), 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_DUPLICATE_TOP], 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_NEGATIVE_RANGE], 2);
	script_deinit(&s);
	duplicate_top(&s, "AuthenticAMD,25,17,1");
	check_u64_eq(edge_count(&s.edges, 7, 0x20, 0x80), 2);
	check_u64_eq(edge_count(&s.edges, 7, 0x110, 0x100), 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_DUPLICATE_TOP], 0);
	script_deinit(&s);
}

static void test_cpu_models(void **state)
{
	(void)state;
	static const struct {
		const char *cpuid;
		bool duplicate_top;
	} cases[] = {
	    {"GenuineIntel,6,78,3", true},
	    {"GenuineIntel,6,94,3", true},
	    {"GenuineIntel,6,85,4", true},
	    {"GenuineIntel,6,142,10", true},
	    {"GenuineIntel,6,158,9", true},
	    {"GenuineIntel,6,165,2", true},
	    {"GenuineIntel-6-55-7", true},
	    {"GenuineIntel-6-9E-9", true},
	    {"GenuineIntel,6,79,1", false},
	    {"GenuineIntel,6,106,6", false},
	    {"GenuineIntel,15,85,1", false},
	    {"AuthenticAMD,6,85,1", false},
	    {"", false},
	    {"GenuineIntel", false},
	    {"GenuineIntel,6", false},
	    {"0x00000000410fd4f0", false},
	    {",,,,", false},
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		if (ep_fold_cpu_make(cases[i].cpuid).duplicate_top != cases[i].duplicate_top)
			fail_msg("%s", cases[i].cpuid);
}

/* Exact mode: counted edges and ranges, without weights. */
static void test_counted(void **state)
{
	(void)state;
	struct ep_event edge = {.type = EP_EVENT_EDGE,
	                        .pid = 1,
	                        .u.counted = {.from = X + 0x10,
	                                      .to = X + 0x8,
	                                      .count = 1000,
	                                      .mispreds = 10,
	                                      .type = EP_BRANCH_COND}};
	struct ep_event range = {
	    .type = EP_EVENT_RANGE,
	    .pid = 1,
	    .u.counted = {.from = X + 0x8, .to = X + 0x10, .count = 999, .open_end = true}};
	struct script s;

	begin(&s);
	script_event(&s, &edge);
	script_event(&s, &range);
	edge.u.counted.to = 0x1000;
	script_event(&s, &edge);
	edge.u.counted.from = 0x1000;
	script_event(&s, &edge);
	range.u.counted.to = L;
	script_event(&s, &range);
	script_end(&s);
	const struct ep_edge *e = find_edge(&s.edges, 7, EP_EDGE_INTERNAL, 0x10, 0x8);
	check_u64_eq(e->count, 1000 * EP_COUNT_ONE);
	check_u64_eq(e->mispreds, 10 * EP_COUNT_ONE);
	assert_int_equal(e->types, 1u << EP_BRANCH_COND);
	check_u64_eq(find_range(&s.edges, 7, 0x8, 0x10, true)->count, 999 * EP_COUNT_ONE);
	check_u64_eq(find_edge(&s.edges, 7, EP_EDGE_OUT, 0x10, 0)->count, 1000 * EP_COUNT_ONE);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 1000);
	check_u64_eq(s.edges.drops.n[EP_DROP_RANGE_CROSSES_MAP], 999);
	assert_true(s.edges.provenance[0].exact);
	script_deinit(&s);
}

/* More mispredicts than an entry of the counting table has room for. */
static void test_many_mispredicts(void **state)
{
	(void)state;
	const struct ep_branch stack[] = {BI(X + 0x10, X + 0x8, EP_INFO_MISPRED),
	                                  B(X + 0x10, X + 0x8)};
	struct ep_event e = {
	    .type = EP_EVENT_SAMPLE,
	    .pid = 1,
	    .u.sample = {
	        .branches = stack, .n_branches = 2, .info_mask = UINT64_MAX, .repeat = 50000}};
	struct ep_event edge = {
	    .type = EP_EVENT_EDGE,
	    .pid = 1,
	    .u.counted = {.from = X + 0x20, .to = X, .count = 1000000, .mispreds = 900000}};
	struct script s;

	begin(&s);
	for (int i = 0; i < 7; i++)
		script_event(&s, &e);
	script_event(&s, &edge);
	script_event(&s, &edge);
	script_end(&s);
	const struct ep_edge *loop = find_edge(&s.edges, 7, EP_EDGE_INTERNAL, 0x10, 0x8);
	check_u64_eq(loop->count, 700000 * EP_COUNT_ONE);
	check_u64_eq(loop->mispreds, 350000 * EP_COUNT_ONE);
	check_u64_eq(range_count(&s.edges, 7, 0x8, 0x10), 350000);
	const struct ep_edge *counted = find_edge(&s.edges, 7, EP_EDGE_INTERNAL, 0x20, 0);
	check_u64_eq(counted->count, 2000000 * EP_COUNT_ONE);
	check_u64_eq(counted->mispreds, 1800000 * EP_COUNT_ONE);
	script_deinit(&s);
}

/* Counts saturate, and that is noted. */
static void test_saturation(void **state)
{
	(void)state;
	struct ep_event edge = {
	    .type = EP_EVENT_EDGE,
	    .pid = 1,
	    .u.counted = {.from = X + 0x10, .to = X + 0x8, .count = UINT64_MAX - 5}};
	struct script s;

	begin(&s);
	script_event(&s, &edge);
	script_event(&s, &edge);
	script_end(&s);
	check_u64_eq(find_edge(&s.edges, 7, EP_EDGE_INTERNAL, 0x10, 0x8)->count, UINT64_MAX);
	check_u64_eq(s.edges.drops.notes[EP_NOTE_SATURATED], 1);
	script_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_n_edges_n_minus_1_ranges),
	    cmocka_unit_test(test_half_records),
	    cmocka_unit_test(test_unmapped_end),
	    cmocka_unit_test(test_wrong_path),
	    cmocka_unit_test(test_discontinuity),
	    cmocka_unit_test(test_gap_without_cycles),
	    cmocka_unit_test(test_exception_is_half_open),
	    cmocka_unit_test(test_interrupt_is_stitched),
	    cmocka_unit_test(test_nested_interrupts),
	    cmocka_unit_test(test_syscall_by_cpu),
	    cmocka_unit_test(test_kernel_entries_in_a_user_stack),
	    cmocka_unit_test(test_cross_binary_edges),
	    cmocka_unit_test(test_bad_ranges),
	    cmocka_unit_test(test_filtered_and_call_stack),
	    cmocka_unit_test(test_flags_do_not_split_edges),
	    cmocka_unit_test(test_info_mask),
	    cmocka_unit_test(test_weights),
	    cmocka_unit_test(test_weight_bounds),
	    cmocka_unit_test(test_duplicate_top),
	    cmocka_unit_test(test_cpu_models),
	    cmocka_unit_test(test_counted),
	    cmocka_unit_test(test_many_mispredicts),
	    cmocka_unit_test(test_saturation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
