/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a binary and reading its headers. */
#include "object/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/vec.h"
#include "object/internal.h"

/* Linkers make under 20; look-ups walk them all. */
#define SEGMENTS_MAX 4096

typedef EP_VEC(struct ep_segment) segment_vec;
typedef EP_VEC(struct ep_text_range) text_vec;

static struct ep_error *add_segment(struct ep_object *object, segment_vec *segments,
                                    const struct ep_segment *segment)
{
	struct ep_segment s = *segment;
	uint64_t size = object->priv->size;

	s.file_size = s.foff < size ? EP_MIN(s.file_size, size - s.foff) : 0;
	if (s.vaddr + s.mem_size < s.vaddr || s.vaddr + s.file_size < s.vaddr)
		return ep_error_create(EP_ERROR_BAD_DATA,
		                       "%s: segment at vaddr 0x%llx wraps around", object->path,
		                       (unsigned long long)s.vaddr);
	if (segments->n == SEGMENTS_MAX)
		return ep_error_create(EP_ERROR_BAD_DATA, "%s: more than %d segments", object->path,
		                       SEGMENTS_MAX);
	return ep_vec_push(segments, s) ? NULL : ep_error_nomem();
}

static struct ep_error *read_segments(struct ep_object *object, segment_vec *segments)
{
	Elf *elf = object->priv->elf;
	size_t n_phdrs;

	if (elf_getphdrnum(elf, &n_phdrs))
		return ep_object_elf_error(object->path, "program headers");
	for (size_t i = 0; i < n_phdrs; i++) {
		GElf_Phdr phdr;
		if (!gelf_getphdr(elf, (int)i, &phdr))
			return ep_object_elf_error(object->path, "program headers");
		struct ep_segment s = {.vaddr = phdr.p_vaddr,
		                       .mem_size = phdr.p_memsz,
		                       .foff = phdr.p_offset,
		                       .file_size = EP_MIN(phdr.p_filesz, phdr.p_memsz),
		                       .executable = phdr.p_flags & PF_X};
		if (phdr.p_type == PT_LOAD)
			EP_TRY(add_segment(object, segments, &s));
	}
	return NULL;
}

/* Kernel modules have no segments: their code sections stand in, at vaddr == foff. */
static struct ep_error *segments_of_sections(struct ep_object *object, segment_vec *segments)
{
	for (size_t i = 0; i < object->n_sections; i++) {
		const struct ep_section *s = &object->sections[i];
		struct ep_segment segment = {.vaddr = s->foff,
		                             .mem_size = s->size,
		                             .foff = s->foff,
		                             .file_size = s->size,
		                             .executable = true};
		if ((s->flags & SHF_EXECINSTR) && s->type != SHT_NOBITS)
			EP_TRY(add_segment(object, segments, &segment));
	}
	return NULL;
}

static int compare_segments(const void *va, const void *vb)
{
	const struct ep_segment *a = va, *b = vb;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return (a->foff > b->foff) - (a->foff < b->foff);
}

const char *ep_object_string(const struct ep_object *object, size_t i_section, uint64_t offset)
{
	if (!i_section || i_section > object->n_sections)
		return NULL;
	const struct ep_section *s = &object->sections[i_section - 1];
	if (!s->data || offset >= s->size || s->data[s->size - 1])
		return NULL;
	return (const char *)s->data + offset;
}

static void name_sections(struct ep_object *object, struct ep_section *sections, size_t i_names)
{
	Elf_Scn *scn = NULL;

	for (size_t i = 0; i < object->n_sections; i++) {
		struct ep_section *s = &sections[i];
		GElf_Shdr shdr;
		scn = elf_nextscn(object->priv->elf, scn);
		if (!scn || !gelf_getshdr(scn, &shdr))
			break;
		const char *name = ep_object_string(object, i_names, shdr.sh_name);
		s->name = name ? name : "";
		s->compressed = (s->flags & SHF_COMPRESSED) || !strncmp(s->name, ".zdebug_", 8);
	}
}

static struct ep_error *read_sections(struct ep_object *object)
{
	struct ep_object_priv *priv = object->priv;
	size_t n, i_names = 0;
	Elf_Scn *scn = NULL;

	if (elf_getshdrnum(priv->elf, &n))
		return ep_object_elf_error(object->path, "section headers");
	if (n < 2)
		return NULL;
	struct ep_section *sections = ep_arena_calloc(&priv->arena, n, sizeof(*sections));
	if (!sections)
		return ep_error_nomem();
	object->sections = sections;
	while (object->n_sections < n - 1 && (scn = elf_nextscn(priv->elf, scn))) {
		struct ep_section *s = &sections[object->n_sections++];
		GElf_Shdr shdr;
		if (!gelf_getshdr(scn, &shdr))
			return ep_object_elf_error(object->path, "section headers");
		*s = (struct ep_section){.name = "",
		                         .vaddr = shdr.sh_addr,
		                         .foff = shdr.sh_offset,
		                         .size = shdr.sh_size,
		                         .type = shdr.sh_type,
		                         .flags = shdr.sh_flags};
		if (s->type != SHT_NOBITS && s->foff <= priv->size &&
		    s->size <= priv->size - s->foff)
			s->data = priv->data + s->foff;
	}
	if (!elf_getshdrstrndx(priv->elf, &i_names))
		name_sections(object, sections, i_names);
	return NULL;
}

static int compare_text(const void *va, const void *vb)
{
	const struct ep_text_range *a = va, *b = vb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static void merge_text(text_vec *text)
{
	size_t n = 0;

	if (text->n)
		qsort(text->v, text->n, sizeof(text->v[0]), compare_text);
	for (size_t i = 0; i < text->n; i++) {
		struct ep_text_range t = text->v[i], *last = n ? &text->v[n - 1] : NULL;
		if (last && t.vaddr - last->vaddr <= last->size)
			last->size = EP_MAX(last->size, t.vaddr - last->vaddr + t.size);
		else
			text->v[n++] = t;
	}
	text->n = n;
}

static bool section_is_text(const struct ep_section *s)
{
	return (s->flags & SHF_ALLOC) && (s->flags & SHF_EXECINSTR) && s->size;
}

static struct ep_error *collect_text(struct ep_object *object, text_vec *text)
{
	bool rel = object->type == ET_REL;

	for (size_t i = 0; i < object->n_sections; i++) {
		const struct ep_section *s = &object->sections[i];
		struct ep_text_range t = {rel ? s->foff : s->vaddr, s->size};
		if (!section_is_text(s) || t.vaddr + t.size < t.vaddr)
			continue;
		if (!ep_vec_push(text, t))
			return ep_error_nomem();
	}
	bool by_segments = !text->n;
	for (size_t i = 0; by_segments && i < object->n_segments; i++) {
		const struct ep_segment *s = &object->segments[i];
		struct ep_text_range t = {s->vaddr, s->file_size};
		if (s->executable && t.size && !ep_vec_push(text, t))
			return ep_error_nomem();
	}
	merge_text(text);
	return NULL;
}

static struct ep_error *read_layout(struct ep_object *object)
{
	segment_vec segments = {0};
	text_vec text = {0};

	EP_TRY(read_sections(object));
	struct ep_error *err = object->type == ET_REL ? segments_of_sections(object, &segments)
	                                              : read_segments(object, &segments);
	if (segments.n)
		qsort(segments.v, segments.n, sizeof(segments.v[0]), compare_segments);
	object->segments = segments.v;
	object->n_segments = segments.n;
	if (!err)
		err = collect_text(object, &text);
	object->text = text.v;
	object->n_text = text.n;
	return err;
}

static const unsigned char *mapped_notes(void *payload, uint64_t foff, uint64_t n)
{
	const struct ep_object_priv *priv = payload;

	return foff <= priv->size && n <= priv->size - foff ? priv->data + foff : NULL;
}

static struct ep_error *read_object(struct ep_object *object)
{
	struct ep_object_priv *priv = object->priv;
	struct ep_note_source source = {mapped_notes, priv};
	GElf_Ehdr ehdr;

	EP_TRY(ep_object_check_magic(object->path, priv->data, priv->size));
	elf_version(EV_CURRENT);
	/* libelf does not write to an image it reads, its parameter is just not const. */
	priv->elf = elf_memory((char *)(uintptr_t)priv->data, priv->size);
	if (!priv->elf || elf_kind(priv->elf) != ELF_K_ELF || !gelf_getehdr(priv->elf, &ehdr))
		return ep_object_elf_error(object->path, "bad ELF header");
	object->machine = ehdr.e_machine;
	object->type = ehdr.e_type;
	object->is_64 = ehdr.e_ident[EI_CLASS] == ELFCLASS64;
	object->big_endian = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	EP_TRY(read_layout(object));
	if (!ep_object_find_build_id(priv->elf, ep_swap_for(object->big_endian), &source,
	                             &object->build_id)) {
		uint8_t digest[EP_DIGEST_SIZE];
		ep_digest(priv->data, priv->size, digest);
		object->build_id = ep_build_id_make(EP_BUILD_ID_HASH, digest, sizeof(digest));
	}
	return NULL;
}

static struct ep_error *create(const char *path, struct ep_object **ret)
{
	struct ep_object *object = calloc(1, sizeof(*object));
	struct ep_object_priv *priv = calloc(1, sizeof(*priv));
	char *name = strdup(path);

	if (!object || !priv || !name) {
		free(object);
		free(priv);
		free(name);
		return ep_error_nomem();
	}
	object->path = name;
	object->priv = priv;
	*ret = object;
	return NULL;
}

struct ep_error *ep_object_open_memory(const void *data, size_t n, const char *name,
                                       struct ep_object **ret)
{
	struct ep_object *object = NULL;

	EP_TRY(create(name, &object));
	object->priv->data = data;
	object->priv->size = n;
	struct ep_error *err = read_object(object);
	if (err) {
		ep_object_close(object);
		return err;
	}
	*ret = object;
	return NULL;
}

struct ep_error *ep_object_open(const char *path, struct ep_object **ret)
{
	struct ep_file file;
	struct ep_object *object = NULL;

	EP_TRY(ep_file_open(path, 0, &file));
	struct ep_error *err = ep_object_open_memory(file.data, file.size, path, &object);
	if (err) {
		ep_file_close(&file);
		return err;
	}
	object->priv->file = file;
	*ret = object;
	return NULL;
}

void ep_object_close(struct ep_object *object)
{
	if (!object)
		return;
	struct ep_object_priv *priv = object->priv;
	elf_end(priv->elf);
	free(priv->symbols);
	ep_arena_deinit(&priv->arena);
	ep_file_close(&priv->file);
	free((void *)(uintptr_t)object->segments);
	free((void *)(uintptr_t)object->text);
	free((void *)(uintptr_t)object->path);
	free(priv);
	free(object);
}
