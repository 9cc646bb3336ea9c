/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for large tables that are read at random places: large pages where the system has them. */
#ifndef EP_BASE_PAGES_H
#define EP_BASE_PAGES_H

#include "base/macros.h"

/*
 * Writes to each page. A page that is read first is mapped to a shared page of zeros, and taken
 * back from all processors with an interrupt each when it is written.
 */
static inline void ep_pages_touch(void *p, size_t n)
{
	for (size_t i = 0; p && i < n; i += 4096)
		((volatile char *)p)[i] = 0;
}

/*
 * n > 0 bytes, all zero, aligned to a page, and all of them really there: for what is going to be
 * used everywhere. NULL: no memory.
 */
void *ep_pages_alloc(size_t n) EP_MUST_CHECK;

/* Ends what ep_pages_alloc(n) gave; NULL is allowed. */
void ep_pages_free(void *p, size_t n);

#endif
