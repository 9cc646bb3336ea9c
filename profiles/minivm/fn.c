/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions as heap objects. */
#include "vm.h"

#include <string.h>

struct mv_fn *mv_fn_new(struct mv_heap *heap, const char *name, size_t len)
{
	struct mv_fn *fn = mv_from_obj(mv_new(heap, MV_FN, sizeof(*fn))).u.fn;

	if (len >= sizeof(fn->name))
		len = sizeof(fn->name) - 1;
	memcpy(fn->name, name, len);
	return fn;
}

static bool equal(struct mv_value a, struct mv_value b)
{
	return a.u.fn == b.u.fn;
}

static void show(struct mv_text *out, struct mv_value v, unsigned depth)
{
	(void)depth;
	mv_text_addf(out, "fn %s", v.u.fn->name);
}

static void trace(struct mv_heap *heap, struct mv_obj *obj)
{
	const struct mv_fn *fn = mv_from_obj(obj).u.fn;

	mv_mark_all(heap, fn->consts, fn->n_consts);
}

static void release(struct mv_heap *heap, struct mv_obj *obj)
{
	struct mv_fn *fn = mv_from_obj(obj).u.fn;

	mv_resize(heap, fn->code, fn->cap_code * sizeof(*fn->code), 0);
	mv_resize(heap, fn->lines, fn->cap_code * sizeof(*fn->lines), 0);
	mv_resize(heap, fn->consts, fn->cap_consts * sizeof(*fn->consts), 0);
	mv_resize(heap, obj, sizeof(*fn), 0);
}

const struct mv_type mv_fn_type = {
    .name = "fn", .equal = equal, .show = show, .trace = trace, .release = release};
