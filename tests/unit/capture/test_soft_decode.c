/* SPDX-License-Identifier: BSD-2-Clause */
/* softbrbe's records as events, and what is refused. */
#include "capture/soft/decode.h"

#include <string.h>

#include "support/check.h"

/* A record with its body, padded as the plugin does it. */
struct record {
	_Alignas(8) unsigned char v[8192];
	uint32_t n;
};

static void begin(struct record *r, uint32_t type)
{
	struct ep_sb_record head = {.type = type, .seq = 7, .t_ns = 99, .pid = 10, .tid = 11};

	memset(r->v, 0, sizeof(r->v));
	memcpy(r->v, &head, sizeof(head));
	r->n = sizeof(head);
}

static void put(struct record *r, const void *data, size_t n)
{
	memcpy(r->v + r->n, data, n);
	r->n += (uint32_t)n;
}

static void end(struct record *r)
{
	r->n = (r->n + 7) & ~7u;
	memcpy(r->v, &r->n, 4);
}

/* Decodes it from memory that ends with it. */
static bool decode(const struct record *r, struct ep_soft_scratch *scratch, struct ep_event *ret)
{
	void *p = check_guard(r->v, r->n);
	struct ep_bytes bytes = ep_bytes_init(p, r->n, false);
	struct ep_soft_record record;
	bool ok = ep_soft_record_next(&bytes, &record) && ep_soft_decode(&record, scratch, ret);

	assert_true(!ok || !ep_bytes_left(&bytes));
	check_guard_free(p, r->n);
	return ok;
}

static void make_sample(struct record *r, uint32_t n)
{
	struct ep_sb_sample head = {.ip = 0x5000, .period = 123, .n = n};

	begin(r, EP_SB_SAMPLE);
	put(r, &head, sizeof(head));
	for (uint64_t i = 0; i < n; i++)
		put(r, &(uint64_t){0x1000 + i}, 8);
	for (uint64_t i = 0; i < n; i++)
		put(r, &(uint64_t){0x2000 + i}, 8);
	for (uint32_t i = 0; i < n; i++)
		put(r,
		    &(uint16_t){(uint16_t)(i == 1 ? EP_BRANCH_RET | EP_SB_INFO_DISCONTINUITY |
		                                        EP_SB_INFO_MOVED
		                           : i == 2 ? EP_BRANCH_FAULT_DATA
		                                    : EP_BRANCH_COND)},
		    2);
	end(r);
}

static void test_sample(void **state)
{
	static struct record r;
	static struct ep_soft_scratch scratch;
	struct ep_event e;

	(void)state;
	make_sample(&r, 64);
	assert_true(decode(&r, &scratch, &e));
	assert_int_equal(e.type, EP_EVENT_SAMPLE);
	assert_int_equal(e.pid, 10);
	assert_int_equal(e.tid, 11);
	check_u64_eq(e.t_ns, 99);
	check_u64_eq(e.u.sample.ip, 0x5000);
	check_u64_eq(e.u.sample.period, 123);
	assert_int_equal(e.u.sample.n_branches, 64);
	const struct ep_branch *b = e.u.sample.branches;
	check_u64_eq(b[63].from, 0x103f);
	check_u64_eq(b[63].to, 0x203f);
	assert_int_equal(ep_info_type(b[0].info), EP_BRANCH_COND);
	assert_false(b[0].info & EP_INFO_DISCONTINUITY);
	assert_int_equal(ep_info_type(b[1].info), EP_BRANCH_RET);
	assert_true(b[1].info & EP_INFO_DISCONTINUITY && b[1].info & EP_INFO_PC_MOVED);
	assert_int_equal(ep_info_type(b[2].info), EP_BRANCH_FAULT_DATA);
	check_u64_eq(b[2].info & ~e.u.sample.info_mask, 0);
	make_sample(&r, 0);
	assert_true(decode(&r, &scratch, &e));
	assert_int_equal(e.u.sample.n_branches, 0);
}

static void make_map(struct record *r, uint64_t start, uint64_t len, const char *path,
                     uint32_t path_len)
{
	struct ep_sb_map map = {start, len, 0x3000, EP_SB_MAP_FILE, path_len};

	begin(r, EP_SB_MAP);
	put(r, &map, sizeof(map));
	put(r, path, strlen(path));
	end(r);
}

static void test_map(void **state)
{
	static struct record r;
	static struct ep_soft_scratch scratch;
	struct ep_event e;

	(void)state;
	make_map(&r, 0x400000, 0x1000, "/bin/prog", 9);
	assert_true(decode(&r, &scratch, &e));
	assert_int_equal(e.type, EP_EVENT_MAP);
	assert_string_equal(e.u.map.path, "/bin/prog");
	check_u64_eq(e.u.map.pgoff, 0x3000);
	assert_true(e.u.map.is_file && !e.u.map.is_kernel);
	make_map(&r, 0x400000, 0x1000, "/bin/prog", 4000);
	assert_false(decode(&r, &scratch, &e));
	make_map(&r, 0x400000, 0x1000, "", EP_SB_MAX_PATH);
	assert_false(decode(&r, &scratch, &e));
	make_map(&r, 0x400000, 0x1000, "/bin/prog", 12); /* takes in the padding's NUL */
	assert_false(decode(&r, &scratch, &e));
	make_map(&r, UINT64_MAX - 4095, 8192, "/bin/prog", 9);
	assert_false(decode(&r, &scratch, &e));
	make_map(&r, 0x400000, 0, "/bin/prog", 9);
	assert_false(decode(&r, &scratch, &e));
}

static void test_others(void **state)
{
	static struct record r;
	static struct ep_soft_scratch scratch;
	struct ep_event e;
	struct ep_sb_fork fork = {5, 6};
	static const struct {
		uint32_t type;
		int event, tid;
	} plain[] = {
	    {EP_SB_EXEC, EP_EVENT_EXEC, 11}, {EP_SB_THREAD_EXIT, EP_EVENT_EXIT, 11},
	    {EP_SB_EXIT, EP_EVENT_EXIT, 10}, {EP_SB_EXEC_TRY, 0, 11},
	    {EP_SB_EXEC_FAILED, 0, 11},
	};

	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(plain); i++) {
		begin(&r, plain[i].type);
		end(&r);
		assert_true(decode(&r, &scratch, &e));
		assert_int_equal(e.type, plain[i].event);
		assert_int_equal(e.tid, plain[i].tid);
	}
	begin(&r, EP_SB_FORK);
	put(&r, &fork, sizeof(fork));
	end(&r);
	assert_true(decode(&r, &scratch, &e));
	assert_int_equal(e.u.fork.ppid, 5);
	assert_int_equal(e.u.fork.ptid, 6);
	begin(&r, 77);
	end(&r);
	assert_false(decode(&r, &scratch, &e));
}

/* Cut anywhere, a record is not there yet or malformed, never read past its end. */
static void test_cut(void **state)
{
	static struct record r;
	static struct ep_soft_scratch scratch;
	struct ep_event e;

	(void)state;
	make_sample(&r, 32);
	uint32_t whole = r.n;
	for (uint32_t n = 0; n < whole; n++) {
		r.n = n;
		assert_false(decode(&r, &scratch, &e));
		if (n < sizeof(struct ep_sb_record) || n % 8)
			continue;
		memcpy(r.v, &n, 4); /* its size agrees, its body is short */
		assert_false(decode(&r, &scratch, &e));
		memcpy(r.v, &whole, 4);
	}
}

static void test_bad_size(void **state)
{
	static const uint32_t sizes[] = {0, 8, 31, 33, 1u << 20, UINT32_MAX};
	static struct record r;

	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(sizes); i++) {
		struct ep_soft_record record;
		begin(&r, EP_SB_EXEC);
		memcpy(r.v, &sizes[i], 4);
		struct ep_bytes bytes = ep_bytes_init(r.v, sizeof(r.v), false);
		assert_false(ep_soft_record_next(&bytes, &record));
		assert_true(bytes.failed);
	}
}

static void test_entry(void **state)
{
	struct ep_sb_entry entry = {0x1000, 0x1010, 0x2000, 5, EP_BRANCH_CALL};
	struct ep_counted edge, range;

	(void)state;
	assert_true(ep_soft_decode_entry(&entry, &edge, &range));
	check_u64_eq(edge.from, 0x1010);
	check_u64_eq(edge.to, 0x2000);
	check_u64_eq(edge.count, 5);
	assert_int_equal(edge.type, EP_BRANCH_CALL);
	check_u64_eq(range.from, 0x1000);
	check_u64_eq(range.to, 0x1010);
	check_u64_eq(range.count, 5);
	entry.start = 0x1011;
	assert_false(ep_soft_decode_entry(&entry, &edge, &range));
	entry.start = 0;
	entry.count = 0;
	assert_false(ep_soft_decode_entry(&entry, &edge, &range));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sample),   cmocka_unit_test(test_map),
	    cmocka_unit_test(test_others),   cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_bad_size), cmocka_unit_test(test_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
