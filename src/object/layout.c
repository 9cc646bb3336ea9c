/* SPDX-License-Identifier: BSD-2-Clause */
/* Look-ups by address and name in an opened binary. */
#include <string.h>

#include "base/bytes.h"
#include "object/internal.h"

static bool in(uint64_t x, uint64_t start, uint64_t size)
{
	return x >= start && x - start < size;
}

/* Executable segments win: a page of the file may be mapped twice, as data and as code. */
bool ep_object_foff_to_vaddr(const struct ep_object *object, uint64_t foff, uint64_t *ret)
{
	for (int executable = 1; executable >= 0; executable--) {
		for (size_t i = 0; i < object->n_segments; i++) {
			const struct ep_segment *s = &object->segments[i];
			if (s->executable == executable && in(foff, s->foff, s->file_size)) {
				*ret = s->vaddr + (foff - s->foff);
				return true;
			}
		}
	}
	return false;
}

static const struct ep_segment *segment_at(const struct ep_object *object, uint64_t vaddr)
{
	for (int executable = 1; executable >= 0; executable--)
		for (size_t i = 0; i < object->n_segments; i++)
			if (object->segments[i].executable == executable &&
			    in(vaddr, object->segments[i].vaddr, object->segments[i].file_size))
				return &object->segments[i];
	return NULL;
}

bool ep_object_vaddr_to_foff(const struct ep_object *object, uint64_t vaddr, uint64_t *ret)
{
	const struct ep_segment *s = segment_at(object, vaddr);

	if (s)
		*ret = s->foff + (vaddr - s->vaddr);
	return s;
}

const unsigned char *ep_object_bytes(const struct ep_object *object, uint64_t vaddr, size_t *n_ret)
{
	const struct ep_segment *s = segment_at(object, vaddr);

	if (!s)
		return NULL;
	*n_ret = (size_t)(s->file_size - (vaddr - s->vaddr));
	return object->priv->data + s->foff + (vaddr - s->vaddr);
}

bool ep_object_is_text(const struct ep_object *object, uint64_t vaddr)
{
	size_t lo = 0, hi = object->n_text;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct ep_text_range *t = &object->text[mid];
		if (in(vaddr, t->vaddr, t->size))
			return true;
		if (vaddr < t->vaddr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}

const struct ep_section *ep_object_section(const struct ep_object *object, const char *name)
{
	for (size_t i = 0; i < object->n_sections; i++) {
		const char *have = object->sections[i].name;
		if (!strcmp(have, name))
			return &object->sections[i];
		if (name[0] == '.' && have[0] == '.' && have[1] == 'z' &&
		    !strcmp(have + 2, name + 1))
			return &object->sections[i];
	}
	return NULL;
}

bool ep_object_debuglink(const struct ep_object *object, const char **name_ret, uint32_t *crc_ret)
{
	const struct ep_section *s = ep_object_section(object, ".gnu_debuglink");

	if (!s || !s->data)
		return false;
	struct ep_bytes b =
	    ep_bytes_init(s->data, (size_t)s->size, ep_swap_for(object->big_endian));
	const char *name = ep_bytes_cstr(&b, NULL);
	ep_bytes_take(&b, -ep_bytes_offset(&b) & 3);
	uint32_t crc = ep_bytes_u32(&b);
	if (b.failed || !*name)
		return false;
	*name_ret = name;
	*crc_ret = crc;
	return true;
}
