/* SPDX-License-Identifier: BSD-2-Clause */
/* The instructions of the code that was executed, each decoded once. */
#include <string.h>

#include "base/parallel.h"
#include "base/search.h"
#include "emit/internal.h"

/* Of <elf.h>, which FreeBSD keeps elsewhere. */
enum {
	SECTION_EXECUTABLE = 4,
};

/* Bytes that one job decodes, about; the size must not depend on the number of threads. */
#define JOB_BYTES (64u << 10)

/* Code that is decoded by itself: a section. */
struct area {
	uint64_t lo, hi;
};

typedef EP_VEC(struct area) area_vec;

static bool add_area(area_vec *areas, uint64_t lo, uint64_t size)
{
	struct area area = {lo, lo + size};

	return area.hi <= area.lo || ep_vec_push(areas, area);
}

static int compare_areas(const void *a, const void *b)
{
	const struct area *x = a, *y = b;

	return (x->lo > y->lo) - (x->lo < y->lo);
}

static struct ep_error *find_areas(const struct ep_object *object, bool compat, area_vec *areas)
{
	for (size_t i = 0; i < object->n_sections; i++) {
		const struct ep_section *s = &object->sections[i];

		if (!(s->flags & SECTION_EXECUTABLE) || !s->data ||
		    !ep_object_is_text(object, s->vaddr) || (compat && !strcmp(s->name, ".plt")))
			continue;
		if (!add_area(areas, s->vaddr, s->size))
			return ep_error_nomem();
	}
	for (size_t i = 0; !object->n_sections && i < object->n_text; i++)
		if (!add_area(areas, object->text[i].vaddr, object->text[i].size))
			return ep_error_nomem();
	if (areas->n)
		qsort(areas->v, areas->n, sizeof(*areas->v), compare_areas);
	return NULL;
}

static size_t first_above(const struct ep_code_starts *starts, uint64_t vaddr)
{
	return ep_search(i, 0, starts->n, starts->v[i] <= vaddr);
}

/*
 * Adds the regions of an area that [lo, hi) needs. The first may be there already, from the
 * interval before: then it only grows.
 */
static bool add_regions(struct ep_code *code, const struct area *area,
                        const struct ep_code_starts *starts, bool compat, uint64_t lo, uint64_t hi)
{
	while (lo < hi) {
		size_t next = first_above(starts, lo);
		bool known = next && starts->v[next - 1] >= area->lo;
		struct ep_code_region region = {
		    .lo = known ? starts->v[next - 1] : area->lo,
		    .hi = next < starts->n && starts->v[next] < hi ? starts->v[next] : hi,
		};
		struct ep_code_region *last =
		    code->regions.n ? &code->regions.v[code->regions.n - 1] : NULL;

		lo = region.hi;
		if (compat && !known)
			continue;
		if (last && last->lo == region.lo)
			last->hi = EP_MAX(last->hi, region.hi);
		else if (!ep_vec_push(&code->regions, region))
			return false;
	}
	return true;
}

static struct ep_error *find_regions(struct ep_code *code, const struct ep_intervals *intervals,
                                     const struct ep_code_starts *starts, bool compat)
{
	area_vec areas = {0};
	struct ep_error *err = find_areas(code->object, compat, &areas);
	size_t i_area = 0;

	for (size_t i = 0; !err && i < intervals->n; i++) {
		const struct ep_interval *at = &intervals->v[i];

		while (i_area < areas.n && areas.v[i_area].hi <= at->lo)
			i_area++;
		for (size_t j = i_area; !err && j < areas.n && areas.v[j].lo < at->hi; j++)
			if (!add_regions(code, &areas.v[j], starts, compat,
			                 EP_MAX(at->lo, areas.v[j].lo),
			                 EP_MIN(at->hi, areas.v[j].hi)))
				err = ep_error_nomem();
	}
	ep_vec_deinit(&areas);
	return err;
}

/* The region's bytes end with its section, but its last instruction may be longer than it is. */
static struct ep_error *decode_region(const struct ep_code *code, struct ep_code_region *region)
{
	EP_VEC(struct ep_code_insn) insns = {0};
	size_t n = 0, n_needed = (size_t)(region->hi - region->lo);
	const unsigned char *bytes = ep_object_bytes(code->object, region->lo, &n);
	struct ep_insn insn;

	if (!bytes || region->hi - region->lo > UINT32_MAX)
		return NULL;
	for (size_t at = 0; at < n_needed && at < n; at += insn.length) {
		ep_isa_decode(code->object->machine, bytes + at, n - at, region->lo + at, &insn);
		if (insn.cls == EP_INSN_INVALID) {
			region->gaps = true;
			continue;
		}
		struct ep_code_insn entry = {(uint32_t)at, insn.length, insn.cls};
		if (!ep_vec_push(&insns, entry)) {
			ep_vec_deinit(&insns);
			return ep_error_nomem();
		}
	}
	region->insns = insns.v;
	region->n = insns.n;
	return NULL;
}

struct decode {
	struct ep_code *code;
	EP_VEC(size_t) firsts; /* first region of each job, and the end */
};

static struct ep_error *decode_job(void *payload, size_t i_job, unsigned i_thread)
{
	struct decode *decode = payload;

	(void)i_thread;
	for (size_t i = decode->firsts.v[i_job]; i < decode->firsts.v[i_job + 1]; i++)
		EP_TRY(decode_region(decode->code, &decode->code->regions.v[i]));
	return NULL;
}

static struct ep_error *decode_all(struct ep_code *code, unsigned n_threads)
{
	struct decode decode = {.code = code};
	struct ep_error *err = NULL;
	uint64_t bytes = JOB_BYTES;

	for (size_t i = 0; !err && i <= code->regions.n; i++) {
		if ((bytes >= JOB_BYTES || i == code->regions.n) && !ep_vec_push(&decode.firsts, i))
			err = ep_error_nomem();
		bytes = bytes >= JOB_BYTES ? 0 : bytes;
		if (i < code->regions.n)
			bytes += code->regions.v[i].hi - code->regions.v[i].lo;
	}
	if (!err && decode.firsts.n)
		err = ep_parallel_for(n_threads, decode.firsts.n - 1, decode_job, &decode);
	ep_vec_deinit(&decode.firsts);
	return err;
}

static bool leaves(enum ep_insn_class cls, bool compat)
{
	/* LLVM's isUnconditionalBranch() leaves indirect jumps out; traps are no branches to it. */
	if (compat && (cls == EP_INSN_IND_JUMP || cls == EP_INSN_TRAP))
		return false;
	return ep_insn_leaves(cls);
}

static struct ep_error *find_leaves(struct ep_code *code, bool compat)
{
	for (size_t i = 0; i < code->regions.n; i++) {
		const struct ep_code_region *region = &code->regions.v[i];

		for (size_t j = 0; j < region->n; j++)
			if (leaves(region->insns[j].cls, compat) &&
			    !ep_vec_push(&code->leaves, region->lo + region->insns[j].offset))
				return ep_error_nomem();
	}
	return NULL;
}

struct ep_error *ep_code_build(const struct ep_object *object, const struct ep_intervals *intervals,
                               const struct ep_code_starts *starts, bool compat, unsigned n_threads,
                               struct ep_code *ret)
{
	struct ep_code code = {.object = object};
	struct ep_error *err = find_regions(&code, intervals, starts, compat);

	if (!err)
		err = decode_all(&code, n_threads);
	if (!err)
		err = find_leaves(&code, compat);
	if (err)
		ep_code_deinit(&code);
	else
		*ret = code;
	return err;
}

void ep_code_deinit(struct ep_code *code)
{
	for (size_t i = 0; i < code->regions.n; i++)
		free(code->regions.v[i].insns);
	ep_vec_deinit(&code->regions);
	ep_vec_deinit(&code->leaves);
}

/* The first region that ends behind vaddr. */
static size_t region_at(const struct ep_code *code, uint64_t vaddr)
{
	return ep_search(i, 0, code->regions.n, code->regions.v[i].hi <= vaddr);
}

/* The first instruction of a region that begins at or behind vaddr. */
static size_t insn_at(const struct ep_code_region *region, uint64_t vaddr)
{
	if (vaddr <= region->lo)
		return 0;
	return ep_search(i, 0, region->n, region->insns[i].offset < vaddr - region->lo);
}

const struct ep_code_insn *ep_code_at(const struct ep_code *code, uint64_t vaddr)
{
	size_t i_region = region_at(code, vaddr);

	if (i_region >= code->regions.n || code->regions.v[i_region].lo > vaddr)
		return NULL;
	const struct ep_code_region *region = &code->regions.v[i_region];
	size_t i = insn_at(region, vaddr);

	return i < region->n && region->lo + region->insns[i].offset == vaddr ? &region->insns[i]
	                                                                      : NULL;
}

/* Moves the cursor to the first region that ends behind vaddr; false: there is none. */
static bool seek_region(const struct ep_code *code, struct ep_code_cursor *cursor, uint64_t vaddr)
{
	const struct ep_code_region *v = code->regions.v;
	size_t n = code->regions.n, i = cursor->region;

	if (i < n && v[i].hi > vaddr && (!i || v[i - 1].hi <= vaddr))
		return true;
	/* Mostly it is the next one. */
	if (i < n && v[i].hi <= vaddr && (i + 1 == n || v[i + 1].hi > vaddr))
		i++;
	else
		i = region_at(code, vaddr);
	*cursor = (struct ep_code_cursor){.region = i};
	return i < n;
}

bool ep_code_covers(const struct ep_code *code, struct ep_code_cursor *cursor, uint64_t vaddr)
{
	return seek_region(code, cursor, vaddr) && code->regions.v[cursor->region].lo <= vaddr;
}

/* Moves the cursor to the first instruction of its region that begins at or behind vaddr. */
static size_t seek_insn(const struct ep_code_region *region, struct ep_code_cursor *cursor,
                        uint64_t vaddr)
{
	enum { NEAR = 16 };
	size_t i = cursor->insn;
	uint64_t offset = vaddr > region->lo ? vaddr - region->lo : 0;

	if (i && region->insns[i - 1].offset >= offset)
		return cursor->insn = insn_at(region, vaddr);
	for (unsigned left = NEAR; i < region->n && region->insns[i].offset < offset; i++)
		if (!left--)
			return cursor->insn = insn_at(region, vaddr);
	return cursor->insn = i;
}

static uint64_t region_bytes(const struct ep_code_region *region, struct ep_code_cursor *cursor,
                             uint64_t lo, uint64_t hi)
{
	size_t first = seek_insn(region, cursor, lo), end = seek_insn(region, cursor, hi);
	uint64_t bytes = 0;

	if (first >= end)
		return 0;
	if (!region->gaps)
		return region->insns[end - 1].offset + region->insns[end - 1].length -
		       region->insns[first].offset;
	for (size_t i = first; i < end; i++)
		bytes += region->insns[i].length;
	return bytes;
}

uint64_t ep_code_bytes(const struct ep_code *code, struct ep_code_cursor *cursor, uint64_t lo,
                       uint64_t hi)
{
	uint64_t bytes = 0;

	if (!seek_region(code, cursor, lo))
		return 0;
	while (code->regions.v[cursor->region].lo < hi) {
		const struct ep_code_region *region = &code->regions.v[cursor->region];

		bytes += region_bytes(region, cursor, lo, hi);
		if (region->hi >= hi || cursor->region + 1 == code->regions.n)
			break;
		*cursor = (struct ep_code_cursor){.region = cursor->region + 1};
	}
	return bytes;
}

bool ep_code_leaves(const struct ep_code *code, uint64_t lo, uint64_t hi)
{
	size_t first = ep_search(i, 0, code->leaves.n, code->leaves.v[i] < lo);

	return first < code->leaves.n && code->leaves.v[first] < hi;
}
