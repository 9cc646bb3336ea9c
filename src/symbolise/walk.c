/* SPDX-License-Identifier: BSD-2-Clause */
/* A walk over a tree of DIEs that reads each of them once. */
#include <dwarf.h>
#include <string.h>

#include "symbolise/internal.h"

struct ep_sym_walk ep_sym_walk_init(const Dwarf_Die *start, Dwarf_Off unit_end,
                                    struct ep_sym_abbrevs *abbrevs)
{
	struct ep_sym_walk walk = {.die = *start, .abbrevs = abbrevs};
	const unsigned char *at = start->addr;
	Dwarf_Off offset = dwarf_dieoffset(&walk.die);

	walk.end = unit_end > offset ? at + (unit_end - offset) : at;
	return walk;
}

/*
 * dwarf_siblingof() walks all children again, which would make a walk quadratic in the depth. But
 * of a DIE without children it finds the end of the list, and says where that is: behind it, the
 * parent's next sibling begins.
 */
static bool next_behind(struct ep_sym_walk *walk)
{
	Dwarf_Die next;

	memset(&next, 0, sizeof(next));
	int status = dwarf_siblingof(&walk->die, &next);
	if (status == 0) {
		walk->die = next;
		return walk->level > 0;
	}
	const unsigned char *p = next.addr;
	if (status < 0 || !p) {
		walk->bad = walk->level > 0;
		return false;
	}
	while (walk->level > 0 && p < walk->end && !*p) {
		p++;
		walk->level--;
	}
	if (!walk->level || p >= walk->end)
		return false;
	walk->die.addr = (void *)p;
	walk->die.abbrev = NULL;
	return true;
}

/* Gives the DIE its abbreviation. What is no abbreviation is found out by whoever uses the DIE. */
static void abbreviate(struct ep_sym_walk *walk)
{
	struct ep_bytes in = ep_bytes_init(
	    walk->die.addr, (size_t)(walk->end - (unsigned char *)walk->die.addr), false);
	uint64_t code = ep_bytes_uleb(&in);

	if (in.failed || code >= EP_ARRAY_LEN(walk->abbrevs->v))
		return;
	if (!walk->abbrevs->v[code] && dwarf_tag(&walk->die) != DW_TAG_invalid)
		walk->abbrevs->v[code] = walk->die.abbrev;
	walk->die.abbrev = walk->abbrevs->v[code];
}

static bool next(struct ep_sym_walk *walk, bool skip)
{
	Dwarf_Die child;

	if (!skip) {
		memset(&child, 0, sizeof(child));
		int status = dwarf_child(&walk->die, &child);

		if (status < 0 || walk->level >= EP_SYM_DEPTH_MAX) {
			walk->bad = true;
			return false;
		}
		if (status == 0) {
			walk->die = child;
			walk->level++;
			return true;
		}
	}
	return walk->level > 0 && next_behind(walk);
}

bool ep_sym_walk_next(struct ep_sym_walk *walk, bool skip)
{
	if (!next(walk, skip))
		return false;
	if ((unsigned char *)walk->die.addr >= walk->end) {
		walk->bad = true;
		return false;
	}
	abbreviate(walk);
	return true;
}
