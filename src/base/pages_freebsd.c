/* SPDX-License-Identifier: BSD-2-Clause */
/* Large pages on FreeBSD: the kernel promotes what is aligned for them. */
#include "base/pages.h"

#include <sys/mman.h>

void *ep_pages_alloc(size_t n)
{
	int flags = MAP_PRIVATE | MAP_ANON | MAP_ALIGNED_SUPER;
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	ep_pages_touch(p, n);
	return p;
}

void ep_pages_free(void *p, size_t n)
{
	if (p)
		munmap(p, n);
}
