/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding one profile to another. */
#include "sprof/private.h"

struct merger {
	struct ep_sprof *to;
	const struct ep_sprof *from;
	uint64_t weight;
	uint32_t *ids; /* name id of `from` to that of `to`, + 1; 0: not looked up yet */
};

static struct ep_error *map_name(struct merger *m, uint32_t name, uint32_t *ret)
{
	if (!m->ids[name]) {
		uint32_t id;
		EP_TRY(ep_sprof_name(m->to, ep_strtab_get(&m->from->names, name),
		                     ep_strtab_len(&m->from->names, name), &id));
		m->ids[name] = id + 1;
	}
	*ret = m->ids[name] - 1;
	return NULL;
}

static void add(const struct merger *m, uint64_t *to, uint64_t count)
{
	*to = ep_count_add(*to, ep_count_mul(count, m->weight));
}

static struct ep_error *merge_record(struct merger *m, struct ep_sprof_func *to,
                                     const struct ep_sprof_record *from)
{
	struct ep_sprof_record *record;

	EP_TRY(ep_sprof_record(m->to, to, from->offset, from->discriminator, &record));
	add(m, &record->count, from->count);
	for (uint32_t i = 0; i < from->n_targets; i++) {
		uint32_t name;
		EP_TRY(map_name(m, from->targets[i].name, &name));
		EP_TRY(ep_sprof_target_add(m->to, record, name,
		                           ep_count_mul(from->targets[i].count, m->weight)));
	}
	return NULL;
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static struct ep_error *merge_func(struct merger *m, struct ep_sprof_func *to,
                                   const struct ep_sprof_func *from)
{
	if (to->checksum && from->checksum && to->checksum != from->checksum)
		return ep_error_hint(ep_error_create(EP_ERROR_MISMATCH,
		                                     "checksums of function %s differ",
		                                     ep_strtab_get(&m->from->names, from->name)),
		                     "the profiles are of different versions of the program");
	if (from->checksum)
		to->checksum = from->checksum;
	to->flags |= from->flags & (EP_SPROF_HAS_CHECKSUM | EP_SPROF_HAS_ATTRIBUTES);
	to->attributes |= from->attributes;
	add(m, &to->total, from->total);
	add(m, &to->head, from->head);
	for (uint32_t i = 0; i < from->n_records; i++)
		EP_TRY(merge_record(m, to, &from->records[i]));
	for (uint32_t i = 0; i < from->n_calls; i++) {
		const struct ep_sprof_call *c = &from->calls[i];
		struct ep_sprof_func *callee;
		uint32_t name;
		EP_TRY(map_name(m, c->func->name, &name));
		EP_TRY(ep_sprof_callee(m->to, to, c->offset, c->discriminator, name, &callee));
		EP_TRY(merge_func(m, callee, c->func));
	}
	return NULL;
}

static struct ep_error *merge_all(struct merger *m)
{
	for (size_t i = 0; i < m->from->funcs.n; i++) {
		const struct ep_sprof_func *from = m->from->funcs.v[i];
		struct ep_sprof_func *func;
		uint32_t name;
		EP_TRY(map_name(m, from->name, &name));
		EP_TRY(ep_sprof_func(m->to, name, &func));
		EP_TRY(merge_func(m, func, from));
	}
	for (size_t i = 0; i < m->from->symbols.n; i++) {
		uint32_t name;
		EP_TRY(map_name(m, m->from->symbols.v[i], &name));
		EP_TRY(ep_sprof_symbol_add(m->to, name));
	}
	return NULL;
}

struct ep_error *ep_sprof_merge(struct ep_sprof *prof, const struct ep_sprof *other,
                                uint64_t weight)
{
	struct merger m = {.to = prof, .from = other, .weight = weight};
	uint32_t differ = prof->funcs.n ? prof->flags ^ other->flags : 0;

	if (differ & EP_SPROF_PROBE)
		return ep_error_create(EP_ERROR_MISMATCH,
		                       "a probe-based profile and one by lines do not add up");
	if (differ & EP_SPROF_MD5)
		return ep_error_create(EP_ERROR_MISMATCH,
		                       "a profile of GUIDs and one of names do not add up");
	if (differ & EP_SPROF_FS)
		return ep_error_create(EP_ERROR_MISMATCH,
		                       "profiles with and without flow-sensitive discriminators "
		                       "do not add up");
	prof->flags |= other->flags;
	ep_autofree void *ids = calloc((size_t)other->names.n + 1, sizeof(*m.ids));
	if (!ids)
		return ep_error_nomem();
	m.ids = ids;
	return merge_all(&m);
}
