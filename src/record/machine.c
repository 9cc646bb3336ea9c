/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines by name and number. */
#include "record/machine.h"

#include <stdio.h>
#include <string.h>

uint16_t ep_machine_of_arch(const char *arch)
{
	if (!strcmp(arch, "x86_64") || !strcmp(arch, "amd64"))
		return EP_MACHINE_X86_64;
	if (!strcmp(arch, "aarch64") || !strcmp(arch, "arm64"))
		return EP_MACHINE_AARCH64;
	return EP_MACHINE_UNKNOWN;
}

const char *ep_machine_arch(uint16_t machine)
{
	switch (machine) {
	case EP_MACHINE_X86_64:
		return "x86_64";
	case EP_MACHINE_AARCH64:
		return "aarch64";
	default:
		return NULL;
	}
}

const char *ep_machine_name(uint16_t machine, char buf[EP_MACHINE_NAME_MAX])
{
	static const struct {
		uint16_t machine;
		const char *name;
	} names[] = {
	    {EP_MACHINE_UNKNOWN, "unknown"}, {EP_MACHINE_I386, "i386"},
	    {EP_MACHINE_ARM, "arm"},         {EP_MACHINE_X86_64, "x86-64"},
	    {EP_MACHINE_AARCH64, "aarch64"}, {EP_MACHINE_RISCV, "riscv"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].machine == machine)
			return names[i].name;
	snprintf(buf, EP_MACHINE_NAME_MAX, "machine-%u", machine);
	return buf;
}
