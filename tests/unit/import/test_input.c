/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows over maps and streams. */
#include "import/input.h"

#include <string.h>

#include "support/check.h"

#define N_BYTES ((size_t)3 << 20)

static unsigned char *make_bytes(void)
{
	unsigned char *p = malloc(N_BYTES);

	assert_non_null(p);
	for (size_t i = 0; i < N_BYTES; i++)
		p[i] = (unsigned char)(i * 31 ^ i >> 9);
	return p;
}

/* Walks the input in odd steps and compares every byte. */
static void walk(struct ep_input *in, const unsigned char *want)
{
	size_t at = 0;

	while (at < N_BYTES) {
		size_t step = 1 + at * 7 % 70001;
		check_ok(ep_input_fill(in, step));
		assert_true(in->n >= step || in->eof);
		step = EP_MIN(step, in->n);
		check_u64_eq(in->offset, at);
		assert_memory_equal(in->data, want + at, step);
		ep_input_consume(in, step);
		at += step;
	}
	check_ok(ep_input_fill(in, 1));
	assert_true(in->eof && !in->n);
}

static void test_map_and_stream_are_alike(void **state)
{
	(void)state;
	ep_autofree unsigned char *bytes = make_bytes();
	uint8_t want[EP_DIGEST_SIZE], got[EP_DIGEST_SIZE];
	const size_t pieces[] = {0, 1000, (size_t)1 << 30};

	ep_digest(bytes, N_BYTES, want);
	for (size_t i = 0; i < EP_ARRAY_LEN(pieces); i++) {
		struct ep_input in;
		check_ok(ep_input_open_memory("m", bytes, N_BYTES, pieces[i], &in));
		assert_int_equal(in.map != NULL, pieces[i] == 0);
		walk(&in, bytes);
		check_ok(ep_input_finish(&in, got));
		assert_memory_equal(got, want, EP_DIGEST_SIZE);
		ep_input_close(&in);
	}
}

static void test_digest_covers_what_was_skipped(void **state)
{
	(void)state;
	ep_autofree unsigned char *bytes = make_bytes();
	uint8_t want[EP_DIGEST_SIZE], got[EP_DIGEST_SIZE];
	uint64_t n = 0;

	ep_digest(bytes, N_BYTES, want);
	for (size_t piece = 0; piece < 10000; piece += 9999) {
		struct ep_input in;
		check_ok(ep_input_open_memory("m", bytes, N_BYTES, piece, &in));
		check_ok(ep_input_skip(&in, 2000001, &n));
		check_u64_eq(n, 2000001);
		check_ok(ep_input_fill(&in, 5));
		assert_memory_equal(in.data, bytes + 2000001, 5);
		check_ok(ep_input_skip(&in, UINT64_MAX, &n));
		check_u64_eq(n, N_BYTES - 2000001);
		check_ok(ep_input_finish(&in, got));
		assert_memory_equal(got, want, EP_DIGEST_SIZE);
		ep_input_close(&in);
	}
}

static void test_files_are_mapped_pipes_are_not(void **state)
{
	(void)state;
	char path[] = "/tmp/ep_input_XXXXXX";
	int fd = mkstemp(path), ends[2];
	struct ep_input in;

	assert_int_equal(write(fd, "hello", 5), 5);
	close(fd);
	check_ok(ep_input_open(path, &in));
	unlink(path);
	check_ok(ep_input_fill(&in, 100));
	assert_true(in.map && in.eof);
	check_u64_eq(in.n, 5);
	ep_input_close(&in);
	ep_input_close(&in);

	int saved = dup(0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "pipe", 4), 4);
	close(ends[1]);
	assert_int_equal(dup2(ends[0], 0), 0);
	check_ok(ep_input_open("-", &in));
	assert_string_equal(in.name, "standard input");
	check_ok(ep_input_fill(&in, 100));
	assert_true(!in.map && in.eof);
	assert_memory_equal(in.data, "pipe", 4);
	ep_input_close(&in);
	assert_int_equal(dup2(saved, 0), 0);
	close(saved);
	close(ends[0]);
}

static void test_spool(void **state)
{
	(void)state;
	ep_autofree unsigned char *bytes = make_bytes();
	uint8_t want[EP_DIGEST_SIZE], got[EP_DIGEST_SIZE];
	struct ep_input in;

	ep_digest(bytes, N_BYTES, want);
	unsetenv("TMPDIR");
	check_ok(ep_input_open_memory("m", bytes, N_BYTES, 1000, &in));
	check_ok(ep_input_fill(&in, 2500));
	check_ok(ep_input_spool(&in));
	assert_non_null(in.map);
	check_u64_eq(in.map_size, N_BYTES);
	walk(&in, bytes);
	check_ok(ep_input_finish(&in, got));
	assert_memory_equal(got, want, EP_DIGEST_SIZE);
	ep_input_close(&in);
	/* No place for it: the stream goes on. */
	setenv("TMPDIR", "/nonexistent", 1);
	check_ok(ep_input_open_memory("m", bytes, N_BYTES, 1000, &in));
	check_ok(ep_input_fill(&in, 2500));
	check_ok(ep_input_spool(&in));
	assert_null(in.map);
	walk(&in, bytes);
	ep_input_close(&in);
}

static void test_errors(void **state)
{
	(void)state;
	struct ep_input in;

	check_fails(EP_ERROR_OS, ep_input_open("/nonexistent/x", &in));
	check_fails(EP_ERROR_OS, ep_input_open("/tmp", &in));
	check_ok(ep_input_open_memory("m", "x", 1, 1, &in));
	check_fails(EP_ERROR_NOMEM, ep_input_fill(&in, EP_INPUT_WINDOW_MAX + 1));
	ep_input_close(&in);
	check_ok(ep_input_open_memory("m", "", 0, 0, &in));
	check_ok(ep_input_fill(&in, 1));
	assert_true(in.eof && !in.n);
	ep_input_close(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_map_and_stream_are_alike),
	    cmocka_unit_test(test_digest_covers_what_was_skipped),
	    cmocka_unit_test(test_files_are_mapped_pipes_are_not),
	    cmocka_unit_test(test_spool),
	    cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
