/* SPDX-License-Identifier: BSD-2-Clause */
/* What the soft backend needs of the operating system. */
#ifndef EP_CAPTURE_SOFT_HOST_H
#define EP_CAPTURE_SOFT_HOST_H

#include "base/error.h"

/* Anonymous memory to be shared with child processes, as a file descriptor. Errors: OS. */
struct ep_error *ep_soft_host_memory(int *fd_ret) EP_MUST_CHECK;

/* Path of the running executable; false: unknown. */
bool ep_soft_host_exe_path(char *ret, size_t n);

/* NULL where QEMU's user-mode emulation of Linux programs exists, else why not. */
const char *ep_soft_host_obstacle(void);

#endif
