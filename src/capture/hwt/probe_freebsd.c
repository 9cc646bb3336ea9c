/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor's look at hwt(4). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "capture/hwt/hwt.h"

struct ep_error *ep_hwt_probe(struct ep_probe *ret)
{
	ep_autoclose int fd = open("/dev/hwt", O_RDWR | O_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return ep_probe_add(ret, "permission", "run as root", "/dev/hwt: %s",
		                    strerror(errno));
	if (fd < 0)
		return ep_probe_add(ret, "kernel",
		                    "it needs a kernel with 'options HWT_HOOKS' "
		                    "and the module hwt (kldload hwt)",
		                    "/dev/hwt: %s", strerror(errno));
	EP_TRY(ep_probe_add(ret, NULL, NULL, "/dev/hwt: opened"));
	return ep_probe_add(ret, "edgeprof", NULL, "this version does not record by hwt");
}
