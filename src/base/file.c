/* SPDX-License-Identifier: BSD-2-Clause */
/* Files by mmap(2), pipes by read(2). */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/vec.h"

#define READ_STEP ((size_t)1 << 18)
/* A stream may have no end (a device, a program that went wild). */
#define STREAM_MAX ((size_t)512 << 20)

struct ep_error *ep_read_full(int fd, const char *path, void *buf, size_t n, size_t *n_ret)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = read(fd, (char *)buf + done, n - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ep_error_os(errno, "%s: read", path);
		if (!got)
			break;
		done += (size_t)got;
	}
	*n_ret = done;
	return NULL;
}

static struct ep_error *read_all(int fd, const char *path, size_t max_bytes, struct ep_file *ret)
{
	EP_VEC(unsigned char) buf = {0};
	struct ep_error *err = NULL;
	size_t got = 1;

	if (!max_bytes)
		max_bytes = STREAM_MAX;
	while (!err && got) {
		if (!ep_vec_reserve(&buf, READ_STEP))
			err = ep_error_nomem();
		else
			err = ep_read_full(fd, path, buf.v + buf.n, READ_STEP, &got);
		if (!err)
			buf.n += got;
		if (!err && buf.n > max_bytes)
			err = ep_error_hint(ep_error_create(EP_ERROR_BAD_DATA,
			                                    "%s: a stream of over %zu bytes", path,
			                                    max_bytes),
			                    "save it to a file and give that");
	}
	if (err) {
		ep_vec_deinit(&buf);
		return err;
	}
	*ret = (struct ep_file){.data = buf.v, .size = buf.n};
	return NULL;
}

struct ep_error *ep_file_open(const char *path, size_t max_bytes, struct ep_file *ret)
{
	bool is_stdin = !strcmp(path, "-");
	ep_autoclose int own_fd = is_stdin ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	int fd = is_stdin ? STDIN_FILENO : own_fd;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return ep_error_os(errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return ep_error_os(EISDIR, "%s", path);
	if (!S_ISREG(st.st_mode) || !st.st_size || lseek(fd, 0, SEEK_CUR) != 0)
		return read_all(fd, path, max_bytes, ret);
	if ((uintmax_t)st.st_size > SIZE_MAX || (max_bytes && (size_t)st.st_size > max_bytes))
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: larger than %zu bytes", path,
		                       max_bytes ? max_bytes : SIZE_MAX);
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return read_all(fd, path, max_bytes, ret);
	*ret = (struct ep_file){.data = p, .size = (size_t)st.st_size, .mapped = true};
	return NULL;
}

void ep_file_close(struct ep_file *file)
{
	if (file->mapped)
		munmap((void *)(uintptr_t)file->data, file->size);
	else
		free((void *)(uintptr_t)file->data);
	*file = (struct ep_file){0};
}
