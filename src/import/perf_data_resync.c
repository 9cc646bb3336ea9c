/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding the way back into a stream of records behind damage. */
#include "import/perf_data_reader.h"

/* Records in a row that must look right before the place is believed. */
enum { CHAIN = 4 };

bool ep_perf_is_likely(const struct ep_perf_reader *r, const unsigned char *p)
{
	uint32_t type = ep_load_u32(p, r->swap);
	size_t size = ep_load_u16(p + 6, r->swap);
	bool known = (type && type <= PERF_KERNEL_LAST) ||
	             (type >= PERF_HEADER_ATTR && type <= PERF_USER_LAST);

	return known && size >= PERF_RECORD_HEADER && (!(size % 8) || type == PERF_COMPRESSED);
}

static bool is_chain(const struct ep_perf_reader *r, const unsigned char *p, size_t n, size_t at,
                     bool last)
{
	for (int i = 0; i < CHAIN; i++) {
		if (at == n && i)
			return last || i > 1;
		if (n - at < PERF_RECORD_HEADER)
			return !last && i > 1;
		if (!ep_perf_is_likely(r, p + at))
			return false;
		size_t size = ep_load_u16(p + at + 6, r->swap);
		if (size > n - at)
			return !last && i > 1;
		at += size;
	}
	return true;
}

size_t ep_perf_resync(const struct ep_perf_reader *r, const unsigned char *p, size_t n, size_t from,
                      bool last)
{
	for (size_t at = from; at + PERF_RECORD_HEADER <= n; at++)
		if (ep_perf_is_likely(r, p + at) && is_chain(r, p, n, at, last))
			return at;
	return n;
}
