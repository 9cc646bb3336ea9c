/* SPDX-License-Identifier: BSD-2-Clause */
/* Picks the decoder of a machine; what records a class of instructions can give. */
#include "isa/isa_internal.h"
#include "record/machine.h"

bool ep_isa_known(unsigned machine)
{
	return machine == EP_MACHINE_X86_64 || machine == EP_MACHINE_AARCH64;
}

void ep_isa_decode(unsigned machine, const uint8_t *bytes, size_t n, uint64_t vaddr,
                   struct ep_insn *ret)
{
	if (machine == EP_MACHINE_X86_64)
		ep_isa_x86_64(bytes, n, vaddr, ret);
	else if (machine == EP_MACHINE_AARCH64)
		ep_isa_aarch64(bytes, n, vaddr, ret);
	else
		*ret = (struct ep_insn){.length = 1};
}

bool ep_insn_agrees(enum ep_insn_class cls, enum ep_branch_type type)
{
	switch (type) {
	case EP_BRANCH_COND:
		return cls == EP_INSN_COND;
	case EP_BRANCH_UNCOND:
		return cls == EP_INSN_JUMP;
	case EP_BRANCH_IND:
		return cls == EP_INSN_IND_JUMP;
	case EP_BRANCH_CALL:
		return cls == EP_INSN_CALL;
	case EP_BRANCH_IND_CALL:
		return cls == EP_INSN_IND_CALL;
	case EP_BRANCH_RET:
		return cls == EP_INSN_RET;
	case EP_BRANCH_SYSCALL:
		return cls == EP_INSN_SYSCALL || cls == EP_INSN_TRAP;
	case EP_BRANCH_SYSRET:
	case EP_BRANCH_ERET:
		return cls == EP_INSN_ERET;
	case EP_BRANCH_COND_CALL:
	case EP_BRANCH_COND_RET:
		/* Neither machine has such instructions. */
		return false;
	default:
		return true;
	}
}

const char *ep_insn_class_name(enum ep_insn_class cls)
{
	static const char *const names[] = {
	    [EP_INSN_INVALID] = "invalid",
	    [EP_INSN_OTHER] = "other",
	    [EP_INSN_COND] = "conditional branch",
	    [EP_INSN_JUMP] = "jump",
	    [EP_INSN_CALL] = "call",
	    [EP_INSN_IND_JUMP] = "indirect jump",
	    [EP_INSN_IND_CALL] = "indirect call",
	    [EP_INSN_RET] = "return",
	    [EP_INSN_SYSCALL] = "system call",
	    [EP_INSN_ERET] = "exception return",
	    [EP_INSN_TRAP] = "trap",
	};

	return cls < EP_ARRAY_LEN(names) ? names[cls] : "invalid";
}
