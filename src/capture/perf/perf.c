/* SPDX-License-Identifier: BSD-2-Clause */
/* The backend `perf`: this version only finds out whether it would work. */
#include "capture/perf/perf.h"

const struct ep_capture_methods ep_capture_perf = {
    .name = "perf",
    .summary = "the CPU's branch records by Linux perf events (BRBE, LBR)",
    .probe = ep_perf_probe,
};
