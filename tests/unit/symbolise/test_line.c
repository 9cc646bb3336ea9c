/* SPDX-License-Identifier: BSD-2-Clause */
/* Line programs written by hand: opcodes, sequences, damage. */
#include <dwarf.h>
#include <string.h>

#include "base/bytes.h"
#include "support/check.h"
#include "symbolise/internal.h"

/* Code at [0x1000, 0x3000). */
static struct ep_text_range text = {0x1000, 0x2000};
static struct ep_object object = {.path = "test", .text = &text, .n_text = 1};

struct table {
	struct ep_buf buf;
	size_t unit; /* where its length stands */
};

static void begin(struct table *t, unsigned version)
{
	t->unit = t->buf.n;
	ep_buf_u32(&t->buf, 0);
	ep_buf_u16(&t->buf, (uint16_t)version);
	if (version == 5) {
		ep_buf_u8(&t->buf, 8);
		ep_buf_u8(&t->buf, 0);
	}
	size_t header = t->buf.n;
	ep_buf_u32(&t->buf, 0);
	size_t after = t->buf.n;
	ep_buf_u8(&t->buf, 1); /* shortest instruction */
	if (version >= 4)
		ep_buf_u8(&t->buf, 1);
	ep_buf_u8(&t->buf, 1);           /* is_stmt */
	ep_buf_u8(&t->buf, (uint8_t)-5); /* line base */
	ep_buf_u8(&t->buf, 14);          /* line range */
	ep_buf_u8(&t->buf, 13);          /* opcode base */
	static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	ep_buf_put(&t->buf, lengths, sizeof(lengths));
	ep_buf_put(&t->buf, "files and folders are passed over", 33);
	uint32_t n = (uint32_t)(t->buf.n - after);
	memcpy(t->buf.v + header, &n, 4);
}

static void set_address(struct table *t, uint64_t vaddr)
{
	ep_buf_u8(&t->buf, 0);
	ep_buf_uleb(&t->buf, 9);
	ep_buf_u8(&t->buf, DW_LNE_set_address);
	ep_buf_u64(&t->buf, vaddr);
}

static void set_discriminator(struct table *t, uint32_t discriminator)
{
	struct ep_buf arg = {0};

	ep_buf_uleb(&arg, discriminator);
	ep_buf_u8(&t->buf, 0);
	ep_buf_uleb(&t->buf, arg.n + 1);
	ep_buf_u8(&t->buf, DW_LNE_set_discriminator);
	ep_buf_put(&t->buf, arg.v, arg.n);
	ep_buf_deinit(&arg);
}

static void row(struct table *t, uint64_t advance, int64_t line)
{
	ep_buf_u8(&t->buf, DW_LNS_advance_pc);
	ep_buf_uleb(&t->buf, advance);
	ep_buf_u8(&t->buf, DW_LNS_advance_line);
	ep_buf_sleb(&t->buf, line);
	ep_buf_u8(&t->buf, DW_LNS_copy);
}

static void end_sequence(struct table *t, uint64_t advance)
{
	ep_buf_u8(&t->buf, DW_LNS_advance_pc);
	ep_buf_uleb(&t->buf, advance);
	ep_buf_u8(&t->buf, 0);
	ep_buf_uleb(&t->buf, 1);
	ep_buf_u8(&t->buf, DW_LNE_end_sequence);
}

static void end(struct table *t)
{
	uint32_t n = (uint32_t)(t->buf.n - t->unit - 4);

	memcpy(t->buf.v + t->unit, &n, 4);
}

static bool read_n(const struct table *t, size_t n, uint64_t lo, uint64_t hi, ep_sym_rows *rows)
{
	struct ep_interval at = {lo, hi};
	struct ep_intervals intervals = {&at, 1};
	void *bytes = check_guard(t->buf.v, n);
	struct ep_symboliser sym = {.binary = &object,
	                            .debug_line = ep_bytes_init(bytes, n, ep_swap_for(false))};
	bool bad;

	check_ok(ep_sym_lines_read(&sym, t->unit, &intervals, rows, &bad));
	check_guard_free(bytes, n);
	return !bad;
}

static void is(const ep_sym_rows *rows, size_t i, uint64_t lo, uint64_t hi, uint32_t line,
               uint32_t discriminator)
{
	assert_true(i < rows->n);
	check_u64_eq(rows->v[i].at.lo, lo);
	check_u64_eq(rows->v[i].at.hi, hi);
	check_u64_eq(rows->v[i].line, line);
	check_u64_eq(rows->v[i].discriminator, discriminator);
}

static void simple(struct table *t, unsigned version)
{
	begin(t, version);
	set_address(t, 0x1000);
	row(t, 0, 9); /* line 10 */
	set_discriminator(t, 0xfffffff7);
	ep_buf_u8(&t->buf, 13 + 14 * 4 + 5 + 1); /* 4 bytes, 1 line */
	ep_buf_u8(&t->buf, DW_LNS_const_add_pc); /* 17 bytes */
	ep_buf_u8(&t->buf, DW_LNS_set_column);
	ep_buf_uleb(&t->buf, 300);
	row(t, 0, -11); /* line 0 */
	row(t, 0, 20);  /* the last at an address holds */
	ep_buf_u8(&t->buf, DW_LNS_fixed_advance_pc);
	ep_buf_u16(&t->buf, 0x100);
	row(t, 0, 1);
	end_sequence(t, 0x10);
	end(t);
}

static void test_opcodes(void **state)
{
	(void)state;
	for (unsigned version = 2; version <= 5; version++) {
		struct table t = {0};
		ep_sym_rows rows = {0};

		simple(&t, version);
		assert_true(read_n(&t, t.buf.n, 0, UINT64_MAX, &rows));
		assert_int_equal(rows.n, 4);
		is(&rows, 0, 0x1000, 0x1004, 10, 0);
		is(&rows, 1, 0x1004, 0x1015, 11, 0xfffffff7);
		is(&rows, 2, 0x1015, 0x1115, 20, 0);
		is(&rows, 3, 0x1115, 0x1125, 21, 0);
		ep_vec_deinit(&rows);
		/* Only what is asked for. */
		assert_true(read_n(&t, t.buf.n, 0x1010, 0x1016, &rows));
		assert_int_equal(rows.n, 2);
		is(&rows, 0, 0x1004, 0x1015, 11, 0xfffffff7);
		ep_vec_deinit(&rows);
		ep_buf_deinit(&t.buf);
	}
}

/* Sequences come in any order, dead ones lie outside of the code, backward ones say nothing. */
static void test_sequences(void **state)
{
	struct table t = {0};
	ep_sym_rows rows = {0};

	(void)state;
	simple(&t, 4); /* of another unit */
	begin(&t, 4);
	set_address(&t, 0x2000);
	row(&t, 0, 1);
	end_sequence(&t, 8);
	set_address(&t, 0x1800);
	row(&t, 0, 2);
	end_sequence(&t, 8);
	set_address(&t, 0);
	row(&t, 0, 3);
	end_sequence(&t, 0x2800);
	set_address(&t, 0x1900);
	row(&t, 0, 4);
	set_address(&t, 0x18f0);
	row(&t, 0, 4);
	end_sequence(&t, 0x100);
	set_address(&t, 0x1a00);
	row(&t, 0, 5); /* has no end */
	end(&t);
	assert_true(read_n(&t, t.buf.n, 0, UINT64_MAX, &rows));
	assert_int_equal(rows.n, 2);
	is(&rows, 0, 0x1800, 0x1808, 3, 0);
	is(&rows, 1, 0x2000, 0x2008, 2, 0);
	ep_vec_deinit(&rows);
	ep_buf_deinit(&t.buf);
}

/* Cut anywhere it is damaged, and what is read is a beginning of the whole. */
static void test_truncated(void **state)
{
	struct table t = {0};

	(void)state;
	simple(&t, 5);
	for (size_t n = 0; n < t.buf.n; n++) {
		ep_sym_rows rows = {0};

		assert_false(read_n(&t, n, 0, UINT64_MAX, &rows));
		assert_true(rows.n <= 4);
		ep_vec_deinit(&rows);
	}
	ep_buf_deinit(&t.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_opcodes),
	    cmocka_unit_test(test_sequences),
	    cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
