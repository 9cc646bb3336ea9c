/* SPDX-License-Identifier: BSD-2-Clause */
/* The soft backend's needs on FreeBSD, whose QEMU emulates FreeBSD programs only. */
#include "capture/soft/host.h"

#include <errno.h>
#include <sys/types.h>

#include <sys/mman.h>
#include <sys/sysctl.h>

struct ep_error *ep_soft_host_memory(int *fd_ret)
{
	int fd = memfd_create("edgeprof", MFD_CLOEXEC);

	if (fd < 0)
		return ep_error_os(errno, "shared memory");
	*fd_ret = fd;
	return NULL;
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
