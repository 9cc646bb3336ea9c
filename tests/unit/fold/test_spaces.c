/* SPDX-License-Identifier: BSD-2-Clause */
/* Folding rules 1 and 2: address spaces per process and time, ip to foff. */
#include "script.h"

#define A 0x555555554000
#define B_BASE 0x556655554000
#define EXE "/opt/app/t"

/* A loop at foff 0x1200..0x1210, taken twice: two edges and the range between. */
static void loop(struct script *s, int32_t pid, uint64_t base)
{
	script_stack(s, pid, B(base + 0x1210, base + 0x1200), B(base + 0x1210, base + 0x1200));
}

static void other_loop(struct script *s, int32_t pid, uint64_t base)
{
	script_stack(s, pid, B(base + 0x1310, base + 0x1300), B(base + 0x1310, base + 0x1300));
}

static void two_processes(struct script *s, bool interleaved)
{
	script_begin(s, NULL);
	script_map(s, 1, A, 0x4000, 0, EXE, 7);
	script_map(s, 2, B_BASE, 0x4000, 0, EXE, 7);
	for (int i = 0; i < 100; i++) {
		loop(s, 1, A);
		if (interleaved)
			other_loop(s, 2, B_BASE);
	}
	for (int i = 0; i < 100 && !interleaved; i++)
		other_loop(s, 2, B_BASE);
	script_end(s);
}

/* Rule 1, recipe 1: two processes of one PIE at different bases fold into the same edges. */
static void test_two_bases_interleaved(void **state)
{
	(void)state;
	struct script a, b;

	two_processes(&a, true);
	two_processes(&b, false);
	check_same_edges(&a.edges, &b.edges);
	check_u64_eq(edge_count(&a.edges, 7, 0x1210, 0x1200), 200);
	check_u64_eq(edge_count(&a.edges, 7, 0x1310, 0x1300), 200);
	check_u64_eq(range_count(&a.edges, 7, 0x1200, 0x1210), 100);
	assert_int_equal(a.edges.n_binaries, 1);
	script_deinit(&a);
	script_deinit(&b);
}

/* Rule 1: EXEC resets; a second image at the same base is another binary from then on. */
static void test_exec_resets(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_exec(&s, 1);
	script_map(&s, 1, A, 0x4000, 0, EXE, 7);
	script_map(&s, 1, 0x7f0000000000, 0x4000, 0, "/lib/l.so", 9);
	loop(&s, 1, A);
	script_exec(&s, 1);
	script_map(&s, 1, A, 0x4000, 0, "/opt/app/u", 8);
	loop(&s, 1, A);
	loop(&s, 1, A);
	loop(&s, 1, 0x7f0000000000);
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 2);
	check_u64_eq(edge_count(&s.edges, 8, 0x1210, 0x1200), 4);
	assert_null(find_binary(&s.edges, 9, ""));
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 2);
	script_deinit(&s);
}

/* Rule 1: FORK inherits the maps of that moment; what follows is each process's own. */
static void test_fork_inherits(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_map(&s, 1, A, 0x4000, 0, EXE, 7);
	script_fork(&s, 2, 1);
	script_fork(&s, 1, 1); /* a thread */
	loop(&s, 2, A);
	script_map(&s, 2, A, 0x4000, 0, "/opt/app/u", 8);
	loop(&s, 2, A);
	loop(&s, 1, A);
	script_fork(&s, 3, 2);
	script_unmap(&s, 2, A, 0x4000);
	loop(&s, 3, A);
	loop(&s, 2, A);
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 4);
	check_u64_eq(edge_count(&s.edges, 8, 0x1210, 0x1200), 4);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 2);
	script_deinit(&s);
}

/* Rule 1: a pid may be reused, with and without a FORK; threads may outlive the main one. */
static void test_pid_reuse(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_map(&s, 1, A, 0x4000, 0, EXE, 7);
	script_exit(&s, 1);
	loop(&s, 1, A); /* a thread that is still there */
	script_map(&s, 1, B_BASE, 0x4000, 0, "/opt/app/u", 8);
	loop(&s, 1, A); /* the old maps are gone */
	loop(&s, 1, B_BASE);
	script_exit(&s, 1);
	script_map(&s, 5, A, 0x4000, 0, "/opt/app/v", 9);
	script_fork(&s, 1, 5);
	loop(&s, 1, A);
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 2);
	check_u64_eq(edge_count(&s.edges, 8, 0x1210, 0x1200), 2);
	check_u64_eq(edge_count(&s.edges, 9, 0x1210, 0x1200), 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 2);
	script_deinit(&s);
}

/* Rule 1: maps of ended processes are kept for a while, not for ever. */
static void test_many_short_processes(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	for (int32_t pid = 1; pid <= 5000; pid++) {
		script_map(&s, pid, A, 0x4000, 0, EXE, 7);
		loop(&s, pid, A);
		script_exit(&s, pid);
	}
	loop(&s, 1, A);
	loop(&s, 5000, A);
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 10002);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 2);
	script_deinit(&s);
}

/* Rule 1: MAP replaces what it overlaps, UNMAP splits. */
static void test_remap_and_unmap(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_map(&s, 1, A, 0x4000, 0, EXE, 7);
	script_unmap(&s, 1, A + 0x1000, 0x1000);
	loop(&s, 1, A); /* in the hole */
	loop(&s, 1, A + 0x1000);
	script_stack(&s, 1, B(A + 0x2010, A + 0x10), B(A + 0x10, A + 0x2000));
	script_map(&s, 1, A + 0x1000, 0x1000, 0x1000, "/opt/app/u", 8);
	loop(&s, 1, A);
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 7, 0x2210, 0x2200), 2);
	check_u64_eq(edge_count(&s.edges, 7, 0x2010, 0x10), 1);
	check_u64_eq(edge_count(&s.edges, 8, 0x1210, 0x1200), 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 2);
	script_deinit(&s);
}

static void anon_over_text(struct script *s, bool keep)
{
	const struct ep_fold_opts opts = {.keep_file_map = keep, .n_threads = 1};

	script_begin(s, &opts);
	script_map(s, 1, A, 0x4000, 0, EXE, 7);
	script_map(s, 1, A + 0x1000, 0x1000, 0, NULL, 0);
	loop(s, 1, A);
	script_stack(s, 1, B(A + 0x10, A + 0x20), B(A + 0x1200, A + 0x8));
	script_end(s);
}

/* Rule 1, recipe 21: an anonymous map ends the file map below it, unless --keep-file-map. */
static void test_anonymous_over_file(void **state)
{
	(void)state;
	struct script s;

	anon_over_text(&s, false);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 0);
	check_u64_eq(s.edges.drops.n[EP_DROP_ANONYMOUS], 2);
	assert_non_null(find_edge(&s.edges, 7, EP_EDGE_IN, 0, 0x8));
	script_deinit(&s);
	anon_over_text(&s, true);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_ANONYMOUS], 0);
	script_deinit(&s);
}

/* Rule 2, recipe 2: a kernel of 64 KiB pages rounds the map's start and pgoff down. */
static void test_64k_pages(void **state)
{
	(void)state;
	struct script a, b;

	script_begin(&a, NULL);
	script_map(&a, 1, A, 0x10000, 0, EXE, 7);
	loop(&a, 1, A);
	script_end(&a);
	script_begin(&b, NULL);
	script_map(&b, 1, A + 0x1000, 0x1000, 0x1000, EXE, 7);
	loop(&b, 1, A);
	script_end(&b);
	check_same_edges(&a.edges, &b.edges);
	check_u64_eq(edge_count(&a.edges, 7, 0x1210, 0x1200), 2);
	script_deinit(&a);
	script_deinit(&b);
}

/* Rule 1: a sample without a pid is looked up in all processes together. */
static void test_unknown_pid(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_map(&s, 1, A, 0x4000, 0, EXE, 7);
	script_map(&s, 2, A, 0x4000, 0, EXE, 7);
	script_map(&s, 3, B_BASE, 0x4000, 0, EXE, 7);
	loop(&s, EP_PID_UNKNOWN, A);
	loop(&s, EP_PID_UNKNOWN, B_BASE);
	/* Only the second page differs. */
	script_map(&s, 2, A + 0x1000, 0x1000, 0x1000, "/opt/app/u", 8);
	loop(&s, EP_PID_UNKNOWN, A);
	loop(&s, EP_PID_UNKNOWN, A + 0x1000);
	/* The page is clear again when one of the two is gone. */
	script_exit(&s, 1);
	loop(&s, EP_PID_UNKNOWN, A);
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 4);
	check_u64_eq(edge_count(&s.edges, 7, 0x2210, 0x2200), 2);
	check_u64_eq(edge_count(&s.edges, 8, 0x1210, 0x1200), 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_AMBIGUOUS_PROCESS], 2);
	script_deinit(&s);
}

/* The union of all processes, kept as maps come, is that of a fresh look. */
static void test_unknown_pid_at_any_time(void **state)
{
	(void)state;
	struct script often, once;

	script_begin(&often, NULL);
	script_begin(&once, NULL);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t start = A + i * 7 % 20 * 0x4000;
		int32_t pid = (int32_t)(i % 3) + 1;
		script_map(&often, pid, start, 0x6000, i % 5 * 0x1000, EXE, (uint8_t)(i % 4 + 1));
		script_map(&once, pid, start, 0x6000, i % 5 * 0x1000, EXE, (uint8_t)(i % 4 + 1));
		script_stack(&often, EP_PID_UNKNOWN, B(0x10, 0x20));
		script_stack(&once, 77, B(0x10, 0x20));
	}
	for (uint64_t i = 0; i < 24; i++) {
		loop(&often, EP_PID_UNKNOWN, A + i * 0x4000);
		loop(&once, EP_PID_UNKNOWN, A + i * 0x4000);
	}
	script_end(&often);
	script_end(&once);
	once.edges.drops.notes[EP_NOTE_UNKNOWN_PID] = 0;
	assert_true(once.edges.drops.n[EP_DROP_AMBIGUOUS_PROCESS]);
	check_same_edges(&often.edges, &once.edges);
	script_deinit(&often);
	script_deinit(&once);
}

/* Looking at all processes after each change would take hours here. */
static void test_unknown_pid_is_not_quadratic(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_map(&s, 1, A, 0x4000, 0, EXE, 7);
	for (int32_t i = 2; i < 40000; i++) {
		script_map(&s, i, (uint64_t)i << 20, 0x1000, 0, EXE, 7);
		script_exit(&s, i / 2 * 2 - 1000);
		loop(&s, EP_PID_UNKNOWN, A);
	}
	script_end(&s);
	assert_true(edge_count(&s.edges, 7, 0x1210, 0x1200) > 2000);
	assert_true(s.edges.drops.n[EP_DROP_AMBIGUOUS_PROCESS]);
	assert_true(ep_warn_count(&s.warnings, "too-many-changes"));
	script_deinit(&s);
}

/* Samples of processes nothing is known of are noted, and their records dropped as unmapped. */
static void test_process_never_heard_of(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_map(&s, 1, A, 0x4000, 0, EXE, 7);
	loop(&s, 1, A);
	loop(&s, 99, A);
	loop(&s, EP_PID_GUEST, A);
	script_end(&s);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 2);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 4);
	check_u64_eq(s.edges.drops.notes[EP_NOTE_UNKNOWN_PID], 2);
	script_deinit(&s);
}

#define TEXT 0xffffffff81000000

/* Kernel maps hold for all processes; addresses are vaddrs, signed in 48 bits. */
static void test_kernel_maps_are_global(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_kernel_map(&s, TEXT, 0x1000000, TEXT, "[kernel.kallsyms]_text", 0xee);
	script_map(&s, 1, A, 0x4000, 0, EXE, 7);
	script_stack(&s, 1, BT(TEXT + 0x40, A + 0x1200, EP_BRANCH_ERET),
	             B(TEXT + 0x20, TEXT + 0x30), B(TEXT + 0x20, TEXT + 0x10));
	loop(&s, 2, TEXT);
	loop(&s, EP_PID_GUEST, TEXT); /* not the host's kernel */
	script_end(&s);
	const struct ep_edges_binary *kernel = find_binary(&s.edges, 0xee, "");
	assert_non_null(kernel);
	assert_int_equal(kernel->space, EP_SPACE_VADDR);
	assert_string_equal(kernel->paths[0], "[kernel.kallsyms]");
	check_u64_eq(edge_count(&s.edges, 0xee, TEXT + 0x20, TEXT + 0x30), 1);
	check_u64_eq(edge_count(&s.edges, 0xee, TEXT + 0x1210, TEXT + 0x1200), 2);
	check_u64_eq(range_count(&s.edges, 0xee, TEXT + 0x30, TEXT + 0x40), 1);
	assert_non_null(find_edge(&s.edges, 7, EP_EDGE_IN, 0, 0x1200));
	check_u64_eq(s.edges.drops.n[EP_DROP_KERNEL], 2);
	script_deinit(&s);
}

/* perf of Linux 2.6 says that the kernel begins at 0: user code keeps its place, the kernel's too.
 */
static void test_kernel_map_from_zero(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_kernel_map(&s, 0, 0xffffffff9fffffff, 0xffffffff80200000, "[kernel.kallsyms]_text",
	                  0xee);
	script_map(&s, 1, A, 0x4000, 0, EXE, 7);
	script_stack(&s, 1, B(A + 0x1210, A + 0x1200), B(TEXT + 0x40, A + 0x1200),
	             B(TEXT + 0x20, TEXT + 0x30));
	script_end(&s);
	check_u64_eq(range_count(&s.edges, 7, 0x1200, 0x1210), 1);
	check_u64_eq(edge_count(&s.edges, 7, 0x1210, 0x1200), 1);
	check_u64_eq(edge_count(&s.edges, 0xee, TEXT + 0x20, TEXT + 0x30), 1);
	check_u64_eq(range_count(&s.edges, 0xee, TEXT + 0x30, TEXT + 0x40), 1);
	check_u64_eq(s.edges.drops.n[EP_DROP_UNMAPPED], 0);
	check_u64_eq(s.edges.drops.n[EP_DROP_KERNEL], 0);
	script_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_two_bases_interleaved),
	    cmocka_unit_test(test_exec_resets),
	    cmocka_unit_test(test_fork_inherits),
	    cmocka_unit_test(test_pid_reuse),
	    cmocka_unit_test(test_many_short_processes),
	    cmocka_unit_test(test_remap_and_unmap),
	    cmocka_unit_test(test_anonymous_over_file),
	    cmocka_unit_test(test_64k_pages),
	    cmocka_unit_test(test_unknown_pid),
	    cmocka_unit_test(test_unknown_pid_at_any_time),
	    cmocka_unit_test(test_unknown_pid_is_not_quadratic),
	    cmocka_unit_test(test_process_never_heard_of),
	    cmocka_unit_test(test_kernel_maps_are_global),
	    cmocka_unit_test(test_kernel_map_from_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
