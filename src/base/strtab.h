/* SPDX-License-Identifier: BSD-2-Clause */
/* Interned strings: equal strings have equal 32-bit ids. */
#ifndef EP_BASE_STRTAB_H
#define EP_BASE_STRTAB_H

#include "base/arena.h"
#include "base/error.h"

struct ep_strtab_entry {
	const char *s; /* NUL-terminated, may hold further NULs: see len */
	uint32_t len;
	uint32_t hash;
};

/* Zero-initialise to start. Ids count up from 0 in order of first use. Not thread-safe. */
struct ep_strtab {
	struct ep_arena arena;
	struct ep_strtab_entry *entries;
	uint32_t n, cap;
	uint32_t *slots; /* id + 1, open addressing */
	uint32_t n_slots;
};

/*
 * The id of the n bytes at s, which are copied when they are new. Errors: NOMEM, also for more
 * than 2^31 strings or a string over 2^31 bytes.
 */
struct ep_error *ep_strtab_add(struct ep_strtab *tab, const char *s, size_t n, uint32_t *ret)
    EP_MUST_CHECK;

/* True and the id if the string is known. */
bool ep_strtab_find(const struct ep_strtab *tab, const char *s, size_t n, uint32_t *ret);

/* The string of a valid id: borrowed, valid as long as the table. */
static inline const char *ep_strtab_get(const struct ep_strtab *tab, uint32_t id)
{
	return tab->entries[id].s;
}

static inline size_t ep_strtab_len(const struct ep_strtab *tab, uint32_t id)
{
	return tab->entries[id].len;
}

void ep_strtab_deinit(struct ep_strtab *tab);

#endif
