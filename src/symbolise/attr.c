/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of DIEs. */
#include <dwarf.h>

#include "symbolise/internal.h"

/* A DIE with more ranges than this is malformed: libdw would follow a list anywhere. */
#define RANGES_MAX (UINT64_C(1) << 24)

static uint32_t value_u32(Dwarf_Attribute *attr)
{
	Dwarf_Word value;

	return attr && !dwarf_formudata(attr, &value) ? (uint32_t)value : 0;
}

uint32_t ep_sym_attr_u32(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return value_u32(dwarf_attr(die, name, &attr));
}

uint32_t ep_sym_attr_u32_integrate(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return value_u32(dwarf_attr_integrate(die, name, &attr));
}

const char *ep_sym_attr_name(Dwarf_Die *die)
{
	static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
	Dwarf_Attribute attr;

	for (size_t i = 0; i < EP_ARRAY_LEN(names); i++) {
		if (!dwarf_attr_integrate(die, names[i], &attr))
			continue;
		const char *name = dwarf_formstring(&attr);
		if (name && *name)
			return name;
	}
	return NULL;
}

struct ep_sym_ranges ep_sym_ranges_init(Dwarf_Die *die)
{
	return (struct ep_sym_ranges){.die = die, .n_left = RANGES_MAX};
}

static bool is_code(const struct ep_symboliser *sym, uint64_t lo, uint64_t hi)
{
	return ep_object_is_text(sym->binary, lo) || (sym->dead_code && lo <= 1 && hi > 1);
}

bool ep_sym_ranges_next(const struct ep_symboliser *sym, struct ep_sym_ranges *it,
                        struct ep_interval *ret)
{
	Dwarf_Addr lo, hi;

	while (it->n_left) {
		ptrdiff_t offset = dwarf_ranges(it->die, it->offset, &it->base, &lo, &hi);

		/* A list that stands still would never end. */
		if (offset <= 0 || offset == it->offset)
			break;
		it->offset = offset;
		it->n_left--;
		if (hi <= lo || !is_code(sym, lo, hi))
			continue;
		*ret = (struct ep_interval){.lo = lo, .hi = hi};
		return true;
	}
	it->n_left = 0;
	return false;
}
