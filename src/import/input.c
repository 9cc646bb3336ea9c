/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows over mapped files, streams and memory. */
#include "import/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* perf makes a file for each thread that records: one per CPU at most. */
#define PARTS_MAX ((size_t)65536)
/* How much of a map enters the window at a time: small enough to be in the cache when parsed. */
#define MAP_STEP ((size_t)512 << 10)
#define BUF_MIN ((size_t)1 << 20)
/*
 * A map's pages this far behind the window are let go of; who looks again gets them back, for good.
 * So it must hold what waits to be put in order: two rounds of a common perf.data.
 */
#define KEEP_BEHIND ((size_t)8 << 20)

static struct ep_error *input_init(const char *name, struct ep_input *ret)
{
	struct ep_input in = {.fd = -1};
	struct ep_error *err = ep_digester_create(&in.digester);

	if (err)
		return err;
	in.name = ep_arena_strndup(&in.arena, name, strlen(name));
	if (!in.name) {
		ep_input_close(&in);
		return ep_error_nomem();
	}
	*ret = in;
	return NULL;
}

/* True if fd is a regular file that stands at its start and could be mapped. */
static bool map_fd(struct ep_input *in, int fd, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || st->st_size <= 0 || (uintmax_t)st->st_size > SIZE_MAX)
		return false;
	if (lseek(fd, 0, SEEK_CUR) != 0)
		return false;
	void *p = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	(void)posix_madvise(p, (size_t)st->st_size, POSIX_MADV_SEQUENTIAL);
	in->map = in->data = p;
	in->map_size = (size_t)st->st_size;
	in->own_map = true;
	return true;
}

/* Maps or streams an open descriptor; `own` says that it is ours to close. */
static struct ep_error *open_fd(const char *path, int fd, bool own, struct ep_input *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ep_error_os(errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return ep_error_os(EISDIR, "%s", path);
	EP_TRY(input_init(own ? path : "standard input", ret));
	if (!map_fd(ret, fd, &st)) {
		ret->fd = fd;
		ret->own_fd = own;
	}
	return NULL;
}

static struct ep_error *open_file(const char *path, struct ep_input *ret)
{
	struct ep_input in;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ep_error_os(errno, "%s", path);
	struct ep_error *err = open_fd(path, fd, true, &in);
	if (err || in.map)
		close(fd);
	if (!err)
		*ret = in;
	return err;
}

/* Opens data.0, data.1, ... up to the first that is missing. */
static struct ep_error *open_parts(const char *dir, struct ep_input *in)
{
	char path[PATH_MAX];
	size_t n = 0;

	for (; n < PARTS_MAX; n++) {
		snprintf(path, sizeof(path), "%s/data.%zu", dir, n);
		if (access(path, F_OK))
			break;
	}
	in->parts = calloc(n + 1, sizeof(*in->parts));
	if (!in->parts)
		return ep_error_nomem();
	for (; in->n_parts < n; in->n_parts++) {
		snprintf(path, sizeof(path), "%s/data.%zu", dir, in->n_parts);
		EP_TRY(open_file(path, &in->parts[in->n_parts]));
	}
	return NULL;
}

static struct ep_error *open_dir(const char *dir, struct ep_input *ret)
{
	char path[PATH_MAX];
	struct ep_input in;

	if ((size_t)snprintf(path, sizeof(path), "%s/data", dir) >= sizeof(path) - 32 ||
	    access(path, F_OK))
		return ep_error_hint(ep_error_os(EISDIR, "%s", dir),
		                     "the directories that perf record makes have a file \"data\"");
	EP_TRY(open_file(path, &in));
	in.is_dir = true;
	struct ep_error *err = open_parts(dir, &in);
	if (err)
		ep_input_close(&in);
	else
		*ret = in;
	return err;
}

struct ep_error *ep_input_open(const char *path, struct ep_input *ret)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return open_fd(path, STDIN_FILENO, false, ret);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return open_dir(path, ret);
	return open_file(path, ret);
}

struct ep_error *ep_input_open_memory(const char *name, const void *data, size_t n,
                                      size_t piece_max, struct ep_input *ret)
{
	EP_TRY(input_init(name, ret));
	if (piece_max) {
		ret->source = data;
		ret->source_left = n;
		ret->piece_max = piece_max;
	} else {
		ret->data = data;
		ret->map = data;
		ret->map_size = n;
		ret->eof = !n;
	}
	return NULL;
}

/* Keeps the resident size of a long map bounded. */
static void release_behind(struct ep_input *in)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from = in->released;

	if (!in->own_map || in->offset - from < 2 * KEEP_BEHIND)
		return;
	size_t to = ((size_t)in->offset - KEEP_BEHIND) / page * page;
	(void)madvise((void *)(uintptr_t)(in->map + from), to - from, MADV_DONTNEED);
	in->released = to;
}

static struct ep_error *fill_map(struct ep_input *in, size_t n)
{
	size_t left = in->map_size - (size_t)in->offset;
	size_t want = EP_MIN(left, EP_MAX(n, in->n + MAP_STEP));

	release_behind(in);
	ep_digester_add(in->digester, in->data + in->n, want - in->n);
	in->n = want;
	in->eof = want == left;
	return NULL;
}

/* Makes the buffer hold n bytes and puts the window at its start. */
static struct ep_error *make_room(struct ep_input *in, size_t n)
{
	if (n > EP_INPUT_WINDOW_MAX)
		return ep_error_create(EP_ERROR_NOMEM, "%s: offset 0x%llx: %zu bytes in one piece",
		                       in->name, (unsigned long long)in->offset, n);
	if (in->n && in->data != in->buf)
		memmove(in->buf, in->data, in->n);
	if (n > in->buf_size) {
		size_t size =
		    EP_MIN(EP_MAX(EP_MAX(n, 2 * in->buf_size), BUF_MIN), EP_INPUT_WINDOW_MAX);
		unsigned char *p = realloc(in->buf, size);
		if (!p) {
			in->data = in->buf;
			return ep_error_nomem();
		}
		in->buf = p;
		in->buf_size = size;
	}
	in->data = in->buf;
	return NULL;
}

static struct ep_error *read_some(struct ep_input *in, void *buf, size_t n, size_t *n_ret)
{
	ssize_t got;

	if (in->fd < 0) {
		*n_ret = EP_MIN(EP_MIN(n, in->piece_max), in->source_left);
		if (*n_ret)
			memcpy(buf, in->source, *n_ret);
		in->source = in->source ? in->source + *n_ret : NULL;
		in->source_left -= *n_ret;
		return NULL;
	}
	do {
		got = read(in->fd, buf, n);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return ep_error_os(errno, "%s: read", in->name);
	*n_ret = (size_t)got;
	return NULL;
}

struct ep_error *ep_input_fill(struct ep_input *in, size_t n)
{
	if (n <= in->n || in->eof)
		return NULL;
	if (in->map)
		return fill_map(in, n);
	EP_TRY(make_room(in, n));
	while (in->n < n && !in->eof) {
		size_t got = 0;
		EP_TRY(read_some(in, in->buf + in->n, in->buf_size - in->n, &got));
		ep_digester_add(in->digester, in->buf + in->n, got);
		in->n += got;
		in->eof = !got;
	}
	return NULL;
}

/* An open file without a name, -1: none can be made. `path` is for messages. */
static int open_temporary(char path[PATH_MAX])
{
	const char *dir = getenv("TMPDIR");

	if (!dir || !dir[0])
		dir = "/var/tmp";
	if ((size_t)snprintf(path, PATH_MAX, "%s/edgeprof-XXXXXX", dir) >= PATH_MAX)
		return -1;
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static struct ep_error *write_full(int fd, const char *path, const unsigned char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);
		if (done < 0 && errno != EINTR)
			return ep_error_hint(ep_error_os(errno, "%s: write", path),
			                     "set TMPDIR to a place with room for the input, or "
			                     "give the file by its name");
		p += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return NULL;
}

/* Writes the window and what is behind it; size_ret: bytes in all. */
static struct ep_error *copy_stream(struct ep_input *in, int fd, const char *path, size_t *size_ret)
{
	size_t size = in->n, got = 1;
	ep_autofree unsigned char *piece = malloc(BUF_MIN);

	if (!piece)
		return ep_error_nomem();
	EP_TRY(write_full(fd, path, in->data, in->n));
	while (!in->eof && got) {
		EP_TRY(read_some(in, piece, BUF_MIN, &got));
		EP_TRY(write_full(fd, path, piece, got));
		size += got;
	}
	*size_ret = size;
	return NULL;
}

struct ep_error *ep_input_spool(struct ep_input *in)
{
	char path[PATH_MAX];
	size_t size = 0;

	if (in->map || in->offset || !in->n)
		return NULL;
	ep_autoclose int fd = open_temporary(path);
	if (fd < 0)
		return NULL;
	EP_TRY(copy_stream(in, fd, path, &size));
	void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return ep_error_os(errno, "%s: map", path);
	in->map = in->data = p;
	in->map_size = size;
	in->own_map = true;
	in->eof = in->n == size;
	free(in->buf);
	in->buf = NULL;
	return NULL;
}

struct ep_error *ep_input_skip(struct ep_input *in, uint64_t n, uint64_t *n_ret)
{
	uint64_t left = n;

	for (;;) {
		size_t now = (size_t)EP_MIN(left, (uint64_t)in->n);
		ep_input_consume(in, now);
		left -= now;
		if (!left || in->eof)
			break;
		EP_TRY(ep_input_fill(in, 1));
	}
	*n_ret = n - left;
	return NULL;
}

struct ep_error *ep_input_finish(struct ep_input *in, uint8_t ret[EP_DIGEST_SIZE])
{
	uint64_t skipped;

	EP_TRY(ep_input_skip(in, UINT64_MAX, &skipped));
	for (size_t i = 0; i < in->n_parts; i++) {
		uint8_t digest[EP_DIGEST_SIZE];
		EP_TRY(ep_input_finish(&in->parts[i], digest));
		ep_digester_add(in->digester, digest, sizeof(digest));
	}
	ep_digester_finish(in->digester, ret);
	in->digester = NULL;
	return NULL;
}

void ep_input_close(struct ep_input *in)
{
	for (size_t i = 0; i < in->n_parts; i++)
		ep_input_close(&in->parts[i]);
	free(in->parts);
	if (in->own_map)
		munmap((void *)(uintptr_t)in->map, in->map_size);
	if (in->own_fd)
		close(in->fd);
	free(in->buf);
	ep_digester_destroy(in->digester);
	ep_arena_deinit(&in->arena);
	*in = (struct ep_input){.fd = -1};
}
