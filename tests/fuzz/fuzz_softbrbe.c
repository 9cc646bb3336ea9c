/* SPDX-License-Identifier: BSD-2-Clause */
/* The stream of softbrbe's records. */
#include "capture/soft/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t look_at(const struct ep_event *event)
{
	uint64_t sum = 0;

	if (event->type == EP_EVENT_SAMPLE)
		for (uint32_t i = 0; i < event->u.sample.n_branches; i++)
			sum += event->u.sample.branches[i].from ^ event->u.sample.branches[i].info;
	if (event->type == EP_EVENT_MAP)
		sum += strlen(event->u.map.path);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ep_soft_scratch scratch;
	static volatile uint64_t sink;
	struct ep_bytes bytes = ep_bytes_init(data, size, false);
	struct ep_soft_record record;
	struct ep_sb_table table;
	struct ep_event event;

	while (ep_soft_record_next(&bytes, &record)) {
		if (ep_soft_decode(&record, &scratch, &event))
			sink += look_at(&event);
		if (ep_soft_decode_table(&record, &table) && table.n_chunks)
			sink += table.chunks[table.n_chunks - 1];
	}
	return 0;
}
