/* SPDX-License-Identifier: BSD-2-Clause */
/* The string table: an arena for the bytes, open addressing for the look-up. */
#include "base/strtab.h"

#include <string.h>
#include <xxhash.h>

#define N_MAX (UINT32_MAX / 2)

static uint32_t *slot_of(const struct ep_strtab *tab, const char *s, size_t n, uint32_t hash)
{
	uint32_t mask = tab->n_slots - 1;

	for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
		uint32_t id = tab->slots[i];
		if (!id)
			return &tab->slots[i];
		const struct ep_strtab_entry *e = &tab->entries[id - 1];
		if (e->hash == hash && e->len == n && !memcmp(e->s, s, n))
			return &tab->slots[i];
	}
}

static bool grow(struct ep_strtab *tab)
{
	uint32_t n_slots = tab->n_slots ? tab->n_slots * 2 : 64;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t id = 0; id < tab->n; id++) {
		uint32_t i = tab->entries[id].hash & (n_slots - 1);
		while (slots[i])
			i = (i + 1) & (n_slots - 1);
		slots[i] = id + 1;
	}
	free(tab->slots);
	tab->slots = slots;
	tab->n_slots = n_slots;
	return true;
}

static bool append(struct ep_strtab *tab, const char *s, size_t n, uint32_t hash)
{
	if (tab->n == tab->cap) {
		uint32_t cap = tab->cap ? tab->cap * 2 : 32;
		void *p = reallocarray(tab->entries, cap, sizeof(*tab->entries));
		if (!p)
			return false;
		tab->entries = p;
		tab->cap = cap;
	}
	const char *copy = ep_arena_strndup(&tab->arena, s, n);
	if (!copy)
		return false;
	tab->entries[tab->n++] =
	    (struct ep_strtab_entry){.s = copy, .len = (uint32_t)n, .hash = hash};
	return true;
}

struct ep_error *ep_strtab_add(struct ep_strtab *tab, const char *s, size_t n, uint32_t *ret)
{
	uint32_t hash = (uint32_t)XXH3_64bits(s, n);

	if (n > N_MAX || tab->n >= N_MAX)
		return ep_error_nomem();
	if (tab->n >= tab->n_slots / 2 && !grow(tab))
		return ep_error_nomem();
	uint32_t *slot = slot_of(tab, s, n, hash);
	if (!*slot) {
		if (!append(tab, s, n, hash))
			return ep_error_nomem();
		*slot = tab->n;
	}
	*ret = *slot - 1;
	return NULL;
}

bool ep_strtab_find(const struct ep_strtab *tab, const char *s, size_t n, uint32_t *ret)
{
	if (!tab->n_slots || n > N_MAX)
		return false;
	uint32_t id = *slot_of(tab, s, n, (uint32_t)XXH3_64bits(s, n));
	if (!id)
		return false;
	*ret = id - 1;
	return true;
}

void ep_strtab_deinit(struct ep_strtab *tab)
{
	ep_arena_deinit(&tab->arena);
	free(tab->entries);
	free(tab->slots);
	*tab = (struct ep_strtab){0};
}
