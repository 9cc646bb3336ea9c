/* SPDX-License-Identifier: BSD-2-Clause */
/* Guard-page buffers and the place of the corpus. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "support/check.h"

static size_t page_round(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

void *check_guard(const void *data, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page_round(n);
	char *p =
	    mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	assert_int_equal(mprotect(p + size, page, PROT_NONE), 0);
	return memcpy(p + size - n, data, n);
}

void check_guard_free(void *p, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page_round(n);

	munmap((char *)p + n - size, size + page);
}

const char *check_corpus(void)
{
	const char *path = getenv("EP_CORPUS");

	if (path && !access(path, R_OK))
		return path;
	printf("skipped: the corpus folder is absent (EP_CORPUS=%s)\n", path ? path : "");
	return NULL;
}
