/* SPDX-License-Identifier: BSD-2-Clause */
/* Events as text: "TYPE pid/tid @time ...". */
#include "support/event_text.h"

#include <inttypes.h>
#include <string.h>

#include "record/build_id.h"

static void put_sample(struct event_text *text, const struct ep_sample *s)
{
	text->n_samples++;
	text->n_branches += s->n_branches;
	text->n_stable += !!(s->flags & EP_SAMPLE_STABLE);
	ep_buf_printf(&text->buf, "ip=%" PRIx64 " period=%" PRIu64 " stream=%u n=%u%s%s%s", s->ip,
	              s->period, s->stream, s->n_branches, s->branches ? "" : " no-stack",
	              s->flags & EP_SAMPLE_FILTERED ? " filtered" : "",
	              s->flags & EP_SAMPLE_CALL_STACK ? " call-stack" : "");
	for (uint32_t i = 0; i < s->n_branches && !text->no_branches; i++) {
		struct ep_branch b;
		memcpy(&b, (const char *)s->branches + i * sizeof(b), sizeof(b));
		b.info &= s->info_mask;
		ep_buf_printf(&text->buf, " %" PRIx64 ">%" PRIx64 "%s%s/%u/%u", b.from, b.to,
		              b.info & EP_INFO_MISPRED ? "M" : "",
		              b.info & EP_INFO_PREDICTED ? "P" : "", ep_info_cycles(b.info),
		              ep_info_type(b.info));
		if (b.info >> EP_INFO_SPEC_SHIFT & 3)
			ep_buf_printf(&text->buf, "s%u", (unsigned)(b.info >> 24 & 3));
		if (b.info >> EP_INFO_PRIV_SHIFT & 7)
			ep_buf_printf(&text->buf, "p%u", (unsigned)(b.info >> 30 & 7));
	}
}

static void put_id(struct event_text *text, const struct ep_build_id *id)
{
	char hex[EP_BUILD_ID_TEXT_MAX];

	if (id->size)
		ep_buf_printf(&text->buf, " id=%s", ep_build_id_format(id, hex));
}

static void put_map(struct event_text *text, const struct ep_map *map)
{
	text->n_maps++;
	ep_buf_printf(&text->buf, "%" PRIx64 "+%" PRIx64 "@%" PRIx64 " %s%s%s", map->start,
	              map->len, map->pgoff, map->path, map->is_file ? "" : " anon",
	              map->is_kernel ? " kernel" : "");
	put_id(text, &map->build_id);
}

static void put_lost(struct event_text *text, const struct ep_event *e)
{
	if (e->u.lost.reason == EP_LOST_CORRUPT)
		text->n_corrupt += e->u.lost.n;
	else
		text->n_lost += e->u.lost.n;
	ep_buf_printf(&text->buf, "reason=%d n=%" PRIu64, e->u.lost.reason, e->u.lost.n);
}

static struct ep_error *on_event(void *payload, const struct ep_event *e)
{
	static const char *const names[] = {
	    [EP_EVENT_STREAM] = "STREAM", [EP_EVENT_EXEC] = "EXEC",
	    [EP_EVENT_MAP] = "MAP",       [EP_EVENT_UNMAP] = "UNMAP",
	    [EP_EVENT_FORK] = "FORK",     [EP_EVENT_EXIT] = "EXIT",
	    [EP_EVENT_COMM] = "COMM",     [EP_EVENT_SAMPLE] = "SAMPLE",
	    [EP_EVENT_EDGE] = "EDGE",     [EP_EVENT_RANGE] = "RANGE",
	    [EP_EVENT_LOST] = "LOST",     [EP_EVENT_END] = "END",
	    [EP_EVENT_CPU] = "CPU",       [EP_EVENT_BUILD_ID] = "BUILD_ID",
	};
	struct event_text *text = payload;

	ep_buf_printf(&text->buf, "%s %d/%d @%" PRIu64 " ", names[e->type], e->pid, e->tid,
	              e->t_ns);
	switch (e->type) {
	case EP_EVENT_STREAM:
		ep_buf_printf(&text->buf, "%u %s sampling=%d period=%" PRIu64, e->u.stream.stream,
		              e->u.stream.name, e->u.stream.sampling, e->u.stream.period);
		break;
	case EP_EVENT_MAP:
		put_map(text, &e->u.map);
		break;
	case EP_EVENT_UNMAP:
		ep_buf_printf(&text->buf, "%" PRIx64 "+%" PRIx64, e->u.unmap.start, e->u.unmap.len);
		break;
	case EP_EVENT_FORK:
		ep_buf_printf(&text->buf, "from %d/%d", e->u.fork.ppid, e->u.fork.ptid);
		break;
	case EP_EVENT_COMM:
		ep_buf_printf(&text->buf, "%s", e->u.comm.name);
		break;
	case EP_EVENT_SAMPLE:
		put_sample(text, &e->u.sample);
		break;
	case EP_EVENT_LOST:
		put_lost(text, e);
		break;
	case EP_EVENT_END:
		text->ended = true;
		break;
	case EP_EVENT_CPU:
		ep_buf_printf(&text->buf, "%s", e->u.cpu.cpuid);
		break;
	case EP_EVENT_BUILD_ID:
		ep_buf_printf(&text->buf, "%s%s", e->u.build_id.path,
		              e->u.build_id.is_kernel ? " kernel" : "");
		put_id(text, &e->u.build_id.build_id);
		break;
	default:
		break;
	}
	ep_buf_put(&text->buf, "\n", 1);
	return text->buf.failed ? ep_error_nomem() : NULL;
}

struct ep_event_sink event_text_sink(struct event_text *text)
{
	return (struct ep_event_sink){.event = on_event, .payload = text};
}

const char *event_text_get(struct event_text *text)
{
	ep_buf_put(&text->buf, "", 1);
	text->buf.n--;
	return (const char *)text->buf.v;
}

void event_text_deinit(struct event_text *text)
{
	ep_buf_deinit(&text->buf);
}
