/* SPDX-License-Identifier: BSD-2-Clause */
/* Event streams written down as calls, and look-ups in what fold made of them. */
#ifndef EP_TESTS_FOLD_SCRIPT_H
#define EP_TESTS_FOLD_SCRIPT_H

#include "fold/fold.h"
#include "support/check.h"

struct script {
	struct ep_fold *fold;
	struct ep_event_sink sink;
	struct ep_warnings warnings;
	uint64_t t_ns;
	uint32_t flags;        /* of the samples that follow */
	struct ep_edges edges; /* after script_end() */
};

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
/* Records: plain, of a type, with more of `info`. */
#define B(from_, to_)                                                                              \
	{                                                                                          \
		.from = (from_), .to = (to_)                                                       \
	}
#define BT(from_, to_, type_)                                                                      \
	{                                                                                          \
		.from = (from_), .to = (to_), .info = (uint64_t)(type_) << EP_INFO_TYPE_SHIFT      \
	}
#define BI(from_, to_, info_)                                                                      \
	{                                                                                          \
		.from = (from_), .to = (to_), .info = (info_)                                      \
	}

void script_begin(struct script *s, const struct ep_fold_opts *opts);
void script_stream(struct script *s, enum ep_sampling sampling, uint64_t period, const char *name);
void script_cpu(struct script *s, const char *cpuid);
/* A file map with a build-id of 20 equal bytes; id 0: without a build-id; path NULL: anonymous. */
void script_map(struct script *s, int32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
                const char *path, uint8_t id);
void script_kernel_map(struct script *s, uint64_t start, uint64_t len, uint64_t pgoff,
                       const char *path, uint8_t id);
void script_unmap(struct script *s, int32_t pid, uint64_t start, uint64_t len);
void script_exec(struct script *s, int32_t pid);
void script_fork(struct script *s, int32_t pid, int32_t ppid);
void script_exit(struct script *s, int32_t pid);
/* Newest record first. */
void script_sample(struct script *s, int32_t pid, const struct ep_branch *branches, uint32_t n);
void script_event(struct script *s, struct ep_event *event);
#define script_stack(s, pid, ...)                                                                  \
	script_sample((s), (pid), (const struct ep_branch[]){__VA_ARGS__},                         \
	              N_OF(((const struct ep_branch[]){__VA_ARGS__})))

/* Finishes, with success, and keeps the result. */
void script_end(struct script *s);
/* Finishes with this error and hint (parts of them). */
void script_fails(struct script *s, const char *message, const char *hint);
void script_deinit(struct script *s);

/* Whole counts of one entry, 0 if there is none; binaries by their id byte, or 0 and their path. */
const struct ep_edges_binary *find_binary(const struct ep_edges *edges, uint8_t id,
                                          const char *path);
uint64_t edge_count(const struct ep_edges *edges, uint8_t id, uint64_t from, uint64_t to);
uint64_t range_count(const struct ep_edges *edges, uint8_t id, uint64_t start, uint64_t end);
const struct ep_edge *find_edge(const struct ep_edges *edges, uint8_t id, enum ep_edge_kind kind,
                                uint64_t from, uint64_t to);
const struct ep_range *find_range(const struct ep_edges *edges, uint8_t id, uint64_t start,
                                  uint64_t end, bool open_end);
size_t n_edges(const struct ep_edges *edges);
size_t n_ranges(const struct ep_edges *edges);

/* Binaries, edges, ranges, drops of both are equal; provenance is not compared. */
void check_same_edges(const struct ep_edges *a, const struct ep_edges *b);

#endif
