/* SPDX-License-Identifier: BSD-2-Clause */
/* What the instruction at an address is, for x86-64 and AArch64. */
#ifndef EP_ISA_ISA_H
#define EP_ISA_ISA_H

#include "record/event.h"

enum ep_insn_class {
	EP_INSN_INVALID = 0, /* no such instruction, or cut by the end of the bytes */
	EP_INSN_OTHER,       /* goes on with the next instruction */
	EP_INSN_COND,        /* conditional direct branch */
	EP_INSN_JUMP,        /* direct jump */
	EP_INSN_CALL,        /* direct call */
	EP_INSN_IND_JUMP,
	EP_INSN_IND_CALL,
	EP_INSN_RET,
	EP_INSN_SYSCALL, /* enters a higher privilege level and comes back behind itself */
	EP_INSN_ERET,    /* leaves an exception: eret, iret, sysret */
	EP_INSN_TRAP,    /* never goes on: ud2, hlt, udf */
};

struct ep_insn {
	uint8_t
	    length;  /* bytes to the next instruction; of an invalid one, bytes to skip: 1 or 4 */
	uint8_t cls; /* enum ep_insn_class */
	bool has_target;
	uint64_t target; /* of a direct branch; same space as the address given */
};

/* True for the ELF machines (EP_MACHINE_X86_64, EP_MACHINE_AARCH64) that ep_isa_decode() knows. */
bool ep_isa_known(unsigned machine);

/*
 * Decodes the instruction that begins at `bytes`, of which `n` are readable, at address `vaddr`.
 * Never fails: what is no instruction has class INVALID. AArch64 is told by encoding classes, so
 * everything outside the branch group is OTHER, whatever extension it belongs to. An x86 LOCK
 * prefix counts as an instruction of one byte: some code jumps over it. Thread-safe.
 */
void ep_isa_decode(unsigned machine, const uint8_t *bytes, size_t n, uint64_t vaddr,
                   struct ep_insn *ret);

/* True if execution never goes on behind such an instruction without a branch record. */
static inline bool ep_insn_leaves(enum ep_insn_class cls)
{
	return cls == EP_INSN_JUMP || cls == EP_INSN_CALL || cls == EP_INSN_IND_JUMP ||
	       cls == EP_INSN_IND_CALL || cls == EP_INSN_RET || cls == EP_INSN_ERET ||
	       cls == EP_INSN_TRAP;
}

/* True if such an instruction can be the source of a branch record that is no exception. */
static inline bool ep_insn_transfers(enum ep_insn_class cls)
{
	return cls >= EP_INSN_COND && cls <= EP_INSN_ERET;
}

/*
 * True if a record of this type can come from such an instruction. UNKNOWN and exceptions that
 * strike anywhere go with all of them.
 */
bool ep_insn_agrees(enum ep_insn_class cls, enum ep_branch_type type);

/* "conditional branch", ...: static. */
const char *ep_insn_class_name(enum ep_insn_class cls);

#endif
