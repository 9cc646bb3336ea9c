/* SPDX-License-Identifier: BSD-2-Clause */
/* XXH3-128 by xxhash. */
#include "base/digest.h"

#include <string.h>
#include <xxhash.h>
#ifdef EP_HAVE_XXH_DISPATCH
/* Replaces what is used of xxhash.h by variants that are chosen by the CPU, of the same result. */
#include <xxh_x86dispatch.h>
#endif

struct ep_digester {
	XXH3_state_t *state;
};

static void put(XXH128_hash_t hash, uint8_t ret[EP_DIGEST_SIZE])
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, hash);
	memcpy(ret, canonical.digest, EP_DIGEST_SIZE);
}

void ep_digest(const void *data, size_t n, uint8_t ret[EP_DIGEST_SIZE])
{
	put(XXH3_128bits(data, n), ret);
}

struct ep_error *ep_digester_create(struct ep_digester **ret)
{
	struct ep_digester *digester = malloc(sizeof(*digester));

	if (!digester)
		return ep_error_nomem();
	digester->state = XXH3_createState();
	if (!digester->state || XXH3_128bits_reset(digester->state) != XXH_OK) {
		ep_digester_destroy(digester);
		return ep_error_nomem();
	}
	*ret = digester;
	return NULL;
}

void ep_digester_add(struct ep_digester *digester, const void *data, size_t n)
{
	XXH3_128bits_update(digester->state, data, n);
}

void ep_digester_finish(struct ep_digester *digester, uint8_t ret[EP_DIGEST_SIZE])
{
	put(XXH3_128bits_digest(digester->state), ret);
	ep_digester_destroy(digester);
}

void ep_digester_destroy(struct ep_digester *digester)
{
	if (!digester)
		return;
	XXH3_freeState(digester->state);
	free(digester);
}
