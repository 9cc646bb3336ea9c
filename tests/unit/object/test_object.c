/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening binaries: identity, segments, text, symbols, hostile headers. */
#include "object/object.h"

#include <elf.h>
#include <stdio.h>

#include "base/digest.h"
#include "support/check.h"
#include "support/elf_image.h"

static const uint8_t id_20[20] = {0xde, 0xad, 0xbe, 0xef, 5,  6,  7,  8,  9,  10,
                                  11,   12,   13,   14,   15, 16, 17, 18, 19, 20};

static struct ep_object *open_image(const struct elf_image *image, struct ep_buf *file)
{
	struct ep_object *object;

	elf_image_write(image, file);
	check_ok(ep_object_open_memory(file->v, file->n, "image", &object));
	return object;
}

/* Recipe 20: the ABI tag before the id in one PT_NOTE, ids of 8 and 20 bytes, alignment 0, 4, 8. */
static void test_build_id_behind_abi_tag(void **state)
{
	(void)state;
	const size_t aligns[] = {0, 4, 8}, sizes[] = {8, 20};
	const char abi[16] = {0};

	for (unsigned i = 0; i < 3 * 2 * 4 * 2; i++) {
		struct ep_buf notes = {0}, file = {0};
		size_t align = aligns[i % 3], n_id = sizes[i / 3 % 2];
		bool is_64 = i / 6 % 2, big = i / 12 % 2, in_section = i / 24;
		elf_image_note(&notes, big, NT_GNU_ABI_TAG, "GNU", 4, abi, 16, align ? align : 4);
		elf_image_note(&notes, big, 3, "XYZ", 4, abi, 16, align ? align : 4);
		elf_image_note(&notes, big, NT_GNU_BUILD_ID, "GNU", 4, id_20, n_id,
		               align ? align : 4);
		struct elf_image image = {.is_64 = is_64,
		                          .big_endian = big,
		                          .machine = EM_PPC64,
		                          .notes = notes.v,
		                          .n_notes = notes.n,
		                          .note_align = align,
		                          .notes_in_section_only = in_section};
		struct ep_object *object = open_image(&image, &file);
		assert_int_equal(object->build_id.kind, EP_BUILD_ID_GNU);
		assert_int_equal(object->build_id.size, n_id);
		assert_memory_equal(object->build_id.bytes, id_20, n_id);
		assert_int_equal(object->is_64, is_64);
		assert_int_equal(object->big_endian, big);
		assert_int_equal(object->machine, EM_PPC64);
		ep_object_close(object);
		ep_buf_deinit(&notes);
		ep_buf_deinit(&file);
	}
}

/* A note marked as aligned to 8 whose parts keep to 4, and an owner that needs padding. */
static void test_mislabelled_note_alignment(void **state)
{
	(void)state;
	struct ep_buf notes = {0}, file = {0};

	elf_image_note(&notes, false, 1, "stapsd", 7, "abc", 3, 4);
	elf_image_note(&notes, false, NT_GNU_BUILD_ID, "GNU", 4, id_20, 20, 4);
	struct elf_image image = {
	    .is_64 = true, .notes = notes.v, .n_notes = notes.n, .note_align = 8};
	struct ep_object *object = open_image(&image, &file);
	assert_int_equal(object->build_id.kind, EP_BUILD_ID_GNU);
	ep_object_close(object);
	ep_buf_deinit(&notes);
	ep_buf_deinit(&file);
}

static void test_content_hash_without_note(void **state)
{
	(void)state;
	struct ep_buf file = {0};
	struct elf_image image = {.is_64 = true, .machine = EM_AARCH64};
	struct ep_object *object = open_image(&image, &file);
	struct ep_build_id id;
	uint8_t digest[EP_DIGEST_SIZE];
	uint16_t machine;
	char path[] = "/tmp/ep-test-XXXXXX";

	ep_digest(file.v, file.n, digest);
	assert_int_equal(object->build_id.kind, EP_BUILD_ID_HASH);
	assert_memory_equal(object->build_id.bytes, digest, sizeof(digest));
	int fd = mkstemp(path);
	assert_int_equal(write(fd, file.v, file.n), file.n);
	close(fd);
	check_ok(ep_object_build_id(path, &id, &machine));
	assert_int_equal(ep_build_id_compare(&id, &object->build_id), 0);
	assert_int_equal(machine, EM_AARCH64);
	elf_image_file(path, id_20, 20);
	check_ok(ep_object_build_id(path, &id, NULL));
	assert_int_equal(id.kind, EP_BUILD_ID_GNU);
	assert_memory_equal(id.bytes, id_20, 20);
	unlink(path);
	ep_object_close(object);
	ep_buf_deinit(&file);
}

static void test_segments_any_linker(void **state)
{
	(void)state;
	/* As lld lays them out: vaddr and foff drift apart, pages of the file are shared. */
	const struct elf_image_segment segments[] = {
	    {0x200000, 0, 0x640, 0x640, false},
	    {0x201640, 0x640, 0x200, 0x200, true},
	    {0x202840, 0x840, 0x100, 0x5000, false},
	};
	struct ep_buf file = {0};
	struct elf_image image = {.is_64 = true,
	                          .type = ET_EXEC,
	                          .segments = segments,
	                          .n_segments = 3,
	                          .min_size = 0x1000};
	struct ep_object *object = open_image(&image, &file);
	uint64_t v;
	size_t n;

	assert_int_equal(object->n_segments, 3);
	assert_true(ep_object_foff_to_vaddr(object, 0x640, &v));
	check_u64_eq(v, 0x201640);
	assert_true(ep_object_foff_to_vaddr(object, 0x83f, &v));
	check_u64_eq(v, 0x20183f);
	assert_true(ep_object_vaddr_to_foff(object, 0x20183f, &v));
	check_u64_eq(v, 0x83f);
	assert_true(ep_object_foff_to_vaddr(object, 0x840, &v));
	check_u64_eq(v, 0x202840);
	assert_false(ep_object_foff_to_vaddr(object, 0x940, &v));
	/* .bss has no bytes in the file. */
	assert_false(ep_object_vaddr_to_foff(object, 0x203000, &v));
	assert_true(ep_object_is_text(object, 0x201640));
	assert_false(ep_object_is_text(object, 0x201840));
	assert_false(ep_object_is_text(object, 0x200000));
	assert_ptr_equal(ep_object_bytes(object, 0x201650, &n), file.v + 0x650);
	check_u64_eq(n, 0x1f0);
	assert_null(ep_object_bytes(object, 0x201840 + 0x100000, &n));
	ep_object_close(object);
	ep_buf_deinit(&file);
}

static void check_symbols(bool is_64, bool big_endian)
{
	const struct elf_image_symbol in[] = {
	    {"late", 0x3000, 4, STT_FUNC | STB_LOCAL << 4},
	    {"early", 0x1000, 16, STT_FUNC | STB_GLOBAL << 4},
	    {"data", 0x2000, 8, STT_OBJECT | STB_GLOBAL << 4},
	    {"undefined", 0, 0, STT_FUNC | STB_GLOBAL << 4},
	    {"alias", 0x1000, 16, STT_FUNC | STB_WEAK << 4},
	    {"resolver", 0x2800, 0, STT_GNU_IFUNC | STB_GLOBAL << 4},
	};
	const char *const want[] = {"alias", "early", "resolver", "late"};
	/* Room for the larger alignment of the debuglink's CRC. */
	const char link[] = "a.debug\0\x01\x02\x03\x04";
	struct ep_buf file = {0};
	struct elf_image image = {.is_64 = is_64,
	                          .big_endian = big_endian,
	                          .symbols = in,
	                          .n_symbols = EP_ARRAY_LEN(in),
	                          .section_name = ".gnu_debuglink",
	                          .section_data = link,
	                          .n_section_data = 12};
	struct ep_object *object = open_image(&image, &file);
	const struct ep_symbol *symbols;
	const char *name;
	uint32_t crc;
	size_t n;

	check_ok(ep_object_symbols(object, &symbols, &n));
	assert_int_equal(n, EP_ARRAY_LEN(want));
	for (size_t i = 0; i < n; i++)
		assert_string_equal(symbols[i].name, want[i]);
	assert_int_equal(symbols[0].binding, STB_WEAK);
	check_u64_eq(symbols[1].size, 16);
	assert_int_equal(symbols[2].type, STT_GNU_IFUNC);
	assert_true(ep_object_debuglink(object, &name, &crc));
	assert_string_equal(name, "a.debug");
	check_u64_eq(crc, big_endian ? 0x01020304 : 0x04030201);
	assert_null(ep_object_section(object, ".text"));
	ep_object_close(object);
	ep_buf_deinit(&file);
}

static void test_symbols_and_debuglink(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		check_symbols(i & 1, i & 2);
}

static void test_text_sections_and_compressed(void **state)
{
	(void)state;
	const struct elf_image_segment segment = {0x1000, 0, 0x800, 0x800, true};
	struct ep_buf file = {0};
	struct elf_image image = {.is_64 = true,
	                          .segments = &segment,
	                          .n_segments = 1,
	                          .section_name = ".text",
	                          .section_data = "\x90\x90\x90\xc3",
	                          .n_section_data = 4,
	                          .section_flags = SHF_ALLOC | SHF_EXECINSTR,
	                          .section_vaddr = 0x1100,
	                          .min_size = 0x1000};
	struct ep_object *object = open_image(&image, &file);

	/* The segment also maps headers and constants: sections say better what is code. */
	assert_true(ep_object_is_text(object, 0x1103));
	assert_false(ep_object_is_text(object, 0x1104));
	assert_false(ep_object_section(object, ".text")->compressed);
	ep_object_close(object);
	ep_buf_deinit(&file);
	image.section_name = ".zdebug_line";
	image.section_flags = 0;
	object = open_image(&image, &file);
	assert_true(ep_object_section(object, ".debug_line")->compressed);
	ep_object_close(object);
	ep_buf_deinit(&file);
}

static void check_refused(const char *bytes, size_t n, const char *what)
{
	struct ep_object *object;
	struct ep_error *err = ep_object_open_memory(bytes, n, "f", &object);

	assert_non_null(err);
	assert_int_equal(err->code, EP_ERROR_UNSUPPORTED);
	assert_non_null(strstr(err->message, what));
	ep_error_destroy(err);
}

static void test_what_is_not_elf(void **state)
{
	(void)state;
	check_refused("MZ\x90\0\3\0\0\0", 8, "PE/COFF");
	check_refused("\xcf\xfa\xed\xfe\7\0\0\1", 8, "Mach-O");
	check_refused("\xca\xfe\xba\xbe\0\0\0\2", 8, "Mach-O universal");
	check_refused("#!/bin/sh\n", 10, "script");
	check_refused("!<arch>\n", 8, "archive");
	check_refused("", 0, "empty");
	check_refused("\177EL", 3, "not an ELF file");
	struct ep_build_id id;
	check_fails(EP_ERROR_UNSUPPORTED, ep_object_build_id("/dev/null", &id, NULL));
	check_fails(EP_ERROR_OS, ep_object_build_id("/nonexistent/x", &id, NULL));
}

/* Every prefix of a file, and every byte of its headers set to 0xff: no crash, no overread. */
static void test_damaged_headers(void **state)
{
	(void)state;
	const struct elf_image_symbol symbol = {"f", 0x1000, 4, STT_FUNC};
	const struct elf_image_segment segment = {0x1000, 0, 0x80, 0x80, true};
	struct ep_buf notes = {0}, file = {0};

	elf_image_note(&notes, false, NT_GNU_BUILD_ID, "GNU", 4, id_20, 20, 4);
	struct elf_image image = {.is_64 = true,
	                          .segments = &segment,
	                          .n_segments = 1,
	                          .notes = notes.v,
	                          .n_notes = notes.n,
	                          .note_align = 4,
	                          .symbols = &symbol,
	                          .n_symbols = 1};
	elf_image_write(&image, &file);
	for (size_t i = 0; i < 2 * file.n; i++) {
		size_t n = i < file.n ? i : file.n;
		unsigned char *copy = check_guard(file.v, n);
		struct ep_object *object;
		const struct ep_symbol *symbols;
		if (i >= file.n)
			copy[i - file.n] = 0xff;
		struct ep_error *err = ep_object_open_memory(copy, n, "damaged", &object);
		assert_true(!err || !strstr(err->message, "(null)"));
		if (!err) {
			ep_error_destroy(ep_object_symbols(object, &symbols, &n));
			ep_object_close(object);
		}
		ep_error_destroy(err);
		check_guard_free(copy, i < file.n ? i : file.n);
	}
	ep_buf_deinit(&notes);
	ep_buf_deinit(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_build_id_behind_abi_tag),
	    cmocka_unit_test(test_mislabelled_note_alignment),
	    cmocka_unit_test(test_content_hash_without_note),
	    cmocka_unit_test(test_segments_any_linker),
	    cmocka_unit_test(test_symbols_and_debuglink),
	    cmocka_unit_test(test_text_sections_and_compressed),
	    cmocka_unit_test(test_what_is_not_elf),
	    cmocka_unit_test(test_damaged_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
