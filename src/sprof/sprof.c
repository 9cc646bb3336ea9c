/* SPDX-License-Identifier: BSD-2-Clause */
/* Building a profile: arrays that double in the arena, with a hash index beside the big ones. */
#include "sprof/sprof.h"

#include <string.h>

#include "base/search.h"
#include "sprof/private.h"

/* Arrays up to this size are searched one by one. */
#define N_LINEAR 16
#define N_MAX (UINT32_MAX / 4)

struct ep_sprof_free_ {
	struct ep_sprof_free_ *next;
};

enum set_kind { RECORDS, TARGETS, CALLS };

struct key {
	uint64_t loc;
	uint32_t name;
};

/* One of the three arrays of the model, with what its handling needs. */
struct set {
	enum set_kind kind;
	size_t elem_size; /* a power of two */
	void **v;
	uint32_t *n, *i_index;
};

static uint64_t loc_of(uint32_t offset, uint32_t discriminator)
{
	return (uint64_t)offset << 32 | discriminator;
}

static inline struct key key_at(const struct set *set, uint32_t i)
{
	if (set->kind == RECORDS) {
		const struct ep_sprof_record *r = (const struct ep_sprof_record *)*set->v + i;
		return (struct key){.loc = loc_of(r->offset, r->discriminator)};
	}
	if (set->kind == TARGETS)
		return (struct key){.name = ((const struct ep_sprof_target *)*set->v)[i].name};
	const struct ep_sprof_call *c = (const struct ep_sprof_call *)*set->v + i;
	return (struct key){.loc = loc_of(c->offset, c->discriminator), .name = c->func->name};
}

static inline bool key_is(const struct set *set, uint32_t i, struct key key)
{
	struct key k = key_at(set, i);

	return k.loc == key.loc && k.name == key.name;
}

/* Seeded, so that no input can be made to collide. */
static uint64_t key_hash(const struct ep_sprof *prof, struct key key)
{
	uint64_t h = key.loc ^ prof->seed_;

	h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
	h ^= key.name;
	h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	h = (h ^ h >> 29) * UINT64_C(0xff51afd7ed558ccd);
	return h ^ h >> 32;
}

static void index_put(const struct ep_sprof *prof, struct ep_sprof_index_ *index, struct key key,
                      uint32_t i)
{
	uint32_t mask = index->n_slots - 1, slot = (uint32_t)key_hash(prof, key) & mask;

	while (index->slots[slot])
		slot = (slot + 1) & mask;
	index->slots[slot] = i + 1;
}

/* Makes the set's index, or makes it anew when it is half full. */
static bool index_grow(struct ep_sprof *prof, struct set *set)
{
	struct ep_sprof_index_ fresh = {.n_slots = 4 * N_LINEAR};

	if (!prof->seed_ && getentropy(&prof->seed_, sizeof(prof->seed_)) < 0)
		prof->seed_ = (uintptr_t)prof;
	while (fresh.n_slots < 4 * *set->n)
		fresh.n_slots *= 2;
	if (!*set->i_index) {
		if (prof->indexes_.n >= N_MAX ||
		    !ep_vec_push(&prof->indexes_, (struct ep_sprof_index_){0}))
			return false;
		*set->i_index = (uint32_t)prof->indexes_.n;
	}
	fresh.slots = calloc(fresh.n_slots, sizeof(*fresh.slots));
	if (!fresh.slots)
		return false;
	for (uint32_t i = 0; i < *set->n; i++)
		index_put(prof, &fresh, key_at(set, i), i);
	struct ep_sprof_index_ *index = &prof->indexes_.v[*set->i_index - 1];
	free(index->slots);
	*index = fresh;
	return true;
}

/* The place of a key, n when it is not there. */
static struct ep_error *set_find(struct ep_sprof *prof, struct set *set, struct key key,
                                 uint32_t *ret)
{
	if (*set->n <= N_LINEAR) {
		uint32_t i = *set->n;
		while (i && !key_is(set, i - 1, key))
			i--;
		*ret = i ? i - 1 : *set->n;
		return NULL;
	}
	if (!*set->i_index && !index_grow(prof, set))
		return ep_error_nomem();
	const struct ep_sprof_index_ *index = &prof->indexes_.v[*set->i_index - 1];
	uint32_t mask = index->n_slots - 1, slot = (uint32_t)key_hash(prof, key) & mask;
	while (index->slots[slot] && !key_is(set, index->slots[slot] - 1, key))
		slot = (slot + 1) & mask;
	*ret = index->slots[slot] ? index->slots[slot] - 1 : *set->n;
	return NULL;
}

/* Arrays are full at every power of two; blocks left behind are used again for smaller ones. */
static bool set_make_room(struct ep_sprof *prof, struct set *set)
{
	uint32_t n = *set->n;
	size_t bytes = (size_t)n * set->elem_size;

	if (n & (n - 1))
		return true;
	if (n >= N_MAX)
		return false;
	size_t want = n ? 2 * bytes : set->elem_size;
	unsigned class = (unsigned)__builtin_ctzll(want);
	void *p = NULL;
	if (class < EP_ARRAY_LEN(prof->free_) && prof->free_[class]) {
		p = prof->free_[class];
		prof->free_[class] = prof->free_[class]->next;
	} else {
		p = ep_arena_alloc(&prof->arena, want);
	}
	if (!p)
		return false;
	if (n) {
		struct ep_sprof_free_ *old = *set->v;
		memcpy(p, old, bytes);
		class = (unsigned)__builtin_ctzll(bytes);
		if (class < EP_ARRAY_LEN(prof->free_)) {
			old->next = prof->free_[class];
			prof->free_[class] = old;
		}
	}
	*set->v = p;
	return true;
}

static struct ep_error *set_append(struct ep_sprof *prof, struct set *set, const void *elem)
{
	if (!set_make_room(prof, set))
		return ep_error_nomem();
	uint32_t i = (*set->n)++;
	memcpy((char *)*set->v + i * set->elem_size, elem, set->elem_size);
	prof->finalised = false;
	if (!*set->i_index)
		return NULL;
	if (prof->indexes_.v[*set->i_index - 1].n_slots / 2 <= i)
		return index_grow(prof, set) ? NULL : ep_error_nomem();
	index_put(prof, &prof->indexes_.v[*set->i_index - 1], key_at(set, i), i);
	return NULL;
}

static struct set records_of(struct ep_sprof_func *func)
{
	return (struct set){RECORDS, sizeof(*func->records), (void **)&func->records,
	                    &func->n_records, &func->i_records_index_};
}

static struct set calls_of(struct ep_sprof_func *func)
{
	return (struct set){CALLS, sizeof(*func->calls), (void **)&func->calls, &func->n_calls,
	                    &func->i_calls_index_};
}

static struct set targets_of(struct ep_sprof_record *record)
{
	return (struct set){TARGETS, sizeof(*record->targets), (void **)&record->targets,
	                    &record->n_targets, &record->i_index_};
}

static struct ep_sprof_func *func_create(struct ep_sprof *prof, uint32_t name, uint32_t depth)
{
	struct ep_sprof_func *func = ep_arena_calloc(&prof->arena, 1, sizeof(*func));

	if (!func)
		return NULL;
	func->name = name;
	func->depth = depth;
	func->flags = EP_SPROF_RECORDS_SORTED_;
	return func;
}

struct ep_sprof_func *ep_sprof_func_find(const struct ep_sprof *prof, uint32_t name)
{
	return name < prof->of_name_.n ? prof->of_name_.v[name] : NULL;
}

struct ep_error *ep_sprof_func(struct ep_sprof *prof, uint32_t name, struct ep_sprof_func **ret)
{
	struct ep_sprof_func *func = ep_sprof_func_find(prof, name);

	prof->finalised = false;
	if (!func) {
		size_t n_more = name < prof->of_name_.n ? 0 : name + 1 - prof->of_name_.n;
		if (!ep_vec_reserve(&prof->of_name_, n_more) || !ep_vec_reserve(&prof->funcs, 1))
			return ep_error_nomem();
		if (n_more)
			memset(prof->of_name_.v + prof->of_name_.n, 0,
			       n_more * sizeof(*prof->of_name_.v));
		prof->of_name_.n += n_more;
		func = func_create(prof, name, 0);
		if (!func)
			return ep_error_nomem();
		prof->of_name_.v[name] = prof->funcs.v[prof->funcs.n++] = func;
	}
	*ret = func;
	return NULL;
}

struct ep_error *ep_sprof_callee(struct ep_sprof *prof, struct ep_sprof_func *func, uint32_t offset,
                                 uint32_t discriminator, uint32_t name, struct ep_sprof_func **ret)
{
	struct set set = calls_of(func);
	struct key key = {.loc = loc_of(offset, discriminator), .name = name};
	uint32_t i;

	EP_TRY(set_find(prof, &set, key, &i));
	if (i == func->n_calls) {
		struct ep_sprof_call call = {.offset = offset, .discriminator = discriminator};
		if (func->depth >= EP_SPROF_DEPTH_MAX)
			return ep_error_create(EP_ERROR_BAD_DATA, "more than %d levels of inlining",
			                       EP_SPROF_DEPTH_MAX);
		call.func = func_create(prof, name, func->depth + 1);
		if (!call.func)
			return ep_error_nomem();
		EP_TRY(set_append(prof, &set, &call));
	}
	*ret = func->calls[i].func;
	return NULL;
}

/* Records mostly come in order: then the place is found without an index. */
static bool record_find_sorted(const struct ep_sprof_func *func, uint64_t loc, uint32_t *ret)
{
	const struct ep_sprof_record *v = func->records;
	uint32_t n = func->n_records;

	if (n) {
		const struct ep_sprof_record *last = &v[n - 1];
		uint64_t last_loc = loc_of(last->offset, last->discriminator);
		if (loc >= last_loc) {
			*ret = loc == last_loc ? n - 1 : n;
			return true;
		}
	}
	uint32_t at = (uint32_t)ep_search(i, 0, n, loc_of(v[i].offset, v[i].discriminator) < loc);
	*ret = at;
	return at == n || loc_of(v[at].offset, v[at].discriminator) == loc;
}

struct ep_error *ep_sprof_record(struct ep_sprof *prof, struct ep_sprof_func *func, uint32_t offset,
                                 uint32_t discriminator, struct ep_sprof_record **ret)
{
	struct set set = records_of(func);
	struct key key = {.loc = loc_of(offset, discriminator)};
	uint32_t i;

	if (!(func->flags & EP_SPROF_RECORDS_SORTED_)) {
		EP_TRY(set_find(prof, &set, key, &i));
	} else if (!record_find_sorted(func, key.loc, &i)) {
		func->flags &= ~(uint32_t)EP_SPROF_RECORDS_SORTED_;
		i = func->n_records;
	}
	if (i == func->n_records) {
		struct ep_sprof_record record = {.offset = offset, .discriminator = discriminator};
		EP_TRY(set_append(prof, &set, &record));
	}
	*ret = &func->records[i];
	return NULL;
}

struct ep_error *ep_sprof_body_add(struct ep_sprof *prof, struct ep_sprof_func *func,
                                   uint32_t offset, uint32_t discriminator, uint64_t count)
{
	struct ep_sprof_record *record;

	EP_TRY(ep_sprof_record(prof, func, offset, discriminator, &record));
	record->count = ep_count_add(record->count, count);
	return NULL;
}

struct ep_error *ep_sprof_body_max(struct ep_sprof *prof, struct ep_sprof_func *func,
                                   uint32_t offset, uint32_t discriminator, uint64_t count)
{
	struct ep_sprof_record *record;

	EP_TRY(ep_sprof_record(prof, func, offset, discriminator, &record));
	record->count = EP_MAX(record->count, count);
	return NULL;
}

struct ep_error *ep_sprof_target_add(struct ep_sprof *prof, struct ep_sprof_record *record,
                                     uint32_t name, uint64_t count)
{
	struct set set = targets_of(record);
	uint32_t i;

	EP_TRY(set_find(prof, &set, (struct key){.name = name}, &i));
	if (i == record->n_targets)
		return set_append(prof, &set,
		                  &(struct ep_sprof_target){.name = name, .count = count});
	record->targets[i].count = ep_count_add(record->targets[i].count, count);
	prof->finalised = false;
	return NULL;
}

struct ep_error *ep_sprof_symbol_add(struct ep_sprof *prof, uint32_t name)
{
	prof->finalised = false;
	return ep_vec_push(&prof->symbols, name) ? NULL : ep_error_nomem();
}

size_t ep_sprof_memory(const struct ep_sprof *prof)
{
	return prof->arena.total_bytes + prof->names.arena.total_bytes +
	       prof->names.cap * sizeof(*prof->names.entries) +
	       prof->names.n_slots * sizeof(*prof->names.slots) +
	       prof->n_rank_ * sizeof(*prof->rank_) + prof->funcs.cap * sizeof(*prof->funcs.v) +
	       prof->symbols.cap * sizeof(*prof->symbols.v) +
	       prof->of_name_.cap * sizeof(*prof->of_name_.v);
}

void ep_sprof_drop_indexes(struct ep_sprof *prof)
{
	for (size_t i = 0; i < prof->indexes_.n; i++)
		free(prof->indexes_.v[i].slots);
	ep_vec_deinit(&prof->indexes_);
}

void ep_sprof_deinit(struct ep_sprof *prof)
{
	ep_sprof_drop_indexes(prof);
	ep_vec_deinit(&prof->funcs);
	ep_vec_deinit(&prof->symbols);
	ep_vec_deinit(&prof->sections);
	ep_vec_deinit(&prof->of_name_);
	free(prof->rank_);
	ep_strtab_deinit(&prof->names);
	ep_arena_deinit(&prof->arena);
	*prof = (struct ep_sprof){0};
}
