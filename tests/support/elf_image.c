/* SPDX-License-Identifier: BSD-2-Clause */
/* Small ELF files made in memory, for tests. */
#include "support/elf_image.h"

#include <elf.h>
#include <stdio.h>

#include "support/check.h"

struct out {
	struct ep_buf *buf;
	bool is_64, big;
};

static void put(struct out *o, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ep_buf_u8(o->buf, (uint8_t)(v >> 8 * (o->big ? n - 1 - i : i)));
}

/* A field of address size. */
static void put_addr(struct out *o, uint64_t v)
{
	put(o, v, o->is_64 ? 8 : 4);
}

static void pad_to(struct out *o, uint64_t offset)
{
	while (o->buf->n < offset)
		ep_buf_u8(o->buf, 0);
}

void elf_image_note(struct ep_buf *notes, bool big_endian, uint32_t type, const char *name,
                    size_t n_name, const void *desc, size_t n_desc, size_t align)
{
	struct out o = {notes, false, big_endian};

	put(&o, n_name, 4);
	put(&o, n_desc, 4);
	put(&o, type, 4);
	ep_buf_put(notes, name, n_name);
	pad_to(&o, (notes->n + align - 1) / align * align);
	ep_buf_put(notes, desc, n_desc);
	pad_to(&o, (notes->n + align - 1) / align * align);
}

static void put_phdr(struct out *o, uint32_t type, uint32_t flags,
                     const struct elf_image_segment *s, uint64_t align)
{
	put(o, type, 4);
	if (o->is_64)
		put(o, flags, 4);
	put_addr(o, s->foff);
	put_addr(o, s->vaddr);
	put_addr(o, s->vaddr);
	put_addr(o, s->file_size);
	put_addr(o, s->mem_size);
	if (!o->is_64)
		put(o, flags, 4);
	put_addr(o, align);
}

struct shdr {
	uint32_t name, type;
	uint64_t flags, vaddr, foff, size;
	uint32_t link, info;
	uint64_t align, entry;
};

static void put_shdr(struct out *o, const struct shdr *s)
{
	put(o, s->name, 4);
	put(o, s->type, 4);
	put_addr(o, s->flags);
	put_addr(o, s->vaddr);
	put_addr(o, s->foff);
	put_addr(o, s->size);
	put(o, s->link, 4);
	put(o, s->info, 4);
	put_addr(o, s->align);
	put_addr(o, s->entry);
}

static void put_symbol(struct out *o, uint32_t name, const struct elf_image_symbol *s)
{
	uint16_t shndx = s->vaddr ? SHN_ABS : SHN_UNDEF;

	put(o, name, 4);
	if (o->is_64) {
		put(o, s->info, 1);
		put(o, 0, 1);
		put(o, shndx, 2);
	}
	put_addr(o, s->vaddr);
	put_addr(o, s->size);
	if (!o->is_64) {
		put(o, s->info, 1);
		put(o, 0, 1);
		put(o, shndx, 2);
	}
}

static uint32_t add_name(struct ep_buf *names, const char *name)
{
	uint32_t offset = (uint32_t)names->n;

	ep_buf_put(names, name, strlen(name) + 1);
	return offset;
}

#define N_SECTIONS 5

static void put_header(struct out *o, const struct elf_image *image, size_t n_phdrs, uint64_t shoff)
{
	const unsigned char ident[EI_NIDENT] = {0x7f,
	                                        'E',
	                                        'L',
	                                        'F',
	                                        o->is_64 ? ELFCLASS64 : ELFCLASS32,
	                                        o->big ? ELFDATA2MSB : ELFDATA2LSB,
	                                        EV_CURRENT};

	ep_buf_put(o->buf, ident, sizeof(ident));
	put(o, image->type, 2);
	put(o, image->machine, 2);
	put(o, EV_CURRENT, 4);
	put_addr(o, 0);
	put_addr(o, n_phdrs ? (o->is_64 ? 64 : 52) : 0);
	put_addr(o, shoff);
	put(o, 0, 4);
	put(o, o->is_64 ? 64 : 52, 2);
	put(o, o->is_64 ? 56 : 32, 2);
	put(o, n_phdrs, 2);
	put(o, o->is_64 ? 64 : 40, 2);
	put(o, shoff ? N_SECTIONS + 1 : 0, 2);
	put(o, shoff ? 1 : 0, 2);
}

/* Contents of the sections behind one another; fills the headers. */
static void put_sections(struct out *o, const struct elf_image *image, uint64_t notes_foff,
                         struct shdr sections[N_SECTIONS])
{
	struct ep_buf names = {0}, strings = {0};
	static const struct elf_image_symbol none;

	ep_buf_u8(&names, 0);
	ep_buf_u8(&strings, 0);
	sections[0] = (struct shdr){.name = add_name(&names, ".shstrtab"), .type = SHT_STRTAB};
	sections[1] = (struct shdr){.name = add_name(&names, ".strtab"), .type = SHT_STRTAB};
	sections[2] = (struct shdr){.name = add_name(&names, ".symtab"),
	                            .type = SHT_SYMTAB,
	                            .link = 2,
	                            .entry = o->is_64 ? 24 : 16,
	                            .foff = o->buf->n,
	                            .align = 8};
	put_symbol(o, 0, &none);
	for (size_t i = 0; i < image->n_symbols; i++)
		put_symbol(o, add_name(&strings, image->symbols[i].name), &image->symbols[i]);
	sections[2].size = o->buf->n - sections[2].foff;
	sections[3] = (struct shdr){.name = add_name(&names, ".note"),
	                            .type = SHT_NOTE,
	                            .foff = notes_foff,
	                            .size = image->n_notes,
	                            .align = image->note_align};
	sections[4] = (struct shdr){
	    .name = add_name(&names, image->section_name ? image->section_name : ".other"),
	    .type = SHT_PROGBITS,
	    .flags = image->section_flags,
	    .vaddr = image->section_vaddr,
	    .foff = o->buf->n,
	    .size = image->n_section_data};
	ep_buf_put(o->buf, image->section_data, image->n_section_data);
	sections[0].foff = o->buf->n;
	sections[0].size = names.n;
	ep_buf_put(o->buf, names.v, names.n);
	sections[1].foff = o->buf->n;
	sections[1].size = strings.n;
	ep_buf_put(o->buf, strings.v, strings.n);
	ep_buf_deinit(&names);
	ep_buf_deinit(&strings);
}

void elf_image_write(const struct elf_image *image, struct ep_buf *ret)
{
	struct ep_buf body = {0};
	struct out o = {&body, image->is_64, image->big_endian};
	bool note_phdr = image->n_notes && !image->notes_in_section_only;
	bool has_sections = image->n_symbols || image->section_name || image->notes_in_section_only;
	size_t n_phdrs = image->n_segments + note_phdr;
	uint64_t head = (o.is_64 ? 64 : 52) + n_phdrs * (o.is_64 ? 56 : 32);
	uint64_t notes_foff = (head + 7) / 8 * 8;
	struct shdr sections[N_SECTIONS], zero = {0};
	uint64_t shoff = 0;

	/* The body behind the headers is laid out first, so that offsets are known. */
	pad_to(&o, notes_foff);
	ep_buf_put(&body, image->notes, image->n_notes);
	pad_to(&o, (body.n + 7) / 8 * 8);
	if (has_sections) {
		put_sections(&o, image, notes_foff, sections);
		pad_to(&o, (body.n + 7) / 8 * 8);
		shoff = body.n;
		put_shdr(&o, &zero);
		for (size_t i = 0; i < N_SECTIONS; i++)
			put_shdr(&o, &sections[i]);
	}
	pad_to(&o, image->min_size);
	o.buf = ret;
	size_t begin = ret->n;
	put_header(&o, image, n_phdrs, shoff);
	struct elf_image_segment note = {0, notes_foff, image->n_notes, image->n_notes, false};
	if (note_phdr)
		put_phdr(&o, PT_NOTE, PF_R, &note, image->note_align);
	for (size_t i = 0; i < image->n_segments; i++)
		put_phdr(&o, PT_LOAD, image->segments[i].executable ? PF_R | PF_X : PF_R,
		         &image->segments[i], 0x1000);
	size_t done = ret->n - begin;
	ep_buf_put(ret, body.v + done, body.n - done);
	ep_buf_deinit(&body);
	assert_false(ret->failed);
}

void elf_image_file(const char *path, const void *id, size_t n_id)
{
	const struct elf_image_segment segments[] = {
	    {0x400000, 0, 0x200, 0x200, false},
	    {0x401000, 0x1000, 0x10000, 0x10000, true},
	};
	struct ep_buf notes = {0}, file = {0};

	if (n_id)
		elf_image_note(&notes, false, NT_GNU_BUILD_ID, "GNU", 4, id, n_id, 4);
	const struct elf_image image = {.is_64 = true,
	                                .type = ET_DYN,
	                                .machine = EM_X86_64,
	                                .segments = segments,
	                                .n_segments = 2,
	                                .notes = notes.v,
	                                .n_notes = notes.n,
	                                .note_align = 4,
	                                .min_size = 0x11000};
	elf_image_write(&image, &file);
	FILE *f = fopen(path, "wb");
	if (!f) {
		fail_msg("%s: cannot be written", path);
		return;
	}
	assert_int_equal(fwrite(file.v, 1, file.n, f), file.n);
	assert_int_equal(fclose(f), 0);
	ep_buf_deinit(&notes);
	ep_buf_deinit(&file);
}
