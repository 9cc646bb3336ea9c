/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a result: a file is replaced as a whole or not at all. */
#ifndef EP_BASE_OUT_H
#define EP_BASE_OUT_H

#include <stdio.h>

#include "base/error.h"

/*
 * An output under way. Files are written as neighbours PATH.tmp.XXXXXX; ep_out_commit() makes
 * them appear under their name after fsync(2), ep_out_abort() leaves what was there untouched.
 */
struct ep_out {
	FILE *file;     /* write here; errors are found at commit */
	char *path;     /* NULL for standard output */
	char *tmp_path; /* NULL for standard output and for devices and pipes, written in place */
};

/*
 * Opens `path` for writing; "-" is standard output. A new file takes the mode of the file it
 * replaces, else 0666 less the umask. A symbolic link is followed: its target is replaced; one that
 * leads nowhere is refused. Errors: OS; NOMEM; USAGE: the name is empty.
 */
struct ep_error *ep_out_open(const char *path, struct ep_out *ret) EP_MUST_CHECK;

/* Flushes, syncs and renames. On failure nothing is left behind. Ends `out` either way. */
struct ep_error *ep_out_commit(struct ep_out *out) EP_MUST_CHECK;

/* Drops what was written. Harmless on a zeroed, committed or aborted output. */
void ep_out_abort(struct ep_out *out);

/*
 * A file without a name for reading and writing, gone when it is closed, however the program ends.
 * It lies in the folder of `near_path`, or in $TMPDIR or /tmp if that is NULL. Errors: OS, NOMEM.
 */
struct ep_error *ep_out_open_unnamed(const char *near_path, FILE **ret) EP_MUST_CHECK;

/*
 * Removes the temporary neighbours of all outputs under way. For a signal handler that ends the
 * process (it may not return to what was interrupted): async-signal-safe, knows up to 64 outputs.
 */
void ep_out_remove_temporaries(void);

/* Writes a whole buffer to `path` by open, write, commit. */
struct ep_error *ep_out_write(const char *path, const void *data, size_t n) EP_MUST_CHECK;

#endif
