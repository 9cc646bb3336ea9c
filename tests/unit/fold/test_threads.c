/* SPDX-License-Identifier: BSD-2-Clause */
/* Properties: order, number of threads and splitting of the input do not change the result. */
#include <stdlib.h>
#include <string.h>

#include "script.h"

#define N_SAMPLES 3000
#define DEPTH 32
#define N_BINARIES 5
#define BASE(pid, i) (0x400000 + (uint64_t)(pid)*0x10000000 + (uint64_t)(i)*0x1000000)

/* Stacks of two processes; what is not a plain branch is there as well. */
struct input {
	struct ep_branch stacks[N_SAMPLES][DEPTH];
	uint32_t depth[N_SAMPLES];
	int32_t pid[N_SAMPLES];
};

static uint64_t seed;

static uint64_t rnd(uint64_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % n;
}

static void make_stack(struct ep_branch *stack, uint32_t depth, int32_t pid)
{
	uint64_t at = BASE(pid, rnd(N_BINARIES)) + rnd(64) * 16;

	for (uint32_t i = depth; i-- > 0;) {
		stack[i].from = at + rnd(4) * 16;
		at = rnd(16) ? stack[i].from + 16 - rnd(8) * 32
		             : BASE(pid, rnd(N_BINARIES)) + rnd(64) * 16;
		stack[i].to = rnd(40) ? at : rnd(3) * 0x1000;
		stack[i].info = (uint64_t)rnd(13) << EP_INFO_TYPE_SHIFT | rnd(2) |
		                rnd(20) << EP_INFO_CYCLES_SHIFT;
		if (!rnd(50))
			stack[i].info |= EP_INFO_DISCONTINUITY | (rnd(2) ? EP_INFO_PC_MOVED : 0);
	}
}

static struct input *make_input(uint64_t start)
{
	struct input *input = calloc(1, sizeof(*input));

	assert_non_null(input);
	seed = start;
	for (size_t i = 0; i < N_SAMPLES; i++) {
		input->pid[i] = (int32_t)rnd(2) + 1;
		input->depth[i] = (uint32_t)rnd(DEPTH) + 1;
		make_stack(input->stacks[i], input->depth[i], input->pid[i]);
	}
	return input;
}

/* Samples first, first + step, ... below n, modulo N_SAMPLES. */
static void fold_part(struct script *s, const struct input *input, unsigned n_threads, size_t first,
                      size_t n, size_t step, bool stable)
{
	const struct ep_fold_opts opts = {.n_threads = n_threads};

	script_begin(s, &opts);
	s->flags = stable ? EP_SAMPLE_STABLE : 0;
	script_stream(s, EP_SAMPLING_INSTRUCTIONS, 1000, "instructions:u");
	for (int32_t pid = 1; pid <= 2; pid++)
		for (int i = 0; i < N_BINARIES; i++)
			script_map(s, pid, BASE(pid, i), 0x10000, 0, "/bin/x", (uint8_t)(i + 1));
	for (size_t i = 0; i < n; i++) {
		size_t k = (first + i * step) % N_SAMPLES;
		/* Memory that is not stable is gone when the call returns. */
		struct ep_branch copy[DEPTH];
		memcpy(copy, input->stacks[k], sizeof(copy));
		script_sample(s, input->pid[k], stable ? input->stacks[k] : copy, input->depth[k]);
		memset(copy, 0xee, sizeof(copy));
		/* Address spaces that change while stacks wait to be counted. */
		if (i % 97 == 0) {
			script_fork(s, 1000 + (int32_t)i, 1);
			script_exec(s, 1000 + (int32_t)i);
			script_map(s, 3, UINT64_C(0x10000) * (i + 1), 0x10000, 0, "/bin/y", 99);
		}
	}
	script_end(s);
}

/* Down to the bytes of the file. */
static void check_same_bytes(const struct ep_edges *a, const struct ep_edges *b)
{
	struct ep_buf x = {0}, y = {0};

	check_ok(ep_edges_encode(a, &x));
	check_ok(ep_edges_encode(b, &y));
	check_u64_eq(x.n, y.n);
	assert_memory_equal(x.v, y.v, x.n);
	ep_buf_deinit(&x);
	ep_buf_deinit(&y);
}

static void test_threads_do_not_matter(void **state)
{
	(void)state;
	struct input *input = make_input(1);
	struct script one;

	fold_part(&one, input, 1, 0, N_SAMPLES, 1, true);
	assert_true(n_edges(&one.edges) > 100);
	for (unsigned n = 1; n <= 8; n++) {
		struct script many;
		fold_part(&many, input, n, 0, N_SAMPLES, 1, n % 2);
		check_same_edges(&one.edges, &many.edges);
		check_same_bytes(&one.edges, &many.edges);
		script_deinit(&many);
	}
	script_deinit(&one);
	free(input);
}

static void test_order_does_not_matter(void **state)
{
	(void)state;
	struct input *input = make_input(2);
	struct script one, other;

	fold_part(&one, input, 1, 0, N_SAMPLES, 1, true);
	fold_part(&other, input, 2, 17, N_SAMPLES, 1009, true);
	check_same_edges(&one.edges, &other.edges);
	script_deinit(&one);
	script_deinit(&other);
	free(input);
}

/* The sum of two results, by hand. */
static void add_edges(struct ep_edges *to, const struct ep_edges *from)
{
	struct ep_edges_binary *binaries =
	    ep_arena_calloc(&to->arena, to->n_binaries + from->n_binaries, sizeof(*binaries));

	assert_non_null(binaries);
	memcpy(binaries, to->binaries, to->n_binaries * sizeof(*binaries));
	for (size_t i = 0; i < from->n_binaries; i++) {
		struct ep_edges_binary *b = &binaries[to->n_binaries + i];
		*b = from->binaries[i];
		for (size_t e = 0; e < b->n_edges; e++)
			if (b->edges[e].peer)
				b->edges[e].peer =
				    (uint32_t)(b->edges[e].peer + to->n_binaries) & 0x3fffffff;
	}
	to->binaries = binaries;
	to->n_binaries += from->n_binaries;
	ep_drops_add(&to->drops, &from->drops);
	check_ok(ep_edges_normalise(to));
}

/* fold(a + b) = merge(fold a, fold b). */
static void test_folding_is_additive(void **state)
{
	(void)state;
	struct input *input = make_input(3);
	struct script all, a, b;

	fold_part(&all, input, 2, 0, N_SAMPLES, 1, true);
	fold_part(&a, input, 1, 0, 1000, 1, true);
	fold_part(&b, input, 2, 1000, N_SAMPLES - 1000, 1, false);
	add_edges(&a.edges, &b.edges);
	check_same_edges(&all.edges, &a.edges);
	script_deinit(&all);
	script_deinit(&a);
	script_deinit(&b);
	free(input);
}

/* Many more branches than the table begins with. */
static void test_table_grows(void **state)
{
	(void)state;
	struct script s;

	script_begin(&s, NULL);
	script_map(&s, 1, 0x400000, 0x4000000, 0, "/bin/x", 1);
	for (uint64_t i = 0; i < 100000; i++)
		script_stack(&s, 1, B(0x400000 + 8 * i, 0x400004 + 8 * i));
	script_end(&s);
	assert_int_equal(n_edges(&s.edges), 100000);
	check_u64_eq(edge_count(&s.edges, 1, UINT64_C(8) * 77777, UINT64_C(8) * 77777 + 4), 1);
	script_deinit(&s);
}

/* A fold that is given up while stacks wait. */
static void test_destroy_unfinished(void **state)
{
	(void)state;
	struct input *input = make_input(4);
	struct script s;

	for (unsigned n = 1; n <= 3; n++) {
		const struct ep_fold_opts opts = {.n_threads = n};
		script_begin(&s, &opts);
		for (size_t i = 0; i < N_SAMPLES; i++)
			script_sample(&s, 1, input->stacks[i], input->depth[i]);
		script_deinit(&s);
	}
	free(input);
}

static void test_provenance(void **state)
{
	(void)state;
	struct input *input = make_input(5);
	struct script s;

	fold_part(&s, input, 2, 0, N_SAMPLES, 1, true);
	assert_int_equal(s.edges.n_provenance, 1);
	const struct ep_provenance *p = &s.edges.provenance[0];
	assert_string_equal(p->host, "here");
	assert_string_equal(p->tool, "test");
	assert_string_equal(p->event, "instructions:u");
	assert_string_equal(p->kernel, "");
	assert_int_equal(p->sampling, EP_SAMPLING_INSTRUCTIONS);
	check_u64_eq(p->period, 1000);
	check_u64_eq(p->n_samples, N_SAMPLES);
	check_u64_eq(p->weight, EP_COUNT_ONE);
	check_u64_eq(p->n_copies, 1);
	assert_true(p->weighted);
	assert_false(p->exact);
	assert_int_equal(p->digest[2], 3);
	assert_true(p->t_start_ns && p->t_start_ns < p->t_end_ns);
	script_deinit(&s);
	free(input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_threads_do_not_matter),
	    cmocka_unit_test(test_order_does_not_matter),
	    cmocka_unit_test(test_folding_is_additive),
	    cmocka_unit_test(test_table_grows),
	    cmocka_unit_test(test_destroy_unfinished),
	    cmocka_unit_test(test_provenance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
