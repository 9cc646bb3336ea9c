/* SPDX-License-Identifier: BSD-2-Clause */
/* The counting table: memory and growth. */
#include "fold/table.h"

#include <string.h>
#include <time.h>

#include "base/digest.h"
#include "base/pages.h"

#define SLOTS_FIRST ((size_t)1 << 12)
#define SLOTS_CHEAP ((size_t)1 << 18)
/* 4 GiB, 84 million different branches: more than any set of binaries has. */
#define SLOTS_MAX ((size_t)1 << 27)

static size_t limit_of(size_t n_slots)
{
	return n_slots / 8 * 5;
}

static struct ep_fold_entry *new_slots(size_t n)
{
	return ep_pages_alloc(n * sizeof(struct ep_fold_entry));
}

static void free_slots(struct ep_fold_entry *slots, size_t n)
{
	ep_pages_free(slots, n * sizeof(*slots));
}

static unsigned shift_of(size_t n_slots)
{
	return 64 - (unsigned)__builtin_ctzll(n_slots);
}

/* Seeds need not be secret from the machine's owner, only unknown to who made the input. */
static void make_seeds(struct ep_fold_table *table)
{
	struct {
		struct timespec now;
		const void *place;
		pid_t pid;
	} noise = {.place = table->slots, .pid = getpid()};
	uint8_t digest[EP_DIGEST_SIZE];

	clock_gettime(CLOCK_MONOTONIC, &noise.now);
	ep_digest(&noise, sizeof(noise), digest);
	memcpy(table->seeds, digest, sizeof(table->seeds));
}

struct ep_error *ep_fold_table_init(struct ep_fold_table *table, unsigned n_tables)
{
	size_t n_max = SLOTS_MAX;

	for (; n_tables > 1; n_tables = (n_tables + 1) / 2)
		n_max /= 2;
	*table = (struct ep_fold_table){.slots = new_slots(SLOTS_FIRST),
	                                .mask = SLOTS_FIRST - 1,
	                                .shift = shift_of(SLOTS_FIRST),
	                                .n_limit = limit_of(SLOTS_FIRST),
	                                .n_slots_max = n_max};
	if (!table->slots)
		return ep_error_nomem();
	make_seeds(table);
	return NULL;
}

void ep_fold_table_deinit(struct ep_fold_table *table)
{
	free_slots(table->slots, (size_t)table->mask + 1);
	*table = (struct ep_fold_table){0};
}

static void move_entry(struct ep_fold_table *table, const struct ep_fold_entry *entry)
{
	uint64_t i = ep_fold_table_hash(table, entry->from, entry->to, entry->what) >> table->shift;

	while (table->slots[i].count)
		i = (i + 1) & table->mask;
	table->slots[i] = *entry;
}

struct ep_error *ep_fold_table_grow(struct ep_fold_table *table, size_t n_more)
{
	size_t n_old = (size_t)table->mask + 1, n = n_old;
	struct ep_fold_entry *old = table->slots;

	/* Four times as large while that is cheap: each growth is a walk over all. */
	n *= n < SLOTS_CHEAP ? 4 : 1;
	while (n < table->n_slots_max && limit_of(n) < table->n_used + n_more)
		n *= 2;
	if (limit_of(n) < table->n_used + n_more)
		return ep_error_create(EP_ERROR_NOMEM,
		                       "more than %zu different branches in one input",
		                       limit_of(table->n_slots_max));
	struct ep_fold_entry *slots = new_slots(n);
	if (!slots)
		return ep_error_nomem();
	table->slots = slots;
	table->mask = n - 1;
	table->shift = shift_of(n);
	table->n_limit = limit_of(n);
	for (size_t i = 0; i < n_old; i++)
		if (old[i].count)
			move_entry(table, &old[i]);
	free_slots(old, n_old);
	return NULL;
}

void ep_fold_table_pack(struct ep_fold_table *table)
{
	size_t n = 0;

	/* Without a branch: whether a slot is in use is as good as random. */
	for (uint64_t i = 0; i <= table->mask; i++) {
		struct ep_fold_entry e = table->slots[i];
		table->slots[n] = e;
		n += e.count != 0;
	}
}

void ep_fold_table_spill(struct ep_fold_table *table, uint64_t from, uint64_t to, uint32_t what,
                         uint64_t mispreds)
{
	what |= EP_FOLD_WHAT_SPILL;
	ep_fold_table_add(table, ep_fold_table_hash(table, from, to, what), from, to, what,
	                  mispreds, 0);
}
