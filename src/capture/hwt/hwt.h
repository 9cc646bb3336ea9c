/* SPDX-License-Identifier: BSD-2-Clause */
/* The hooks of the backend `hwt`, by operating system. */
#ifndef EP_CAPTURE_HWT_HWT_H
#define EP_CAPTURE_HWT_HWT_H

#include "capture/capture.h"

/* Looks for hwt(4). */
struct ep_error *ep_hwt_probe(struct ep_probe *ret);

#endif
