/* SPDX-License-Identifier: BSD-2-Clause */
/* LLVM's orders: names, functions, body records, call targets and inlined callees. */
#include <string.h>

#include "sprof/private.h"

/* A name to be sorted: its first bytes as a big-endian number decide most comparisons. */
struct name_key {
	uint64_t head;
	const char *rest;
	uint32_t n_rest;
	uint32_t id;
};

static uint64_t head_of(const char *s, size_t n)
{
	unsigned char bytes[8] = {0};
	uint64_t head = 0;

	memcpy(bytes, s, EP_MIN(n, sizeof(bytes)));
	for (size_t i = 0; i < sizeof(bytes); i++)
		head = head << 8 | bytes[i];
	return head;
}

static int compare_names(const void *a, const void *b)
{
	const struct name_key *x = a, *y = b;

	if (x->head != y->head)
		return x->head < y->head ? -1 : 1;
	int order = memcmp(x->rest, y->rest, EP_MIN(x->n_rest, y->n_rest));
	if (order)
		return order;
	return x->n_rest < y->n_rest ? -1 : x->n_rest > y->n_rest;
}

/* Length of what all names begin with, so that the heads can tell them apart. */
static size_t common_prefix(const struct ep_sprof *prof, const uint32_t *ids, size_t n)
{
	const char *first = ep_strtab_get(&prof->names, ids[0]);
	size_t common = ep_strtab_len(&prof->names, ids[0]);

	for (size_t i = 1; i < n && common; i++) {
		const char *s = ep_strtab_get(&prof->names, ids[i]);
		size_t len = EP_MIN(common, ep_strtab_len(&prof->names, ids[i]));
		common = 0;
		while (common < len && s[common] == first[common])
			common++;
	}
	return common;
}

static void name_keys(const struct ep_sprof *prof, const uint32_t *ids, size_t n, bool as_guids,
                      struct name_key *keys)
{
	size_t skip = as_guids ? 0 : common_prefix(prof, ids, n);

	for (size_t i = 0; i < n; i++) {
		const char *s = ep_strtab_get(&prof->names, ids[i]) + skip;
		size_t len = ep_strtab_len(&prof->names, ids[i]) - skip;
		struct name_key *key = &keys[i];
		*key = (struct name_key){.rest = s, .n_rest = (uint32_t)len, .id = ids[i]};
		if (!as_guids)
			key->head = head_of(s, len);
		else if (!ep_sprof_is_guid(s, len, &key->head))
			key->head = UINT64_MAX;
	}
}

struct ep_error *ep_sprof_sort_names(const struct ep_sprof *prof, uint32_t *ids, size_t n,
                                     bool as_guids)
{
	if (n < 2)
		return NULL;
	ep_autofree struct name_key *keys = reallocarray(NULL, n, sizeof(*keys));
	if (!keys)
		return ep_error_nomem();
	name_keys(prof, ids, n, as_guids, keys);
	qsort(keys, n, sizeof(*keys), compare_names);
	for (size_t i = 0; i < n; i++)
		ids[i] = keys[i].id;
	return NULL;
}

static struct ep_error *rank_names(struct ep_sprof *prof)
{
	uint32_t n = prof->names.n;

	if (prof->rank_ && prof->n_rank_ == n)
		return NULL;
	ep_autofree uint32_t *order = reallocarray(NULL, (size_t)n + !n, sizeof(*order));
	ep_autofree uint32_t *rank = reallocarray(NULL, (size_t)n + !n, sizeof(*rank));
	if (!order || !rank)
		return ep_error_nomem();
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	EP_TRY(ep_sprof_sort_names(prof, order, n, prof->flags & EP_SPROF_MD5));
	for (uint32_t i = 0; i < n; i++)
		rank[order[i]] = i;
	free(prof->rank_);
	prof->rank_ = ep_take(rank);
	prof->n_rank_ = n;
	return NULL;
}

/* An element of any array of the model: what it is sorted by, and where it was. */
struct sort_key {
	uint64_t first, second;
	uint32_t i;
};

/* Room for sorting that is kept from one array to the next. */
struct sorter {
	const struct ep_sprof *prof;
	EP_VEC(struct sort_key) keys;
	EP_VEC(unsigned char) copy;
};

static bool key_less(const struct sort_key *a, const struct sort_key *b)
{
	return a->first != b->first ? a->first < b->first : a->second < b->second;
}

static int compare_keys(const void *a, const void *b)
{
	return key_less(a, b) ? -1 : key_less(b, a);
}

/* Sorts the keys; false when they were in order already. */
static bool sort_keys(struct sort_key *keys, size_t n)
{
	size_t i = 1;

	while (i < n && !key_less(&keys[i], &keys[i - 1]))
		i++;
	if (i >= n)
		return false;
	if (n > 16) {
		qsort(keys, n, sizeof(*keys), compare_keys);
		return true;
	}
	for (; i < n; i++) {
		struct sort_key key = keys[i];
		size_t j = i;
		for (; j && key_less(&key, &keys[j - 1]); j--)
			keys[j] = keys[j - 1];
		keys[j] = key;
	}
	return true;
}

/* Brings an array into the order of sorter->keys, one for each element. */
static struct ep_error *sort_by_keys(struct sorter *sorter, void *array, size_t elem_size)
{
	size_t n = sorter->keys.n, bytes = n * elem_size;

	if (!sort_keys(sorter->keys.v, n))
		return NULL;
	sorter->copy.n = 0;
	if (!ep_vec_reserve(&sorter->copy, bytes))
		return ep_error_nomem();
	memcpy(sorter->copy.v, array, bytes);
	for (size_t i = 0; i < n; i++)
		memcpy((unsigned char *)array + i * elem_size,
		       sorter->copy.v + sorter->keys.v[i].i * elem_size, elem_size);
	return NULL;
}

/* Room for the keys of n elements, to be filled; NULL: no memory. */
static struct sort_key *start(struct sorter *sorter, size_t n)
{
	sorter->keys.n = 0;
	if (!ep_vec_reserve(&sorter->keys, n))
		return NULL;
	sorter->keys.n = n;
	return sorter->keys.v;
}

static struct ep_error *sort_targets(struct sorter *sorter, struct ep_sprof_record *record)
{
	record->i_index_ = 0;
	if (record->n_targets < 2)
		return NULL;
	struct sort_key *keys = start(sorter, record->n_targets);
	if (!keys)
		return ep_error_nomem();
	for (uint32_t i = 0; i < record->n_targets; i++) {
		const struct ep_sprof_target *t = &record->targets[i];
		keys[i] = (struct sort_key){~t->count, sorter->prof->rank_[t->name], i};
	}
	return sort_by_keys(sorter, record->targets, sizeof(*record->targets));
}

static struct ep_error *sort_records(struct sorter *sorter, struct ep_sprof_func *func)
{
	func->i_records_index_ = 0;
	for (uint32_t i = 0; i < func->n_records; i++)
		EP_TRY(sort_targets(sorter, &func->records[i]));
	if (func->flags & EP_SPROF_RECORDS_SORTED_)
		return NULL;
	struct sort_key *keys = start(sorter, func->n_records);
	if (!keys)
		return ep_error_nomem();
	for (uint32_t i = 0; i < func->n_records; i++) {
		const struct ep_sprof_record *r = &func->records[i];
		keys[i] = (struct sort_key){r->offset, r->discriminator, i};
	}
	EP_TRY(sort_by_keys(sorter, func->records, sizeof(*func->records)));
	func->flags |= EP_SPROF_RECORDS_SORTED_;
	return NULL;
}

/* Recursion ends at EP_SPROF_DEPTH_MAX. */
static struct ep_error *sort_func(struct sorter *sorter, struct ep_sprof_func *func)
{
	EP_TRY(sort_records(sorter, func));
	func->i_calls_index_ = 0;
	for (uint32_t i = 0; i < func->n_calls; i++)
		EP_TRY(sort_func(sorter, func->calls[i].func));
	if (func->n_calls < 2)
		return NULL;
	struct sort_key *keys = start(sorter, func->n_calls);
	if (!keys)
		return ep_error_nomem();
	for (uint32_t i = 0; i < func->n_calls; i++) {
		const struct ep_sprof_call *c = &func->calls[i];
		keys[i] = (struct sort_key){(uint64_t)c->offset << 32 | c->discriminator,
		                            sorter->prof->rank_[c->func->name], i};
	}
	return sort_by_keys(sorter, func->calls, sizeof(*func->calls));
}

static struct ep_error *sort_funcs(struct sorter *sorter, struct ep_sprof *prof)
{
	for (size_t i = 0; i < prof->funcs.n; i++)
		EP_TRY(sort_func(sorter, prof->funcs.v[i]));
	if (prof->funcs.n < 2)
		return NULL;
	struct sort_key *keys = prof->funcs.n < UINT32_MAX ? start(sorter, prof->funcs.n) : NULL;
	if (!keys)
		return ep_error_nomem();
	for (size_t i = 0; i < prof->funcs.n; i++) {
		const struct ep_sprof_func *f = prof->funcs.v[i];
		keys[i] = (struct sort_key){~f->total, prof->rank_[f->name], (uint32_t)i};
	}
	return sort_by_keys(sorter, prof->funcs.v, sizeof(struct ep_sprof_func *));
}

static struct ep_error *sort_symbols(struct ep_sprof *prof)
{
	size_t n = 0;

	EP_TRY(ep_sprof_sort_names(prof, prof->symbols.v, prof->symbols.n, false));
	for (size_t i = 0; i < prof->symbols.n; i++)
		if (!i || prof->symbols.v[i] != prof->symbols.v[n - 1])
			prof->symbols.v[n++] = prof->symbols.v[i];
	prof->symbols.n = n;
	return NULL;
}

struct ep_error *ep_sprof_finalise(struct ep_sprof *prof)
{
	struct sorter sorter = {.prof = prof};

	ep_sprof_drop_indexes(prof);
	struct ep_error *err = rank_names(prof);
	if (!err)
		err = sort_symbols(prof);
	if (!err)
		err = sort_funcs(&sorter, prof);
	ep_vec_deinit(&sorter.keys);
	ep_vec_deinit(&sorter.copy);
	prof->finalised = !err;
	return err;
}
