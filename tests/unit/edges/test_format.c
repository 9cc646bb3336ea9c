/* SPDX-License-Identifier: BSD-2-Clause */
/* The worked dump of FORMAT.md is what the code reads and writes. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "edges/edges.h"
#include "support/check.h"
#include "support/edges_gen.h"

/* The table that FORMAT.md describes in words above its dump. */
static void make_example(struct ep_edges *ret)
{
	static struct ep_edge a_edges[3], b_edges[1];
	static struct ep_range a_ranges[2];
	static const char *a_paths[] = {"/bin/a"}, *b_paths[] = {"/lib/b.so"};
	static struct ep_edges_binary binaries[2];
	static struct ep_provenance provenance;
	static struct ep_edges_reason unknown;

	provenance = (struct ep_provenance){
	    .host = "h1",
	    .kernel = "",
	    .cpu = "",
	    .event = "branches:u",
	    .tool = "perf.data",
	    .sampling = EP_SAMPLING_TAKEN_BRANCHES,
	    .period = 1000,
	    .n_samples = 2,
	    .n_records = 64,
	    .weight = EP_COUNT_ONE,
	    .n_copies = 1,
	};
	for (uint8_t i = 0; i < EP_DIGEST_SIZE; i++)
		provenance.digest[i] = i;
	a_edges[0] = (struct ep_edge){.from = 0x1010,
	                              .to = 0x1000,
	                              .count = 5 * EP_COUNT_ONE,
	                              .mispreds = EP_COUNT_ONE,
	                              .types = 1u << EP_BRANCH_COND};
	a_edges[1] = (struct ep_edge){.from = 0x1018,
	                              .to = 0x21000,
	                              .count = 3 * EP_COUNT_ONE,
	                              .types = 1u << EP_BRANCH_CALL};
	a_edges[2] = (struct ep_edge){.from = 0x1020,
	                              .count = 2 * EP_COUNT_ONE,
	                              .types = 1u << EP_BRANCH_IND | 1u << EP_BRANCH_IND_CALL,
	                              .kind = EP_EDGE_OUT,
	                              .peer = 1};
	b_edges[0] = (struct ep_edge){.to = 0x500,
	                              .count = 2 * EP_COUNT_ONE,
	                              .types = 1u << EP_BRANCH_IND | 1u << EP_BRANCH_IND_CALL,
	                              .kind = EP_EDGE_IN,
	                              .peer = 2};
	a_ranges[0] = (struct ep_range){.start = 0x1000, .end = 0x1010, .count = 4 * EP_COUNT_ONE};
	a_ranges[1] =
	    (struct ep_range){.start = 0x1000, .end = 0x1018, .count = EP_COUNT_ONE, .open_end = 1};
	/* Unidentified binaries come first. */
	binaries[0] = (struct ep_edges_binary){
	    .machine = 183, .paths = b_paths, .n_paths = 1, .edges = b_edges, .n_edges = 1};
	binaries[1] = (struct ep_edges_binary){
	    .build_id = ep_build_id_make(EP_BUILD_ID_GNU, "\xde\xad\xbe\xef", 4),
	    .machine = 183,
	    .paths = a_paths,
	    .n_paths = 1,
	    .edges = a_edges,
	    .n_edges = 3,
	    .ranges = a_ranges,
	    .n_ranges = 2};
	unknown = (struct ep_edges_reason){.number = 200, .n = 300};
	*ret = (struct ep_edges){.binaries = binaries,
	                         .n_binaries = 2,
	                         .provenance = &provenance,
	                         .n_provenance = 1,
	                         .unknown_reasons = &unknown,
	                         .n_unknown_reasons = 1};
	ret->drops.n[EP_DROP_HALF_RECORD] = 7;
	ret->drops.notes[EP_NOTE_EXTERNAL] = 2;
}

/* The bytes of one line of the dump: offset, two blanks, bytes, and after two blanks a text. */
static void parse_line(const char *line, struct ep_buf *bytes)
{
	char *end;

	check_u64_eq(strtoull(line, &end, 16), bytes->n);
	while (end[0] == ' ' && (end[1] != ' ' || end[2] != ' ') && end[1]) {
		end += end[1] == ' ' ? 2 : 1;
		if (!isxdigit((unsigned char)end[0]) || !isxdigit((unsigned char)end[1]) ||
		    isalnum((unsigned char)end[2]))
			break;
		ep_buf_u8(bytes, (uint8_t)strtoul(end, &end, 16));
	}
}

static void read_dump(struct ep_buf *bytes)
{
	char line[256];
	bool inside = false;
	FILE *f = fopen(FORMAT_MD, "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "```", 3))
			inside = !strcmp(line, "```hex\n");
		else if (inside)
			parse_line(line, bytes);
	}
	fclose(f);
}

/* Prints what the dump should be, for who changes the format. */
static void print_dump(const struct ep_buf *bytes)
{
	for (size_t i = 0; i < bytes->n; i++)
		printf("%s%02x%s", i % 16 ? " " : "", bytes->v[i], i % 16 == 15 ? "\n" : "");
	putchar('\n');
}

static void test_the_dump_is_the_example(void **state)
{
	(void)state;
	struct ep_buf dump = {0}, bytes = {0};
	struct ep_edges example, got;

	make_example(&example);
	check_ok(ep_edges_encode(&example, &bytes));
	read_dump(&dump);
	if (dump.n != bytes.n || memcmp(dump.v, bytes.v, dump.n) != 0)
		print_dump(&bytes);
	check_u64_eq(dump.n, bytes.n);
	assert_memory_equal(dump.v, bytes.v, dump.n);
	check_ok(ep_edges_decode(dump.v, dump.n, "FORMAT.md", &got));
	gen_edges_check_equal(&example, &got);
	ep_edges_deinit(&got);
	ep_edges_deinit(&example);
	ep_buf_deinit(&dump);
	ep_buf_deinit(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_dump_is_the_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
