/* SPDX-License-Identifier: BSD-2-Clause */
/* There are no perf events on FreeBSD. */
#include "capture/perf/perf.h"

struct ep_error *ep_perf_probe(struct ep_probe *ret)
{
	return ep_probe_add(ret, "os", NULL, "perf events: only Linux has them");
}
