/* SPDX-License-Identifier: BSD-2-Clause */
/* The same recording read as perf.data and as the text that perf prints of it: the same samples. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "import/import.h"
#include "import/input.h"
#include "support/check.h"

/* What both can tell of a record. */
#define COMMON_MASK                                                                                \
	(EP_INFO_MISPRED | EP_INFO_PREDICTED | UINT64_C(0xffff) << 4 | UINT64_C(15) << 20)

/* Samples and maps as lines, in the order of the input. */
struct lines {
	struct ep_buf samples, maps;
	EP_VEC(int32_t) pids; /* that have maps */
	uint64_t n_samples, n_branches;
};

static bool has_maps(const struct lines *lines, int32_t pid)
{
	for (size_t i = 0; i < lines->pids.n; i++)
		if (lines->pids.v[i] == pid)
			return true;
	return false;
}

static struct ep_error *take(void *payload, const struct ep_event *e)
{
	struct lines *lines = payload;
	const struct ep_sample *s = &e->u.sample;

	if (e->type == EP_EVENT_MAP && !e->u.map.is_kernel)
		ep_buf_printf(&lines->maps, "%d %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", e->pid,
		              e->u.map.start, e->u.map.len, e->u.map.pgoff, e->u.map.path);
	if (e->type == EP_EVENT_MAP && !has_maps(lines, e->pid))
		assert_true(ep_vec_push(&lines->pids, e->pid));
	if (e->type != EP_EVENT_SAMPLE)
		return NULL;
	/* Text without events of tasks leaves it open who has no maps. */
	ep_buf_printf(&lines->samples, "%d", has_maps(lines, e->pid) ? e->pid : -1);
	for (uint32_t i = 0; i < s->n_branches; i++) {
		struct ep_branch b;
		memcpy(&b, (const char *)s->branches + i * sizeof(b), sizeof(b));
		ep_buf_printf(&lines->samples, " %" PRIx64 ">%" PRIx64 "/%" PRIx64, b.from, b.to,
		              b.info & s->info_mask & COMMON_MASK);
	}
	ep_buf_u8(&lines->samples, '\n');
	lines->n_samples++;
	lines->n_branches += s->n_branches;
	return NULL;
}

static void read_input(struct ep_import *import, struct lines *ret)
{
	struct ep_event_sink sink = {take, ret};
	struct ep_import_info info;

	*ret = (struct lines){0};
	check_ok(ep_import_run(import, &sink, &info));
	ep_import_close(import);
	ep_buf_u8(&ret->samples, 0);
	ep_buf_u8(&ret->maps, 0);
}

static void lines_deinit(struct lines *lines)
{
	ep_buf_deinit(&lines->samples);
	ep_buf_deinit(&lines->maps);
	ep_vec_deinit(&lines->pids);
}

/* The output of a command, read as an input; false if the command cannot be run. */
static bool read_command(const char *command, struct lines *ret)
{
	struct ep_import *import;
	struct ep_buf text = {0};
	struct ep_input in;
	char piece[4096];
	size_t n;
	FILE *pipe = popen(command, "r");

	assert_non_null(pipe);
	while ((n = fread(piece, 1, sizeof(piece), pipe)))
		ep_buf_put(&text, piece, n);
	if (pclose(pipe) || !text.n) {
		ep_buf_deinit(&text);
		return false;
	}
	check_ok(ep_input_open_memory("text", text.v, text.n, 0, &in));
	check_ok(ep_import_open_input(&in, EP_IMPORT_PERF_SCRIPT, NULL, &import));
	read_input(import, ret);
	ep_buf_deinit(&text);
	return true;
}

/* Points at the first line that differs. */
static void check_lines(const char *name, const char *a, const char *b)
{
	size_t line = 1, start = 0;

	for (size_t i = 0; a[i] == b[i] && a[i]; i++)
		if (a[i] == '\n') {
			line++;
			start = i + 1;
		}
	if (strcmp(a, b))
		fail_msg("%s: line %zu:\n%.300s\n%.300s", name, line, a + start, b + start);
}

static void check_agree(const char *data, const char *command, bool maps)
{
	struct ep_import *import;
	struct lines native, text;

	if (!read_command(command, &text)) {
		print_message("left out: %s\n", command);
		return;
	}
	check_ok(ep_import_open(data, EP_IMPORT_AUTO, NULL, &import));
	read_input(import, &native);
	assert_true(native.n_branches > 0);
	check_lines(data, (char *)native.samples.v, (char *)text.samples.v);
	if (maps)
		check_lines(data, (char *)native.maps.v, (char *)text.maps.v);
	lines_deinit(&native);
	lines_deinit(&text);
}

static void test_brbe(void **state)
{
	static const char *const names[] = {"filtrate-user", "cycles-user-zstd", "filtrate-all"};
	char data[1024], command[1100];

	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(names); i++) {
		snprintf(data, sizeof(data), "%s/brbe/%s.data", check_corpus(), names[i]);
		snprintf(command, sizeof(command), "gzip -dc '%s/brbe/%s.txt.gz'", check_corpus(),
		         names[i]);
		check_agree(data, command, true);
	}
}

static void test_perf(void **state)
{
	static const char *const names[] = {"pairs/test.lbr", "pairs/propeller_sample_1.perfdata1",
	                                    "perf.data/perf.data.callgraph_and_branch-3.4",
	                                    "perf.data/perf.data.branch_stack_hw_index"};
	static const char *const columns[] = {"pid,ip,brstack",
	                                      "comm,pid,tid,time,event,ip,sym,dso,brstack"};
	char data[1024], command[1300];

	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(names); i++)
		for (size_t k = 0; k < EP_ARRAY_LEN(columns); k++) {
			snprintf(data, sizeof(data), "%s/%s", check_corpus(), names[i]);
			snprintf(command, sizeof(command),
			         "perf script --show-mmap-events --show-task-events -F %s -i '%s' "
			         "2>/dev/null",
			         columns[k], data);
			check_agree(data, command, false);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_brbe),
	    cmocka_unit_test(test_perf),
	};

	if (!check_corpus())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
