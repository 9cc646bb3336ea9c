/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of executable memory: sorted, disjoint pieces. */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

static bool reserve(struct ep_sb_regions *set, size_t n_more)
{
	if (set->n + n_more <= set->cap)
		return true;
	size_t cap = set->cap * 2 + n_more + 16;
	struct ep_sb_region *v = realloc(set->v, cap * sizeof(*v));

	if (!v)
		return false;
	set->v = v;
	set->cap = cap;
	return true;
}

static void insert_at(struct ep_sb_regions *set, size_t i, struct ep_sb_region region)
{
	memmove(set->v + i + 1, set->v + i, (set->n - i) * sizeof(*set->v));
	set->v[i] = region;
	set->n++;
}

static void erase_at(struct ep_sb_regions *set, size_t i)
{
	free(set->v[i].path);
	memmove(set->v + i, set->v + i + 1, (set->n - i - 1) * sizeof(*set->v));
	set->n--;
}

/* The part of `r` in [start, end), with a path of its own (NULL path: out of memory). */
static struct ep_sb_region part(const struct ep_sb_region *r, uint64_t start, uint64_t end)
{
	struct ep_sb_region p = *r;

	p.start = start > r->start ? start : r->start;
	p.end = end < r->end ? end : r->end;
	p.pgoff = r->pgoff + (p.start - r->start);
	p.path = strdup(r->path);
	return p;
}

bool ep_sb_regions_remove(struct ep_sb_regions *set, uint64_t start, uint64_t end,
                          struct ep_sb_regions *removed)
{
	bool any = false;

	if (!reserve(set, 1))
		return false;
	for (size_t i = 0; i < set->n;) {
		struct ep_sb_region *r = &set->v[i];
		if (r->end <= start || r->start >= end) {
			i++;
			continue;
		}
		any = true;
		if (removed && reserve(removed, 1)) {
			struct ep_sb_region p = part(r, start, end);
			if (p.path)
				removed->v[removed->n++] = p;
		}
		if (r->start < start && r->end > end) { /* a hole: two pieces stay */
			struct ep_sb_region right = part(r, end, r->end);
			r->end = start;
			if (right.path)
				insert_at(set, i + 1, right);
			break;
		}
		if (r->start < start) {
			r->end = start;
			i++;
		} else if (r->end > end) {
			r->pgoff += end - r->start;
			r->start = end;
			i++;
		} else {
			erase_at(set, i);
		}
	}
	return any;
}

bool ep_sb_regions_add(struct ep_sb_regions *set, uint64_t start, uint64_t end, uint64_t pgoff,
                       char *path, bool is_file)
{
	size_t i = 0;

	if (!path || !reserve(set, 2)) {
		free(path);
		return false;
	}
	ep_sb_regions_remove(set, start, end, NULL);
	while (i < set->n && set->v[i].start < start)
		i++;
	insert_at(set, i, (struct ep_sb_region){start, end, pgoff, path, is_file});
	return true;
}

bool ep_sb_regions_cover(const struct ep_sb_regions *set, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < set->n && start < end; i++)
		if (set->v[i].start <= start && set->v[i].end > start)
			start = set->v[i].end;
	return start >= end;
}

void ep_sb_regions_clear(struct ep_sb_regions *set)
{
	for (size_t i = 0; i < set->n; i++)
		free(set->v[i].path);
	free(set->v);
	*set = (struct ep_sb_regions){0};
}
