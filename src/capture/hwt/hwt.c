/* SPDX-License-Identifier: BSD-2-Clause */
/* The backend `hwt`: this version only finds out whether it would work. */
#include "capture/hwt/hwt.h"

const struct ep_capture_methods ep_capture_hwt = {
    .name = "hwt",
    .summary = "the CPU's branch records by FreeBSD's hwt(4) (BRBE)",
    .probe = ep_hwt_probe,
};
