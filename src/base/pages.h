/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for large tables that are read at random places: large pages where the system has them. */
#ifndef EP_BASE_PAGES_H
#define EP_BASE_PAGES_H

#include "base/macros.h"

/* n > 0 bytes, all zero, aligned to a page. NULL: no memory. */
void *ep_pages_alloc(size_t n) EP_MUST_CHECK;

/* Ends what ep_pages_alloc(n) gave; NULL is allowed. */
void ep_pages_free(void *p, size_t n);

#endif
