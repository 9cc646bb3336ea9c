/* SPDX-License-Identifier: BSD-2-Clause */
/* Header features: who recorded what, and the names and ids of events. */
#include <inttypes.h>
#include <string.h>

#include "import/perf_data_reader.h"

/* A recording has each feature once; strings of a hostile one must not pile up. */
#define MAX_FEATURES 1024

/* A length and that many bytes, NULs included; an own copy. NULL and failed: it does not fit. */
static struct ep_error *read_string(struct ep_perf_reader *r, struct ep_bytes *b, const char **ret)
{
	size_t n = ep_bytes_u32(b);
	const unsigned char *p = ep_bytes_take(b, n);

	if (!p)
		return NULL;
	char *s = ep_arena_strndup(&r->in->arena, (const char *)p, strnlen((const char *)p, n));
	if (!s)
		return ep_error_nomem();
	*ret = s;
	return NULL;
}

/* The words of the command line, joined by spaces. */
static struct ep_error *read_cmdline(struct ep_perf_reader *r, struct ep_bytes *b)
{
	uint32_t n = ep_bytes_u32(b);
	struct ep_buf line = {0};
	struct ep_error *err = NULL;

	for (uint32_t i = 0; i < n && !b->failed && !err; i++) {
		const char *word = NULL;
		err = read_string(r, b, &word);
		if (word)
			ep_buf_printf(&line, "%s%s", i ? " " : "", word);
	}
	char *s = err || line.failed
	              ? NULL
	              : ep_arena_strndup(&r->in->arena, line.n ? (char *)line.v : "", line.n);
	ep_buf_deinit(&line);
	if (!err && !s)
		err = ep_error_nomem();
	if (s)
		r->info->cmdline = s;
	return err;
}

/*
 * perf 6.12 pads the names of its build-id records further than their sizes say: steps over the
 * zeros to the next header, whose type may be zero, but not its misc and size.
 */
static void skip_zeros(struct ep_bytes *b)
{
	while (ep_bytes_left(b) >= PERF_RECORD_HEADER && !ep_load_u32(b->pos + 4, false))
		b->pos += 4;
	if (ep_bytes_left(b) == 4 && !ep_load_u32(b->pos, false))
		b->pos += 4;
}

static struct ep_error *read_build_ids(struct ep_perf_reader *r, struct ep_bytes *b)
{
	bool ok = true;

	for (skip_zeros(b); ok && ep_bytes_left(b) >= PERF_RECORD_HEADER; skip_zeros(b)) {
		const unsigned char *rec = b->pos;
		size_t size = ep_load_u16(rec + 6, r->swap);
		if (!ep_bytes_take(b, size))
			return NULL;
		EP_TRY(ep_perf_build_id_read(r, rec, size, &ok));
	}
	b->failed |= !ok || ep_bytes_left(b);
	return NULL;
}

/* An event of EVENT_DESC: its attr, ids, name. */
static struct ep_error *read_desc(struct ep_perf_reader *r, struct ep_bytes *b, size_t attr_size,
                                  bool own_ids, uint32_t i)
{
	struct ep_perf_desc desc = {0};

	(void)ep_bytes_take(b, attr_size);
	desc.n_ids = ep_bytes_u32(b);
	EP_TRY(read_string(r, b, &desc.name));
	if (b->failed || desc.n_ids > ep_bytes_left(b) / 8) {
		b->failed = true;
		return NULL;
	}
	for (uint32_t k = 0; k < desc.n_ids; k++) {
		uint64_t id = ep_bytes_u64(b);
		if (!k)
			desc.id = id;
		if (own_ids)
			EP_TRY(ep_perf_id_add(r, i, id));
	}
	if (!ep_vec_push(&r->attrs.descs, desc))
		return ep_error_nomem();
	r->attrs.settled = false;
	return NULL;
}

static struct ep_error *read_event_desc(struct ep_perf_reader *r, struct ep_bytes *b)
{
	uint32_t n = ep_bytes_u32(b), attr_size = ep_bytes_u32(b);
	/* Ids are told twice; where the events themselves have none, these are the only ones. */
	bool own_ids = !r->attrs.ids.n && n == r->attrs.attrs.n;

	r->attrs.descs.n = 0;
	for (uint32_t i = 0; i < n && !b->failed; i++)
		EP_TRY(read_desc(r, b, attr_size, own_ids, i));
	return NULL;
}

struct ep_error *ep_perf_feature(struct ep_perf_reader *r, unsigned feature, const unsigned char *p,
                                 size_t n, uint64_t offset)
{
	struct ep_bytes b = ep_bytes_init(p, n, r->swap);
	struct ep_error *err = NULL;

	if (r->n_features++ >= MAX_FEATURES)
		return NULL;
	switch (feature) {
	case PERF_FEAT_BUILD_ID:
		err = read_build_ids(r, &b);
		break;
	case PERF_FEAT_HOSTNAME:
		err = read_string(r, &b, &r->info->host);
		break;
	case PERF_FEAT_OSRELEASE:
		err = read_string(r, &b, &r->info->kernel);
		break;
	case PERF_FEAT_ARCH:
		err = read_string(r, &b, &r->info->arch);
		break;
	case PERF_FEAT_CPUDESC:
		err = read_string(r, &b, &r->info->cpu);
		break;
	case PERF_FEAT_CPUID:
		err = read_string(r, &b, &r->info->cpuid);
		break;
	case PERF_FEAT_CMDLINE:
		err = read_cmdline(r, &b);
		break;
	case PERF_FEAT_EVENT_DESC:
		err = read_event_desc(r, &b);
		break;
	default:
		break;
	}
	if (!err && b.failed)
		ep_warn(r->warnings, "bad-feature",
		        "%s: offset 0x%" PRIx64
		        ": header feature %u is damaged, its rest is ignored",
		        r->in->name, offset + ep_bytes_offset(&b), feature);
	return err;
}
