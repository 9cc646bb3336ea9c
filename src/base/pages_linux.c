/* SPDX-License-Identifier: BSD-2-Clause */
/* Large pages on Linux: asked for, since most systems give them only then. */
#include "base/pages.h"

#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)

static void *map(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *ep_pages_alloc(size_t n)
{
	size_t n_more;

	if (n < LARGE_PAGE) {
		void *small = map(n);
		ep_pages_touch(small, n);
		return small;
	}
	if (!ep_size_add(n, LARGE_PAGE, &n_more))
		return NULL;
	char *p = map(n_more);
	if (!p)
		return NULL;
	/* Cut to a large page's bounds in front, and to the size asked for behind. */
	size_t head = -(uintptr_t)p & (LARGE_PAGE - 1);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), end = (n + page - 1) & ~(page - 1);
	if (head)
		munmap(p, head);
	if (head + end < n_more)
		munmap(p + head + end, n_more - head - end);
	/* Where it is refused, small pages are only slower. */
	(void)madvise(p + head, n, MADV_HUGEPAGE);
	ep_pages_touch(p + head, n);
	return p + head;
}

void ep_pages_free(void *p, size_t n)
{
	if (p)
		munmap(p, n);
}
