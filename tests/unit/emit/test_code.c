/* SPDX-License-Identifier: BSD-2-Clause */
/* The map of decoded code: where it begins, what it covers, look-ups in any order. */
#include <elf.h>
#include <string.h>

#include "emit/internal.h"
#include "support/check.h"
#include "support/elf_image.h"

#define TEXT 0x401000u
#define SIZE 0x1000u

/* At TEXT + 0x100 and TEXT + 0x200; nops (1 byte each) all around. */
static const uint8_t loop[] = {0xff, 0xc8,             /* dec %eax */
                               0x75, 0xfc,             /* jne */
                               0xff, 0xe0,             /* jmp *%rax */
                               0xf0, 0x0f, 0xb1, 0x0f, /* lock cmpxchg */
                               0xc3};                  /* ret */
static const uint8_t holes[] = {0x90, 0x06, 0x06, 0xe8, 0,
                                0,    0,    0,    0x0f, 0x0b}; /* 2 bad, call, ud2 */

struct fixture {
	struct ep_buf file;
	struct ep_object *object;
	struct ep_code code;
};

static void set_up(struct fixture *f, const struct ep_interval *v, size_t n, bool compat)
{
	static const struct elf_image_segment segment = {TEXT, 0x1000, SIZE, SIZE, true};
	static const uint64_t starts[] = {TEXT + 0x100, TEXT + 0x200};
	struct elf_image image = {.is_64 = true,
	                          .type = ET_EXEC,
	                          .machine = EM_X86_64,
	                          .segments = &segment,
	                          .n_segments = 1,
	                          .min_size = 0x1000 + SIZE};
	struct ep_intervals intervals = {(struct ep_interval *)v, n};
	struct ep_code_starts list = {starts, 2};

	*f = (struct fixture){0};
	elf_image_write(&image, &f->file);
	memset(f->file.v + 0x1000, 0x90, SIZE);
	memcpy(f->file.v + 0x1100, loop, sizeof(loop));
	memcpy(f->file.v + 0x1200, holes, sizeof(holes));
	check_ok(ep_object_open_memory(f->file.v, f->file.n, "image", &f->object));
	check_ok(ep_code_build(f->object, &intervals, &list, compat, 2, &f->code));
}

static void tear_down(struct fixture *f)
{
	ep_code_deinit(&f->code);
	ep_object_close(f->object);
	ep_buf_deinit(&f->file);
}

static void test_look_up(void **state)
{
	/* One that begins in the middle, one that crosses a start, one before all starts. */
	static const struct ep_interval v[] = {
	    {TEXT + 0x10, TEXT + 0x11}, {TEXT + 0x102, TEXT + 0x10b}, {TEXT + 0x1f8, TEXT + 0x20a}};
	struct fixture f;

	(void)state;
	set_up(&f, v, 3, false);
	assert_int_equal(ep_code_at(&f.code, TEXT + 0x100)->cls, EP_INSN_OTHER);
	assert_int_equal(ep_code_at(&f.code, TEXT + 0x102)->cls, EP_INSN_COND);
	assert_null(ep_code_at(&f.code, TEXT + 0x103));
	/* Execution may go on behind a LOCK prefix. */
	assert_non_null(ep_code_at(&f.code, TEXT + 0x106));
	assert_non_null(ep_code_at(&f.code, TEXT + 0x107));
	assert_null(ep_code_at(&f.code, TEXT + 0x108));
	assert_int_equal(ep_code_at(&f.code, TEXT + 0x10a)->cls, EP_INSN_RET);
	assert_null(ep_code_at(&f.code, TEXT + 0x201));
	assert_int_equal(ep_code_at(&f.code, TEXT + 0x203)->cls, EP_INSN_CALL);
	/* Decoded from the start of the text up to what is needed. */
	assert_non_null(ep_code_at(&f.code, TEXT));
	assert_null(ep_code_at(&f.code, TEXT + 0x11));
	assert_null(ep_code_at(&f.code, TEXT + SIZE));

	assert_false(ep_code_leaves(&f.code, TEXT + 0x100, TEXT + 0x104));
	assert_true(ep_code_leaves(&f.code, TEXT + 0x100, TEXT + 0x105));
	assert_true(ep_code_leaves(&f.code, TEXT + 0x206, TEXT + 0x209));
	tear_down(&f);
}

/* Bytes do not depend on where the cursor was before. */
static void test_bytes(void **state)
{
	static const struct ep_interval v[] = {{TEXT + 0x100, TEXT + 0x20a}};
	struct fixture f;

	(void)state;
	set_up(&f, v, 1, false);
	for (unsigned from = 0; from < 40; from++) {
		struct ep_code_cursor going = {0};

		ep_code_bytes(&f.code, &going, TEXT + 0xf0 + 8 * from, TEXT + 0xf8 + 8 * from);
		struct ep_code_cursor fresh = {0}, back = going;
		check_u64_eq(ep_code_bytes(&f.code, &back, TEXT + 0x100, TEXT + 0x10b), 11);
		check_u64_eq(ep_code_bytes(&f.code, &back, TEXT + 0x1fe, TEXT + 0x203), 3);
		check_u64_eq(ep_code_bytes(&f.code, &back, TEXT + 0x101, TEXT + 0x102), 0);
		check_u64_eq(ep_code_bytes(&f.code, &going, TEXT + 0x102, TEXT + 0x202),
		             ep_code_bytes(&f.code, &fresh, TEXT + 0x102, TEXT + 0x202));
		assert_true(ep_code_covers(&f.code, &going, TEXT + 0x150));
		assert_false(ep_code_covers(&f.code, &going, TEXT + 0x20a));
		assert_false(ep_code_covers(&f.code, &going, TEXT));
	}
	tear_down(&f);
}

/* llvm-profgen knows no code before the first symbol, and lets indirect jumps and traps pass. */
static void test_compat(void **state)
{
	static const struct ep_interval v[] = {{TEXT + 0x10, TEXT + 0x20a}};
	struct fixture f;

	(void)state;
	set_up(&f, v, 1, true);
	assert_null(ep_code_at(&f.code, TEXT + 0x10));
	assert_non_null(ep_code_at(&f.code, TEXT + 0x100));
	assert_false(ep_code_leaves(&f.code, TEXT + 0x100, TEXT + 0x10a));
	assert_true(ep_code_leaves(&f.code, TEXT + 0x100, TEXT + 0x10b));
	assert_false(ep_code_leaves(&f.code, TEXT + 0x204, TEXT + 0x20a));
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_look_up),
	    cmocka_unit_test(test_bytes),
	    cmocka_unit_test(test_compat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
