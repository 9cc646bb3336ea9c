/* SPDX-License-Identifier: BSD-2-Clause */
/* What the soft backend needs of the operating system. */
#ifndef EP_CAPTURE_SOFT_HOST_H
#define EP_CAPTURE_SOFT_HOST_H

#include "base/macros.h"

/* In a child: has it ended (SIGTERM) when its parent dies; does nothing where that cannot be asked.
 */
void ep_soft_host_end_with_parent(void);

/* Path of the running executable; false: unknown. */
bool ep_soft_host_exe_path(char *ret, size_t n);

/* NULL where QEMU's user-mode emulation of Linux programs exists, else why not. */
const char *ep_soft_host_obstacle(void);

#endif
