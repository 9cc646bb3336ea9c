/* SPDX-License-Identifier: BSD-2-Clause */
/* The interned translated blocks, so that retranslation does not use memory again. */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

#define N_BUCKETS (1u << 16)

static struct ep_sb_block *buckets[N_BUCKETS];

static unsigned bucket_of(uint64_t start)
{
	return (unsigned)(start * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

static bool is_handler(uint64_t start)
{
	for (size_t i = 0; i < ep_sb.n_handlers; i++)
		if (ep_sb.handlers[i] == start)
			return true;
	return false;
}

static bool same_block(const struct ep_sb_block *a, const struct ep_sb_block *b)
{
	return a->start == b->start && a->next == b->next && a->target == b->target &&
	       a->last == b->last && a->end == b->end && a->n_insns == b->n_insns &&
	       a->info == b->info && a->kind == b->kind;
}

static struct ep_sb_block *block_intern(const struct ep_sb_block *block)
{
	struct ep_sb_block **bucket = &buckets[bucket_of(block->start)], *b;
	void *mem;

	for (b = *bucket; b; b = b->chain)
		if (same_block(b, block))
			return b;
	if (posix_memalign(&mem, 64, sizeof(*b)))
		return NULL;
	b = mem;
	*b = *block;
	b->is_handler = is_handler(b->start);
	b->chain = *bucket;
	*bucket = b;
	return b;
}

struct ep_sb_block *ep_sb_block_intern(const struct ep_sb_block *block)
{
	pthread_mutex_lock(&ep_sb.lock);
	struct ep_sb_block *b = block_intern(block);
	pthread_mutex_unlock(&ep_sb.lock);
	return b;
}

void ep_sb_handler_add(uint64_t addr)
{
	pthread_mutex_lock(&ep_sb.lock);
	if (!is_handler(addr)) {
		if (ep_sb.n_handlers == ep_sb.cap_handlers) {
			size_t cap = ep_sb.cap_handlers * 2 + 16;
			uint64_t *v = realloc(ep_sb.handlers, cap * sizeof(*v));
			if (!v)
				goto out;
			ep_sb.handlers = v;
			ep_sb.cap_handlers = cap;
		}
		ep_sb.handlers[ep_sb.n_handlers++] = addr;
		for (struct ep_sb_block *b = buckets[bucket_of(addr)]; b; b = b->chain)
			if (b->start == addr)
				__atomic_store_n(&b->is_handler, 1, __ATOMIC_RELAXED);
	}
out:
	pthread_mutex_unlock(&ep_sb.lock);
}
