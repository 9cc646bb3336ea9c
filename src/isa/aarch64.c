/* SPDX-License-Identifier: BSD-2-Clause */
/* AArch64: the group "branches, exception generating and system instructions" by its encodings. */
#include "base/bytes.h"
#include "isa/isa_internal.h"

/* The `bits` low bits of v as a signed number of instructions, in bytes. */
static uint64_t offset_bytes(uint32_t v, unsigned bits)
{
	return (uint64_t)((int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits)) * 4;
}

static void direct(struct ep_insn *insn, enum ep_insn_class cls, uint64_t target)
{
	insn->cls = cls;
	insn->has_target = true;
	insn->target = target;
}

/* 1101011 opc op2=11111 op3 Rn op4: branches to a register. op3 tells the authenticated forms. */
static enum ep_insn_class register_class(uint32_t w)
{
	switch (w >> 21 & 15) {
	case 0:
	case 8: /* BRAA, BRAB */
		return EP_INSN_IND_JUMP;
	case 1:
	case 9: /* BLRAA, BLRAB */
		return EP_INSN_IND_CALL;
	case 2: /* RET, RETAA, RETAB */
		return EP_INSN_RET;
	case 4: /* ERET, ERETAA, ERETAB */
		return EP_INSN_ERET;
	default: /* DRPS and unallocated */
		return EP_INSN_TRAP;
	}
}

/* 11010100 opc imm16 op2 LL: exception generation. */
static enum ep_insn_class exception_class(uint32_t w)
{
	unsigned opc = w >> 21 & 7, ll = w & 3;

	if (opc == 0 && ll)
		return EP_INSN_SYSCALL; /* SVC, HVC, SMC */
	if (opc == 2 && !ll)
		return EP_INSN_TRAP; /* HLT */
	return EP_INSN_OTHER;        /* BRK and DCPS: a debugger goes on behind them */
}

void ep_isa_aarch64(const uint8_t *bytes, size_t n, uint64_t vaddr, struct ep_insn *ret)
{
	*ret = (struct ep_insn){.length = 4, .cls = EP_INSN_INVALID};
	if (n < 4)
		return;
	/* Instructions are little-endian also where data is not. */
	uint32_t w = ep_load_u32(bytes, ep_swap_for(false));

	ret->cls = EP_INSN_OTHER;
	if ((w & 0x7c000000) == 0x14000000) /* B, BL */
		direct(ret, w >> 31 ? EP_INSN_CALL : EP_INSN_JUMP, vaddr + offset_bytes(w, 26));
	else if ((w & 0xfe000000) == 0x54000000 || /* B.cond, BC.cond */
	         (w & 0x7e000000) == 0x34000000)   /* CBZ, CBNZ */
		direct(ret, EP_INSN_COND, vaddr + offset_bytes(w >> 5, 19));
	else if ((w & 0x7e000000) == 0x36000000) /* TBZ, TBNZ */
		direct(ret, EP_INSN_COND, vaddr + offset_bytes(w >> 5, 14));
	else if ((w & 0x7e000000) == 0x74000000) /* CB<cc>, CBB<cc>, CBH<cc> of FEAT_CMPBR */
		direct(ret, EP_INSN_COND, vaddr + offset_bytes(w >> 5, 9));
	else if ((w & 0xfe1f0000) == 0xd61f0000)
		ret->cls = register_class(w);
	else if ((w & 0xff000000) == 0xd4000000)
		ret->cls = exception_class(w);
	else if ((w & 0xffff0000) == 0) /* UDF */
		ret->cls = EP_INSN_TRAP;
}
