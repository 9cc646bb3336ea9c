/* SPDX-License-Identifier: BSD-2-Clause */
/* The plugin's classes of branch instructions, against encodings and against the isa module. */
#include "../../../tools/softbrbe/classify.h"

#include <elf.h>
#include <string.h>

#include "isa/isa.h"
#include "object/object.h"
#include "support/check.h"

#define ADDR UINT64_C(0x401000)
#define NO EP_SB_NO_ADDR

struct x86_case {
	uint8_t bytes[15];
	uint8_t n, kind, type;
	int64_t target_offset; /* from ADDR, of direct branches */
};

/* Encodings as llvm-mc gives them for the instructions named. */
static const struct x86_case x86_cases[] = {
    {{0x90}, 1, EP_SB_NONE, 0, 0},                                                /* nop */
    {{0x74, 0x05}, 2, EP_SB_COND, EP_BRANCH_COND, 7},                             /* je */
    {{0x2e, 0x75, 0xfe}, 3, EP_SB_COND, EP_BRANCH_COND, 1},                       /* jne,pn */
    {{0x0f, 0x8f, 0, 1, 0, 0}, 6, EP_SB_COND, EP_BRANCH_COND, 0x106},             /* jg */
    {{0xe2, 0xfc}, 2, EP_SB_COND, EP_BRANCH_COND, -2},                            /* loop */
    {{0xe3, 0x10}, 2, EP_SB_COND, EP_BRANCH_COND, 0x12},                          /* jrcxz */
    {{0x67, 0xe3, 0x10}, 3, EP_SB_COND, EP_BRANCH_COND, 0x13},                    /* jecxz */
    {{0xeb, 0xfe}, 2, EP_SB_DIRECT, EP_BRANCH_UNCOND, 0},                         /* jmp . */
    {{0xe9, 0, 0, 0, 0}, 5, EP_SB_DIRECT, EP_BRANCH_UNCOND, 5},                   /* jmp .+5 */
    {{0xf2, 0xe9, 0xff, 0xff, 0xff, 0xff}, 6, EP_SB_DIRECT, EP_BRANCH_UNCOND, 5}, /* bnd jmp */
    {{0xe8, 0, 0, 0, 0}, 5, EP_SB_DIRECT, EP_BRANCH_CALL, 5},                     /* call .+5 */
    {{0x67, 0xe8, 0x10, 0, 0, 0}, 6, EP_SB_DIRECT, EP_BRANCH_CALL, 0x16},         /* addr32 call */
    {{0xc3}, 1, EP_SB_INDIRECT, EP_BRANCH_RET, 0},                                /* ret */
    {{0xf3, 0xc3}, 2, EP_SB_INDIRECT, EP_BRANCH_RET, 0},                          /* rep ret */
    {{0xc2, 0x08, 0x00}, 3, EP_SB_INDIRECT, EP_BRANCH_RET, 0},                    /* ret $8 */
    {{0x48, 0xcb}, 2, EP_SB_INDIRECT, EP_BRANCH_RET, 0},                          /* lretq */
    {{0x48, 0xcf}, 2, EP_SB_INDIRECT, EP_BRANCH_ERET, 0},                         /* iretq */
    {{0xff, 0xd0}, 2, EP_SB_INDIRECT, EP_BRANCH_IND_CALL, 0},                     /* call *%rax */
    {{0x41, 0xff, 0xd4}, 3, EP_SB_INDIRECT, EP_BRANCH_IND_CALL, 0},               /* call *%r12 */
    {{0xff, 0x15, 0, 0, 0, 0}, 6, EP_SB_INDIRECT, EP_BRANCH_IND_CALL, 0},         /* call *(%rip) */
    {{0xff, 0x14, 0xc5, 0, 0, 0, 0},
     7,
     EP_SB_INDIRECT,
     EP_BRANCH_IND_CALL,
     0},                                                                  /* call *0(,%rax,8) */
    {{0xff, 0x54, 0x24, 0x08}, 4, EP_SB_INDIRECT, EP_BRANCH_IND_CALL, 0}, /* call *8(%rsp) */
    {{0x3e, 0xff, 0xe0}, 3, EP_SB_INDIRECT, EP_BRANCH_IND, 0},            /* notrack jmp */
    {{0xff, 0xa0, 0, 1, 0, 0}, 6, EP_SB_INDIRECT, EP_BRANCH_IND, 0},      /* jmp *256(%rax) */
    {{0xff, 0x28}, 2, EP_SB_INDIRECT, EP_BRANCH_IND, 0},                  /* ljmp *(%rax) */
    {{0xff, 0x18}, 2, EP_SB_INDIRECT, EP_BRANCH_IND_CALL, 0},             /* lcall *(%rax) */
    {{0xff, 0xc0}, 2, EP_SB_NONE, 0, 0},                                  /* inc %eax */
    {{0xff, 0x30}, 2, EP_SB_NONE, 0, 0},                                  /* push (%rax) */
    {{0x0f, 0x05}, 2, EP_SB_TRAP, EP_BRANCH_SYSCALL, 0},                  /* syscall */
    {{0xcd, 0x80}, 2, EP_SB_TRAP, EP_BRANCH_SYSCALL, 0},                  /* int $0x80 */
    {{0xcc}, 1, EP_SB_TRAP, EP_BRANCH_ARCH_4, 0},                         /* int3 */
    {{0x0f, 0x0b}, 2, EP_SB_TRAP, EP_BRANCH_FAULT_INST, 0},               /* ud2 */
    {{0xf3, 0xa4}, 2, EP_SB_REP, 0, 0},                                   /* rep movsb */
    {{0xf3, 0x48, 0xab}, 3, EP_SB_REP, 0, 0},                             /* rep stosq */
    {{0xf2, 0xae}, 2, EP_SB_REP, 0, 0},                                   /* repne scasb */
    {{0xa4}, 1, EP_SB_NONE, 0, 0},                                        /* movsb */
    {{0xf3, 0x0f, 0x1e, 0xfa}, 4, EP_SB_NONE, 0, 0},                      /* endbr64 */
    {{0xc5, 0xf8, 0x77}, 3, EP_SB_NONE, 0, 0},                            /* vzeroupper */
};

static void test_x86(void **state)
{
	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(x86_cases); i++) {
		const struct x86_case *c = &x86_cases[i];
		uint8_t *bytes = check_guard(c->bytes, c->n);
		struct ep_sb_insn insn = ep_sb_classify_x86(bytes, c->n, ADDR);
		bool direct = c->kind == EP_SB_COND || c->kind == EP_SB_DIRECT;

		if (insn.kind != c->kind || insn.type != c->type)
			fail_msg("case %zu: kind %d type %u", i, insn.kind, insn.type);
		check_u64_eq(insn.target, direct ? ADDR + (uint64_t)c->target_offset : NO);
		check_guard_free(bytes, c->n);
	}
}

/* An instruction that goes on in the next page shows without its rest: never a branch. */
static void test_x86_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(x86_cases); i++) {
		const struct x86_case *c = &x86_cases[i];
		for (size_t n = 0; n < c->n; n++) {
			uint8_t *bytes = check_guard(c->bytes, n);
			struct ep_sb_insn insn = ep_sb_classify_x86(bytes, n, ADDR);

			/* With an operand-size prefix a 16-bit displacement would be whole. */
			if (insn.kind != EP_SB_NONE && !(n + 2 == c->n && insn.target != NO))
				fail_msg("case %zu cut to %zu: kind %d", i, n, insn.kind);
			check_guard_free(bytes, n);
		}
	}
}

struct a64_case {
	uint32_t word;
	uint8_t kind, type;
	int64_t target_offset;
};

static const struct a64_case a64_cases[] = {
    {0x14000000, EP_SB_DIRECT, EP_BRANCH_UNCOND, 0},         /* b . */
    {0x17ffffff, EP_SB_DIRECT, EP_BRANCH_UNCOND, -4},        /* b .-4 */
    {0x15ffffff, EP_SB_DIRECT, EP_BRANCH_UNCOND, 0x7fffffc}, /* b .+0x7fffffc */
    {0x96000000, EP_SB_DIRECT, EP_BRANCH_CALL, -0x8000000},  /* bl .-0x8000000 */
    {0x54000040, EP_SB_COND, EP_BRANCH_COND, 8},             /* b.eq */
    {0x54ffffee, EP_SB_COND, EP_BRANCH_COND, -4},            /* b.al */
    {0x54000050, EP_SB_COND, EP_BRANCH_COND, 8},             /* bc.eq */
    {0x34000020, EP_SB_COND, EP_BRANCH_COND, 4},             /* cbz w0 */
    {0xb5ffffe0, EP_SB_COND, EP_BRANCH_COND, -4},            /* cbnz x0 */
    {0x36080040, EP_SB_COND, EP_BRANCH_COND, 8},             /* tbz w0, #1 */
    {0xb7fc0000, EP_SB_COND, EP_BRANCH_COND, -0x8000},       /* tbnz x0, #63 */
    {0x74020041, EP_SB_COND, EP_BRANCH_COND, 8},             /* cbgt w1, w2 */
    {0xf5c28063, EP_SB_COND, EP_BRANCH_COND, 12},            /* cbeq x3, #5 */
    {0x7402bfc1, EP_SB_COND, EP_BRANCH_COND, -8},            /* cbbgt w1, w2 */
    {0xd61f0200, EP_SB_INDIRECT, EP_BRANCH_IND, 0},          /* br x16 */
    {0xd71f0822, EP_SB_INDIRECT, EP_BRANCH_IND, 0},          /* braa x1, x2 */
    {0xd63f0020, EP_SB_INDIRECT, EP_BRANCH_IND_CALL, 0},     /* blr x1 */
    {0xd63f083f, EP_SB_INDIRECT, EP_BRANCH_IND_CALL, 0},     /* blraaz x1 */
    {0xd73f0822, EP_SB_INDIRECT, EP_BRANCH_IND_CALL, 0},     /* blraa x1, x2 */
    {0xd65f03c0, EP_SB_INDIRECT, EP_BRANCH_RET, 0},          /* ret */
    {0xd65f0bff, EP_SB_INDIRECT, EP_BRANCH_RET, 0},          /* retaa */
    {0x5500001f, EP_SB_INDIRECT, EP_BRANCH_RET, 0},          /* retaasppc */
    {0xd65f0be1, EP_SB_INDIRECT, EP_BRANCH_RET, 0},          /* retaasppcr x1 */
    {0xd69f03e0, EP_SB_INDIRECT, EP_BRANCH_ERET, 0},         /* eret */
    {0xd4000001, EP_SB_TRAP, EP_BRANCH_SYSCALL, 0},          /* svc #0 */
    {0xd4000002, EP_SB_TRAP, EP_BRANCH_SYSCALL, 0},          /* hvc #0 */
    {0xd4200020, EP_SB_TRAP, EP_BRANCH_ARCH_4, 0},           /* brk #1 */
    {0xd4400020, EP_SB_TRAP, EP_BRANCH_ARCH_2, 0},           /* hlt #1 */
    {0x00000000, EP_SB_TRAP, EP_BRANCH_FAULT_INST, 0},       /* udf #0 */
    {0xd5033fdf, EP_SB_NONE, 0, 0},                          /* isb */
    {0xd503201f, EP_SB_NONE, 0, 0},                          /* nop */
    {0xd503245f, EP_SB_NONE, 0, 0},                          /* bti c */
    {0x91000000, EP_SB_NONE, 0, 0},                          /* add */
};

static void test_a64(void **state)
{
	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(a64_cases); i++) {
		const struct a64_case *c = &a64_cases[i];
		struct ep_sb_insn insn = ep_sb_classify_a64(c->word, ADDR);
		bool direct = c->kind == EP_SB_COND || c->kind == EP_SB_DIRECT;

		if (insn.kind != c->kind || insn.type != c->type)
			fail_msg("%08x: kind %d type %u", c->word, insn.kind, insn.type);
		check_u64_eq(insn.target, direct ? ADDR + (uint64_t)c->target_offset : NO);
	}
}

/* What the isa module, written on its own, must say of an instruction of this kind and type. */
static bool agrees(const struct ep_sb_insn *a, const struct ep_insn *b)
{
	switch (a->kind) {
	case EP_SB_COND:
		return b->cls == EP_INSN_COND && b->target == a->target;
	case EP_SB_DIRECT:
		return b->cls == (a->type == EP_BRANCH_CALL ? EP_INSN_CALL : EP_INSN_JUMP) &&
		       b->target == a->target;
	case EP_SB_INDIRECT:
		return b->cls == (a->type == EP_BRANCH_RET        ? EP_INSN_RET
		                  : a->type == EP_BRANCH_IND_CALL ? EP_INSN_IND_CALL
		                  : a->type == EP_BRANCH_IND      ? EP_INSN_IND_JUMP
		                                                  : EP_INSN_ERET);
	case EP_SB_TRAP:
		return b->cls == EP_INSN_SYSCALL || b->cls == EP_INSN_TRAP ||
		       b->cls == EP_INSN_OTHER;
	default:
		return b->cls == EP_INSN_OTHER || b->cls == EP_INSN_INVALID ||
		       b->cls == EP_INSN_TRAP;
	}
}

static void compare(unsigned machine, const uint8_t *bytes, uint64_t addr,
                    const struct ep_insn *insn)
{
	uint32_t word;
	struct ep_sb_insn mine;

	if (machine == EM_X86_64) {
		mine = ep_sb_classify_x86(bytes, insn->length, addr);
	} else {
		memcpy(&word, bytes, 4);
		mine = ep_sb_classify_a64(word, addr);
	}
	if (!agrees(&mine, insn))
		fail_msg("%02x %02x %02x %02x..: kind %d type %u, but a %s", bytes[0], bytes[1],
		         bytes[2], bytes[3], mine.kind, mine.type,
		         ep_insn_class_name((enum ep_insn_class)insn->cls));
}

/* Every instruction of this test's own program. */
static void test_own_code(void **state)
{
	struct ep_object *object;
	size_t n_branches = 0;

	(void)state;
	check_ok(ep_object_open("/proc/self/exe", &object));
	if (!ep_isa_known(object->machine))
		skip();
	for (size_t i = 0; i < object->n_text; i++) {
		uint64_t addr = object->text[i].vaddr, end = addr + object->text[i].size;
		while (addr < end) {
			struct ep_insn insn;
			size_t n;
			const uint8_t *bytes = ep_object_bytes(object, addr, &n);
			if (!bytes || n < 16)
				break;
			ep_isa_decode(object->machine, bytes, n, addr, &insn);
			compare(object->machine, bytes, addr, &insn);
			n_branches += insn.cls >= EP_INSN_COND;
			addr += insn.length;
		}
	}
	assert_true(n_branches > 100);
	ep_object_close(object);
}

/* AArch64 words all over the encoding space, the branch group more densely. */
static void test_words(void **state)
{
	uint32_t x = 12345;

	(void)state;
	for (unsigned i = 0; i < 2000000; i++) {
		uint8_t bytes[4];
		struct ep_insn insn;

		x = x * 1664525 + 1013904223;
		uint32_t word = i & 1 ? (x & 0xe3ffffff) | 0x14000000 : x;
		/* Mostly unallocated; the two draw the line in it differently. */
		if (word >> 24 == 0x55)
			continue;
		memcpy(bytes, &word, 4);
		ep_isa_decode(EM_AARCH64, bytes, 4, ADDR, &insn);
		compare(EM_AARCH64, bytes, ADDR, &insn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_x86),   cmocka_unit_test(test_x86_cut),
	    cmocka_unit_test(test_a64),   cmocka_unit_test(test_own_code),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
