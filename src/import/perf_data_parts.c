/* SPDX-License-Identifier: BSD-2-Clause */
/* The files data.N of a recording made with --threads: records alone, each file in order. */
#include "import/perf_data_reader.h"

/* Read from one file before another may be behind it in time. */
#define STEP ((uint64_t)64 << 10)

struct part {
	struct ep_input *in;
	struct ep_perf_zstd *zstd; /* each file has a stream of its own */
	uint64_t last_t;
	bool done;
};

/* Exchanges what belongs to one file between the reader and a part. */
static void swap_part(struct ep_perf_reader *r, struct part *part)
{
	struct part own = {.in = r->in, .zstd = r->zstd, .last_t = r->last_t};

	r->in = part->in;
	r->zstd = part->zstd;
	r->last_t = part->last_t;
	part->in = own.in;
	part->zstd = own.zstd;
	part->last_t = own.last_t;
}

static struct ep_error *read_step(struct ep_perf_reader *r, bool *done_ret)
{
	uint64_t stop = r->in->offset + STEP;

	EP_TRY(ep_perf_read_records(r, stop, UINT64_MAX));
	if (r->in->offset >= stop)
		return NULL;
	*done_ret = true;
	return ep_perf_check_end(r, UINT64_MAX);
}

/* The part that is furthest behind; NULL: all are done. */
static struct part *find_oldest(struct part *parts, size_t n)
{
	struct part *oldest = NULL;

	for (size_t i = 0; i < n; i++)
		if (!parts[i].done && (!oldest || parts[i].last_t < oldest->last_t))
			oldest = &parts[i];
	return oldest;
}

static struct ep_error *merge_parts(struct ep_perf_reader *r, struct part *parts, size_t n)
{
	struct part *part;

	while ((part = find_oldest(parts, n))) {
		swap_part(r, part);
		struct ep_error *err = read_step(r, &part->done);
		swap_part(r, part);
		if (err)
			return err;
		part = find_oldest(parts, n);
		if (part)
			EP_TRY(ep_perf_order_until(&r->order, part->last_t));
	}
	return NULL;
}

struct ep_error *ep_perf_read_parts(struct ep_perf_reader *r)
{
	size_t n = r->in->n_parts;
	struct part *parts = calloc(n, sizeof(*parts));

	if (!parts)
		return ep_error_nomem();
	for (size_t i = 0; i < n; i++)
		parts[i].in = &r->in->parts[i];
	struct ep_error *err = merge_parts(r, parts, n);
	for (size_t i = 0; i < n; i++)
		ep_perf_zstd_destroy(parts[i].zstd);
	free(parts);
	return err;
}
