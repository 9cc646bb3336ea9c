/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Following execve(2). QEMU's user mode hands a new program to the kernel, which runs it without
 * QEMU. Where the new program is one that could be recorded, QEMU is executed here in its place,
 * with the same plugin and the program as its argument; everything else takes the usual way and is
 * counted as not followed.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin.h"

/* More words than the kernel takes in one go are not followed. */
#define MAX_WORDS 65536
#define MAX_SCRIPT_LINE 255

/* Room for QEMU's words before those of a program. */
#define N_BEFORE 12

struct program {
	char path[EP_SB_MAX_PATH];
	/* Of a script: what comes between its interpreter, which `path` is then, and the arguments.
	 */
	char interp_arg[MAX_SCRIPT_LINE + 1], script[EP_SB_MAX_PATH];
};

/* The words of a NULL-terminated list in the program's memory, which is ours; NULL: unreadable. */
static char **read_words(uint64_t addr, size_t n_before)
{
	size_t n = 0, cap = 64;
	char **words = malloc((n_before + cap) * sizeof(*words));

	for (; words && n < MAX_WORDS; n++) {
		uint64_t word = 0;
		if (n == cap) {
			char **more = realloc(words, (n_before + 2 * cap) * sizeof(*words));
			if (!more)
				break;
			words = more;
			cap *= 2;
		}
		if (addr && !ep_sb_guest_read(addr + 8 * n, &word, sizeof(word)))
			break;
		words[n_before + n] = word ? (char *)(uintptr_t)(word + ep_sb.guest_base) : NULL;
		if (!word)
			return words;
	}
	free(words);
	return NULL;
}

static bool file_exists(const char *root, const char *path)
{
	char full[2 * EP_SB_MAX_PATH];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return !access(full, R_OK);
}

/* True if the loader that the program asks for is there: QEMU does not go back when it is not. */
static bool loader_exists(int fd, const Elf64_Ehdr *eh)
{
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph;
		char interp[EP_SB_MAX_PATH] = "";
		off_t at = (off_t)(eh->e_phoff + (uint64_t)i * sizeof(ph));

		if (pread(fd, &ph, sizeof(ph), at) != (ssize_t)sizeof(ph))
			return false;
		if (ph.p_type != PT_INTERP)
			continue;
		return ph.p_filesz < sizeof(interp) &&
		       pread(fd, interp, ph.p_filesz, (off_t)ph.p_offset) == (ssize_t)ph.p_filesz &&
		       (file_exists("", interp) ||
		        (ep_sb.sysroot && file_exists(ep_sb.sysroot, interp)));
	}
	return true;
}

/* "#!interpreter [argument]" */
static bool parse_script(char *line, struct program *p)
{
	line[strcspn(line, "\n")] = '\0';
	char *interp = line + 2 + strspn(line + 2, " \t");
	size_t n = strcspn(interp, " \t");
	char *arg = interp + n + strspn(interp + n, " \t");

	if (!n || strlen(p->path) >= sizeof(p->script))
		return false;
	for (size_t len = strlen(arg); len && strchr(" \t", arg[len - 1]); len--)
		arg[len - 1] = '\0';
	interp[n] = '\0';
	snprintf(p->script, sizeof(p->script), "%s", p->path);
	snprintf(p->interp_arg, sizeof(p->interp_arg), "%s", arg);
	snprintf(p->path, sizeof(p->path), "%s", interp);
	return true;
}

/* True if the file could be recorded; a script is replaced by its interpreter. */
static bool look_at(struct program *p)
{
	union {
		Elf64_Ehdr eh;
		char line[MAX_SCRIPT_LINE + 1];
	} head = {.line = ""};
	struct stat st;
	int fd = open(p->path, O_RDONLY | O_CLOEXEC);
	bool ok = false;

	if (fd < 0)
		return false;
	/* Under QEMU a program cannot gain privileges: such ones go the usual way. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !(st.st_mode & (S_ISUID | S_ISGID)) &&
	    !access(p->path, X_OK) && pread(fd, &head, sizeof(head) - 1, 0) > 0) {
		if (!memcmp(head.line, "#!", 2) && !p->script[0])
			ok = parse_script(head.line, p) && look_at(p);
		else
			ok = !memcmp(head.eh.e_ident, ELFMAG, SELFMAG) &&
			     head.eh.e_ident[EI_CLASS] == ELFCLASS64 &&
			     head.eh.e_ident[EI_DATA] == ELFDATA2LSB &&
			     head.eh.e_machine == ep_sb.shared->machine &&
			     (head.eh.e_type == ET_EXEC || head.eh.e_type == ET_DYN) &&
			     head.eh.e_phentsize == sizeof(Elf64_Phdr) &&
			     loader_exists(fd, &head.eh);
	}
	close(fd);
	return ok;
}

/* The path of the running program, which the kernel would take for QEMU. */
static bool is_own_exe(const char *path)
{
	char own[64];

	snprintf(own, sizeof(own), "/proc/%u/exe", ep_sb.pid);
	return !strcmp(path, "/proc/self/exe") || !strcmp(path, "/proc/thread-self/exe") ||
	       !strcmp(path, own);
}

/* The reader's memory, once more, for the next plugin. */
static int open_shared(void)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", ep_sb.shared->reader_pid,
	         ep_sb.shared->reader_fd);
	fd = open(path, O_RDWR);
	if (fd >= 0 && (fstat(fd, &st) < 0 || (uint64_t)st.st_size != ep_sb.shared->total_bytes)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* QEMU's words before the program's own, put right before words[n_before]. */
static char **prepend(char **words, size_t n_before, struct program *p, char *plugin)
{
	static char opt_name[] = "-0", opt_root[] = "-L", opt_plugin[] = "-plugin";
	static char unnamed[] = "";
	char **argv = words + n_before, *name = argv[0] ? argv[0] : unnamed;

	if (argv[0])
		argv++;
	if (p->script[0]) {
		*--argv = p->script;
		if (p->interp_arg[0])
			*--argv = p->interp_arg;
		name = p->path;
	}
	*--argv = p->path;
	*--argv = plugin;
	*--argv = opt_plugin;
	if (ep_sb.sysroot) {
		*--argv = ep_sb.sysroot;
		*--argv = opt_root;
	}
	*--argv = name;
	*--argv = opt_name;
	*--argv = ep_sb.qemu_path;
	return argv;
}

/* Returns only if it did not work, with everything as it was. */
static void become_qemu(struct ep_sb_vcpu *v, struct program *p, char **argv, char **envp)
{
	/* Under the lock. */
	static char plugin[4 * EP_SB_MAX_PATH], program[EP_SB_MAX_PATH], absolute[PATH_MAX];
	int fd = open_shared();

	if (fd < 0)
		return;
	program[0] = '\0';
	if (!realpath(p->path, absolute) || !ep_sb_append(program, absolute)) {
		close(fd);
		return;
	}
	snprintf(plugin, sizeof(plugin), "%s,fd=%d,program=%s%s", ep_sb.plugin_path, fd, program,
	         ep_sb.options);
	ep_sb_vcpu_before_exec(v);
	execve(ep_sb.qemu_path, prepend(argv, N_BEFORE, p, plugin), envp);
	ep_sb_vcpu_after_failed_exec(v);
	close(fd);
}

void ep_sb_exec_follow(struct ep_sb_vcpu *v, const char *path, uint64_t argv, uint64_t envp)
{
	static struct program p; /* large; under the lock */

	if (!ep_sb.follow || !v->slot)
		return;
	pthread_mutex_lock(&ep_sb.lock);
	memset(&p, 0, sizeof(p));
	if (ep_sb.program && is_own_exe(path))
		path = ep_sb.program;
	snprintf(p.path, sizeof(p.path), "%s", path);
	if (strlen(path) < sizeof(p.path) && look_at(&p)) {
		char **words = read_words(argv, N_BEFORE), **env = read_words(envp, 0);
		if (words && env)
			become_qemu(v, &p, words, env);
		free(words);
		free(env);
	}
	pthread_mutex_unlock(&ep_sb.lock);
}
