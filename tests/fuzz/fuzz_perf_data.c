/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data from hostile bytes, mapped and streamed: both must see the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/perf_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tally {
	uint64_t n_samples, n_branches, n_maps, n_corrupt, sum;
};

static uint64_t sum_string(const char *s)
{
	uint64_t sum = 0;

	while (*s)
		sum = sum * 31 + (unsigned char)*s++;
	return sum;
}

/* Looks at all that an event borrows. */
static struct ep_error *on_event(void *payload, const struct ep_event *event)
{
	struct tally *tally = payload;

	switch (event->type) {
	case EP_EVENT_SAMPLE:
		tally->n_samples++;
		tally->n_branches += event->u.sample.n_branches;
		for (uint32_t i = 0; i < event->u.sample.n_branches; i++) {
			struct ep_branch b;
			memcpy(&b, (const char *)event->u.sample.branches + i * sizeof(b),
			       sizeof(b));
			tally->sum += b.from ^ b.to ^ (b.info & event->u.sample.info_mask);
		}
		break;
	case EP_EVENT_MAP:
		tally->n_maps++;
		tally->sum += sum_string(event->u.map.path);
		break;
	case EP_EVENT_COMM:
		tally->sum += sum_string(event->u.comm.name);
		break;
	case EP_EVENT_BUILD_ID:
		(void)sum_string(event->u.build_id.path);
		break;
	case EP_EVENT_STREAM:
		(void)sum_string(event->u.stream.name);
		break;
	case EP_EVENT_LOST:
		tally->n_corrupt += event->u.lost.reason == EP_LOST_CORRUPT;
		break;
	default:
		break;
	}
	return NULL;
}

static bool run(const uint8_t *data, size_t size, size_t piece_max, struct tally *ret)
{
	struct ep_event_sink sink = {.event = on_event, .payload = ret};
	struct ep_warnings warnings = {0};
	struct ep_capture_info info;
	struct ep_input in;

	*ret = (struct tally){0};
	ep_autoerr err = ep_input_open_memory("fuzz", data, size, piece_max, &in);
	if (err)
		return false;
	err = ep_perf_data_run(&in, &sink, &warnings, &info);
	ep_input_close(&in);
	ep_warnings_deinit(&warnings);
	return !err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally mapped, streamed;

	setenv("TMPDIR", "/nonexistent", 1); /* streams are to stay streams */
	bool ok = run(data, size, 0, &mapped);
	bool stream_ok = run(data, size, 1 + size % 4099, &streamed);
	bool is_pipe = size > 16 && (data[8] == 16 || data[15] == 16);

	/* Behind damage, how much lies in the window decides where reading goes on. */
	if (is_pipe && !mapped.n_corrupt && !streamed.n_corrupt &&
	    (ok != stream_ok || memcmp(&mapped, &streamed, sizeof(mapped)))) {
		fprintf(stderr, "mapped and streamed differ\n");
		__builtin_trap();
	}
	return 0;
}
