/* SPDX-License-Identifier: BSD-2-Clause */
/* What fold must know of the CPU that recorded (folding rule 9). */
#ifndef EP_FOLD_CPU_H
#define EP_FOLD_CPU_H

#include "record/event.h"

struct ep_fold_cpu {
	bool duplicate_top; /* may double the newest entry of a stack */
	/*
	 * A record without cycles among records with them: the CPU had left this exception level
	 * (BRBE's CCU bit, which Linux does not pass on but by this).
	 */
	bool gap_without_cycles;
	/* Bit 1 << t: exceptions of type t name as source what was not executed. */
	uint32_t open_types;
};

/*
 * From perf's text: "GenuineIntel,6,85,7" (vendor, family, model, stepping, decimal) or
 * "GenuineIntel-6-55-7" (hexadecimal), or "0x" and Arm's MIDR; "" or anything else: no erratum is
 * assumed.
 */
struct ep_fold_cpu ep_fold_cpu_make(const char *cpuid);

#endif
