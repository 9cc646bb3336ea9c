/* SPDX-License-Identifier: BSD-2-Clause */
/* What the last instruction of a translated block does to the flow of control. */
#ifndef EP_SOFTBRBE_CLASSIFY_H
#define EP_SOFTBRBE_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Never the address of an instruction. */
#define EP_SB_NO_ADDR UINT64_MAX

enum ep_sb_kind {
	EP_SB_START,    /* no instruction: nothing was executed before */
	EP_SB_NONE,     /* goes on with the next instruction; the block ended for another reason */
	EP_SB_COND,     /* to `target`, or goes on */
	EP_SB_DIRECT,   /* always to `target` */
	EP_SB_INDIRECT, /* anywhere */
	EP_SB_REP,      /* x86 string instruction that is re-entered for each iteration */
	EP_SB_TRAP,     /* system call or exception by instruction: no branch record */
};

struct ep_sb_insn {
	enum ep_sb_kind kind;
	unsigned type;   /* enum ep_branch_type of record/event.h, 0 if it is no branch */
	uint64_t target; /* ip, EP_SB_NO_ADDR if not encoded */
};

/*
 * x86-64: the `n` bytes of an instruction at `addr`. An instruction cut short (QEMU shows one that
 * reaches into the next page and was not translated) is NONE.
 */
struct ep_sb_insn ep_sb_classify_x86(const uint8_t *bytes, size_t n, uint64_t addr);

/* AArch64. */
struct ep_sb_insn ep_sb_classify_a64(uint32_t word, uint64_t addr);

#endif
