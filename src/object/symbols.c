/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of a binary's symbol table. */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "object/internal.h"

typedef EP_VEC(struct ep_symbol) symbol_vec;

static Elf_Scn *find_table(Elf *elf, uint32_t type, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, ret) && ret->sh_type == type)
			return scn;
	return NULL;
}

/* In relocatable files values are offsets in their section; here vaddr is foff there. */
static bool symbol_vaddr(const struct ep_object *object, const GElf_Sym *sym, uint64_t *ret)
{
	uint64_t vaddr = sym->st_value;

	if (object->type == ET_REL) {
		if (!sym->st_shndx || sym->st_shndx > object->n_sections)
			return false;
		vaddr += object->sections[sym->st_shndx - 1].foff;
	}
	/* Bit 0 of an Arm function says Thumb. */
	if (object->machine == EM_ARM)
		vaddr &= ~UINT64_C(1);
	*ret = vaddr;
	return true;
}

static struct ep_error *read_table(const struct ep_object *object, Elf_Scn *scn,
                                   const GElf_Shdr *shdr, symbol_vec *symbols)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t entry = gelf_fsize(object->priv->elf, ELF_T_SYM, 1, EV_CURRENT);

	if (!data)
		return ep_object_elf_error(object->path, "symbol table");
	for (size_t i = 1; i < data->d_size / entry && i <= INT32_MAX; i++) {
		struct ep_symbol symbol;
		GElf_Sym sym;
		if (!gelf_getsym(data, (int)i, &sym))
			return ep_object_elf_error(object->path, "symbol table");
		symbol.type = GELF_ST_TYPE(sym.st_info);
		symbol.binding = GELF_ST_BIND(sym.st_info);
		if ((symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC) ||
		    sym.st_shndx == SHN_UNDEF || !symbol_vaddr(object, &sym, &symbol.vaddr))
			continue;
		symbol.size = sym.st_size;
		symbol.name = ep_object_string(object, shdr->sh_link, sym.st_name);
		if (!symbol.name)
			return ep_error_create(
			    EP_ERROR_BAD_DATA,
			    "%s: symbol %zu: its name is outside the string table", object->path,
			    i);
		if (!ep_vec_push(symbols, symbol))
			return ep_error_nomem();
	}
	return NULL;
}

static int compare_symbols(const void *va, const void *vb)
{
	const struct ep_symbol *a = va, *b = vb;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	int order = strcmp(a->name, b->name);
	return order ? order : (int)a->binding - (int)b->binding;
}

struct ep_error *ep_object_symbols(struct ep_object *object, const struct ep_symbol **ret,
                                   size_t *n_ret)
{
	struct ep_object_priv *priv = object->priv;

	if (!priv->has_symbols) {
		symbol_vec symbols = {0};
		GElf_Shdr shdr;
		Elf_Scn *scn = find_table(priv->elf, SHT_SYMTAB, &shdr);
		if (!scn)
			scn = find_table(priv->elf, SHT_DYNSYM, &shdr);
		struct ep_error *err = scn ? read_table(object, scn, &shdr, &symbols) : NULL;
		if (err) {
			ep_vec_deinit(&symbols);
			return err;
		}
		if (symbols.n)
			qsort(symbols.v, symbols.n, sizeof(symbols.v[0]), compare_symbols);
		priv->symbols = symbols.v;
		priv->n_symbols = symbols.n;
		priv->has_symbols = true;
	}
	*ret = priv->symbols;
	*n_ret = priv->n_symbols;
	return NULL;
}
