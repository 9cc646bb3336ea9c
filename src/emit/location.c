/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers for the pairs of line offset and discriminator of a unit. */
#include "emit/internal.h"

static size_t slot_of(const struct ep_locations *locations, size_t n_slots, uint32_t offset,
                      uint32_t discriminator, const uint32_t *slots)
{
	uint64_t hash = ((uint64_t)offset << 32 | discriminator) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(hash >> 32) & (n_slots - 1);

	for (; slots[i]; i = (i + 1) & (n_slots - 1)) {
		const struct ep_location *at = &locations->v.v[slots[i] - 1];

		if (at->offset == offset && at->discriminator == discriminator)
			break;
	}
	return i;
}

static bool grow(struct ep_locations *locations)
{
	size_t n_slots = locations->n_slots ? 2 * locations->n_slots : 256;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < locations->v.n; i++) {
		const struct ep_location *at = &locations->v.v[i];

		slots[slot_of(locations, n_slots, at->offset, at->discriminator, slots)] =
		    (uint32_t)i + 1;
	}
	free(locations->slots);
	locations->slots = slots;
	locations->n_slots = n_slots;
	return true;
}

bool ep_locations_add(struct ep_locations *locations, uint32_t offset, uint32_t discriminator,
                      uint32_t *ret)
{
	if (locations->v.n >= locations->n_slots / 2 &&
	    (locations->v.n >= UINT32_MAX / 2 || !grow(locations)))
		return false;
	size_t i = slot_of(locations, locations->n_slots, offset, discriminator, locations->slots);
	if (!locations->slots[i]) {
		if (!ep_vec_push(&locations->v, (struct ep_location){offset, discriminator}))
			return false;
		locations->slots[i] = (uint32_t)locations->v.n;
	}
	*ret = locations->slots[i] - 1;
	return true;
}

void ep_locations_deinit(struct ep_locations *locations)
{
	ep_vec_deinit(&locations->v);
	free(locations->slots);
	*locations = (struct ep_locations){0};
}
