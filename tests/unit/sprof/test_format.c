/* SPDX-License-Identifier: BSD-2-Clause */
/* The example of FORMAT.md is what the code reads and writes. */
#include "base/bytes.h"
#include "unit/sprof/io.h"

/* The lines between ```KIND and ```, one by one. */
static void each_line(const char *kind, void (*fn)(const char *line, struct ep_buf *to),
                      struct ep_buf *to)
{
	char line[512], fence[32];
	bool inside = false;
	FILE *file = fopen(EP_FORMAT_MD, "r");

	assert_non_null(file);
	snprintf(fence, sizeof(fence), "```%s\n", kind);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "```", 3))
			inside = !strcmp(line, fence);
		else if (inside)
			fn(line, to);
	}
	fclose(file);
}

static void add_text(const char *line, struct ep_buf *to)
{
	ep_buf_put(to, line, strlen(line));
}

/* Bytes in hex, up to the explanation. */
static void add_bytes(const char *line, struct ep_buf *to)
{
	unsigned byte;

	for (; sscanf(line, "%2x", &byte) == 1 && (line[2] == ' ' || line[2] == '\n'); line += 3) {
		ep_buf_u8(to, (uint8_t)byte);
		if (line[2] == '\n' || line[3] == ' ')
			break;
	}
}

static void the_example_is_true(void **state)
{
	struct ep_buf text = {0}, dump = {0};
	struct ep_sprof prof, back;

	(void)state;
	each_line("text", add_text, &text);
	each_line("hex", add_bytes, &dump);
	check_ok(read_guarded(text.v, text.n, NULL, &prof));
	struct bytes got = written_as(&prof, EP_SPROF_EXTBINARY);
	check_u64_eq(got.n, dump.n);
	assert_memory_equal(got.v, dump.v, dump.n);
	check_ok(read_guarded(dump.v, dump.n, NULL, &back));
	struct bytes again = written_as(&back, EP_SPROF_TEXT);
	check_u64_eq(again.n, text.n);
	assert_memory_equal(again.v, text.v, text.n);
	free(again.v);
	free(got.v);
	ep_sprof_deinit(&back);
	ep_sprof_deinit(&prof);
	ep_buf_deinit(&dump);
	ep_buf_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_example_is_true),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
