/* SPDX-License-Identifier: BSD-2-Clause */
/* LLVM's conventions: names of profiles and discriminators. */
#include <string.h>

#include "emit/emit.h"

/* The last place of `suffix` in the n first bytes of name; n if there is none. */
static size_t last_of(const char *name, size_t n, const char *suffix)
{
	size_t n_suffix = strlen(suffix);

	for (size_t i = n; i-- > 0;)
		if (n - i >= n_suffix && !memcmp(name + i, suffix, n_suffix))
			return i;
	return n;
}

/* A suffix counts only when no further dot follows; ".__uniq." belongs to the name. */
size_t ep_emit_canonical_length(const char *name)
{
	static const char *const suffixes[] = {".llvm.", ".part."};
	size_t n = strlen(name);

	for (size_t i = 0; i < EP_ARRAY_LEN(suffixes); i++) {
		size_t at = last_of(name, n, suffixes[i]), dot = last_of(name, n, ".");

		if (at < n && (dot == at || dot == at + strlen(suffixes[i]) - 1))
			n = at;
	}
	return n;
}

/*
 * A discriminator is up to three numbers, lowest bits first: base, duplication factor, copy. A set
 * bit is an empty number of one bit; else 7 bits hold up to 31, or 14 bits up to 4095.
 */
static uint32_t component(uint32_t d)
{
	if (d & 1)
		return 0;
	d >>= 1;
	return d & 0x20 ? (d >> 1 & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

static uint32_t next_component(uint32_t d)
{
	if (d & 1)
		return d >> 1;
	return d >> (d & 0x40 ? 14 : 7);
}

static bool is_probe(uint32_t d)
{
	return (d & 7) == 7 && d & ~UINT32_C(7);
}

uint32_t ep_emit_base_discriminator(uint32_t discriminator)
{
	if (!is_probe(discriminator))
		return component(discriminator);
	/* A pseudo-probe's: it may carry the base of the line beside the probe's number. */
	if (discriminator >> 28 & 1)
		return discriminator >> 16 & 7;
	return discriminator >> 3 & 0xffff;
}

uint32_t ep_emit_duplication(uint32_t discriminator)
{
	uint32_t factor = component(next_component(discriminator));

	return factor ? factor : 1;
}
