/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of branch types. */
#include "record/branch.h"

static const char *const names[EP_BRANCH_N_TYPES] = {
    [EP_BRANCH_UNKNOWN] = "unknown",
    [EP_BRANCH_COND] = "cond",
    [EP_BRANCH_UNCOND] = "jump",
    [EP_BRANCH_IND] = "ind-jump",
    [EP_BRANCH_CALL] = "call",
    [EP_BRANCH_IND_CALL] = "ind-call",
    [EP_BRANCH_RET] = "ret",
    [EP_BRANCH_SYSCALL] = "syscall",
    [EP_BRANCH_SYSRET] = "sysret",
    [EP_BRANCH_COND_CALL] = "cond-call",
    [EP_BRANCH_COND_RET] = "cond-ret",
    [EP_BRANCH_ERET] = "eret",
    [EP_BRANCH_IRQ] = "irq",
    [EP_BRANCH_SERROR] = "serror",
    [EP_BRANCH_NO_TX] = "no-tx",
    [EP_BRANCH_FAULT_ALGN] = "fault-align",
    [EP_BRANCH_FAULT_DATA] = "fault-data",
    [EP_BRANCH_FAULT_INST] = "fault-inst",
    [EP_BRANCH_ARCH_1] = "arch-1",
    [EP_BRANCH_ARCH_2] = "arch-2",
    [EP_BRANCH_ARCH_3] = "arch-3",
    [EP_BRANCH_ARCH_4] = "arch-4",
    [EP_BRANCH_ARCH_5] = "arch-5",
};

const char *ep_branch_type_name(unsigned type)
{
	return type < EP_BRANCH_N_TYPES ? names[type] : NULL;
}
