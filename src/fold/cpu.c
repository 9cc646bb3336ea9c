/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU models and their errata. */
#include "fold/cpu.h"

#include <string.h>

/*
 * Intel family 6 models of the Skylake core and what was made of it, whose LBR may hold the newest
 * branch twice: Skylake, Skylake-X with Cascade Lake and Cooper Lake, Kaby and Coffee Lake, Cannon
 * Lake, Comet Lake.
 */
static const unsigned char duplicate_top_models[] = {0x4e, 0x5e, 0x55, 0x8e,
                                                     0x9e, 0x66, 0xa5, 0xa6};

static bool is_x86(const char *vendor)
{
	static const char *const vendors[] = {"GenuineIntel", "AuthenticAMD", "HygonGenuine",
	                                      "CentaurHauls"};

	for (size_t i = 0; i < EP_ARRAY_LEN(vendors); i++)
		if (!strncmp(vendor, vendors[i], strlen(vendors[i])))
			return true;
	return false;
}

static uint32_t exception_types(void)
{
	uint32_t types = 0;

	for (uint32_t t = 0; t < EP_BRANCH_N_TYPES; t++)
		if (ep_type_is_exception((enum ep_branch_type)t))
			types |= UINT32_C(1) << t;
	return types;
}

struct ep_fold_cpu ep_fold_cpu_make(const char *cpuid)
{
	struct ep_fold_cpu cpu = {.gap_without_cycles = !strncmp(cpuid, "0x", 2),
	                          .open_types = exception_types()};
	char separator = strchr(cpuid, ',') ? ',' : '-';
	int base = separator == ',' ? 10 : 16;
	const char *family = strchr(cpuid, separator);
	char *end;

	/* BRBE names the instruction behind an SVC as its source; LBR the SYSCALL itself. */
	if (is_x86(cpuid))
		cpu.open_types &= ~(UINT32_C(1) << EP_BRANCH_SYSCALL);
	if (!family || strncmp(cpuid, "GenuineIntel", (size_t)(family - cpuid)) != 0 ||
	    strtoul(family + 1, &end, base) != 6 || *end != separator)
		return cpu;
	unsigned long model = strtoul(end + 1, &end, base);
	for (size_t i = 0; i < sizeof(duplicate_top_models); i++)
		if (model == duplicate_top_models[i])
			cpu.duplicate_top = true;
	return cpu;
}
