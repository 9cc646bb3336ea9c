/* SPDX-License-Identifier: BSD-2-Clause */
/* A binary's code and DWARF through emit, with edges and ranges all over its text. */
#include <string.h>

#include "base/vec.h"
#include "emit/emit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Enough to touch every function of a small binary. */
#define STEP 24
#define COUNT_MAX 400

struct counts {
	EP_VEC(struct ep_range) ranges;
	EP_VEC(struct ep_edge) edges;
};

static void add_counts(const struct ep_object *object, struct counts *counts)
{
	for (size_t i = 0; i < object->n_text; i++) {
		const struct ep_text_range *text = &object->text[i];

		for (uint64_t at = 0; at < text->size && counts->ranges.n < COUNT_MAX; at += STEP) {
			struct ep_range range = {.start = text->vaddr + at,
			                         .end = text->vaddr + at + at % 96,
			                         .count = EP_COUNT_ONE * (at + 1),
			                         .open_end = at / STEP % 3 == 0};
			struct ep_edge edge = {.from = range.end,
			                       .to = range.start,
			                       .count = EP_COUNT_ONE,
			                       .kind =
			                           at / STEP % 5 ? EP_EDGE_INTERNAL : EP_EDGE_IN};

			if (!ep_vec_push(&counts->ranges, range) ||
			    !ep_vec_push(&counts->edges, edge))
				return;
		}
	}
}

static void run(const uint8_t *data, size_t size, struct ep_object *object, bool compat)
{
	struct ep_emit_opts opts = {.n_threads = 1,
	                            .compat = compat,
	                            .debug_path = "input",
	                            .debug_data = data,
	                            .debug_size = size};
	struct ep_emit_account account;
	struct ep_warnings warnings = {0};
	struct ep_sprof prof = {0};
	struct counts counts = {0};

	add_counts(object, &counts);
	struct ep_edges_binary binary = {.space = EP_SPACE_VADDR,
	                                 .edges = counts.edges.v,
	                                 .n_edges = counts.edges.n,
	                                 .ranges = counts.ranges.v,
	                                 .n_ranges = counts.ranges.n};
	const struct ep_edges_binary *binaries[] = {&binary};
	ep_autoerr err = ep_emit_profile(binaries, 1, object, &opts, &warnings, &prof, &account);
	if (!err) {
		ep_autoerr final_err = ep_sprof_finalise(&prof);
		(void)final_err;
	}
	ep_sprof_deinit(&prof);
	ep_warnings_deinit(&warnings);
	ep_vec_deinit(&counts.ranges);
	ep_vec_deinit(&counts.edges);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ep_object *object;
	struct ep_error *err = ep_object_open_memory(data, size, "input", &object);

	if (err) {
		ep_error_destroy(err);
		return 0;
	}
	run(data, size, object, false);
	run(data, size, object, true);
	ep_object_close(object);
	return 0;
}
