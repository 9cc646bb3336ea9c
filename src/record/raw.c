/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw captures: what reader and writer share. */
#include "record/raw.h"

#include <xxhash.h>

#include "record/raw_format.h"

const unsigned char ep_raw_magic[EP_RAW_DETECT_SIZE] = {0x89, 'E', 'P', 'R', 'A', 'W', '\r', '\n'};

bool ep_raw_detect(const void *data, size_t n)
{
	return n >= EP_RAW_DETECT_SIZE && !memcmp(data, ep_raw_magic, EP_RAW_DETECT_SIZE);
}

uint64_t ep_raw_checksum(const unsigned char header[EP_RAW_HASHED_SIZE], const void *data, size_t n)
{
	return XXH3_64bits_withSeed(data, n, XXH3_64bits(header, EP_RAW_HASHED_SIZE));
}

static const char *string_problem(const char *s)
{
	return strnlen(s, EP_RAW_STRING_MAX + 1) > EP_RAW_STRING_MAX ? "string too long" : NULL;
}

static const char *build_id_problem(const struct ep_build_id *id)
{
	if (id->kind > EP_BUILD_ID_HASH || id->size > EP_BUILD_ID_MAX || (!id->kind && id->size))
		return "bad build-id";
	return NULL;
}

static const char *map_problem(const struct ep_map *map)
{
	const char *problem = build_id_problem(&map->build_id);

	return problem ? problem : string_problem(map->path);
}

static const char *build_id_event_problem(const struct ep_event *event)
{
	const char *problem = build_id_problem(&event->u.build_id.build_id);

	return problem ? problem : string_problem(event->u.build_id.path);
}

const char *ep_raw_event_problem(const struct ep_event *event)
{
	switch (event->type) {
	case EP_EVENT_STREAM:
		if (event->u.stream.sampling > EP_SAMPLING_OTHER)
			return "unknown sampling";
		return string_problem(event->u.stream.name);
	case EP_EVENT_MAP:
		return map_problem(&event->u.map);
	case EP_EVENT_COMM:
		return string_problem(event->u.comm.name);
	case EP_EVENT_CPU:
		return string_problem(event->u.cpu.cpuid);
	case EP_EVENT_BUILD_ID:
		return build_id_event_problem(event);
	case EP_EVENT_SAMPLE:
		return event->u.sample.n_branches > EP_RAW_BRANCHES_MAX ? "too many branches"
		                                                        : NULL;
	case EP_EVENT_EDGE:
	case EP_EVENT_RANGE:
		return event->u.counted.type >= EP_BRANCH_N_TYPES ? "unknown branch type" : NULL;
	case EP_EVENT_LOST:
		if (event->u.lost.reason < EP_LOST_RECORDER ||
		    event->u.lost.reason > EP_LOST_CORRUPT)
			return "unknown reason of loss";
		return NULL;
	case EP_EVENT_EXEC:
	case EP_EVENT_UNMAP:
	case EP_EVENT_FORK:
	case EP_EVENT_EXIT:
	case EP_EVENT_END:
		return NULL;
	}
	return "unknown type";
}
