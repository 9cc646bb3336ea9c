/* SPDX-License-Identifier: BSD-2-Clause */
/* make_edges SEED BINARIES ROWS OUT: writes a made-up .edges file, for the cases. */
#include <stdio.h>

#include "support/check.h"
#include "support/edges_gen.h"

int main(int argc, char **argv)
{
	struct ep_edges edges;

	if (argc != 5) {
		fprintf(stderr, "usage: make_edges SEED BINARIES ROWS OUT\n");
		return 2;
	}
	struct gen_edges_opts opts = {.n_binaries = (unsigned)strtoul(argv[2], NULL, 10),
	                              .n_rows = (unsigned)strtoul(argv[3], NULL, 10)};
	gen_edges(strtoull(argv[1], NULL, 10), &opts, &edges);
	struct ep_error *err = ep_edges_write(&edges, argv[4]);
	if (err)
		fprintf(stderr, "make_edges: %s\n", err->message);
	ep_edges_deinit(&edges);
	return err ? 1 : 0;
}
