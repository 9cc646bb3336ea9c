/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions of both machines, their ends and their targets. */
#include <string.h>

#include "isa/isa.h"
#include "support/check.h"

#define X86 62
#define ARM 183

struct insn_case {
	unsigned machine;
	uint8_t bytes[15];
	uint8_t length;
	uint8_t cls;
	bool has_target;
	uint64_t target; /* for the address 0x1000 */
};

static const struct insn_case cases[] = {
    {X86, {0x90}, 1, EP_INSN_OTHER, false, 0},
    {X86, {0xf3, 0x0f, 0x1e, 0xfa}, 4, EP_INSN_OTHER, false, 0},          /* endbr64 */
    {X86, {0xf3, 0x48, 0xa5}, 3, EP_INSN_OTHER, false, 0},                /* rep movsq */
    {X86, {0x74, 0xfe}, 2, EP_INSN_COND, true, 0x1000},                   /* je . */
    {X86, {0x2e, 0x74, 0x10}, 3, EP_INSN_COND, true, 0x1013},             /* je,pn */
    {X86, {0x0f, 0x8f, 0, 1, 0, 0}, 6, EP_INSN_COND, true, 0x1106},       /* jg */
    {X86, {0xe2, 0x02}, 2, EP_INSN_COND, true, 0x1004},                   /* loop */
    {X86, {0xe3, 0x80}, 2, EP_INSN_COND, true, 0xf82},                    /* jrcxz */
    {X86, {0xc7, 0xf8, 4, 0, 0, 0}, 6, EP_INSN_COND, true, 0x100a},       /* xbegin */
    {X86, {0xc7, 0x00, 4, 0, 0, 0}, 6, EP_INSN_OTHER, false, 0},          /* mov imm */
    {X86, {0xeb, 0x7f}, 2, EP_INSN_JUMP, true, 0x1081},                   /* jmp rel8 */
    {X86, {0xf2, 0xe9, 0, 0, 0, 0}, 6, EP_INSN_JUMP, true, 0x1006},       /* bnd jmp */
    {X86, {0xe8, 0xfb, 0xff, 0xff, 0xff}, 5, EP_INSN_CALL, true, 0x1000}, /* call . */
    {X86, {0xff, 0xd0}, 2, EP_INSN_IND_CALL, false, 0},                   /* call *%rax */
    {X86, {0x41, 0xff, 0x54, 0x24, 8}, 5, EP_INSN_IND_CALL, false, 0},    /* call *8(%r12) */
    {X86, {0x3e, 0xff, 0xe0}, 3, EP_INSN_IND_JUMP, false, 0},             /* notrack jmp */
    {X86, {0xff, 0x25, 0, 0, 0, 0}, 6, EP_INSN_IND_JUMP, false, 0},       /* jmp *(%rip) */
    {X86, {0xff, 0x30}, 2, EP_INSN_OTHER, false, 0},                      /* push (%rax) */
    {X86, {0xc3}, 1, EP_INSN_RET, false, 0},
    {X86, {0xf3, 0xc3}, 2, EP_INSN_RET, false, 0},
    {X86, {0xc2, 8, 0}, 3, EP_INSN_RET, false, 0},
    {X86, {0x48, 0xcf}, 2, EP_INSN_ERET, false, 0},
    {X86, {0x0f, 0x05}, 2, EP_INSN_SYSCALL, false, 0},
    {X86, {0x0f, 0x0b}, 2, EP_INSN_TRAP, false, 0},
    {X86, {0xcc}, 1, EP_INSN_OTHER, false, 0},
    {X86, {0xf0}, 1, EP_INSN_OTHER, false, 0}, /* lock */
    {X86, {0x06}, 1, EP_INSN_INVALID, false, 0},
    {X86, {0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0}, 6, EP_INSN_OTHER, false, 0}, /* vaddps zmm */
    {X86, {0xc5, 0xf8, 0x77}, 3, EP_INSN_OTHER, false, 0},                   /* vzeroupper */
    {ARM, {0x1f, 0x20, 0x03, 0xd5}, 4, EP_INSN_OTHER, false, 0},             /* nop */
    {ARM, {0x00, 0x00, 0x00, 0x14}, 4, EP_INSN_JUMP, true, 0x1000},          /* b . */
    {ARM, {0xff, 0xff, 0xff, 0x97}, 4, EP_INSN_CALL, true, 0xffc},           /* bl .-4 */
    {ARM, {0x40, 0x00, 0x00, 0x54}, 4, EP_INSN_COND, true, 0x1008},          /* b.eq */
    {ARM, {0x50, 0x00, 0x00, 0x54}, 4, EP_INSN_COND, true, 0x1008},          /* bc.eq */
    {ARM, {0xe0, 0xff, 0xff, 0xb4}, 4, EP_INSN_COND, true, 0xffc},           /* cbz x0 */
    {ARM, {0x20, 0x00, 0x00, 0x35}, 4, EP_INSN_COND, true, 0x1004},          /* cbnz w0 */
    {ARM, {0x40, 0x00, 0xf8, 0xb7}, 4, EP_INSN_COND, true, 0x1008},          /* tbnz x0, #63 */
    {ARM, {0xe0, 0xff, 0x07, 0x36}, 4, EP_INSN_COND, true, 0xffc},           /* tbz w0, #0 */
    {ARM, {0x41, 0x00, 0x02, 0xf4}, 4, EP_INSN_COND, true, 0x1008},          /* cbgt x1, x2 */
    {ARM, {0x81, 0xbf, 0x61, 0x75}, 4, EP_INSN_COND, true, 0xff0},           /* cblo w1, #3 */
    {ARM, {0x00, 0x02, 0x1f, 0xd6}, 4, EP_INSN_IND_JUMP, false, 0},          /* br x16 */
    {ARM, {0x00, 0x00, 0x3f, 0xd6}, 4, EP_INSN_IND_CALL, false, 0},          /* blr x0 */
    {ARM, {0x01, 0x0a, 0x3f, 0xd7}, 4, EP_INSN_IND_CALL, false, 0},          /* blraa x16, x1 */
    {ARM, {0xc0, 0x03, 0x5f, 0xd6}, 4, EP_INSN_RET, false, 0},               /* ret */
    {ARM, {0xff, 0x0b, 0x5f, 0xd6}, 4, EP_INSN_RET, false, 0},               /* retaa */
    {ARM, {0xe0, 0x03, 0x9f, 0xd6}, 4, EP_INSN_ERET, false, 0},              /* eret */
    {ARM, {0x01, 0x00, 0x00, 0xd4}, 4, EP_INSN_SYSCALL, false, 0},           /* svc #0 */
    {ARM, {0x00, 0x00, 0x20, 0xd4}, 4, EP_INSN_OTHER, false, 0},             /* brk #0 */
    {ARM, {0x00, 0x00, 0x00, 0x00}, 4, EP_INSN_TRAP, false, 0},              /* udf #0 */
    {ARM, {0x20, 0x00, 0xe1, 0xb8}, 4, EP_INSN_OTHER, false, 0},             /* ldaddal */
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(cases); i++) {
		const struct insn_case *c = &cases[i];
		uint8_t *bytes = check_guard(c->bytes, c->length);
		struct ep_insn insn;

		ep_isa_decode(c->machine, bytes, c->length, 0x1000, &insn);
		if (insn.cls != c->cls)
			fail_msg("case %zu is a %s, not a %s", i, ep_insn_class_name(insn.cls),
			         ep_insn_class_name(c->cls));
		assert_int_equal(insn.length, c->length);
		assert_int_equal(insn.has_target, c->has_target);
		if (c->has_target)
			check_u64_eq(insn.target, c->target);
		/* Cut short it is no instruction, and one to skip by the machine's smallest step.
		 */
		ep_isa_decode(c->machine, bytes + 1, c->length - 1u, 0x1000, &insn);
		assert_true(insn.length > 0);
		check_guard_free(bytes, c->length);
	}
}

static void test_cut(void **state)
{
	static const uint8_t call[] = {0xe8, 0xfb, 0xff, 0xff};
	struct ep_insn insn;

	(void)state;
	for (size_t n = 0; n <= sizeof(call); n++) {
		ep_isa_decode(X86, call, n, 0, &insn);
		assert_int_equal(insn.cls, EP_INSN_INVALID);
		assert_int_equal(insn.length, 1);
	}
	ep_isa_decode(ARM, call, 3, 0, &insn);
	assert_int_equal(insn.cls, EP_INSN_INVALID);
	assert_int_equal(insn.length, 4);
	ep_isa_decode(3, call, 4, 0, &insn);
	assert_int_equal(insn.cls, EP_INSN_INVALID);
	assert_true(ep_isa_known(X86) && ep_isa_known(ARM) && !ep_isa_known(3));
}

static void test_agrees(void **state)
{
	(void)state;
	assert_true(ep_insn_agrees(EP_INSN_COND, EP_BRANCH_COND));
	assert_false(ep_insn_agrees(EP_INSN_COND, EP_BRANCH_RET));
	assert_true(ep_insn_agrees(EP_INSN_OTHER, EP_BRANCH_IRQ));
	assert_true(ep_insn_agrees(EP_INSN_RET, EP_BRANCH_UNKNOWN));
	assert_true(ep_insn_leaves(EP_INSN_IND_JUMP) && !ep_insn_leaves(EP_INSN_SYSCALL));
	assert_true(ep_insn_transfers(EP_INSN_SYSCALL) && !ep_insn_transfers(EP_INSN_TRAP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
