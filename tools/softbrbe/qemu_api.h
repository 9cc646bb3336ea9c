/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of QEMU's TCG plugin interface that softbrbe uses, declared here because Debian packages
 * no header for it.
 *
 * EP_QEMU_API is the version of the interface an object is built for; QEMU refuses objects outside
 * its own range.
 *   1  QEMU 6.0 to 8.2. Run with 7.2, which the tests use.
 *   2  QEMU 9.0: functions that softbrbe does not use were removed. Built, not run.
 *   3  QEMU 9.1 to 10.x (versions 3 to 6 only add functions or change others):
 *      qemu_plugin_insn_data() copies. Run with 10.0.
 * Version 7 gives every callback another signature and is not supported.
 * Source: include/qemu/qemu-plugin.h of QEMU, its list of versions, and plugins/loader.c.
 */
#ifndef EP_SOFTBRBE_QEMU_API_H
#define EP_SOFTBRBE_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef EP_QEMU_API
#define EP_QEMU_API 1
#endif

#define EP_QEMU_EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_info {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus, max_vcpus;
	} system;
};

enum qemu_cb_flags {
	QEMU_CB_NO_REGS,
};

typedef void (*qemu_simple_fn)(uint64_t id);
typedef void (*qemu_udata_fn)(uint64_t id, void *payload);
typedef void (*qemu_vcpu_fn)(uint64_t id, unsigned vcpu);
typedef void (*qemu_vcpu_udata_fn)(unsigned vcpu, void *payload);
typedef void (*qemu_tb_fn)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*qemu_syscall_fn)(uint64_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2,
                                uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
                                uint64_t a8);
typedef void (*qemu_syscall_ret_fn)(uint64_t id, unsigned vcpu, int64_t num, int64_t ret);

/* What a plugin exports. */
extern EP_QEMU_EXPORT int qemu_plugin_version;
EP_QEMU_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
                                       char **argv);

/* What QEMU exports. */
void qemu_plugin_register_vcpu_exit_cb(uint64_t id, qemu_vcpu_fn fn);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_tb_fn fn);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_vcpu_udata_fn fn,
                                          enum qemu_cb_flags flags, void *payload);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, qemu_syscall_fn fn);
void qemu_plugin_register_vcpu_syscall_ret_cb(uint64_t id, qemu_syscall_ret_fn fn);
void qemu_plugin_register_atexit_cb(uint64_t id, qemu_udata_fn fn, void *payload);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
#if EP_QEMU_API >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t n);
#else
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
#endif

#endif
