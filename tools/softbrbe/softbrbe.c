/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * softbrbe: taken branches of a program under QEMU's user-mode emulation, as a QEMU TCG plugin.
 * Options: fd=N (shared memory made by the reader), program=PATH (the one that runs),
 * depth=8|16|32|64, event=taken-branches or instructions, period=N, seed=N, exact=on|off,
 * follow=on|off (programs that are executed), root=DIR (QEMU's -L, for those).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin.h"
#include "record/machine.h"

EP_QEMU_EXPORT int qemu_plugin_version = EP_QEMU_API;

struct ep_sb_plugin ep_sb = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .depth = 32, .period = 1000003, .seed = 1};

static uint32_t fork_parent_tid;

static int fail(const char *what)
{
	fprintf(stderr, "softbrbe: %s\n", what);
	return -1;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *ret)
{
	char *end;

	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || v > max)
		return false;
	*ret = v;
	return true;
}

static bool parse_option(const char *text, uint64_t *fd_ret)
{
	const char *value = strchr(text, '=');
	uint64_t depth;

	if (!value++)
		return false;
	size_t n = (size_t)(value - text) - 1;
#define IS(name) (n == sizeof(name) - 1 && !strncmp(text, name, n))
	if (IS("fd"))
		return parse_number(value, INT32_MAX, fd_ret);
	if (IS("period"))
		return parse_number(value, INT64_MAX / 4, &ep_sb.period) && ep_sb.period;
	if (IS("seed"))
		return parse_number(value, UINT64_MAX, &ep_sb.seed);
	if (IS("depth")) {
		if (!parse_number(value, EP_SB_MAX_DEPTH, &depth) ||
		    (depth != 8 && depth != 16 && depth != 32 && depth != 64))
			return false;
		ep_sb.depth = (uint32_t)depth;
		return true;
	}
	if (IS("exact")) {
		ep_sb.exact = !strcmp(value, "on");
		return ep_sb.exact || !strcmp(value, "off");
	}
	if (IS("follow")) {
		ep_sb.follow = !strcmp(value, "on");
		return ep_sb.follow || !strcmp(value, "off");
	}
	if (IS("program")) {
		ep_sb.program = strdup(value);
		return ep_sb.program != NULL;
	}
	if (IS("root")) {
		ep_sb.sysroot = strdup(value);
		return ep_sb.sysroot != NULL;
	}
	if (!IS("event"))
		return false;
#undef IS
	ep_sb.event =
	    !strcmp(value, "instructions") ? EP_SB_EVENT_INSTRUCTIONS : EP_SB_EVENT_TAKEN_BRANCHES;
	return ep_sb.event || !strcmp(value, "taken-branches");
}

bool ep_sb_append(char *to, const char *text)
{
	size_t n = strlen(to);

	for (; *text && n + 2 < EP_SB_MAX_PATH; text++) {
		to[n++] = *text;
		if (*text == ',')
			to[n++] = ',';
	}
	to[n] = '\0';
	return !*text;
}

/* What it takes to start QEMU like this once more. */
static bool note_command(int argc, char **argv)
{
	Dl_info info;
	ssize_t n = readlink("/proc/self/exe", ep_sb.qemu_path, sizeof(ep_sb.qemu_path) - 1);
	size_t len = 0;

	if (n <= 0 || !dladdr(&ep_sb, &info) || !ep_sb_append(ep_sb.plugin_path, info.dli_fname))
		return false;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "fd=", 3) || !strncmp(argv[i], "program=", 8))
			continue;
		ep_sb.options[len] = ',';
		if (!ep_sb_append(ep_sb.options, argv[i]))
			return false;
		len = strlen(ep_sb.options);
	}
	return true;
}

/* True if the sizes the reader wrote are those of the memory it gave. */
static bool header_is_sound(const struct ep_sb_header *h, uint64_t n_bytes)
{
	uint64_t n_slots = (uint64_t)h->n_slots * h->slot_bytes;

	return h->magic == EP_SB_MAGIC && h->version == EP_SB_VERSION &&
	       h->total_bytes == n_bytes && h->n_slots && h->ring_bytes >= 2 * EP_SB_PAGE &&
	       !(h->ring_bytes & (h->ring_bytes - 1)) && h->ring_bytes <= 1u << 30 &&
	       h->slot_bytes == EP_SB_PAGE + h->ring_bytes && h->n_chunks <= EP_SB_MAX_CHUNKS &&
	       EP_SB_HEADER_BYTES + n_slots + (uint64_t)h->n_chunks * EP_SB_CHUNK_BYTES == n_bytes;
}

static bool attach_shared(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size < (off_t)EP_SB_HEADER_BYTES)
		return false;
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return false;
	close(fd); /* the program must not see it */
	ep_sb.shared = p;
	if (!header_is_sound(p, (uint64_t)st.st_size))
		return false;
	ep_sb.slots = (unsigned char *)p + EP_SB_HEADER_BYTES;
	ep_sb.chunks = ep_sb.slots + (size_t)ep_sb.shared->n_slots * ep_sb.shared->slot_bytes;
	return true;
}

static struct ep_sb_insn classify(const struct qemu_plugin_insn *insn, uint64_t addr, size_t n)
{
	uint8_t bytes[16] = {0};
	uint32_t word;

	n = n < sizeof(bytes) ? n : sizeof(bytes);
#if EP_QEMU_API >= 3
	n = qemu_plugin_insn_data(insn, bytes, n);
#else
	memcpy(bytes, qemu_plugin_insn_data(insn), n);
#endif
	if (ep_sb.is_x86)
		return ep_sb_classify_x86(bytes, n, addr);
	if (n < 4)
		return (struct ep_sb_insn){EP_SB_NONE, 0, EP_SB_NO_ADDR};
	word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
	return ep_sb_classify_a64(word, addr);
}

static void on_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n_insns = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (!n_insns)
		return;
	if (!ep_sb.entry_ip)
		ep_sb.entry_ip = qemu_plugin_tb_vaddr(tb);
	const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n_insns - 1);
	uint64_t addr = qemu_plugin_insn_vaddr(last);
	size_t n = qemu_plugin_insn_size(last);
	struct ep_sb_insn insn = classify(last, addr, n);
	bool goes_on = insn.kind == EP_SB_NONE || insn.kind == EP_SB_COND || insn.kind == EP_SB_REP;
	struct ep_sb_block block = {.start = qemu_plugin_tb_vaddr(tb),
	                            .next = goes_on ? addr + n : EP_SB_NO_ADDR,
	                            .target = insn.target,
	                            .last = addr,
	                            .end = addr + n,
	                            .n_insns = (uint32_t)n_insns,
	                            .info = (uint16_t)insn.type,
	                            .kind = (uint8_t)insn.kind};
	struct ep_sb_block *b = ep_sb_block_intern(&block);

	if (b)
		qemu_plugin_register_vcpu_tb_exec_cb(tb,
		                                     ep_sb.exact ? ep_sb_run_exact
		                                     : ep_sb.event == EP_SB_EVENT_INSTRUCTIONS
		                                         ? ep_sb_run_insns
		                                         : ep_sb_run_taken,
		                                     QEMU_CB_NO_REGS, b);
}

static void on_thread_exit(uint64_t id, unsigned vcpu)
{
	(void)id, (void)vcpu;
	ep_sb_vcpu_exit();
}

static void on_exit_all(uint64_t id, void *payload)
{
	(void)id, (void)payload;
	ep_sb_vcpu_exit_all();
	if (ep_sb.pid == ep_sb.shared->pid)
		__atomic_store_n(&ep_sb.shared->state, EP_SB_ENDED, __ATOMIC_RELEASE);
}

static void before_fork(void)
{
	pthread_mutex_lock(&ep_sb.lock);
	fork_parent_tid = (uint32_t)syscall(SYS_gettid);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&ep_sb.lock);
}

static void after_fork_child(void)
{
	uint32_t ppid = ep_sb.pid;

	pthread_mutex_init(&ep_sb.lock, NULL);
	ep_sb.pid = (uint32_t)getpid();
	ep_sb_vcpu_forked(ppid, fork_parent_tid);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	uint64_t fd = UINT64_MAX;

	ep_sb.is_x86 = !strcmp(info->target_name, "x86_64");
	if (info->system_emulation || (!ep_sb.is_x86 && strcmp(info->target_name, "aarch64") != 0))
		return fail("only programs for x86-64 and AArch64 Linux can be recorded");
	for (int i = 0; i < argc; i++)
		if (!parse_option(argv[i], &fd))
			return fail("an option is unknown or its value does not fit");
	if (fd == UINT64_MAX || !attach_shared((int)fd))
		return fail("fd= must be shared memory made by edgeprof of the same version");
	ep_sb.pid = (uint32_t)getpid();
	if (ep_sb.shared->state == EP_SB_WAITING)
		ep_sb.shared->pid = ep_sb.pid;
	ep_sb.follow = ep_sb.follow && note_command(argc, argv);
	ep_sb.shared->machine = ep_sb.is_x86 ? EP_MACHINE_X86_64 : EP_MACHINE_AARCH64;
	ep_sb_maps_init();
	if (pthread_atfork(before_fork, after_fork_parent, after_fork_child))
		return fail("out of memory");
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	qemu_plugin_register_vcpu_syscall_cb(id, ep_sb_on_syscall);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, ep_sb_on_syscall_ret);
	qemu_plugin_register_vcpu_exit_cb(id, on_thread_exit);
	qemu_plugin_register_atexit_cb(id, on_exit_all, NULL);
	__atomic_store_n(&ep_sb.shared->state, EP_SB_ATTACHED, __ATOMIC_RELEASE);
	return 0;
}
