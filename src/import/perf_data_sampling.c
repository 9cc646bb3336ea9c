/* SPDX-License-Identifier: BSD-2-Clause */
/* What a perf event counts, by its numbers and its name. */
#include <string.h>
#include <strings.h>

#include "import/names.h"
#include "import/perf_data_reader.h"

enum { TYPE_HARDWARE = 0, TYPE_SOFTWARE = 1, TYPE_RAW = 4, TYPE_FIRST_DYNAMIC = 6 };

static bool starts(const char *s, const char *prefix)
{
	return !strncasecmp(s, prefix, strlen(prefix));
}

static bool is_x86(const char *arch)
{
	return starts(arch, "x86") || (arch[0] == 'i' && starts(arch + 2, "86"));
}

static bool is_arm64(const char *arch)
{
	return starts(arch, "aarch64") || starts(arch, "arm64");
}

/* Event select and unit mask of x86 raw events; the rest of the config are modifiers. */
static enum ep_sampling x86_raw(uint64_t config, bool is_amd)
{
	unsigned event = config & 0xff, umask = config >> 8 & 0xff;

	if (event == 0xc0 && umask <= 1)
		return EP_SAMPLING_INSTRUCTIONS;
	if (event == 0xc4 && (is_amd ? umask == 0 : umask == 0x20))
		return EP_SAMPLING_TAKEN_BRANCHES; /* ex_ret_brn_tkn; br_inst_retired.near_taken */
	if (is_amd ? event == 0x76 && !umask : event == 0x3c && umask <= 1)
		return EP_SAMPLING_CYCLES;
	return EP_SAMPLING_OTHER;
}

static enum ep_sampling arm64_raw(uint64_t config)
{
	switch (config & 0xffff) {
	case 0x08: /* INST_RETIRED */
		return EP_SAMPLING_INSTRUCTIONS;
	case 0x11: /* CPU_CYCLES */
		return EP_SAMPLING_CYCLES;
	case 0x811f: /* BRB_FILTRATE: records captured by BRBE */
		return EP_SAMPLING_TAKEN_BRANCHES;
	default:
		return EP_SAMPLING_OTHER;
	}
}

/* True if the numbers of a PMU found at run time are those of the CPU's own counters. */
static bool is_core_pmu(const char *name)
{
	return strchr(name, '/') && (starts(name, "cpu") || starts(name, "arm"));
}

enum ep_sampling ep_perf_sampling(uint32_t type, uint64_t config, const char *name,
                                  const char *arch, const char *cpuid)
{
	if (type == TYPE_HARDWARE) {
		switch ((uint32_t)config) {
		case 0: /* cycles */
		case 9: /* ref-cycles */
			return EP_SAMPLING_CYCLES;
		case 1:
			return EP_SAMPLING_INSTRUCTIONS;
		default: /* 4, "branches", counts those not taken too */
			return EP_SAMPLING_OTHER;
		}
	}
	enum ep_sampling sampling = EP_SAMPLING_UNKNOWN;
	if (type == TYPE_RAW || (type >= TYPE_FIRST_DYNAMIC && is_core_pmu(name))) {
		if (is_arm64(arch))
			sampling = arm64_raw(config);
		else if (is_x86(arch))
			sampling = x86_raw(config, starts(cpuid, "AuthenticAMD") ||
			                               starts(cpuid, "HygonGenuine"));
	}
	/* Codes that mean nothing here may still have a name that does. */
	if (sampling == EP_SAMPLING_UNKNOWN || sampling == EP_SAMPLING_OTHER) {
		enum ep_sampling named = ep_event_name_sampling(name);
		if (named != EP_SAMPLING_UNKNOWN)
			return named;
	}
	return sampling;
}
