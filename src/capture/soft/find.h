/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding what a recording under QEMU takes: the program, QEMU, the plugin, the libraries. */
#ifndef EP_CAPTURE_SOFT_FIND_H
#define EP_CAPTURE_SOFT_FIND_H

#include <limits.h>

#include "base/error.h"

struct ep_soft_program {
	char path[PATH_MAX];
	uint16_t machine;      /* EP_MACHINE_X86_64 or EP_MACHINE_AARCH64 */
	char interp[PATH_MAX]; /* its dynamic loader, "" if static */
	/* Of a script, whose interpreter `path` is: itself, and what its first line adds. Else "".
	 */
	char script[PATH_MAX], interp_arg[256];
};

/*
 * Finds a program as execvp(3) does and reads its ELF headers. Errors: OS (no such file, no
 * permission); USAGE for what is no 64-bit Linux program of a known machine, nor a script for one;
 * BAD_DATA.
 */
struct ep_error *ep_soft_find_program(const char *name, struct ep_soft_program *ret) EP_MUST_CHECK;

struct ep_soft_qemu {
	char path[PATH_MAX];
	unsigned major, minor; /* 0: unreadable */
	char version[32];
	unsigned api; /* of the plugin interface to use: 1, 2 or 3 */
};

/* QEMU's user-mode emulator of a machine; `path` NULL: by PATH. Errors: UNSUPPORTED, OS. */
struct ep_error *ep_soft_find_qemu(uint16_t machine, const char *path, struct ep_soft_qemu *ret)
    EP_MUST_CHECK;

/*
 * The plugin for an interface version: `path` (a file or the folder of the plugins), else
 * $EDGEPROF_SOFTBRBE, the same, else beside the running executable or where it was installed.
 * Errors: UNSUPPORTED.
 */
struct ep_error *ep_soft_find_plugin(unsigned api, const char *path, char ret[PATH_MAX])
    EP_MUST_CHECK;

/*
 * The folder to give QEMU's -L so that the program's loader and libraries are found; "": none is
 * needed. Errors: UNSUPPORTED when the loader is nowhere.
 */
struct ep_error *ep_soft_find_sysroot(const struct ep_soft_program *program, const char *sysroot,
                                      char ret[PATH_MAX]) EP_MUST_CHECK;

/* EP_MACHINE_* of programs this machine runs itself, UNKNOWN if not one of the two. */
uint16_t ep_soft_native_machine(void);

#endif
