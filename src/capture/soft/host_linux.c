/* SPDX-License-Identifier: BSD-2-Clause */
/* The soft backend's needs on Linux. */
#include "capture/soft/host.h"

#include <signal.h>
#include <sys/prctl.h>
void ep_soft_host_end_with_parent(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
}

bool ep_soft_host_exe_path(char *ret, size_t n)
{
	ssize_t len = readlink("/proc/self/exe", ret, n);

	if (len < 0 || (size_t)len >= n)
		return false;
	ret[len] = '\0';
	return true;
}

const char *ep_soft_host_obstacle(void)
{
	return NULL;
}
