/* SPDX-License-Identifier: BSD-2-Clause */
/* perf script text: any bytes, as a map and as a stream, give the same events or the same error. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "import/perf_script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a sink has seen, as numbers. */
struct seen {
	uint64_t n_events, n_branches, sum;
};

static void see_sample(struct seen *seen, const struct ep_event *event)
{
	const struct ep_sample *sample = &event->u.sample;

	if (!sample->branches || !sample->repeat)
		abort();
	for (uint32_t i = 0; i < sample->n_branches; i++) {
		struct ep_branch b;
		memcpy(&b, &sample->branches[i], sizeof(b));
		seen->sum = seen->sum * 31 + (b.from ^ b.to << 1 ^ b.info);
	}
	seen->n_branches += sample->n_branches;
}

static struct ep_error *see(void *payload, const struct ep_event *event)
{
	struct seen *seen = payload;

	seen->n_events++;
	seen->sum = seen->sum * 31 + (uint64_t)event->type + (uint32_t)event->pid;
	if (event->type == EP_EVENT_SAMPLE)
		see_sample(seen, event);
	else if (event->type == EP_EVENT_MAP)
		seen->sum += strlen(event->u.map.path) + event->u.map.start;
	else if (event->type == EP_EVENT_COMM)
		seen->sum += strlen(event->u.comm.name);
	return NULL;
}

static int run(const uint8_t *data, size_t size, size_t piece_max, struct seen *ret)
{
	struct ep_event_sink sink = {see, ret};
	struct ep_warnings warnings = {0};
	struct ep_import_info info;
	struct ep_input in;
	ep_autoerr err = ep_input_open_memory("fuzz", data, size, piece_max, &in);

	if (err)
		return -1;
	err = ep_perf_script_run(&in, &sink, &warnings, &info);
	ep_warnings_deinit(&warnings);
	ep_input_close(&in);
	return err ? (int)err->code : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = {0}, pieces = {0};

	ep_perf_script_detect(data, size);
	int a = run(data, size, 0, &whole), b = run(data, size, 13, &pieces);
	if (a != b || whole.n_events != pieces.n_events || whole.sum != pieces.sum)
		abort();
	return 0;
}
