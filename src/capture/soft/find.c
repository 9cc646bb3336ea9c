/* SPDX-License-Identifier: BSD-2-Clause */
/* Searching for the program, QEMU, the plugin and the libraries. */
#include "capture/soft/find.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "capture/soft/host.h"
#include "record/machine.h"

/* More program headers than any linker makes. */
#define MAX_PHDRS 256

uint16_t ep_soft_native_machine(void)
{
#if defined(__x86_64__)
	return EP_MACHINE_X86_64;
#elif defined(__aarch64__)
	return EP_MACHINE_AARCH64;
#else
	return EP_MACHINE_UNKNOWN;
#endif
}

static bool is_file(const char *path, int access_mode)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, access_mode);
}

/* snprintf() of two parts that tells whether it fitted. */
static bool join(char ret[PATH_MAX], const char *a, const char *b)
{
	int n = snprintf(ret, PATH_MAX, "%s%s", a, b);

	return n >= 0 && n < PATH_MAX;
}

/* The first executable file of that name in $PATH. */
static bool find_in_path(const char *name, char ret[PATH_MAX])
{
	const char *path = getenv("PATH");

	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
		size_t n = strcspn(p, ":");
		char dir[PATH_MAX];
		int len = snprintf(dir, sizeof(dir), "%.*s/", (int)EP_MIN(n, (size_t)PATH_MAX),
		                   n ? p : ".");
		if (len > 0 && len < PATH_MAX && join(ret, dir, name) && is_file(ret, X_OK))
			return true;
		p += n + (p[n] == ':');
	}
	return false;
}

/* -- the program -- */

static struct ep_error *read_program(struct ep_soft_program *p);

/* "#!interpreter [argument]": the interpreter becomes the program. */
static struct ep_error *take_script(struct ep_soft_program *p, char *line)
{
	line[strcspn(line, "\n")] = '\0';
	char *interp = line + 2 + strspn(line + 2, " \t");
	size_t n = strcspn(interp, " \t");
	char *arg = interp + n + strspn(interp + n, " \t");

	for (size_t len = strlen(arg); len && strchr(" \t", arg[len - 1]); len--)
		arg[len - 1] = '\0';
	interp[n] = '\0';
	if (p->script[0] || !n)
		return ep_error_create(EP_ERROR_USAGE,
		                       "%s: is a script whose interpreter '%s' is no "
		                       "program",
		                       p->script[0] ? p->script : p->path, interp);
	join(p->script, p->path, "");
	join(p->path, interp, "");
	snprintf(p->interp_arg, sizeof(p->interp_arg), "%s", arg);
	return read_program(p);
}

static struct ep_error *read_interp(int fd, const char *path, const Elf64_Ehdr *eh, char *ret)
{
	*ret = '\0';
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum > MAX_PHDRS)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: program headers: %u of %u bytes",
		                       path, eh->e_phnum, eh->e_phentsize);
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph;
		off_t at = (off_t)(eh->e_phoff + (uint64_t)i * sizeof(ph));
		if (pread(fd, &ph, sizeof(ph), at) != (ssize_t)sizeof(ph))
			return ep_error_create(EP_ERROR_BAD_DATA, "%s: program header %u: cut off",
			                       path, i);
		if (ph.p_type != PT_INTERP)
			continue;
		if (!ph.p_filesz || ph.p_filesz >= PATH_MAX ||
		    pread(fd, ret, ph.p_filesz, (off_t)ph.p_offset) != (ssize_t)ph.p_filesz)
			return ep_error_create(EP_ERROR_BAD_DATA, "%s: PT_INTERP: unreadable",
			                       path);
		ret[ph.p_filesz] = '\0';
		return NULL;
	}
	return NULL;
}

static struct ep_error *read_elf(int fd, const Elf64_Ehdr *eh, struct ep_soft_program *p)
{
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    !ep_machine_arch(eh->e_machine))
		return ep_error_create(EP_ERROR_USAGE,
		                       "%s: ELF machine %u: only 64-bit x86 and little-endian "
		                       "AArch64 programs can be recorded",
		                       p->path, eh->e_machine);
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return ep_error_create(EP_ERROR_USAGE, "%s: is no program but ELF type %u", p->path,
		                       eh->e_type);
	p->machine = eh->e_machine;
	return read_interp(fd, p->path, eh, p->interp);
}

/* What is at p->path. */
static struct ep_error *read_program(struct ep_soft_program *p)
{
	union {
		Elf64_Ehdr eh;
		char text[256];
	} head = {.text = ""};
	ep_autoclose int fd = open(p->path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return ep_error_os(errno, "%s", p->path);
	if (!S_ISREG(st.st_mode))
		return ep_error_create(EP_ERROR_USAGE, "%s: is not a file", p->path);
	if (access(p->path, X_OK) < 0)
		return ep_error_os(errno, "%s", p->path);
	ssize_t n = pread(fd, &head, sizeof(head) - 1, 0);
	if (n < 0)
		return ep_error_os(errno, "%s", p->path);
	if (n >= 2 && !memcmp(head.text, "#!", 2))
		return take_script(p, head.text);
	if (n < (ssize_t)sizeof(head.eh) || memcmp(head.text, ELFMAG, SELFMAG) != 0)
		return ep_error_create(EP_ERROR_USAGE, "%s: is not an ELF program", p->path);
	return read_elf(fd, &head.eh, p);
}

struct ep_error *ep_soft_find_program(const char *name, struct ep_soft_program *ret)
{
	struct ep_soft_program p = {.path = ""};

	if (!strchr(name, '/') ? !find_in_path(name, p.path) : !join(p.path, name, ""))
		return ep_error_os(ENOENT, "%s", name);
	EP_TRY(read_program(&p));
	*ret = p;
	return NULL;
}

/* -- QEMU -- */

/* The first n-1 bytes that a command prints. False: it cannot be run or fails. */
static bool output_of(char *const argv[], char *ret, size_t n)
{
	int fds[2], status;
	size_t n_read = 0;

	if (pipe(fds) < 0)
		return false;
	pid_t pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	ep_autoerr err = pid < 0 ? NULL : ep_read_full(fds[0], argv[0], ret, n - 1, &n_read);
	close(fds[0]);
	ret[n_read] = '\0';
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0 && !err && !status;
}

/* True for an ELF program without a dynamic loader; wrappers that are scripts are not looked into.
 */
static bool is_static(const char *path)
{
	struct ep_soft_program p = {.path = ""};
	Elf64_Ehdr eh;
	ep_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, &eh, sizeof(eh), 0) != (ssize_t)sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	ep_autoerr err = read_interp(fd, path, &eh, p.interp);
	return !err && !p.interp[0];
}

static const char plugins_hint[] =
    "softbrbe needs QEMU's user-mode emulation, 6.0 to 10.x, with plugins and not static: Debian "
    "12's qemu-user is one; Debian 13's is static, so build QEMU there with --enable-plugins";

static unsigned api_of(unsigned major, unsigned minor)
{
	if (!major || major < 9)
		return 1;
	return major == 9 && !minor ? 2 : 3;
}

static void read_version(struct ep_soft_qemu *q)
{
	static char option[] = "--version";
	char *argv[] = {q->path, option, NULL}, text[256];
	const char *at = output_of(argv, text, sizeof(text)) ? strstr(text, "version ") : NULL;

	if (at && sscanf(at, "version %u.%u", &q->major, &q->minor) == 2)
		snprintf(q->version, sizeof(q->version), "%.*s", (int)strspn(at + 8, "0123456789."),
		         at + 8);
	q->api = api_of(q->major, q->minor);
}

struct ep_error *ep_soft_find_qemu(uint16_t machine, const char *path, struct ep_soft_qemu *ret)
{
	struct ep_soft_qemu q = {.path = ""};
	char name[64];

	snprintf(name, sizeof(name), "qemu-%s", ep_machine_arch(machine));
	if (path) {
		if (!join(q.path, path, "") || !is_file(path, X_OK))
			return ep_error_os(ENOENT, "%s", path);
	} else if (!find_in_path(name, q.path)) {
		return ep_error_hint(
		    ep_error_create(EP_ERROR_UNSUPPORTED, "%s: not found in PATH", name), "%s",
		    plugins_hint);
	}
	if (is_static(q.path))
		return ep_error_hint(ep_error_create(EP_ERROR_UNSUPPORTED,
		                                     "%s: is linked statically and so cannot load "
		                                     "plugins",
		                                     q.path),
		                     "%s", plugins_hint);
	read_version(&q);
	*ret = q;
	return NULL;
}

/* -- the plugin -- */

/* `path` is the plugin or a folder that holds it. */
static bool plugin_at(const char *path, unsigned api, char ret[PATH_MAX])
{
	char name[64];

	if (is_file(path, R_OK))
		return join(ret, path, "");
	snprintf(name, sizeof(name), "/softbrbe-api%u.so", api);
	return join(ret, path, name) && is_file(ret, R_OK);
}

/* In the build tree or below the prefix that the running executable lies in. */
static bool plugin_beside(unsigned api, char ret[PATH_MAX])
{
	static const char *const places[] = {"/../softbrbe", "/" EP_PLUGIN_FROM_BIN};
	char exe[PATH_MAX], dir[PATH_MAX];

	if (!ep_soft_host_exe_path(exe, sizeof(exe)) || !strrchr(exe, '/'))
		return false;
	*strrchr(exe, '/') = '\0';
	for (size_t i = 0; i < EP_ARRAY_LEN(places); i++)
		if (join(dir, exe, places[i]) && plugin_at(dir, api, ret))
			return true;
	return false;
}

struct ep_error *ep_soft_find_plugin(unsigned api, const char *path, char ret[PATH_MAX])
{
	const char *env = getenv("EDGEPROF_SOFTBRBE");
	char found[PATH_MAX];

	if (!path && env && *env)
		path = env;
	/* Absolute: the program may go elsewhere before it starts another. */
	if ((path ? plugin_at(path, api, found)
	          : plugin_beside(api, found) || plugin_at(EP_PLUGIN_DIR, api, found)) &&
	    realpath(found, ret))
		return NULL;
	struct ep_error *err =
	    ep_error_create(EP_ERROR_UNSUPPORTED, "softbrbe-api%u.so: not found in %s", api,
	                    path ? path : EP_PLUGIN_DIR);
	return ep_error_hint(err, "name the plugin or its folder in EDGEPROF_SOFTBRBE");
}

/* -- the libraries -- */

/* True if the file is ELF of that machine: a loader of the host's own is no use to a foreigner. */
static bool is_for(const char *path, uint16_t machine)
{
	Elf64_Ehdr eh;
	ep_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && pread(fd, &eh, sizeof(eh), 0) == (ssize_t)sizeof(eh) &&
	       !memcmp(eh.e_ident, ELFMAG, SELFMAG) && eh.e_machine == machine;
}

static bool sysroot_fits(const char *root, const struct ep_soft_program *program)
{
	char path[PATH_MAX];

	return join(path, root, program->interp) && is_for(path, program->machine);
}

struct ep_error *ep_soft_find_sysroot(const struct ep_soft_program *program, const char *sysroot,
                                      char ret[PATH_MAX])
{
	const char *env = getenv("QEMU_LD_PREFIX");
	char cross[64];

	snprintf(cross, sizeof(cross), "/usr/%s-linux-gnu", ep_machine_arch(program->machine));
	ret[0] = '\0';
	if (sysroot) {
		join(ret, sysroot, "");
		if (!program->interp[0] || sysroot_fits(sysroot, program))
			return NULL;
	} else if (!program->interp[0] || (env && sysroot_fits(env, program)) ||
	           sysroot_fits("", program)) {
		return NULL;
	} else if (sysroot_fits(cross, program)) {
		join(ret, cross, "");
		return NULL;
	}
	struct ep_error *err =
	    ep_error_create(EP_ERROR_UNSUPPORTED, "%s: its dynamic loader %s is not in %s",
	                    program->path, program->interp, sysroot ? sysroot : "this system");
	return ep_error_hint(err,
	                     "install the C library for %s (Debian: apt install "
	                     "libc6-%s-cross) or name a root folder with --sysroot",
	                     ep_machine_arch(program->machine),
	                     program->machine == EP_MACHINE_AARCH64 ? "arm64" : "amd64");
}
