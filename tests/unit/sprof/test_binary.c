/* SPDX-License-Identifier: BSD-2-Clause */
/* The binary formats: their bytes, what comes back, and damaged files of all kinds. */
#include <zlib.h>

#include "base/bytes.h"
#include "unit/sprof/io.h"

#define HEADER_SIZE 242          /* of ExtBinary in the default layout */
#define ENTRY(i) (18 + 32 * (i)) /* of the section table */

static const char sample[] = "main:184:10\n"
                             " 1: 534 foo:3\n"
                             " 2.5: 4294967296\n"
                             " 4: foo:20\n"
                             "  1: 20 bar:7\n"
                             "  2: bar.__uniq.1:2\n"
                             "   1: 2\n"
                             "foo:9:1\n"
                             " 0: 0\n";

static void put_u64(char *at, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		at[i] = (char)(v >> (8 * i));
}

static uint64_t get_u64(const char *at)
{
	return ep_load_u64(at, ep_swap_for(false));
}

static struct bytes sample_as(const struct ep_sprof_write_opts *opts)
{
	struct ep_sprof prof = profile_of(sample);
	struct bytes b = written(&prof, opts);

	ep_sprof_deinit(&prof);
	return b;
}

/* The bytes of a small file, worked out by hand from the layout. */
static void layout_of_extbinary(void **state)
{
	static const unsigned char head[] = {0x84, 0xe4, 0xd0, 0xb1, 0xf4, 0xc9,
	                                     0x94, 0xa8, 0x53, 103,  7,    0};
	static const unsigned char names[] = {2, 'f', 0, 'g', 0};
	static const unsigned char bodies[] = {
	    2,                     /* head */
	    0, 9, 1,               /* f: total, records */
	    1, 3, 200, 1, 1, 1, 5, /* 1.3: 200 (two bytes) g:5 */
	    0,                     /* callees */
	};
	static const unsigned char offsets[] = {1, 0, 0};
	struct ep_sprof prof = profile_of("f:9:2\n 1.3: 200 g:5\n");
	struct bytes b = written_as(&prof, EP_SPROF_EXTBINARY);
	static const uint64_t types[] = {1, 2, 6, 4, 32, 3, 5};

	(void)state;
	assert_memory_equal(b.v, head, sizeof(head));
	for (size_t i = 0; i < EP_ARRAY_LEN(types); i++)
		check_u64_eq(get_u64(b.v + ENTRY(i)), types[i]);
	check_u64_eq(get_u64(b.v + ENTRY(0) + 16), HEADER_SIZE);
	const char *at = b.v + get_u64(b.v + ENTRY(1) + 16);
	assert_memory_equal(at, names, sizeof(names));
	check_u64_eq(get_u64(b.v + ENTRY(1) + 24), sizeof(names));
	at = b.v + get_u64(b.v + ENTRY(4) + 16);
	assert_memory_equal(at, bodies, sizeof(bodies));
	at = b.v + get_u64(b.v + ENTRY(3) + 16);
	assert_memory_equal(at, offsets, sizeof(offsets));
	check_u64_eq(get_u64(b.v + ENTRY(3) + 16) + sizeof(offsets), b.n);
	free(b.v);
	ep_sprof_deinit(&prof);
}

static void check_back(const struct ep_sprof_write_opts *opts, const char *want)
{
	struct bytes b = sample_as(opts);
	struct ep_sprof prof;

	check_ok(read_guarded(b.v, b.n, NULL, &prof));
	assert_int_equal(prof.format, opts->format);
	check_u64_eq(prof.version, 103);
	struct bytes text = written_as(&prof, EP_SPROF_TEXT);
	assert_string_equal(text.v, want);
	struct bytes again = written(&prof, opts);
	check_u64_eq(again.n, b.n);
	assert_memory_equal(again.v, b.v, b.n);
	free(again.v);
	free(text.v);
	free(b.v);
	ep_sprof_deinit(&prof);
}

static void what_is_written_is_read(void **state)
{
	struct ep_sprof_write_opts opts = {.format = EP_SPROF_EXTBINARY};

	(void)state;
	check_back(&opts, sample);
	opts.compress = true;
	check_back(&opts, sample);
	check_back(&(struct ep_sprof_write_opts){.format = EP_SPROF_BINARY}, sample);
}

static void guids_are_written_and_read(void **state)
{
	struct ep_sprof_write_opts opts = {.format = EP_SPROF_EXTBINARY, .md5 = true};
	struct bytes b = sample_as(&opts);
	struct ep_sprof prof;
	char name[24];

	(void)state;
	check_u64_eq(get_u64(b.v + ENTRY(1) + 8), UINT64_C(3) << 32);
	check_ok(read_guarded(b.v, b.n, NULL, &prof));
	assert_true(prof.flags & EP_SPROF_MD5);
	snprintf(name, sizeof(name), "%llu", (unsigned long long)ep_sprof_guid("main", 4));
	assert_string_equal(ep_strtab_get(&prof.names, prof.funcs.v[0]->name), name);
	/* Written again they stay GUIDs, asked for or not. */
	struct bytes again = written_as(&prof, EP_SPROF_EXTBINARY);
	struct ep_sprof second;
	check_ok(read_guarded(again.v, again.n, NULL, &second));
	check_u64_eq(second.flags, EP_SPROF_MD5);
	check_u64_eq(ep_sprof_guid_of(&second, second.funcs.v[0]->name), ep_sprof_guid("main", 4));
	ep_sprof_deinit(&second);
	free(again.v);
	ep_sprof_deinit(&prof);
	free(b.v);
}

static void guids_in_leb128_are_read(void **state)
{
	struct ep_buf names = {0};
	struct ep_sprof prof = profile_of("f:9:2\n 1: 2 g:5\n"), back;
	struct bytes b = written_as(&prof, EP_SPROF_EXTBINARY);
	size_t size = (size_t)get_u64(b.v + ENTRY(1) + 24);

	(void)state;
	/* The name table moves to the end of the file. */
	ep_buf_put(&names, b.v, b.n);
	ep_buf_uleb(&names, 2);
	ep_buf_uleb(&names, UINT64_MAX);
	ep_buf_uleb(&names, 5);
	put_u64((char *)names.v + ENTRY(1) + 8, UINT64_C(1) << 32);
	put_u64((char *)names.v + ENTRY(1) + 16, b.n);
	put_u64((char *)names.v + ENTRY(1) + 24, names.n - b.n);
	assert_true(size > 0);
	check_ok(read_guarded(names.v, names.n, NULL, &back));
	check_u64_eq(ep_sprof_guid_of(&back, back.funcs.v[0]->name), UINT64_MAX);
	ep_sprof_deinit(&back);
	ep_sprof_deinit(&prof);
	ep_buf_deinit(&names);
	free(b.v);
}

static void symbols_and_provenance_are_kept(void **state)
{
	static const char provenance[] = "{\"inputs\":[]}";
	struct ep_sprof_write_opts opts = {.format = EP_SPROF_EXTBINARY,
	                                   .provenance = provenance,
	                                   .provenance_size = sizeof(provenance) - 1};
	struct ep_warnings warnings = {0};
	struct ep_sprof_read_opts read = {.warnings = &warnings};
	uint32_t id;

	(void)state;
	for (int compress = 0; compress < 2; compress++) {
		struct ep_sprof prof = profile_of(sample), back;
		opts.compress = compress;
		check_ok(ep_sprof_name(&prof, "unsampled", 9, &id));
		check_ok(ep_sprof_symbol_add(&prof, id));
		check_ok(ep_sprof_name(&prof, "main", 4, &id));
		check_ok(ep_sprof_symbol_add(&prof, id));
		check_ok(ep_sprof_finalise(&prof));
		struct bytes b = written(&prof, &opts);
		check_ok(read_guarded(b.v, b.n, &read, &back));
		check_u64_eq(back.symbols.n, 2);
		assert_string_equal(ep_strtab_get(&back.names, back.symbols.v[0]), "main");
		assert_string_equal(ep_strtab_get(&back.names, back.symbols.v[1]), "unsampled");
		check_u64_eq(back.sections.n, 8);
		check_u64_eq(back.sections.v[7].type, EP_SPROF_SECTION_PROVENANCE);
		check_u64_eq(back.sections.v[7].data_size, sizeof(provenance) - 1);
		assert_memory_equal(back.sections.v[7].data, provenance, sizeof(provenance) - 1);
		check_u64_eq(ep_warn_count(&warnings, "unknown-section"), 0);
		/* A type that nobody knows is told. */
		put_u64(b.v + ENTRY(7), 1000);
		ep_sprof_deinit(&back);
		check_ok(read_guarded(b.v, b.n, &read, &back));
		check_u64_eq(ep_warn_count(&warnings, "unknown-section"), 1);
		ep_warnings_deinit(&warnings);
		ep_sprof_deinit(&back);
		ep_sprof_deinit(&prof);
		free(b.v);
	}
}

static void probes_and_attributes_are_kept(void **state)
{
	static const char text[] = "f:5:1\n 1: 5\n 2: g:3\n  1: 3\n  !CFGChecksum: 7\n"
	                           "  !Attributes: 2\n !CFGChecksum: 9\n !Attributes: 1\n";
	struct ep_sprof prof = profile_of(text), back;
	struct bytes b = written_as(&prof, EP_SPROF_EXTBINARY);

	(void)state;
	check_ok(read_guarded(b.v, b.n, NULL, &back));
	check_u64_eq(back.flags, EP_SPROF_PROBE | EP_SPROF_PREINLINED);
	struct bytes again = written_as(&back, EP_SPROF_TEXT);
	assert_string_equal(again.v, text);
	FILE *out = fopen("/dev/null", "w");
	check_fails(
	    EP_ERROR_USAGE,
	    ep_sprof_write(&prof, &(struct ep_sprof_write_opts){.format = EP_SPROF_BINARY}, out));
	fclose(out);
	free(again.v);
	free(b.v);
	ep_sprof_deinit(&back);
	ep_sprof_deinit(&prof);
}

static void names_that_files_cannot_hold_are_refused(void **state)
{
	static const struct ep_sprof_write_opts opts = {.format = EP_SPROF_EXTBINARY};

	(void)state;
	for (size_t n = 0; n < 4; n++) {
		struct ep_sprof prof = {0};
		struct ep_sprof_func *func;
		uint32_t name;
		check_ok(ep_sprof_name(&prof, "a\0b", n, &name));
		check_ok(ep_sprof_func(&prof, name, &func));
		check_ok(ep_sprof_finalise(&prof));
		if (n == 1) {
			free(written(&prof, &opts).v);
		} else {
			FILE *out = fopen("/dev/null", "w");
			check_fails(EP_ERROR_USAGE, ep_sprof_write(&prof, &opts, out));
			fclose(out);
		}
		ep_sprof_deinit(&prof);
	}
}

static void truncations_are_errors(void **state)
{
	static const struct ep_sprof_write_opts kinds[] = {
	    {.format = EP_SPROF_EXTBINARY},
	    {.format = EP_SPROF_EXTBINARY, .md5 = true},
	    {.format = EP_SPROF_EXTBINARY, .compress = true},
	    {.format = EP_SPROF_BINARY},
	};

	(void)state;
	for (size_t k = 0; k < EP_ARRAY_LEN(kinds); k++) {
		struct bytes b = sample_as(&kinds[k]);
		for (size_t n = 0; n < b.n; n++) {
			struct ep_sprof prof;
			check_fails(EP_ERROR_BAD_DATA, read_guarded(b.v, n, NULL, &prof));
		}
		free(b.v);
	}
}

/* Every single changed byte gives a profile or an error, nothing else. */
static void changed_bytes_are_harmless(void **state)
{
	struct ep_sprof_write_opts opts = {.format = EP_SPROF_EXTBINARY};
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};

	(void)state;
	for (int compress = 0; compress < 2; compress++) {
		opts.compress = compress;
		struct bytes b = sample_as(&opts);
		for (size_t i = 0; i < b.n; i++) {
			char kept = b.v[i];
			for (size_t k = 0; k < EP_ARRAY_LEN(values); k++) {
				struct ep_sprof prof;
				b.v[i] = (char)values[k];
				struct ep_error *err = ep_sprof_read(b.v, b.n, "in", NULL, &prof);
				if (!err)
					ep_sprof_deinit(&prof);
				ep_error_destroy(err);
			}
			b.v[i] = kept;
		}
		free(b.v);
	}
}

static void check_patched(size_t at, uint64_t v, const char *message)
{
	struct bytes b = sample_as(&(struct ep_sprof_write_opts){.format = EP_SPROF_EXTBINARY});

	put_u64(b.v + at, v);
	check_refused(b.v, b.n, EP_ERROR_BAD_DATA, message);
	free(b.v);
}

static void bad_tables_are_refused(void **state)
{
	(void)state;
	check_patched(10, UINT64_MAX,
	              "in: header: more sections than the file holds at offset 0x12");
	check_patched(ENTRY(2) + 16, UINT64_MAX,
	              "in: header: section outside of the file at offset 0x72");
	check_patched(ENTRY(2) + 24, UINT64_MAX,
	              "in: header: section outside of the file at offset 0x72");
	check_patched(ENTRY(1) + 24, 3,
	              "in: name table: name table larger than its section at offset 0x190");
}

static void overlapping_sections_are_refused(void **state)
{
	struct bytes b = sample_as(&(struct ep_sprof_write_opts){.format = EP_SPROF_EXTBINARY});
	struct ep_sprof prof;

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		put_u64(b.v + ENTRY(i) + 16, get_u64(b.v + ENTRY(4) + 16));
		put_u64(b.v + ENTRY(i) + 24, b.n - get_u64(b.v + ENTRY(4) + 16));
	}
	check_fails(EP_ERROR_BAD_DATA, read_guarded(b.v, b.n, NULL, &prof));
	free(b.v);
}

static void other_versions_are_refused(void **state)
{
	struct bytes b = sample_as(&(struct ep_sprof_write_opts){.format = EP_SPROF_EXTBINARY});

	(void)state;
	b.v[9] = 104;
	check_refused(b.v, b.n, EP_ERROR_UNSUPPORTED,
	              "in: sample profile of format version 104; version 103 is read");
	free(b.v);
}

static void contexts_are_refused(void **state)
{
	struct bytes b = sample_as(&(struct ep_sprof_write_opts){.format = EP_SPROF_EXTBINARY});

	(void)state;
	put_u64(b.v + ENTRY(0) + 8, UINT64_C(2) << 32);
	check_refused(b.v, b.n, EP_ERROR_UNSUPPORTED,
	              "in: a context-sensitive profile, which is not read yet");
	free(b.v);
}

/* A file with one compressed section, of `n` bytes that claim to unpack to n_claimed. */
static struct ep_buf packed_file(const void *packed, size_t n, uint64_t n_claimed)
{
	struct ep_buf data = {0}, file = {0};

	ep_buf_uleb(&data, n_claimed);
	ep_buf_uleb(&data, n);
	ep_buf_put(&data, packed, n);
	ep_buf_put(&file, "\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53\x67", 10);
	ep_buf_u64(&file, 1);
	ep_buf_u64(&file, 3);
	ep_buf_u64(&file, 1);
	ep_buf_u64(&file, 50);
	ep_buf_u64(&file, data.n);
	ep_buf_put(&file, data.v, data.n);
	ep_buf_deinit(&data);
	return file;
}

static void check_packed(const void *packed, size_t n, uint64_t n_claimed, enum ep_error_code code)
{
	struct ep_sprof_read_opts opts = {.memory_max = 1u << 20};
	struct ep_buf file = packed_file(packed, n, n_claimed);
	struct ep_sprof prof;

	check_fails(code, read_guarded(file.v, file.n, &opts, &prof));
	ep_buf_deinit(&file);
}

static void compressed_bombs_are_refused(void **state)
{
	enum { SIZE = 2 << 20 };
	unsigned char *plain = calloc(1, SIZE);
	unsigned char packed[8192];
	uLongf n = sizeof(packed);

	(void)state;
	assert_int_equal(compress2(packed, &n, plain, SIZE, 9), Z_OK);
	check_packed(packed, n, SIZE, EP_ERROR_NOMEM);
	check_packed(packed, n, 1000, EP_ERROR_BAD_DATA);
	check_packed(packed, n, SIZE / 2, EP_ERROR_BAD_DATA);
	check_packed(packed, n, UINT64_MAX, EP_ERROR_BAD_DATA);
	check_packed(packed, n / 2, SIZE / 4, EP_ERROR_BAD_DATA);
	check_packed("", 0, 0, EP_ERROR_BAD_DATA);
	free(plain);
}

static void deep_nesting_is_refused(void **state)
{
	struct ep_buf file = {0};
	struct ep_sprof prof;

	(void)state;
	ep_buf_put(&file, "\xff\xe5\xd0\xb1\xf4\xc9\x94\xa8\x53\x67", 10);
	ep_buf_put(&file, "\0\0\0\0\1\0", 6); /* summary */
	ep_buf_put(&file, "\1f", 3);          /* one name */
	ep_buf_put(&file, "\1\0\1\0\1", 5);   /* head, f, total, no record, one callee */
	for (int i = 0; i < 100000; i++)
		ep_buf_put(&file, "\1\0\0\1\0\1", 6); /* at 1.0, f, total, no record, one callee */
	check_fails(EP_ERROR_BAD_DATA, read_guarded(file.v, file.n, NULL, &prof));
	ep_buf_deinit(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(layout_of_extbinary),
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(guids_are_written_and_read),
	    cmocka_unit_test(guids_in_leb128_are_read),
	    cmocka_unit_test(symbols_and_provenance_are_kept),
	    cmocka_unit_test(probes_and_attributes_are_kept),
	    cmocka_unit_test(names_that_files_cannot_hold_are_refused),
	    cmocka_unit_test(truncations_are_errors),
	    cmocka_unit_test(changed_bytes_are_harmless),
	    cmocka_unit_test(bad_tables_are_refused),
	    cmocka_unit_test(overlapping_sections_are_refused),
	    cmocka_unit_test(other_versions_are_refused),
	    cmocka_unit_test(contexts_are_refused),
	    cmocka_unit_test(compressed_bombs_are_refused),
	    cmocka_unit_test(deep_nesting_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
