/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic output: temporary file, fsync(2), rename(2), fsync of the folder. */
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

/* -- what a dying process removes -- */

#define TEMPORARIES_MAX 64

static _Atomic(char *) temporaries[TEMPORARIES_MAX];
static atomic_bool removing;

static void temporary_add(char *path)
{
	for (size_t i = 0; i < TEMPORARIES_MAX; i++) {
		char *none = NULL;
		if (atomic_compare_exchange_strong(&temporaries[i], &none, path))
			return;
	}
}

/* After this no signal handler looks at the path any more. */
static void temporary_remove(char *path)
{
	for (size_t i = 0; i < TEMPORARIES_MAX; i++) {
		char *expected = path;
		if (atomic_compare_exchange_strong(&temporaries[i], &expected, NULL))
			break;
	}
	/* A handler in another thread may have the path in hand: it must not be freed. */
	while (atomic_load(&removing))
		pause();
}

void ep_out_remove_temporaries(void)
{
	int saved = errno;

	atomic_store(&removing, true);
	for (size_t i = 0; i < TEMPORARIES_MAX; i++) {
		char *path = atomic_load(&temporaries[i]);
		if (path)
			(void)unlink(path);
	}
	errno = saved;
}

/* -- outputs -- */

static struct ep_error *open_stdout(struct ep_out *ret)
{
	/* An own descriptor, so that commit and abort can close it. */
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");

	if (!file)
		return ep_error_os(errno, "standard output");
	*ret = (struct ep_out){.file = file};
	return NULL;
}

/* PATH.tmp.XXXXXX; a name near the limit of file systems is cut so that there is room for it. */
static char *tmp_name(const char *path)
{
	static const char ending[] = ".tmp.XXXXXX";
	const char *slash = strrchr(path, '/');
	size_t n_folder = slash ? (size_t)(slash - path) + 1 : 0, n = strlen(path + n_folder);
	size_t room = NAME_MAX - (sizeof(ending) - 1);
	char *tmp;

	if (n <= NAME_MAX)
		n = EP_MIN(n, room);
	return asprintf(&tmp, "%.*s%s", (int)(n_folder + n), path, ending) < 0 ? NULL : tmp;
}

static struct ep_error *open_tmp(const char *path, mode_t mode, struct ep_out *ret)
{
	ep_autofree char *tmp = tmp_name(path);

	if (!tmp)
		return ep_error_nomem();
	int fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0 && errno == ENAMETOOLONG)
		return ep_error_os(errno, "%s: create", path);
	if (fd < 0)
		return ep_error_hint(ep_error_os(errno, "%s: create", path),
		                     "the folder must exist and be writable");
	FILE *file = fchmod(fd, mode) < 0 ? NULL : fdopen(fd, "wb");
	if (!file) {
		int saved = errno;
		close(fd);
		unlink(tmp);
		return ep_error_os(saved, "%s", path);
	}
	ret->file = file;
	ret->tmp_path = ep_take(tmp);
	temporary_add(ret->tmp_path);
	return NULL;
}

static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Refuses what a new file would take the place of although it is not a file yet. */
static struct ep_error *check_new_name(const char *path)
{
	int why = errno; /* of stat(2) */
	struct stat st;

	if (!*path)
		return ep_error_create(EP_ERROR_USAGE, "the name of the output is empty");
	if (!lstat(path, &st) && S_ISLNK(st.st_mode))
		return ep_error_hint(ep_error_os(why, "%s: create", path),
		                     "it is a symbolic link that leads nowhere: remove it");
	return NULL;
}

struct ep_error *ep_out_open(const char *path, struct ep_out *ret)
{
	struct ep_out out = {0};
	struct stat st;

	if (!strcmp(path, "-"))
		return open_stdout(ret);
	bool exists = !stat(path, &st);
	if (!exists)
		EP_TRY(check_new_name(path));
	out.path = realpath(path, NULL);
	/* What has no name of its own (a pipe behind /dev/stdout) can only be written in place. */
	bool in_place = exists && (!out.path || !S_ISREG(st.st_mode));
	if (!out.path)
		out.path = strdup(path);
	if (!out.path)
		return ep_error_nomem();
	struct ep_error *err = NULL;
	if (in_place) {
		/* By the name given: the links of /proc lead to names that do not exist. */
		int fd = open(path, O_WRONLY | O_CLOEXEC);
		out.file = fd < 0 ? NULL : fdopen(fd, "wb");
		if (!out.file)
			err = ep_error_os(errno, "%s", path);
	} else {
		err = open_tmp(out.path, exists ? st.st_mode & 0777 : default_mode(), &out);
	}
	if (err) {
		free(out.path);
		return err;
	}
	*ret = out;
	return NULL;
}

static void sync_folder(const char *path)
{
	ep_autofree char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (slash)
		slash[slash == folder] = '\0';
	ep_autoclose int fd = open(slash ? folder : ".", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)fsync(fd); /* not every file system can; the rename stands anyway */
}

struct ep_error *ep_out_commit(struct ep_out *out)
{
	const char *name = out->path ? out->path : "standard output";
	bool failed = fflush(out->file) != 0 || ferror(out->file);

	if (!failed && out->tmp_path)
		failed = fsync(fileno(out->file)) != 0;
	int saved = failed ? errno : 0;
	if (fclose(out->file) != 0 && !failed) {
		failed = true;
		saved = errno;
	}
	out->file = NULL;
	if (!failed && out->tmp_path && rename(out->tmp_path, out->path) < 0) {
		failed = true;
		saved = errno;
	}
	struct ep_error *err = failed ? ep_error_os(saved ? saved : EIO, "%s: write", name) : NULL;
	if (!failed && out->tmp_path) {
		sync_folder(out->path);
		temporary_remove(out->tmp_path);
		free(out->tmp_path);
		out->tmp_path = NULL;
	}
	ep_out_abort(out);
	return err;
}

void ep_out_abort(struct ep_out *out)
{
	if (out->file)
		fclose(out->file);
	if (out->tmp_path) {
		unlink(out->tmp_path);
		temporary_remove(out->tmp_path);
	}
	free(out->tmp_path);
	free(out->path);
	*out = (struct ep_out){0};
}

struct ep_error *ep_out_open_unnamed(const char *near_path, FILE **ret)
{
	const char *folder = getenv("TMPDIR");
	const char *slash = near_path ? strrchr(near_path, '/') : NULL;
	ep_autofree char *tmp = NULL;
	int n;

	if (near_path)
		n = asprintf(&tmp, "%.*s.edgeprof.XXXXXX", slash ? (int)(slash - near_path + 1) : 0,
		             near_path);
	else
		n = asprintf(&tmp, "%s/edgeprof.XXXXXX", folder && *folder ? folder : "/tmp");
	if (n < 0) {
		tmp = NULL;
		return ep_error_nomem();
	}
	int fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0 || unlink(tmp) < 0) {
		struct ep_error *err = ep_error_os(errno, "%s: create", tmp);
		if (fd >= 0)
			close(fd);
		return err;
	}
	FILE *file = fdopen(fd, "w+b");
	if (!file) {
		close(fd);
		return ep_error_nomem();
	}
	*ret = file;
	return NULL;
}

struct ep_error *ep_out_write(const char *path, const void *data, size_t n)
{
	struct ep_out out = {0};

	EP_TRY(ep_out_open(path, &out));
	fwrite(data, 1, n, out.file);
	return ep_out_commit(&out);
}
