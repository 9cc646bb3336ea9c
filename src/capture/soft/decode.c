/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading softbrbe's records. Every byte may have been written over by the program. */
#include "capture/soft/decode.h"

/* No record is longer: a sample of 64 records, or a path. */
#define MAX_RECORD (2 * EP_SB_MAX_PATH)

bool ep_soft_record_next(struct ep_bytes *bytes, struct ep_soft_record *ret)
{
	struct ep_sb_record head;

	if (bytes->failed || ep_bytes_left(bytes) < sizeof(head))
		return false;
	memcpy(&head, bytes->pos, sizeof(head));
	if (head.size < sizeof(head) || head.size % 8 || head.size > MAX_RECORD) {
		bytes->failed = true;
		return false;
	}
	if (head.size > ep_bytes_left(bytes))
		return false;
	ret->head = head;
	ret->body = ep_bytes_init(bytes->pos + sizeof(head), head.size - sizeof(head), false);
	bytes->pos += head.size;
	return true;
}

static bool take(struct ep_bytes *b, void *ret, size_t n)
{
	const unsigned char *p = ep_bytes_take(b, n);

	if (p)
		memcpy(ret, p, n);
	return p != NULL;
}

static uint64_t info_of(unsigned info)
{
	unsigned type = info & EP_SB_INFO_TYPE;
	uint64_t ret;

	if (type >= EP_BRANCH_N_TYPES)
		type = EP_BRANCH_UNKNOWN;
	if (type >= 16)
		ret = UINT64_C(15) << EP_INFO_TYPE_SHIFT | (uint64_t)(type - 16)
		                                               << EP_INFO_NEW_TYPE_SHIFT;
	else
		ret = (uint64_t)type << EP_INFO_TYPE_SHIFT;
	if (info & EP_SB_INFO_DISCONTINUITY)
		ret |= EP_INFO_DISCONTINUITY;
	if (info & EP_SB_INFO_MOVED)
		ret |= EP_INFO_DISCONTINUITY | EP_INFO_PC_MOVED;
	return ret;
}

static bool decode_sample(struct ep_bytes body, struct ep_soft_scratch *scratch,
                          struct ep_sample *ret)
{
	struct ep_sb_sample head;

	if (!take(&body, &head, sizeof(head)) || head.n > EP_SB_MAX_DEPTH)
		return false;
	size_t n = head.n;
	const unsigned char *from = ep_bytes_take(&body, n * 8);
	const unsigned char *to = ep_bytes_take(&body, n * 8);
	const unsigned char *info = ep_bytes_take(&body, n * 2);
	if (body.failed)
		return false;
	for (size_t i = 0; i < n; i++)
		scratch->branches[i] = (struct ep_branch){
		    ep_load_u64(from + i * 8, false), ep_load_u64(to + i * 8, false),
		    info_of(ep_load_u16(info + i * 2, false))};
	*ret = (struct ep_sample){.branches = scratch->branches,
	                          .n_branches = head.n,
	                          .info_mask = UINT64_C(15) << EP_INFO_TYPE_SHIFT |
	                                       UINT64_C(15) << EP_INFO_NEW_TYPE_SHIFT |
	                                       EP_INFO_DISCONTINUITY | EP_INFO_PC_MOVED,
	                          .ip = head.ip,
	                          .period = head.period,
	                          .repeat = 1};
	return true;
}

static bool decode_path(struct ep_bytes *body, uint32_t n, char *ret)
{
	const unsigned char *p = n < EP_SB_MAX_PATH ? ep_bytes_take(body, n) : NULL;

	if (!p || memchr(p, '\0', n))
		return false;
	memcpy(ret, p, n);
	ret[n] = '\0';
	return true;
}

static bool decode_map(struct ep_bytes body, struct ep_soft_scratch *scratch, struct ep_map *ret)
{
	struct ep_sb_map map;

	if (!take(&body, &map, sizeof(map)) || !map.len || map.len > -map.start ||
	    !decode_path(&body, map.path_len, scratch->path))
		return false;
	*ret = (struct ep_map){.start = map.start,
	                       .len = map.len,
	                       .pgoff = map.pgoff,
	                       .path = scratch->path,
	                       .is_file = map.flags & EP_SB_MAP_FILE};
	return true;
}

static bool decode_unmap(struct ep_bytes body, struct ep_event *ret)
{
	struct ep_sb_map map;

	if (!take(&body, &map, sizeof(map)) || !map.len || map.len > -map.start)
		return false;
	ret->u.unmap.start = map.start;
	ret->u.unmap.len = map.len;
	return true;
}

static bool decode_fork(struct ep_bytes body, struct ep_event *ret)
{
	struct ep_sb_fork fork;

	if (!take(&body, &fork, sizeof(fork)) || fork.ppid > INT32_MAX || fork.ptid > INT32_MAX)
		return false;
	ret->u.fork.ppid = (int32_t)fork.ppid;
	ret->u.fork.ptid = (int32_t)fork.ptid;
	return true;
}

bool ep_soft_decode(const struct ep_soft_record *record, struct ep_soft_scratch *scratch,
                    struct ep_event *ret)
{
	const struct ep_sb_record *head = &record->head;
	struct ep_event e = {.cpu = UINT32_MAX, .t_ns = head->t_ns};
	bool ok = true;

	if (head->pid > INT32_MAX || head->tid > INT32_MAX)
		return false;
	e.pid = (int32_t)head->pid;
	e.tid = (int32_t)head->tid;
	switch ((enum ep_sb_record_type)head->type) {
	case EP_SB_SAMPLE:
		e.type = EP_EVENT_SAMPLE;
		ok = decode_sample(record->body, scratch, &e.u.sample);
		break;
	case EP_SB_EXEC:
		e.type = EP_EVENT_EXEC;
		break;
	case EP_SB_MAP:
		e.type = EP_EVENT_MAP;
		ok = decode_map(record->body, scratch, &e.u.map);
		break;
	case EP_SB_UNMAP:
		e.type = EP_EVENT_UNMAP;
		ok = decode_unmap(record->body, &e);
		break;
	case EP_SB_FORK:
		e.type = EP_EVENT_FORK;
		ok = decode_fork(record->body, &e);
		break;
	case EP_SB_THREAD_EXIT:
		/* With tid == pid EXIT would mean the whole process. */
		if (e.tid != e.pid)
			e.type = EP_EVENT_EXIT;
		break;
	case EP_SB_EXIT:
		e.type = EP_EVENT_EXIT;
		e.tid = e.pid;
		break;
	case EP_SB_EXEC_TRY:
	case EP_SB_EXEC_FAILED:
	case EP_SB_TABLE:
		break;
	default:
		return false;
	}
	if (ok)
		*ret = e;
	return ok;
}

bool ep_soft_decode_table(const struct ep_soft_record *record, struct ep_sb_table *ret)
{
	struct ep_bytes body = record->body;
	struct ep_sb_table table;

	if (!take(&body, &table, sizeof(table)) || table.n_chunks > EP_SB_TABLE_CHUNKS ||
	    table.tid > INT32_MAX)
		return false;
	*ret = table;
	return true;
}

bool ep_soft_decode_entry(const struct ep_sb_entry *entry, struct ep_counted *edge_ret,
                          struct ep_counted *range_ret)
{
	if (!entry->count || entry->start > entry->from)
		return false;
	*edge_ret = (struct ep_counted){
	    .from = entry->from,
	    .to = entry->to,
	    .count = entry->count,
	    .type = ep_info_type(info_of((unsigned)(entry->info & EP_SB_INFO_TYPE)))};
	*range_ret =
	    (struct ep_counted){.from = entry->start, .to = entry->from, .count = entry->count};
	return true;
}
