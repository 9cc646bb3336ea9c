/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw captures: whole files, and the contents of blocks, put behind right checksums. */
#include "record/raw.h"

#include <string.h>
#include <zstd.h>

#include "record/raw_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks at every byte of an event, so that a sanitizer sees those that are not there. */
static struct ep_error *touch(void *payload, const struct ep_event *event)
{
	volatile uint64_t *sum = payload;
	const struct ep_sample *sample = &event->u.sample;

	if (event->type == EP_EVENT_MAP)
		*sum += strlen(event->u.map.path);
	if (event->type == EP_EVENT_COMM)
		*sum += strlen(event->u.comm.name);
	if (event->type == EP_EVENT_SAMPLE)
		for (uint32_t i = 0; i < sample->n_branches; i++)
			*sum += sample->branches[i].from ^ sample->branches[i].to;
	return NULL;
}

static void read_capture(const void *data, size_t n)
{
	uint64_t sum = 0;
	struct ep_event_sink sink = {.event = touch, .payload = &sum};
	struct ep_warnings warnings = {0};
	struct ep_arena arena = {0};
	struct ep_capture_info info;

	ep_error_destroy(ep_raw_read_memory("fuzz", data, n, &sink, &warnings, &arena, &info));
	ep_warnings_deinit(&warnings);
	ep_arena_deinit(&arena);
}

static void put_block(struct ep_buf *buf, uint32_t type, uint32_t index, const void *data, size_t n)
{
	size_t start = buf->n, bound = ZSTD_compressBound(n);
	ep_autofree void *frame = malloc(bound);

	if (!frame)
		return;
	size_t n_frame = ZSTD_compress(frame, bound, data, n, 1);
	ep_buf_u32(buf, type);
	ep_buf_u32(buf, index);
	ep_buf_u32(buf, (uint32_t)n);
	ep_buf_u32(buf, (uint32_t)n_frame);
	ep_buf_u64(buf, ep_raw_checksum(buf->v + start, frame, n_frame));
	ep_buf_put(buf, frame, n_frame);
}

/* A first byte of 1 to 3 stands for the type of the block whose content follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ep_buf buf = {0};

	if (!size || data[0] < EP_RAW_BLOCK_INFO || data[0] > EP_RAW_BLOCK_END) {
		read_capture(data, size);
		return 0;
	}
	ep_buf_put(&buf, ep_raw_magic, EP_RAW_DETECT_SIZE);
	ep_buf_u32(&buf, EP_RAW_VERSION);
	ep_buf_u32(&buf, 0);
	ep_buf_u64(&buf, ep_raw_checksum(buf.v, NULL, 0));
	bool is_info = data[0] == EP_RAW_BLOCK_INFO;
	if (!is_info)
		put_block(&buf, EP_RAW_BLOCK_INFO, 0, "host\0box", 9);
	put_block(&buf, data[0], !is_info, data + 1, size - 1);
	read_capture(buf.v, buf.n);
	ep_buf_deinit(&buf);
	return 0;
}
