/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes perf.data byte by byte, on its own knowledge of the format. */
#include "support/perf_builder.h"

#include <string.h>
#include <zstd.h>

#include "import/perf_data_abi.h"
#include "support/check.h"

static void put(const struct perf_builder *b, struct ep_buf *buf, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		ep_buf_u8(buf, (uint8_t)(v >> 8 * (b->big_endian ? n - 1 - i : i)));
	assert_false(buf->failed);
}

void pb_u64(const struct perf_builder *b, struct ep_buf *buf, uint64_t v)
{
	put(b, buf, v, 8);
}

void pb_u32(const struct perf_builder *b, struct ep_buf *buf, uint32_t v)
{
	put(b, buf, v, 4);
}

void pb_u16(const struct perf_builder *b, struct ep_buf *buf, uint16_t v)
{
	put(b, buf, v, 2);
}

static void put_padded(struct ep_buf *buf, const void *data, size_t n, size_t align)
{
	ep_buf_put(buf, data, n);
	for (; n % align; n++)
		ep_buf_u8(buf, 0);
}

void pb_init(struct perf_builder *b, bool big_endian, bool pipe)
{
	*b = (struct perf_builder){.big_endian = big_endian, .pipe = pipe};
}

uint32_t pb_add_attr(struct perf_builder *b, const struct pb_attr *attr)
{
	assert_true(b->n_attrs < EP_ARRAY_LEN(b->attrs));
	b->attrs[b->n_attrs] = *attr;
	if (!attr->size)
		b->attrs[b->n_attrs].size = 136;
	return b->n_attrs++;
}

static void put_attr(const struct perf_builder *b, struct ep_buf *buf, const struct pb_attr *attr)
{
	size_t start = buf->n;
	uint64_t flags = (uint64_t)attr->freq << 10 | (uint64_t)!attr->no_sample_id_all << 18;
	uint64_t turned = 0;

	for (int i = 0; i < 64; i++)
		turned |= (flags >> i & 1) << (63 - i);
	pb_u32(b, buf, attr->type);
	pb_u32(b, buf, attr->size);
	pb_u64(b, buf, attr->config);
	pb_u64(b, buf, attr->period);
	pb_u64(b, buf, attr->sample_type);
	pb_u64(b, buf, attr->read_format);
	pb_u64(b, buf, b->big_endian ? turned : flags);
	for (int i = 0; i < 3; i++) /* wakeup, bp_type, config1, config2 */
		pb_u64(b, buf, 0);
	if (attr->size >= 80)
		pb_u64(b, buf, attr->branch_type);
	while (buf->n - start < attr->size)
		ep_buf_u8(buf, 0);
	buf->n = start + attr->size;
}

void pb_bytes(struct perf_builder *b, const void *data, size_t n)
{
	ep_buf_put(b->packing ? &b->packed : &b->data, data, n);
}

void pb_record(struct perf_builder *b, uint32_t type, uint16_t misc, const void *body, size_t n)
{
	struct ep_buf *buf = b->packing ? &b->packed : &b->data;

	pb_u32(b, buf, type);
	pb_u16(b, buf, misc);
	pb_u16(b, buf, (uint16_t)(n + 8));
	pb_bytes(b, body, n);
}

/* Ends a kernel record's body with the trailer and writes it. */
static void finish_record(struct perf_builder *b, uint32_t type, uint16_t misc, struct ep_buf *body,
                          uint32_t pid, uint64_t t_ns)
{
	const struct pb_attr *attr = &b->attrs[0];
	uint64_t st = attr->no_sample_id_all ? 0 : attr->sample_type;
	uint64_t id = t_ns ? attr->ids[0] : 0; /* made-up records have none */

	if (st & PERF_SAMPLE_TID) {
		pb_u32(b, body, pid);
		pb_u32(b, body, pid);
	}
	if (st & PERF_SAMPLE_TIME)
		pb_u64(b, body, t_ns);
	if (st & PERF_SAMPLE_ID)
		pb_u64(b, body, id);
	if (st & PERF_SAMPLE_STREAM_ID)
		pb_u64(b, body, 77);
	if (st & PERF_SAMPLE_CPU)
		pb_u64(b, body, 0);
	if (st & PERF_SAMPLE_IDENTIFIER)
		pb_u64(b, body, id);
	pb_record(b, type, misc, body->v, body->n);
	ep_buf_deinit(body);
}

static uint64_t info_to_big(uint64_t v)
{
	static const unsigned widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 1, 30};
	unsigned at = 0;
	uint64_t big = 0;

	for (size_t i = 0; i < EP_ARRAY_LEN(widths); i++) {
		uint64_t field = v >> at & ((UINT64_C(1) << widths[i]) - 1);
		at += widths[i];
		big |= field << (64 - at);
	}
	return big;
}

static void put_read(const struct perf_builder *b, struct ep_buf *body, uint64_t format)
{
	unsigned each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	unsigned n = format & PERF_FORMAT_GROUP ? 3 : 1;

	if (format & PERF_FORMAT_GROUP)
		pb_u64(b, body, n);
	else
		pb_u64(b, body, 1000);
	for (uint64_t bit = 1; bit <= 2; bit <<= 1)
		if (format & bit)
			pb_u64(b, body, 5555);
	/* Not in a group, the value came first. */
	for (unsigned i = !(format & PERF_FORMAT_GROUP); i < n * each; i++)
		pb_u64(b, body, 2000 + i);
}

static void put_stack(const struct perf_builder *b, struct ep_buf *body, const struct pb_attr *attr,
                      const struct pb_sample *s)
{
	uint64_t n = s->n_written ? s->n_written : s->n_branches;

	pb_u64(b, body, s->n_branches);
	if (attr->branch_type & PERF_BRANCH_HW_INDEX)
		pb_u64(b, body, 3);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t info = s->branches[i].info;
		pb_u64(b, body, s->branches[i].from);
		pb_u64(b, body, s->branches[i].to);
		pb_u64(b, body, b->big_endian ? info_to_big(info) : info);
	}
	if (attr->branch_type >> 19 & 1) /* COUNTERS */
		for (uint64_t i = 0; i < n; i++)
			pb_u64(b, body, 0xc0 + i);
}

static void put_before_stack(const struct perf_builder *b, struct ep_buf *body,
                             const struct pb_attr *attr, const struct pb_sample *s)
{
	uint64_t st = attr->sample_type;

	if (st & PERF_SAMPLE_READ)
		put_read(b, body, attr->read_format);
	if (st & PERF_SAMPLE_CALLCHAIN) {
		pb_u64(b, body, s->n_callchain);
		for (unsigned i = 0; i < s->n_callchain; i++)
			pb_u64(b, body, 0x5000 + i);
	}
	if (st & PERF_SAMPLE_RAW) {
		uint32_t n = (s->n_raw + 4 + 7) / 8 * 8 - 4;
		pb_u32(b, body, n);
		for (uint32_t i = 0; i < n; i++)
			ep_buf_u8(body, 0xee);
	}
}

void pb_sample(struct perf_builder *b, const struct pb_sample *s)
{
	const struct pb_attr *attr = &b->attrs[s->attr];
	uint64_t st = attr->sample_type, id = s->id ? s->id : attr->ids[0];
	struct ep_buf body = {0};

	if (st & PERF_SAMPLE_IDENTIFIER)
		pb_u64(b, &body, id);
	if (st & PERF_SAMPLE_IP)
		pb_u64(b, &body, s->ip);
	if (st & PERF_SAMPLE_TID) {
		pb_u32(b, &body, s->pid);
		pb_u32(b, &body, s->tid);
	}
	if (st & PERF_SAMPLE_TIME)
		pb_u64(b, &body, s->t_ns);
	if (st & PERF_SAMPLE_ADDR)
		pb_u64(b, &body, 0xadd);
	if (st & PERF_SAMPLE_ID)
		pb_u64(b, &body, id);
	if (st & PERF_SAMPLE_STREAM_ID)
		pb_u64(b, &body, 77);
	if (st & PERF_SAMPLE_CPU) {
		pb_u32(b, &body, s->cpu);
		pb_u32(b, &body, 0);
	}
	if (st & PERF_SAMPLE_PERIOD)
		pb_u64(b, &body, s->period);
	put_before_stack(b, &body, attr, s);
	if (st & PERF_SAMPLE_BRANCH_STACK)
		put_stack(b, &body, attr, s);
	if (st & 1 << 12) /* REGS_USER without registers, and STACK_USER without bytes */
		pb_u64(b, &body, 0);
	if (st & 1 << 13)
		pb_u64(b, &body, 0);
	pb_record(b, PERF_SAMPLE, s->misc ? s->misc : 2, body.v, body.n);
	ep_buf_deinit(&body);
}

static void put_map(const struct perf_builder *b, struct ep_buf *body, uint32_t pid, uint64_t start,
                    uint64_t len, uint64_t pgoff)
{
	pb_u32(b, body, pid);
	pb_u32(b, body, pid == UINT32_MAX ? 0 : pid);
	pb_u64(b, body, start);
	pb_u64(b, body, len);
	pb_u64(b, body, pgoff);
}

void pb_mmap(struct perf_builder *b, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
             const char *path, uint16_t misc, uint64_t t_ns)
{
	struct ep_buf body = {0};

	put_map(b, &body, pid, start, len, pgoff);
	put_padded(&body, path, strlen(path) + 1, 8);
	finish_record(b, PERF_MMAP, misc, &body, pid, t_ns);
}

void pb_mmap2(struct perf_builder *b, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
              const char *path, uint16_t misc, uint32_t prot, const struct ep_build_id *build_id,
              uint64_t t_ns)
{
	struct ep_buf body = {0};
	unsigned char id[24] = {0};

	put_map(b, &body, pid, start, len, pgoff);
	if (build_id) {
		id[0] = build_id->size;
		memcpy(id + 4, build_id->bytes, EP_MIN(build_id->size, (size_t)20));
		misc |= PERF_MISC_MMAP_BUILD_ID;
	}
	ep_buf_put(&body, id, sizeof(id));
	pb_u32(b, &body, prot);
	pb_u32(b, &body, 2);
	put_padded(&body, path, strlen(path) + 1, 8);
	finish_record(b, PERF_MMAP2, misc, &body, pid, t_ns);
}

void pb_comm(struct perf_builder *b, uint32_t pid, const char *name, bool exec, uint64_t t_ns)
{
	struct ep_buf body = {0};

	pb_u32(b, &body, pid);
	pb_u32(b, &body, pid);
	put_padded(&body, name, strlen(name) + 1, 8);
	finish_record(b, PERF_COMM, exec ? PERF_MISC_COMM_EXEC : 0, &body, pid, t_ns);
}

void pb_task(struct perf_builder *b, bool is_fork, uint32_t pid, uint32_t ppid, uint16_t misc,
             uint64_t t_ns)
{
	struct ep_buf body = {0};

	pb_u32(b, &body, pid);
	pb_u32(b, &body, ppid);
	pb_u32(b, &body, pid);
	pb_u32(b, &body, ppid);
	pb_u64(b, &body, t_ns);
	finish_record(b, is_fork ? PERF_FORK : PERF_EXIT, misc, &body, pid, t_ns);
}

void pb_lost(struct perf_builder *b, bool lost_samples, uint64_t n, uint16_t misc, uint64_t t_ns)
{
	struct ep_buf body = {0};

	if (!lost_samples)
		pb_u64(b, &body, b->attrs[0].ids[0]);
	pb_u64(b, &body, n);
	finish_record(b, lost_samples ? PERF_LOST_SAMPLES : PERF_LOST, misc, &body, 1, t_ns);
}

void pb_round(struct perf_builder *b)
{
	pb_record(b, PERF_FINISHED_ROUND, 0, NULL, 0);
}

void pb_pack_begin(struct perf_builder *b)
{
	b->packing = true;
}

/* What zstd makes of the waiting records, flushed; the stream stays open. */
static struct ep_buf compress(struct perf_builder *b)
{
	size_t size = ZSTD_compressBound(b->packed.n) + 1024;
	unsigned char *p = malloc(size);
	ZSTD_inBuffer in = {b->packed.v, b->packed.n, 0};
	ZSTD_outBuffer out = {p, size, 0};

	if (!b->zstd)
		b->zstd = ZSTD_createCCtx();
	assert_true(p && b->zstd);
	while (ZSTD_compressStream2(b->zstd, &out, &in, ZSTD_e_flush))
		assert_true(out.pos < out.size);
	b->packed.n = 0;
	b->packing = false;
	return (struct ep_buf){.v = p, .n = out.pos, .cap = size};
}

void pb_pack_end(struct perf_builder *b, uint32_t type, size_t max)
{
	struct ep_buf all = compress(b);

	max = max ? max : 65000;
	for (size_t at = 0; at < all.n; at += max) {
		size_t n = EP_MIN(max, all.n - at);
		struct ep_buf body = {0};
		if (type == PERF_COMPRESSED2) {
			pb_u64(b, &body, n);
			put_padded(&body, all.v + at, n, 8);
		} else {
			ep_buf_put(&body, all.v + at, n);
		}
		pb_record(b, type, 0, body.v, body.n);
		ep_buf_deinit(&body);
	}
	ep_buf_deinit(&all);
}

void pb_pack_end_oversized(struct perf_builder *b, bool padded)
{
	enum { PIECE = 65519 };
	struct ep_buf all = compress(b);
	size_t n_pieces = (all.n + PIECE - 1) / PIECE, total = all.n + 16 * n_pieces;

	for (size_t at = 0; at < all.n; at += PIECE) {
		size_t n = EP_MIN((size_t)PIECE, all.n - at);
		pb_u32(b, &b->data, PERF_COMPRESSED2);
		pb_u16(b, &b->data, 0);
		pb_u16(b, &b->data, (uint16_t)(at ? n + 16 : (total + 7) / 8 * 8));
		pb_u64(b, &b->data, at ? UINT64_C(0x1122334455667788) : total - 16);
		ep_buf_put(&b->data, all.v + at, n);
	}
	for (; padded && total % 8; total++)
		ep_buf_u8(&b->data, 0);
	ep_buf_deinit(&all);
}

void pb_feature(struct perf_builder *b, unsigned number, const void *body, size_t n)
{
	assert_true(b->n_features < EP_ARRAY_LEN(b->features));
	b->features[b->n_features].number = number;
	ep_buf_put(&b->features[b->n_features++].body, body, n);
}

static void put_string(const struct perf_builder *b, struct ep_buf *buf, const char *s)
{
	size_t n = strlen(s) + 1;

	pb_u32(b, buf, (uint32_t)((n + 63) / 64 * 64));
	put_padded(buf, s, n, 64);
}

void pb_feature_string(struct perf_builder *b, unsigned number, const char *s)
{
	struct ep_buf body = {0};

	put_string(b, &body, s);
	pb_feature(b, number, body.v, body.n);
	ep_buf_deinit(&body);
}

static struct ep_buf *build_id_feature(struct perf_builder *b)
{
	for (unsigned i = 0; i < b->n_features; i++)
		if (b->features[i].number == PERF_FEAT_BUILD_ID)
			return &b->features[i].body;
	pb_feature(b, PERF_FEAT_BUILD_ID, NULL, 0);
	return &b->features[b->n_features - 1].body;
}

void pb_build_id(struct perf_builder *b, uint16_t misc, const void *id, unsigned n_id,
                 bool with_size, const char *path)
{
	struct ep_buf *buf = build_id_feature(b);
	unsigned char bytes[24] = {0};
	size_t n_path = (strlen(path) + 1 + 63) / 64 * 64;

	memcpy(bytes, id, n_id);
	if (with_size) {
		bytes[20] = (unsigned char)n_id;
		misc |= PERF_MISC_BUILD_ID_SIZE;
	}
	pb_u32(b, buf, b->pipe ? PERF_HEADER_BUILD_ID : 0);
	pb_u16(b, buf, misc);
	pb_u16(b, buf, (uint16_t)(8 + 4 + 24 + n_path));
	pb_u32(b, buf, UINT32_MAX);
	ep_buf_put(buf, bytes, sizeof(bytes));
	put_padded(buf, path, strlen(path) + 1, 64);
}

/* EVENT_DESC, if an event has a name. */
static void describe_events(struct perf_builder *b)
{
	struct ep_buf body = {0};
	bool any = false;

	pb_u32(b, &body, b->n_attrs);
	pb_u32(b, &body, 136);
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		struct pb_attr attr = b->attrs[i];
		any |= attr.name != NULL;
		attr.size = 136;
		put_attr(b, &body, &attr);
		pb_u32(b, &body, attr.n_ids);
		put_string(b, &body, attr.name ? attr.name : "");
		for (uint32_t k = 0; k < attr.n_ids; k++)
			pb_u64(b, &body, attr.ids[k]);
	}
	if (any)
		pb_feature(b, PERF_FEAT_EVENT_DESC, body.v, body.n);
	ep_buf_deinit(&body);
}

static void put_header(struct perf_builder *b)
{
	const char *magic = b->magic ? b->magic : b->big_endian ? "2ELIFREP" : "PERFILE2";

	ep_buf_put(&b->out, magic, 8);
	pb_u64(b, &b->out, b->pipe ? 16 : 104);
}

static void finish_pipe(struct perf_builder *b)
{
	struct ep_buf records = b->data;

	b->data = (struct ep_buf){0};
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		struct ep_buf body = {0};
		put_attr(b, &body, &b->attrs[i]);
		for (uint32_t k = 0; k < b->attrs[i].n_ids; k++)
			pb_u64(b, &body, b->attrs[i].ids[k]);
		pb_record(b, PERF_HEADER_ATTR, 0, body.v, body.n);
		ep_buf_deinit(&body);
	}
	for (unsigned i = 0; i < b->n_features; i++) {
		struct ep_buf body = {0};
		if (b->features[i].number == PERF_FEAT_BUILD_ID)
			continue;
		pb_u64(b, &body, b->features[i].number);
		put_padded(&body, b->features[i].body.v, b->features[i].body.n, 8);
		pb_record(b, PERF_HEADER_FEATURE, 0, body.v, body.n);
		ep_buf_deinit(&body);
	}
	ep_buf_put(&b->data, records.v, records.n);
	ep_buf_deinit(&records);
	for (unsigned i = 0; i < b->n_features; i++)
		if (b->features[i].number == PERF_FEAT_BUILD_ID)
			ep_buf_put(&b->data, b->features[i].body.v, b->features[i].body.n);
	ep_buf_put(&b->out, b->data.v, b->data.n);
}

/* Sections of the features, ascending, behind a table of where they are. */
static void put_features(struct perf_builder *b)
{
	uint64_t at = b->out.n + 16 * (uint64_t)b->n_features;

	for (int pass = 0; pass < 2; pass++)
		for (unsigned number = 0; number < PERF_FEAT_BITS; number++)
			for (unsigned i = 0; i < b->n_features; i++) {
				struct ep_buf *body = &b->features[i].body;
				if (b->features[i].number != number)
					continue;
				if (pass) {
					ep_buf_put(&b->out, body->v, body->n);
					continue;
				}
				pb_u64(b, &b->out, at);
				pb_u64(b, &b->out, body->n);
				at += body->n;
			}
}

static void finish_file(struct perf_builder *b)
{
	uint64_t features[4] = {0}, at = 104, ids = 104;
	uint32_t stride = b->attr_stride ? b->attr_stride : b->attrs[0].size + 16;

	for (uint32_t i = 0; i < b->n_attrs; i++)
		at += 8 * (uint64_t)b->attrs[i].n_ids;
	for (unsigned i = 0; i < b->n_features; i++)
		features[b->features[i].number / 64] |= UINT64_C(1) << b->features[i].number % 64;
	pb_u64(b, &b->out, stride);
	pb_u64(b, &b->out, at);
	pb_u64(b, &b->out, (uint64_t)stride * b->n_attrs);
	pb_u64(b, &b->out, at + (uint64_t)stride * b->n_attrs);
	pb_u64(b, &b->out, b->unfinished ? 0 : b->data.n);
	pb_u64(b, &b->out, 0);
	pb_u64(b, &b->out, 0);
	for (int i = 0; i < 4; i++)
		pb_u64(b, &b->out, features[i]);
	for (uint32_t i = 0; i < b->n_attrs; i++)
		for (uint32_t k = 0; k < b->attrs[i].n_ids; k++)
			pb_u64(b, &b->out, b->attrs[i].ids[k]);
	for (uint32_t i = 0; i < b->n_attrs; i++) {
		size_t start = b->out.n;
		put_attr(b, &b->out, &b->attrs[i]);
		pb_u64(b, &b->out, ids);
		pb_u64(b, &b->out, 8 * (uint64_t)b->attrs[i].n_ids);
		ids += 8 * (uint64_t)b->attrs[i].n_ids;
		while (b->out.n - start < stride)
			ep_buf_u8(&b->out, 0);
	}
	ep_buf_put(&b->out, b->data.v, b->data.n);
	if (!b->unfinished)
		put_features(b);
}

const struct ep_buf *pb_finish(struct perf_builder *b)
{
	describe_events(b);
	put_header(b);
	if (b->pipe)
		finish_pipe(b);
	else
		finish_file(b);
	assert_false(b->out.failed);
	return &b->out;
}

void pb_deinit(struct perf_builder *b)
{
	ep_buf_deinit(&b->data);
	ep_buf_deinit(&b->packed);
	ep_buf_deinit(&b->out);
	for (unsigned i = 0; i < b->n_features; i++)
		ep_buf_deinit(&b->features[i].body);
	ZSTD_freeCCtx(b->zstd);
}
