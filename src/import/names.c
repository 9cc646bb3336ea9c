/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of maps and events. */
#include "import/names.h"

#include <ctype.h>
#include <string.h>

static bool begins_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool ep_map_name_is_guest(const char *path)
{
	return begins_with(path, "[guest.kernel");
}

bool ep_map_name_is_kernel(const char *path, int32_t pid)
{
	return !ep_map_name_is_guest(path) && (pid == -1 || begins_with(path, "[kernel"));
}

bool ep_map_name_is_file(const char *path)
{
	static const char *const prefixes[] = {
	    "//", "[", "/dev/zero", "/anon_hugepage", "/SYSV", "/memfd:", "anon_inode:",
	};

	if (begins_with(path, "[kernel"))
		return true;
	for (size_t i = 0; i < EP_ARRAY_LEN(prefixes); i++)
		if (begins_with(path, prefixes[i]))
			return false;
	return path[0] != '\0';
}

/*
 * The event itself, in lower case with '_' for '.', '-' and ':', cut to n bytes: without its PMU
 * ("cpu/NAME/u") and its modifiers ("NAME:uppp").
 */
static void base_name(const char *name, char *ret, size_t n)
{
	const char *begin = name, *end = name + strlen(name);
	const char *slash = strchr(name, '/'), *last = strrchr(name, '/');
	const char *colon = strrchr(name, ':');

	if (slash && slash != last) {
		begin = slash + 1;
		end = last;
	} else if (colon && strspn(colon + 1, "ukhHGpPSDIWeb") == strlen(colon + 1)) {
		end = colon;
	}
	size_t len = EP_MIN((size_t)(end - begin), n - 1);
	for (size_t i = 0; i < len; i++)
		ret[i] = strchr(".-:", begin[i]) ? '_' : (char)tolower((unsigned char)begin[i]);
	ret[len] = '\0';
}

enum ep_sampling ep_event_name_sampling(const char *name)
{
	static const struct {
		const char *name;
		enum ep_sampling sampling;
	} known[] = {
	    /* Intel's retired taken branches, also as a raw code, and the older executed ones. */
	    {"br_inst_retired_near_taken", EP_SAMPLING_TAKEN_BRANCHES},
	    {"br_inst_retired_near_taken_ps", EP_SAMPLING_TAKEN_BRANCHES},
	    {"br_inst_exec_taken", EP_SAMPLING_TAKEN_BRANCHES},
	    {"r20c4", EP_SAMPLING_TAKEN_BRANCHES},
	    {"event=0xc4,umask=0x20", EP_SAMPLING_TAKEN_BRANCHES},
	    /* AMD's, by libpfm4's and the kernel's name, and BRS. */
	    {"retired_taken_branch_instructions", EP_SAMPLING_TAKEN_BRANCHES},
	    {"ex_ret_brn_tkn", EP_SAMPLING_TAKEN_BRANCHES},
	    {"branch_brs", EP_SAMPLING_TAKEN_BRANCHES},
	    /* Arm's count of the records that BRBE took, and of taken branches. */
	    {"brb_filtrate", EP_SAMPLING_TAKEN_BRANCHES},
	    {"r811f", EP_SAMPLING_TAKEN_BRANCHES},
	    {"raw_0x811f", EP_SAMPLING_TAKEN_BRANCHES},
	    {"br_taken_retired", EP_SAMPLING_TAKEN_BRANCHES},
	    {"taken_branches", EP_SAMPLING_TAKEN_BRANCHES},
	    {"cycles", EP_SAMPLING_CYCLES},
	    {"cpu_cycles", EP_SAMPLING_CYCLES},
	    {"cpu_clk_unhalted_thread", EP_SAMPLING_CYCLES},
	    {"cpu_clk_unhalted_thread_p", EP_SAMPLING_CYCLES},
	    {"ls_not_halted_cyc", EP_SAMPLING_CYCLES},
	    {"instructions", EP_SAMPLING_INSTRUCTIONS},
	    {"inst_retired", EP_SAMPLING_INSTRUCTIONS},
	    {"inst_retired_any", EP_SAMPLING_INSTRUCTIONS},
	    {"inst_retired_any_p", EP_SAMPLING_INSTRUCTIONS},
	    {"inst_retired_prec_dist", EP_SAMPLING_INSTRUCTIONS},
	    {"ex_ret_instr", EP_SAMPLING_INSTRUCTIONS},
	};
	char base[128];

	base_name(name, base, sizeof(base));
	if (!base[0])
		return EP_SAMPLING_UNKNOWN;
	for (size_t i = 0; i < EP_ARRAY_LEN(known); i++)
		if (!strcmp(base, known[i].name))
			return known[i].sampling;
	/* "rHEX" and terms are codes whose meaning depends on the processor. */
	bool raw = strchr(base, '=') || (base[0] == 'r' && isxdigit((unsigned char)base[1]) &&
	                                 strspn(base + 1, "0123456789abcdef") == strlen(base) - 1);
	return raw ? EP_SAMPLING_UNKNOWN : EP_SAMPLING_OTHER;
}
