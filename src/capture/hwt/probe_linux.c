/* SPDX-License-Identifier: BSD-2-Clause */
/* There is no hwt on Linux. */
#include "capture/hwt/hwt.h"

struct ep_error *ep_hwt_probe(struct ep_probe *ret)
{
	return ep_probe_add(ret, "os", NULL, "hwt(4): only FreeBSD has it");
}
