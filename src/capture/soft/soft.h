/* SPDX-License-Identifier: BSD-2-Clause */
/* The hooks of the backend `soft` that lie in files of their own. */
#ifndef EP_CAPTURE_SOFT_SOFT_H
#define EP_CAPTURE_SOFT_SOFT_H

#include "capture/capture.h"

/* Finds QEMU and the plugin, then records a short program. */
struct ep_error *ep_soft_probe(struct ep_probe *ret);

#endif
