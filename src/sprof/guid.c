/* SPDX-License-Identifier: BSD-2-Clause */
/* GUIDs: LLVM's short form of a function's name. */
#include <md5.h>

#include "sprof/private.h"

uint64_t ep_sprof_guid(const char *name, size_t n)
{
	unsigned char digest[MD5_DIGEST_LENGTH];
	uint64_t guid = 0;
	MD5_CTX ctx;

	MD5Init(&ctx);
	MD5Update(&ctx, (const unsigned char *)name, n);
	MD5Final(digest, &ctx);
	for (int i = 7; i >= 0; i--)
		guid = guid << 8 | digest[i];
	return guid;
}

bool ep_sprof_is_guid(const char *s, size_t n, uint64_t *ret)
{
	uint64_t v = 0;

	if (n < 1 || n > 20 || s[0] == '0')
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = (unsigned)(unsigned char)s[i] - '0';
		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*ret = v;
	return true;
}

uint64_t ep_sprof_guid_of(const struct ep_sprof *prof, uint32_t name)
{
	const char *s = ep_strtab_get(&prof->names, name);
	size_t n = ep_strtab_len(&prof->names, name);
	uint64_t guid;

	if ((prof->flags & EP_SPROF_MD5) && ep_sprof_is_guid(s, n, &guid))
		return guid;
	return ep_sprof_guid(s, n);
}
