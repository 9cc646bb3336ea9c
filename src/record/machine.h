/* SPDX-License-Identifier: BSD-2-Clause */
/* The machines edgeprof knows, by their ELF e_machine numbers. */
#ifndef EP_RECORD_MACHINE_H
#define EP_RECORD_MACHINE_H

#include <stdint.h>

/* EM_* of the System V ABI; <elf.h> lies in different places on Linux and FreeBSD. */
enum {
	EP_MACHINE_UNKNOWN = 0,
	EP_MACHINE_I386 = 3,
	EP_MACHINE_ARM = 40,
	EP_MACHINE_X86_64 = 62,
	EP_MACHINE_AARCH64 = 183,
	EP_MACHINE_RISCV = 243,
};

/* By uname(1)'s or perf's name of it ("x86_64", "aarch64", "arm64"), else UNKNOWN. */
uint16_t ep_machine_of_arch(const char *arch);

/* Back: "x86_64", "aarch64", as also in the file names of QEMU and Debian; NULL for the others. */
const char *ep_machine_arch(uint16_t machine);

/* Room for what ep_machine_name() writes. */
#define EP_MACHINE_NAME_MAX 16

/* "x86-64", "aarch64", ..., "unknown" for 0; "machine-N", written to buf, for others. */
const char *ep_machine_name(uint16_t machine, char buf[EP_MACHINE_NAME_MAX]);

#endif
