/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of maps against a model: one place per unit of a small address space. */
#include "fold/maps.h"

#include <string.h>

#include "support/check.h"

#define SPACE 64

static uint64_t seed = 1;

static uint64_t rnd(uint64_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % n;
}

static uint64_t at(const struct ep_fold_maps *maps, uint64_t ip)
{
	const struct ep_fold_map *m = ep_fold_maps_find(maps, ip);

	return m ? m->base + (ip & m->mask) : UINT64_MAX;
}

static void check_model(const struct ep_fold_maps *maps, const uint64_t model[SPACE])
{
	for (uint64_t ip = 0; ip < SPACE; ip++)
		check_u64_eq(at(maps, ip), model[ip]);
	for (size_t i = 1; maps && i < maps->n; i++)
		assert_true(maps->v[i - 1].start + maps->v[i - 1].len <= maps->v[i].start);
}

static struct ep_fold_map random_map(void)
{
	uint64_t start = rnd(SPACE), len = 1 + rnd(EP_MIN(SPACE - start, (uint64_t)12));
	uint32_t bin = rnd(3) ? EP_FOLD_BIN_FIRST + (uint32_t)rnd(3) : EP_FOLD_BIN_ANON;

	return ep_fold_map_make(start, len, bin, rnd(2) ? start : start + 100);
}

static void test_against_model(void **state)
{
	(void)state;
	uint64_t model[SPACE], old_model[SPACE];
	struct ep_fold_maps *maps = NULL, *old = NULL;
	struct ep_fold_room room = {0};

	memset(model, 0xff, sizeof(model));
	memset(old_model, 0xff, sizeof(old_model));
	for (int i = 0; i < 20000; i++) {
		struct ep_fold_map m = random_map();
		bool remove = !rnd(3);
		if (remove)
			check_ok(ep_fold_maps_remove(&maps, m.start, m.len, &room));
		else
			check_ok(ep_fold_maps_add(&maps, &m, &room));
		assert_false(room.full);
		for (uint64_t ip = m.start; ip < m.start + m.len; ip++)
			model[ip] = remove ? UINT64_MAX : m.base + (ip & m.mask);
		check_model(maps, model);
		/* A set that others see does not change. */
		check_model(old, old_model);
		if (!rnd(10)) {
			ep_fold_maps_unref(old);
			old = ep_fold_maps_ref(maps);
			memcpy(old_model, model, sizeof(model));
		}
	}
	ep_fold_maps_unref(old);
	ep_fold_maps_unref(maps);
}

static void test_unite_against_model(void **state)
{
	(void)state;
	const uint64_t ambiguous = (uint64_t)EP_FOLD_BIN_AMBIGUOUS << EP_FOLD_BIN_SHIFT;
	struct ep_fold_room room = {0};

	for (int i = 0; i < 3000; i++) {
		uint64_t model[SPACE];
		struct ep_fold_maps *maps = NULL;
		memset(model, 0xff, sizeof(model));
		for (int j = 0; j < 8; j++) {
			struct ep_fold_map m = random_map();
			check_ok(ep_fold_maps_unite(&maps, &m, &room));
			for (uint64_t ip = m.start; ip < m.start + m.len; ip++) {
				uint64_t v = m.base + (ip & m.mask);
				model[ip] =
				    model[ip] == UINT64_MAX || model[ip] == v ? v : ambiguous;
			}
			check_model(maps, model);
		}
		ep_fold_maps_unref(maps);
	}
}

static void test_ends_of_the_address_space(void **state)
{
	(void)state;
	struct ep_fold_map all = ep_fold_map_make(0, UINT64_MAX, EP_FOLD_BIN_FIRST, 0);
	struct ep_fold_map top = ep_fold_map_make(UINT64_MAX - 9, 10, EP_FOLD_BIN_FIRST + 1, 0);
	struct ep_fold_maps *maps = NULL;
	struct ep_fold_room room = {0};

	check_ok(ep_fold_maps_add(&maps, &all, &room));
	check_ok(ep_fold_maps_add(&maps, &top, &room));
	check_u64_eq(at(maps, UINT64_MAX), top.base + UINT64_MAX);
	check_ok(ep_fold_maps_unite(&maps, &all, &room));
	check_ok(ep_fold_maps_remove(&maps, 5, UINT64_MAX - 4, &room));
	check_u64_eq(at(maps, UINT64_MAX), UINT64_MAX);
	check_u64_eq(maps->n, 1);
	check_ok(ep_fold_maps_remove(&maps, 0, 10, &room));
	check_u64_eq(maps->n, 0);
	ep_fold_maps_unref(maps);
}

static void test_limit(void **state)
{
	(void)state;
	struct ep_fold_maps *maps = NULL;
	struct ep_fold_room room = {0};

	for (uint64_t i = 0; i < EP_FOLD_MAPS_MAX; i++) {
		struct ep_fold_map m = ep_fold_map_make(i * 16, 8, EP_FOLD_BIN_FIRST, 0);
		check_ok(ep_fold_maps_add(&maps, &m, &room));
		assert_false(room.full);
	}
	struct ep_fold_map m = ep_fold_map_make(8, 4, EP_FOLD_BIN_FIRST, 0);
	check_ok(ep_fold_maps_add(&maps, &m, &room));
	assert_true(room.full);
	check_u64_eq(at(maps, 9), UINT64_MAX);
	/* A hole needs one more as well: what would be wrong without it goes. */
	check_ok(ep_fold_maps_remove(&maps, 2, 1, &room));
	assert_true(room.full);
	check_u64_eq(at(maps, 0), UINT64_MAX);
	check_u64_eq(maps->n, EP_FOLD_MAPS_MAX - 1);
	ep_fold_maps_unref(maps);
	check_u64_eq(room.n_maps, 0);
}

/* All sets together have a limit too: forked processes that change one map each copy all. */
static void test_shared_limit(void **state)
{
	(void)state;
	struct ep_fold_map m = ep_fold_map_make(16, 8, EP_FOLD_BIN_FIRST, 0);
	struct ep_fold_room room = {.n_maps = EP_FOLD_ROOM_MAX - 20};
	struct ep_fold_maps *maps = NULL, *child;

	check_ok(ep_fold_maps_add(&maps, &m, &room));
	child = ep_fold_maps_ref(maps);
	m.start = 100;
	check_ok(ep_fold_maps_add(&child, &m, &room));
	assert_false(room.full);
	ep_fold_maps_unref(child);
	child = ep_fold_maps_ref(maps);
	room.n_maps = EP_FOLD_ROOM_MAX - 4;
	check_ok(ep_fold_maps_add(&child, &m, &room));
	assert_true(room.full);
	assert_null(child);
	check_u64_eq(at(maps, 16), m.base + 16);
	ep_fold_maps_unref(maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_against_model),
	    cmocka_unit_test(test_unite_against_model),
	    cmocka_unit_test(test_ends_of_the_address_space),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_shared_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
