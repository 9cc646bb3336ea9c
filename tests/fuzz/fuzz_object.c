/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF files: headers, notes, symbols and look-ups. */
#include "object/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ep_object *object;
	const struct ep_symbol *symbols;
	const char *link;
	uint64_t address;
	uint32_t crc;
	size_t n;

	struct ep_error *err = ep_object_open_memory(data, size, "fuzz", &object);
	if (err) {
		ep_error_destroy(err);
		return 0;
	}
	for (size_t i = 0; i < object->n_segments; i++) {
		uint64_t vaddr = object->segments[i].vaddr;
		const unsigned char *bytes = ep_object_bytes(object, vaddr, &n);
		/* The last byte said to be there must be there. */
		if (bytes && ((volatile const unsigned char *)bytes)[n - 1] == 1)
			ep_object_is_text(object, vaddr);
		if (ep_object_vaddr_to_foff(object, vaddr, &address))
			ep_object_foff_to_vaddr(object, address, &address);
	}
	for (size_t i = 0; i < object->n_sections; i++)
		ep_object_section(object, object->sections[i].name);
	ep_object_debuglink(object, &link, &crc);
	ep_error_destroy(ep_object_symbols(object, &symbols, &n));
	ep_object_close(object);
	return 0;
}
