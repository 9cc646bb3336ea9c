/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading whole files and streams. */
#ifndef EP_BASE_FILE_H
#define EP_BASE_FILE_H

#include "base/error.h"

/* The bytes of a file: mapped, or read to memory where it cannot be mapped (pipes). */
struct ep_file {
	const unsigned char *data;
	size_t size;
	bool mapped;
};

/*
 * Opens a file for reading as a whole; "-" is standard input. A pipe is read to its end. The limit
 * is `max_bytes` (0: none for files, 512 MiB for pipes). Errors: OS; NOMEM; BAD_DATA when over it.
 * A file that another process cuts short while it is mapped raises SIGBUS: for files that are still
 * being written use ep_stream.
 */
struct ep_error *ep_file_open(const char *path, size_t max_bytes, struct ep_file *ret)
    EP_MUST_CHECK;
void ep_file_close(struct ep_file *file);

/* Reads up to n bytes, less only at the end of the input. Retries on EINTR. */
struct ep_error *ep_read_full(int fd, const char *path, void *buf, size_t n, size_t *n_ret)
    EP_MUST_CHECK;

#endif
