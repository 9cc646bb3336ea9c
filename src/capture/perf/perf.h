/* SPDX-License-Identifier: BSD-2-Clause */
/* The hooks of the backend `perf`, by operating system. */
#ifndef EP_CAPTURE_PERF_PERF_H
#define EP_CAPTURE_PERF_PERF_H

#include "capture/capture.h"

/* Opens a sampling event with a branch stack on this thread and sees whether records come. */
struct ep_error *ep_perf_probe(struct ep_probe *ret);

#endif
