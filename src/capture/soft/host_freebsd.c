/* SPDX-License-Identifier: BSD-2-Clause */
/* The soft backend's needs on FreeBSD, whose QEMU emulates FreeBSD programs only. */
#include "capture/soft/host.h"

#include <sys/types.h>

#include <signal.h>
#include <sys/procctl.h>
#include <sys/sysctl.h>

void ep_soft_host_end_with_parent(void)
{
	int signal = SIGTERM;

	(void)procctl(P_PID, 0, PROC_PDEATHSIG_CTL, &signal);
}

bool ep_soft_host_exe_path(char *ret, size_t n)
{
	int mib[] = {CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1};

	return !sysctl(mib, 4, ret, &n, NULL, 0);
}

const char *ep_soft_host_obstacle(void)
{
	return "QEMU's user mode on FreeBSD runs FreeBSD programs, the recorder only Linux ones";
}
