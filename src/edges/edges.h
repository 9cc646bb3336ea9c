/* SPDX-License-Identifier: BSD-2-Clause */
/* Counted edges and ranges per binary: in memory, in `.edges` files (FORMAT.md), and merged. */
#ifndef EP_EDGES_EDGES_H
#define EP_EDGES_EDGES_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/count.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/warn.h"
#include "record/build_id.h"
#include "record/drop.h"

/* The space of a binary's addresses. */
enum ep_space {
	EP_SPACE_FOFF = 0,  /* file offsets: whatever was mapped from a file */
	EP_SPACE_VADDR = 1, /* as in the ELF file: kernels, whose maps have no file offset */
};

/* One taken branch of a binary, counted. Sorted and unique by (kind, peer, from, to). */
struct ep_edge {
	uint64_t from, to;  /* binary's space; the end in another binary is 0 */
	uint64_t count;     /* fixed point, see base/count.h */
	uint64_t mispreds;  /* fixed point */
	uint32_t types;     /* bit 1 << t is set if type t (enum ep_branch_type) was seen */
	uint32_t kind : 2;  /* enum ep_edge_kind */
	uint32_t peer : 30; /* index of the other binary + 1, 0 if it is none or not known */
};

#define EP_EDGES_BINARIES_MAX ((UINT32_C(1) << 30) - 2)

enum ep_edge_kind {
	EP_EDGE_INTERNAL = 0, /* both ends in this binary */
	EP_EDGE_OUT = 1,      /* `to` lies elsewhere */
	EP_EDGE_IN = 2,       /* `from` lies elsewhere */
};

/* A straight-line stretch. Sorted and unique by (start, end, open_end). */
struct ep_range {
	uint64_t start, end; /* binary's space; `end` is the last instruction executed, unless: */
	uint64_t count;      /* fixed point */
	uint32_t open_end;   /* 1: `end` was not executed, an exception was taken before it */
};

/* Most paths kept of a binary: the shortest ones. */
#define EP_EDGES_PATHS_MAX 64

/*
 * Everything known of one binary. An OUT edge is listed with the binary it leaves, an IN edge with
 * the one it enters: a branch between two known binaries is in both.
 *
 * Two entries are of the same binary if space and build-id are equal (perf pads short ids with
 * zeros, so trailing zeros are not looked at and the shorter size is kept); of an unidentified
 * binary, if space, machine and its one path are.
 */
struct ep_edges_binary {
	struct ep_build_id build_id; /* size 0: unidentified, then its path alone names it */
	enum ep_space space;
	uint16_t machine; /* ELF e_machine, 0 if unknown */
	/*
	 * Hints where it was seen, shortest first, then by bytes; unique. At most
	 * EP_EDGES_PATHS_MAX; of an unidentified binary at most one.
	 */
	const char **paths;
	uint32_t n_paths;
	struct ep_edge *edges;
	size_t n_edges;
	struct ep_range *ranges;
	size_t n_ranges;
};

/*
 * One input of the file. Entries are sorted by all their fields in the order below, and unique by
 * all but `n_copies`. Equal digests mean the same capture.
 */
struct ep_provenance {
	uint8_t digest[EP_DIGEST_SIZE]; /* of the input's bytes; of a live capture, of its stream */
	const char *host, *kernel, *cpu, *event,
	    *tool;                             /* "" if unknown; tool: "perf.data", "soft", ... */
	uint32_t sampling;                     /* enum ep_sampling */
	bool exact;                            /* counted, not sampled */
	bool weighted;                         /* folding rule 6 was applied */
	uint64_t period, t_start_ns, t_end_ns; /* 0 if unknown */
	uint64_t n_samples, n_records;         /* read from it, dropped ones included */
	uint64_t weight;   /* fixed point: what a merge multiplied its counts by */
	uint64_t n_copies; /* 1; more when the same capture was merged twice on purpose */
};

/* A drop reason or note that only a newer version has a name for. */
struct ep_edges_reason {
	uint32_t number;
	bool is_note;
	uint64_t n;
};

/*
 * Binaries are sorted by build-id (kind, bytes), path if unidentified, space, machine if
 * unidentified. Strings and arrays live in `arena`.
 */
struct ep_edges {
	struct ep_edges_binary *binaries;
	size_t n_binaries;
	struct ep_provenance *provenance;
	size_t n_provenance;
	struct ep_drops drops;
	struct ep_edges_reason *unknown_reasons; /* sorted by (is_note, number) */
	size_t n_unknown_reasons;
	size_t n_unknown_blocks; /* optional parts of a newer version, skipped by reading */
	/* Of the content, whatever its compression: set by reading, not looked at by writing. */
	uint8_t digest[EP_DIGEST_SIZE];
	struct ep_arena arena;
};

/*
 * Binaries whose machine is not known take that of the host they ran on, by its name in uname(1) or
 * perf's header ("x86_64", "aarch64"); other names, "" included, change nothing. A hint for people:
 * emit looks at the binary itself.
 */
void ep_edges_default_arch(struct ep_edges *edges, const char *arch);

/* Frees what is inside; harmless on a zeroed object. */
void ep_edges_deinit(struct ep_edges *edges);

/*
 * Makes an object that was put together in any order a proper one: sorts everything, sums edges,
 * ranges and provenance entries that are the same, joins binaries that are the same, and renumbers
 * peers. Arrays are sorted in place (O(n log n)); memory is taken only for joined binaries. Counts
 * saturate. Errors: NOMEM; BUG for a kind or peer that does not exist; on failure the object can
 * only be deinitialised.
 */
struct ep_error *ep_edges_normalise(struct ep_edges *edges) EP_MUST_CHECK;

/* Order of edges, ranges, provenance entries and binaries in an object: <0, 0, >0. */
int ep_edges_compare_edges(const struct ep_edge *a, const struct ep_edge *b);
int ep_edges_compare_ranges(const struct ep_range *a, const struct ep_range *b);
int ep_edges_compare_provenance(const struct ep_provenance *a, const struct ep_provenance *b);
int ep_edges_compare_binaries(const struct ep_edges_binary *a, const struct ep_edges_binary *b);

/*
 * Writes a `.edges` file to `path` ("-": standard output). The object must be a normalised one.
 * Same content, same bytes. Errors: OS, NOMEM; BAD_DATA for a string that is too long; BUG for an
 * object that is not normalised.
 */
struct ep_error *ep_edges_write(const struct ep_edges *edges, const char *path) EP_MUST_CHECK;

/* The same to memory: appends to `ret`. */
struct ep_error *ep_edges_encode(const struct ep_edges *edges, struct ep_buf *ret) EP_MUST_CHECK;

/*
 * Reads a whole file ("-": standard input). Every checksum is verified, and sorting and bounds
 * with them. Errors: OS; NOMEM; BAD_DATA with the offset, also for a torn file.
 */
struct ep_error *ep_edges_read(const char *path, struct ep_edges *ret) EP_MUST_CHECK;

/* The same from memory; `name` is what messages call it. */
struct ep_error *ep_edges_decode(const void *data, size_t n, const char *name, struct ep_edges *ret)
    EP_MUST_CHECK;

/* True if the n bytes at `data` begin like a `.edges` file. */
bool ep_edges_detect(const void *data, size_t n);

struct ep_edges_merge_opts {
	bool allow_duplicates; /* the same capture twice adds up instead of being refused */
	bool quarantine;       /* leave bad inputs out and go on */
	unsigned n_threads;    /* 0: one per processor; the output does not depend on it */
	unsigned n_open_max;   /* inputs open at once a thread, at least 2; 0: a fair number */
};

/* An input that cannot be merged, and why. */
struct ep_edges_bad_input {
	const char *path; /* borrowed from the caller's list */
	struct ep_error *err;
};

/* What a merge did. The counts are of the output, 0 if there is none. */
struct ep_edges_merge_report {
	struct ep_edges_bad_input *bad; /* in the order of the list */
	size_t n_bad;
	size_t n_merged; /* inputs */
	uint64_t n_provenance, n_binaries, n_edges, n_ranges;
	uint64_t n_saturated;           /* counts at the largest value */
	uint64_t n_bytes;               /* of the file */
	uint8_t digest[EP_DIGEST_SIZE]; /* of the content */
};

void ep_edges_merge_report_deinit(struct ep_edges_merge_report *report);

/*
 * Merges files into `out_path`; "-" is standard input or output. Memory does not grow with the
 * number or size of inputs, only with the number of binaries and of files open at once: many are
 * merged in a tree, by way of unnamed files beside the output. The output's bytes depend neither
 * on order, grouping nor threads. It may be one of the inputs: it is replaced at the end. NULL
 * `opts`: all zero. `report` must be zeroed; it is filled on failure too, so that every bad input
 * is known: those are looked for when one was met. Errors: OS, NOMEM; BAD_DATA, UNSUPPORTED or OS
 * of a bad input (without `quarantine`); MISMATCH for a capture given twice; MISSING when no input
 * is left.
 */
struct ep_error *ep_edges_merge(const char *const *paths, size_t n_paths, const char *out_path,
                                const struct ep_edges_merge_opts *opts,
                                struct ep_edges_merge_report *report) EP_MUST_CHECK;

#endif
