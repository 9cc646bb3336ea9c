/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's executable memory: what is mapped when it starts, and what its system calls change.
 *
 * QEMU maps the program's files at guest address + guest_base (0 for 64-bit programs unless the
 * place is taken), so they show in /proc/self/maps, among QEMU's own and without the guest's
 * execute permission. Those that were there when the plugin was loaded are QEMU's; which of the
 * others are executable, the program headers of their files say.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "plugin.h"

#define PAGE_UP(x) (((x) + EP_SB_PAGE - 1) & ~(uint64_t)(EP_SB_PAGE - 1))
#define GUEST_MAP_FIXED 0x10
#define GUEST_MAP_ANONYMOUS 0x20
#define GUEST_MREMAP_FIXED 2

/* Exported by QEMU 7.2 for its own reasons; not part of the plugin interface. */
extern __attribute__((weak)) uintptr_t guest_base;

struct ep_sb_syscalls {
	int mmap, munmap, mprotect, pkey_mprotect, mremap, execve, execveat, rt_sigaction;
};

static const struct ep_sb_syscalls syscalls_x86 = {
    .mmap = 9,
    .munmap = 11,
    .mprotect = 10,
    .pkey_mprotect = 329,
    .mremap = 25,
    .execve = 59,
    .execveat = 322,
    .rt_sigaction = 13,
};

static const struct ep_sb_syscalls syscalls_a64 = {
    .mmap = 222,
    .munmap = 215,
    .mprotect = 226,
    .pkey_mprotect = 288,
    .mremap = 216,
    .execve = 221,
    .execveat = 281,
    .rt_sigaction = 134,
};

/* One line of /proc/self/maps; path "" if it has none. */
struct map_line {
	uint64_t start, end, pgoff, inode;
	char path[EP_SB_MAX_PATH];
};

static struct ep_sb_regions maps_of_qemu;

static bool line_parse(const char *text, struct map_line *ret)
{
	unsigned long long start, end, pgoff, inode;
	int n = 0;

	if (sscanf(text, "%llx-%llx %*s %llx %*s %llu %n", &start, &end, &pgoff, &inode, &n) < 4)
		return false;
	*ret = (struct map_line){.start = start, .end = end, .pgoff = pgoff, .inode = inode};
	if (n) {
		snprintf(ret->path, sizeof(ret->path), "%s", text + n);
		ret->path[strcspn(ret->path, "\n")] = '\0';
	}
	return true;
}

typedef void (*map_line_fn)(void *payload, const struct map_line *line);

static void for_each_map(map_line_fn fn, void *payload)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char *text = NULL;
	size_t cap = 0;
	struct map_line line;

	if (!f)
		return;
	while (getline(&text, &cap, f) > 0)
		if (line_parse(text, &line))
			fn(payload, &line);
	free(text);
	fclose(f);
}

static void note_own_map(void *payload, const struct map_line *line)
{
	(void)payload;
	ep_sb_regions_add(&maps_of_qemu, line->start, line->end, line->pgoff, strdup(""), false);
}

void ep_sb_maps_init(void)
{
	ep_sb.syscalls = ep_sb.is_x86 ? &syscalls_x86 : &syscalls_a64;
	for_each_map(note_own_map, NULL);
}

/* The first executable segment of an ELF file with bytes in [pgoff, pgoff + len). False: none. */
static bool find_code(const char *path, uint64_t pgoff, uint64_t len, Elf64_Phdr *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr eh;
	bool found = false;

	if (fd < 0)
		return false;
	if (pread(fd, &eh, sizeof(eh), 0) == (ssize_t)sizeof(eh) &&
	    !memcmp(eh.e_ident, ELFMAG, SELFMAG) && eh.e_ident[EI_CLASS] == ELFCLASS64 &&
	    eh.e_phentsize == sizeof(*ret)) {
		for (unsigned i = 0; i < eh.e_phnum && !found; i++) {
			off_t at = (off_t)(eh.e_phoff + (uint64_t)i * sizeof(*ret));
			if (pread(fd, ret, sizeof(*ret), at) != (ssize_t)sizeof(*ret))
				break;
			found = ret->p_type == PT_LOAD && ret->p_flags & PF_X && ret->p_filesz &&
			        ret->p_offset < pgoff + len &&
			        ret->p_offset + ret->p_filesz > pgoff;
		}
	}
	close(fd);
	return found;
}

/* Offset in an ELF file of its entry point. False: none. */
static bool find_entry(const char *path, uint64_t *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	bool found = false;

	if (fd < 0)
		return false;
	if (pread(fd, &eh, sizeof(eh), 0) != (ssize_t)sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phentsize != sizeof(ph))
		eh.e_phnum = 0;
	for (unsigned i = 0; i < eh.e_phnum && !found; i++) {
		if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + (uint64_t)i * sizeof(ph))) !=
		    (ssize_t)sizeof(ph))
			break;
		found = ph.p_type == PT_LOAD && eh.e_entry - ph.p_vaddr < ph.p_filesz;
		*ret = eh.e_entry - ph.p_vaddr + ph.p_offset;
	}
	close(fd);
	return found;
}

struct base_search {
	uint64_t base;
	bool found, zero;
};

/*
 * If execution began at the entry point of the file of this map, guest_base would be that. It is
 * a whole number of pages, and most often 0.
 */
static void note_guest_base(void *payload, const struct map_line *line)
{
	struct base_search *search = payload;
	uint64_t offset;

	if (ep_sb_regions_cover(&maps_of_qemu, line->start, line->end) || !line->inode ||
	    !find_entry(line->path, &offset) || offset < line->pgoff ||
	    offset - line->pgoff >= line->end - line->start)
		return;
	uint64_t base = line->start + (offset - line->pgoff) - ep_sb.entry_ip;
	if (base % EP_SB_PAGE)
		return;
	search->zero |= !base;
	search->found = true;
	search->base = base;
}

/* For QEMUs that do not export it. */
static uint64_t find_guest_base(void)
{
	struct base_search search = {0};

	for_each_map(note_guest_base, &search);
	return search.found && !search.zero ? search.base : 0;
}

static void send_region(struct ep_sb_vcpu *v, const struct ep_sb_region *r)
{
	size_t n_path = strnlen(r->path, EP_SB_MAX_PATH - 1);
	struct ep_sb_map body = {.start = r->start,
	                         .len = r->end - r->start,
	                         .pgoff = r->pgoff,
	                         .flags = r->is_file ? EP_SB_MAP_FILE : 0,
	                         .path_len = (uint32_t)n_path};

	ep_sb_ring_write(v, EP_SB_MAP, &body, sizeof(body), r->path, n_path);
}

void ep_sb_maps_send(struct ep_sb_vcpu *v)
{
	__atomic_store_n(&ep_sb.regions_stale, false, __ATOMIC_RELAXED);
	for (size_t i = 0; i < ep_sb.regions.n; i++)
		send_region(v, &ep_sb.regions.v[i]);
}

/* Takes over `path`. */
static void region_map(struct ep_sb_vcpu *v, uint64_t start, uint64_t end, uint64_t pgoff,
                       char *path, bool is_file)
{
	struct ep_sb_region r = {start, end, pgoff, path, is_file};

	if (!path)
		return;
	send_region(v, &r);
	ep_sb_regions_add(&ep_sb.regions, start, end, pgoff, path, is_file);
}

/*
 * Code in [start, end) goes. What other threads have counted there is given to the reader first.
 */
static void region_unmap(struct ep_sb_vcpu *v, uint64_t start, uint64_t end,
                         struct ep_sb_regions *removed)
{
	struct ep_sb_map body = {.start = start, .len = end - start};

	if (!ep_sb_regions_remove(&ep_sb.regions, start, end, removed))
		return;
	ep_sb_vcpu_forget(v);
	if (ep_sb.exact)
		for (struct ep_sb_vcpu *o = ep_sb.vcpus; o; o = o->next)
			ep_sb_table_seal(o, v);
	ep_sb_ring_write(v, EP_SB_UNMAP, &body, sizeof(body), NULL, 0);
}

static bool is_real_file(const char *path)
{
	return path[0] == '/' && strncmp(path, "/memfd:", 7) != 0;
}

static void note_program_map(void *payload, const struct map_line *line)
{
	struct ep_sb_vcpu *v = payload;
	uint64_t start = line->start - ep_sb.guest_base, end = line->end - ep_sb.guest_base;
	Elf64_Phdr code;

	if (ep_sb_regions_cover(&maps_of_qemu, line->start, line->end) || !line->inode ||
	    line->start < ep_sb.guest_base ||
	    !find_code(line->path, line->pgoff, line->end - line->start, &code))
		return;
	region_map(v, start, end, line->pgoff, strdup(line->path), true);
}

void ep_sb_maps_start(struct ep_sb_vcpu *v)
{
	const char *path = ep_sb.program ? ep_sb.program : "";
	size_t n_path = strnlen(path, EP_SB_MAX_PATH - 1);
	struct ep_sb_path body = {.path_len = (uint32_t)n_path};

	ep_sb.guest_base = &guest_base ? guest_base : find_guest_base();
	ep_sb_ring_write(v, EP_SB_EXEC, &body, sizeof(body), path, n_path);
	pthread_mutex_lock(&ep_sb.lock);
	for_each_map(note_program_map, v);
	ep_sb_regions_clear(&maps_of_qemu);
	pthread_mutex_unlock(&ep_sb.lock);
}

/* What a mapping of `fd` is a mapping of; owned. */
static char *path_of_fd(int fd, bool *is_file_ret)
{
	char link[64], path[EP_SB_MAX_PATH];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return strdup("");
	path[n] = '\0';
	*is_file_ret = is_real_file(path) && !fstat(fd, &st) && S_ISREG(st.st_mode);
	return strdup(path);
}

static void on_mapped(struct ep_sb_vcpu *v, uint64_t addr)
{
	uint64_t len = PAGE_UP(v->sys_args[1]), prot = v->sys_args[2], flags = v->sys_args[3];
	bool is_file = false;

	if (!(prot & PROT_EXEC) || !len)
		return;
	char *path = flags & GUEST_MAP_ANONYMOUS ? strdup("//anon")
	                                         : path_of_fd((int)v->sys_args[4], &is_file);
	region_map(v, addr, addr + len, flags & GUEST_MAP_ANONYMOUS ? 0 : v->sys_args[5], path,
	           is_file);
}

struct protect_search {
	struct ep_sb_vcpu *vcpu;
	uint64_t start, end; /* host addresses */
};

static void note_protected_map(void *payload, const struct map_line *line)
{
	const struct protect_search *s = payload;
	uint64_t start = line->start > s->start ? line->start : s->start;
	uint64_t end = line->end < s->end ? line->end : s->end;

	if (start >= end)
		return;
	bool is_file = line->inode && is_real_file(line->path);
	region_map(s->vcpu, start - ep_sb.guest_base, end - ep_sb.guest_base,
	           line->pgoff + (start - line->start), strdup(is_file ? line->path : "//anon"),
	           is_file);
}

/* Memory became executable after it was mapped. */
static void on_protected(struct ep_sb_vcpu *v)
{
	uint64_t start = v->sys_args[0], end = start + PAGE_UP(v->sys_args[1]);
	struct protect_search search = {v, start + ep_sb.guest_base, end + ep_sb.guest_base};

	if (!(v->sys_args[2] & PROT_EXEC) || ep_sb_regions_cover(&ep_sb.regions, start, end))
		return;
	for_each_map(note_protected_map, &search);
}

/* Puts what was taken out before the call back, moved by `delta` and at most to `end`. */
static void put_removed(struct ep_sb_vcpu *v, uint64_t delta, uint64_t end)
{
	for (size_t i = 0; i < v->sys_removed.n; i++) {
		struct ep_sb_region *r = &v->sys_removed.v[i];
		uint64_t r_end = r->end + delta < end ? r->end + delta : end;

		if (r->start + delta < r_end) {
			region_map(v, r->start + delta, r_end, r->pgoff, r->path, r->is_file);
			r->path = NULL;
		}
	}
}

bool ep_sb_guest_read(uint64_t addr, void *ret, size_t n)
{
	struct iovec local = {ret, n}, remote = {(void *)(uintptr_t)(addr + ep_sb.guest_base), n};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* False: it is longer than a path can be, or not there. */
static bool read_path(uint64_t addr, char ret[EP_SB_MAX_PATH])
{
	for (size_t n = 0; n < EP_SB_MAX_PATH; n++) {
		if (!ep_sb_guest_read(addr + n, ret + n, 1))
			return false;
		if (!ret[n])
			return true;
	}
	return false;
}

/* Does not come back if the program is followed. */
static void before_exec(struct ep_sb_vcpu *v, uint64_t path_addr, uint64_t argv, uint64_t envp,
                        bool can_follow)
{
	char path[EP_SB_MAX_PATH];

	if (!read_path(path_addr, path))
		path[0] = '\0';
	if (can_follow && path[0])
		ep_sb_exec_follow(v, path, argv, envp);
	struct ep_sb_path body = {.path_len = (uint32_t)strlen(path)};
	ep_sb_ring_write(v, EP_SB_EXEC_TRY, &body, sizeof(body), path, body.path_len);
}

static void before_call(struct ep_sb_vcpu *v, int64_t num)
{
	const struct ep_sb_syscalls *nr = ep_sb.syscalls;
	const uint64_t *a = v->sys_args;

	if (num == nr->munmap || num == nr->mremap || (num == nr->mmap && a[3] & GUEST_MAP_FIXED)) {
		pthread_mutex_lock(&ep_sb.lock);
		region_unmap(v, a[0], a[0] + PAGE_UP(a[1]), &v->sys_removed);
		if (num == nr->mremap && a[3] & GUEST_MREMAP_FIXED)
			region_unmap(v, a[4], a[4] + PAGE_UP(a[2]), NULL);
		pthread_mutex_unlock(&ep_sb.lock);
	} else if (num == nr->execve) {
		before_exec(v, a[0], a[1], a[2], true);
	} else if (num == nr->execveat) {
		before_exec(v, a[1], a[2], a[3], false);
	}
}

static void after_call(struct ep_sb_vcpu *v, int64_t num, int64_t ret)
{
	const struct ep_sb_syscalls *nr = ep_sb.syscalls;
	bool failed = ret < 0 && ret >= -4095;
	const uint64_t *a = v->sys_args;
	uint64_t handler;

	if (num == nr->mmap || num == nr->munmap || num == nr->mremap || num == nr->mprotect ||
	    num == nr->pkey_mprotect) {
		pthread_mutex_lock(&ep_sb.lock);
		if (failed)
			put_removed(v, 0, UINT64_MAX);
		else if (num == nr->mmap)
			on_mapped(v, (uint64_t)ret);
		else if (num == nr->mremap)
			put_removed(v, (uint64_t)ret - a[0], (uint64_t)ret + PAGE_UP(a[2]));
		else if (num != nr->munmap)
			on_protected(v);
		ep_sb_regions_clear(&v->sys_removed);
		pthread_mutex_unlock(&ep_sb.lock);
	} else if (num == nr->execve || num == nr->execveat) {
		ep_sb_ring_write(v, EP_SB_EXEC_FAILED, NULL, 0, NULL, 0);
	} else if (num == nr->rt_sigaction && !failed && a[1] &&
	           ep_sb_guest_read(a[1], &handler, sizeof(handler)) && handler > 1) {
		ep_sb_handler_add(handler);
	}
}

void ep_sb_on_syscall(uint64_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2,
                      uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	struct ep_sb_vcpu *v = ep_sb_vcpu_self(vcpu);
	uint64_t args[6] = {a1, a2, a3, a4, a5, a6};

	(void)id, (void)a7, (void)a8;
	if (!v)
		return;
	v->sys_num = num;
	memcpy(v->sys_args, args, sizeof(args));
	ep_sb_vcpu_publish(v);
	before_call(v, num);
}

void ep_sb_on_syscall_ret(uint64_t id, unsigned vcpu, int64_t num, int64_t ret)
{
	struct ep_sb_vcpu *v = ep_sb_vcpu_self(vcpu);

	(void)id;
	if (v && v->sys_num == num)
		after_call(v, num, ret);
}
