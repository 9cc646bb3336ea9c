/* SPDX-License-Identifier: BSD-2-Clause */
/* The digest that tells captures and files apart: XXH3, 128 bits; not meant to resist an attacker.
 */
#ifndef EP_BASE_DIGEST_H
#define EP_BASE_DIGEST_H

#include "base/error.h"

#define EP_DIGEST_SIZE 16

/* The digest of n bytes, in its canonical (big-endian) form: the same on every host. */
void ep_digest(const void *data, size_t n, uint8_t ret[EP_DIGEST_SIZE]);

struct ep_digester;

/* For a stream: create, add the parts, finish (which also destroys). destroy takes NULL. */
struct ep_error *ep_digester_create(struct ep_digester **ret) EP_MUST_CHECK;
void ep_digester_add(struct ep_digester *digester, const void *data, size_t n);
void ep_digester_finish(struct ep_digester *digester, uint8_t ret[EP_DIGEST_SIZE]);
void ep_digester_destroy(struct ep_digester *digester);

#endif
