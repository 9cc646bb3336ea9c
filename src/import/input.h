/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of an input: a mapped file or a stream, seen through a window that moves forward. */
#ifndef EP_IMPORT_INPUT_H
#define EP_IMPORT_INPUT_H

#include "base/arena.h"
#include "base/digest.h"
#include "base/error.h"

/*
 * Importers read `data[0 .. n)`, ask for more with ep_input_fill() and let go of what they are done
 * with by ep_input_consume(). Both kinds of input behave alike; only `map` tells them apart. Every
 * byte that enters the window is added to the digest. Not for use by two threads at once.
 */
struct ep_input {
	const char *name;          /* for messages: the path, or "standard input" */
	const unsigned char *data; /* the window */
	size_t n;                  /* bytes in it */
	uint64_t offset;           /* of data[0] in the input */
	bool eof;                  /* the window reaches to the end of the input */
	/* The whole input where it is mapped (valid until ep_input_close()), else NULL. */
	const unsigned char *map;
	size_t map_size;
	struct ep_arena arena; /* for what shall live as long as the input, such as info strings */
	/* Of a directory: its files data.0, data.1, ... while this input is its file data. */
	bool is_dir;
	struct ep_input *parts;
	size_t n_parts;

	/* Private from here on. */
	struct ep_digester *digester;
	size_t released;             /* bytes at the start of the map whose pages were let go */
	int fd;                      /* stream: source, -1 if it is memory */
	bool own_fd, own_map;        /* ours to close and unmap */
	unsigned char *buf;          /* stream: what the window lies in */
	size_t buf_size;             /* of buf */
	const unsigned char *source; /* stream from memory: what is left */
	size_t source_left;
	size_t piece_max; /* stream from memory: bytes given by one read */
};

/* The largest window of a stream. A mapped file has no limit. */
#define EP_INPUT_WINDOW_MAX ((size_t)256 << 20)

/*
 * Opens a path, "-" for standard input. A regular file (also one that is standard input) is mapped,
 * anything else streamed. Of directories those are opened that "perf record --threads" or "--kcore"
 * makes. Errors: OS (any other directory is EISDIR), NOMEM.
 */
struct ep_error *ep_input_open(const char *path, struct ep_input *ret) EP_MUST_CHECK;

/*
 * An input over borrowed bytes: like a mapped file when piece_max is 0, else like a stream whose
 * reads give at most piece_max bytes. Errors: NOMEM.
 */
struct ep_error *ep_input_open_memory(const char *name, const void *data, size_t n,
                                      size_t piece_max, struct ep_input *ret) EP_MUST_CHECK;

/*
 * Makes the window hold at least n bytes, fewer only at the end of the input (then `eof` is set).
 * It may hold more. Pointers into a stream's window end with this call, those into a map do not.
 * Errors: OS; NOMEM, also when a stream's window would be over EP_INPUT_WINDOW_MAX.
 */
struct ep_error *ep_input_fill(struct ep_input *in, size_t n) EP_MUST_CHECK;

/*
 * For a format that cannot be read from front to back: turns a stream into a mapped input by way of
 * an unlinked file in $TMPDIR, else /var/tmp. Call before anything is consumed; pointers into the
 * window end. Where no file can be made there, nothing happens and `map` stays NULL. Errors: OS
 * when reading or writing fails (no space).
 */
struct ep_error *ep_input_spool(struct ep_input *in) EP_MUST_CHECK;

/* Moves the start of the window forward by n <= in->n bytes. */
static inline void ep_input_consume(struct ep_input *in, size_t n)
{
	in->data += n;
	in->n -= n;
	in->offset += n;
}

/* Moves forward by n bytes, in the window or behind it; n_ret: fewer where the input ends. */
struct ep_error *ep_input_skip(struct ep_input *in, uint64_t n, uint64_t *n_ret) EP_MUST_CHECK;

/*
 * Reads what is left and gives the digest of all bytes of the input, those of the parts included.
 * Call once, as the last.
 */
struct ep_error *ep_input_finish(struct ep_input *in, uint8_t ret[EP_DIGEST_SIZE]) EP_MUST_CHECK;

/* Ends the input, its map and its arena; harmless on a zeroed or closed one. */
void ep_input_close(struct ep_input *in);

#endif
