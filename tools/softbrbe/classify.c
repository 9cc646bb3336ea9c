/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of branch instructions by their encoding, x86-64 and AArch64. */
#include "classify.h"

#include <string.h>

#include "record/event.h"

static const struct ep_sb_insn insn_none = {EP_SB_NONE, 0, EP_SB_NO_ADDR};

static struct ep_sb_insn direct(enum ep_sb_kind kind, unsigned type, uint64_t target)
{
	return (struct ep_sb_insn){kind, type, target};
}

static struct ep_sb_insn indirect(unsigned type)
{
	return (struct ep_sb_insn){EP_SB_INDIRECT, type, EP_SB_NO_ADDR};
}

static struct ep_sb_insn trap(unsigned type)
{
	return (struct ep_sb_insn){EP_SB_TRAP, type, EP_SB_NO_ADDR};
}

struct x86_prefixes {
	size_t n; /* bytes */
	bool rep; /* F2 or F3 */
};

static struct x86_prefixes skip_prefixes(const uint8_t *bytes, size_t n)
{
	struct x86_prefixes p = {0};

	for (; p.n < n; p.n++) {
		switch (bytes[p.n]) {
		case 0xf2:
		case 0xf3:
			p.rep = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64 ... 0x67:
		case 0xf0:
		case 0x40 ... 0x4f: /* REX */
			break;
		default:
			return p;
		}
	}
	return p;
}

/*
 * The displacement that is the rest of the instruction: 1, 4, or (with an operand-size prefix, as
 * QEMU and AMD read it) 2 bytes. With 2 bytes the instruction pointer is cut to 16 bits as well.
 */
static struct ep_sb_insn x86_relative(const uint8_t *disp, size_t n_disp, bool byte, uint64_t end,
                                      enum ep_sb_kind kind, unsigned type)
{
	int8_t d8;
	int16_t d16;
	int32_t d32;

	if (byte && n_disp == 1) {
		memcpy(&d8, disp, 1);
		return direct(kind, type, end + (uint64_t)(int64_t)d8);
	}
	if (!byte && n_disp == 4) {
		memcpy(&d32, disp, 4);
		return direct(kind, type, end + (uint64_t)(int64_t)d32);
	}
	if (!byte && n_disp == 2) {
		memcpy(&d16, disp, 2);
		return direct(kind, type, (end + (uint64_t)(int64_t)d16) & 0xffff);
	}
	return insn_none;
}

/* Bytes of ModRM, SIB and displacement; 0 if `n` bytes do not hold them. 64-bit addressing. */
static size_t x86_modrm_len(const uint8_t *p, size_t n)
{
	if (!n)
		return 0;
	unsigned mod = p[0] >> 6, rm = p[0] & 7;
	size_t len = 1;

	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (n < 2)
			return 0;
		if (!mod && (p[1] & 7) == 5)
			len += 4;
		len++;
	} else if (!mod && rm == 5) {
		len += 4;
	}
	len += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	return len <= n ? len : 0;
}

/* Opcode FF: calls and jumps through a register or memory, among others. */
static struct ep_sb_insn x86_group5(const uint8_t *p, size_t n)
{
	if (!x86_modrm_len(p, n))
		return insn_none;
	switch (p[0] >> 3 & 7) {
	case 2:
	case 3: /* far */
		return indirect(EP_BRANCH_IND_CALL);
	case 4:
	case 5: /* far */
		return indirect(EP_BRANCH_IND);
	default:
		return insn_none;
	}
}

static struct ep_sb_insn x86_two_byte(const uint8_t *p, size_t n, uint64_t end)
{
	if (!n)
		return insn_none;
	switch (p[0]) {
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
		return trap(EP_BRANCH_SYSCALL);
	case 0x0b: /* ud2 */
		return trap(EP_BRANCH_FAULT_INST);
	case 0x80 ... 0x8f:
		return x86_relative(p + 1, n - 1, false, end, EP_SB_COND, EP_BRANCH_COND);
	default:
		return insn_none;
	}
}

struct ep_sb_insn ep_sb_classify_x86(const uint8_t *bytes, size_t n, uint64_t addr)
{
	struct x86_prefixes prefixes = skip_prefixes(bytes, n);
	uint64_t end = addr + n;

	if (prefixes.n == n)
		return insn_none;
	const uint8_t *p = bytes + prefixes.n + 1;
	size_t left = n - prefixes.n - 1;

	switch (p[-1]) {
	case 0x0f:
		return x86_two_byte(p, left, end);
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3: /* loop, jrcxz */
		return x86_relative(p, left, true, end, EP_SB_COND, EP_BRANCH_COND);
	case 0xe8:
		return x86_relative(p, left, false, end, EP_SB_DIRECT, EP_BRANCH_CALL);
	case 0xe9:
		return x86_relative(p, left, false, end, EP_SB_DIRECT, EP_BRANCH_UNCOND);
	case 0xeb:
		return x86_relative(p, left, true, end, EP_SB_DIRECT, EP_BRANCH_UNCOND);
	case 0xc3:
	case 0xcb:
		return indirect(EP_BRANCH_RET);
	case 0xc2: /* these two with the bytes to pop */
	case 0xca:
		return left == 2 ? indirect(EP_BRANCH_RET) : insn_none;
	case 0xcf: /* iret */
		return indirect(EP_BRANCH_ERET);
	case 0xff:
		return x86_group5(p, left);
	case 0xcc: /* int3 */
	case 0xf1: /* int1 */
		return trap(EP_BRANCH_ARCH_4);
	case 0xcd: /* int n */
		return left == 1 ? trap(EP_BRANCH_SYSCALL) : insn_none;
	case 0x6c ... 0x6f: /* ins, outs */
	case 0xa4 ... 0xa7: /* movs, cmps */
	case 0xaa ... 0xaf: /* stos, lods, scas */
		return prefixes.rep ? (struct ep_sb_insn){EP_SB_REP, 0, EP_SB_NO_ADDR} : insn_none;
	default:
		return insn_none;
	}
}

/* addr + 4 * the signed field of `width` bits at bit `low`. */
static uint64_t a64_target(uint32_t word, unsigned low, unsigned width, uint64_t addr)
{
	int64_t v = (int64_t)((uint64_t)word << (64 - low - width)) >> (64 - width);

	return addr + (uint64_t)v * 4;
}

/* Unconditional branch (register): BR, BLR, RET, ERET and their authenticating forms. */
static struct ep_sb_insn a64_register(uint32_t word)
{
	if ((word >> 16 & 0x1f) != 0x1f)
		return insn_none;
	switch (word >> 21 & 0xf) {
	case 0:
	case 8:
		return indirect(EP_BRANCH_IND);
	case 1:
	case 9:
		return indirect(EP_BRANCH_IND_CALL);
	case 2:
		return indirect(EP_BRANCH_RET);
	case 4:
		return indirect(EP_BRANCH_ERET);
	default:
		return insn_none;
	}
}

/* Exception generation: SVC, HVC, SMC, BRK, HLT. */
static struct ep_sb_insn a64_exception(uint32_t word)
{
	unsigned opc = word >> 21 & 7, ll = word & 3;

	if (!opc && ll)
		return trap(EP_BRANCH_SYSCALL);
	return opc == 1 ? trap(EP_BRANCH_ARCH_4) : opc == 2 ? trap(EP_BRANCH_ARCH_2) : insn_none;
}

struct ep_sb_insn ep_sb_classify_a64(uint32_t word, uint64_t addr)
{
	unsigned top = word >> 24;

	if ((top & 0x7c) == 0x14) {
		uint64_t target = a64_target(word, 0, 26, addr);
		return top & 0x80 ? direct(EP_SB_DIRECT, EP_BRANCH_CALL, target)
		                  : direct(EP_SB_DIRECT, EP_BRANCH_UNCOND, target);
	}
	switch (top & 0x7f) {
	case 0x54: /* B.cond, BC.cond: only with the top bit clear */
		if (top & 0x80)
			break;
		return direct(EP_SB_COND, EP_BRANCH_COND, a64_target(word, 5, 19, addr));
	case 0x34: /* CBZ, CBNZ */
	case 0x35:
		return direct(EP_SB_COND, EP_BRANCH_COND, a64_target(word, 5, 19, addr));
	case 0x36: /* TBZ, TBNZ */
	case 0x37:
		return direct(EP_SB_COND, EP_BRANCH_COND, a64_target(word, 5, 14, addr));
	case 0x74: /* CB<cc> of registers and with an immediate (FEAT_CMPBR) */
	case 0x75:
		return direct(EP_SB_COND, EP_BRANCH_COND, a64_target(word, 5, 9, addr));
	default:
		break;
	}
	if (top == 0xd4)
		return a64_exception(word);
	if ((word & 0xffc0001f) == 0x5500001f) /* RETAASPPC, RETABSPPC */
		return indirect(EP_BRANCH_RET);
	if (top >> 1 == 0x6b)
		return a64_register(word);
	if (!(word >> 16)) /* UDF */
		return trap(EP_BRANCH_FAULT_INST);
	return insn_none;
}
