/* SPDX-License-Identifier: BSD-2-Clause */
/* The text format: what is read, what is refused and where, what is written. */
#include "unit/sprof/io.h"

static void check_bad(const char *text, const char *message)
{
	check_refused(text, strlen(text), EP_ERROR_BAD_DATA, message);
}

static void everything_is_sorted(void **state)
{
	(void)state;
	check_text("b:5:1\n"
	           " 2.1: 3\n"
	           " 2: 7 y:1 x:1 z:6\n"
	           " 1: 0\n"
	           " 4: q:2\n"
	           "  1: 2\n"
	           " 4: p:9\n"
	           "  1: 9\n"
	           "   5: 1\n"
	           " 3.4294967295: p:1\n"
	           "a:6:0\n",
	           "a:6:0\n"
	           "b:5:1\n"
	           " 1: 0\n"
	           " 2: 7 z:6 x:1 y:1\n"
	           " 2.1: 3\n"
	           " 3.4294967295: p:1\n"
	           " 4: p:9\n"
	           "  1: 9\n"
	           "  5: 1\n"
	           " 4: q:2\n"
	           "  1: 2\n");
}

static void comments_blanks_and_line_ends(void **state)
{
	(void)state;
	check_text(
	    "# a comment\r\n\r\n   \r\nmain:5:1\r\n  # deep comment\r\n 1: 5 f:2\r\n\n\n 2: 1",
	    "main:5:1\n 1: 5 f:2\n 2: 1\n");
}

static void duplicates_add_up(void **state)
{
	(void)state;
	check_text("f:1:1\n 1: 5\n 1: 6 g:3\n 1: 0 g:4 h:1\n 2: g:1\n  1: 1\n"
	           "g:1:0\n"
	           "f:2:3\n 1: 1\n 2: g:2\n  1: 4\n",
	           "f:3:4\n 1: 12 g:7 h:1\n 2: g:3\n  1: 5\n"
	           "g:1:0\n");
}

static void names_may_hold_colons_and_blanks(void **state)
{
	(void)state;
	check_text("ns::f<a, b>(int):7:1\n"
	           " 1: 9 _M_construct<char *>:1000 string_view<std::allocator<char> >:437\n"
	           " 2: a::b c:5\n"
	           "  1: 5\n"
	           "123:1:1\n",
	           "ns::f<a, b>(int):7:1\n"
	           " 1: 9 _M_construct<char *>:1000 string_view<std::allocator<char> >:437\n"
	           " 2: a::b c:5\n"
	           "  1: 5\n"
	           "123:1:1\n");
}

static void counts_have_64_bits(void **state)
{
	(void)state;
	check_text("f:18446744073709551615:4294967296\n 1: 4294967297 g:8589934592\n",
	           "f:18446744073709551615:4294967296\n 1: 4294967297 g:8589934592\n");
	check_text("f:18446744073709551615:0\n 1: 18446744073709551615\n"
	           "f:18446744073709551615:0\n 1: 1\n",
	           "f:18446744073709551615:0\n 1: 18446744073709551615\n");
	check_bad("f:18446744073709551616:0\n",
	          "in:1:3: expected NAME:TOTAL:HEAD, found '18446744073709551616:0'");
}

static void metadata_is_kept(void **state)
{
	static const char text[] = "f:5:1\n"
	                           " 1: 5\n"
	                           " 2: g:3\n"
	                           "  1: 3\n"
	                           "  !CFGChecksum: 7\n"
	                           "  !Attributes: 2\n"
	                           " !CFGChecksum: 18446744073709551615\n"
	                           " !Attributes: 1\n";
	struct ep_sprof prof = profile_of(text);

	(void)state;
	check_text(text, text);
	check_u64_eq(prof.flags, EP_SPROF_PROBE | EP_SPROF_PREINLINED);
	check_u64_eq(prof.funcs.v[0]->checksum, UINT64_MAX);
	check_u64_eq(prof.funcs.v[0]->flags & (EP_SPROF_HAS_CHECKSUM | EP_SPROF_HAS_ATTRIBUTES), 3);
	ep_sprof_deinit(&prof);
	check_bad("f:5:1\n !CFGChecksum: 1\n 1: 5\n",
	          "in:3:2: expected no further line behind the metadata, found '1: 5'");
	check_bad("f:5:1\n !Checksum: 1\n",
	          "in:2:2: expected !CFGChecksum: NUMBER, !Attributes: NUMBER or !Flat, "
	          "found '!Checksum: 1'");
	check_bad("f:5:1\n !Attributes: 4294967296\n",
	          "in:2:2: expected !CFGChecksum: NUMBER, !Attributes: NUMBER or !Flat, "
	          "found '!Attributes: 4294967296'");
}

static void what_is_left_out_is_counted(void **state)
{
	static const char text[] = "f:5:1\n 1: 5\n 1: vtables _ZTVa:3 _ZTVb:2 \n"
	                           " 2: vtables _ZTVa:1\n !Flat\n"
	                           "g:1:1\n   1: 1\n";
	struct ep_warnings warnings = {0};
	struct ep_sprof_read_opts opts = {.warnings = &warnings};
	struct ep_sprof prof;

	(void)state;
	check_ok(read_guarded(text, strlen(text), &opts, &prof));
	check_u64_eq(ep_warn_count(&warnings, "vtable-types"), 2);
	check_u64_eq(ep_warn_count(&warnings, "flat-mark"), 1);
	check_u64_eq(ep_warn_count(&warnings, "indentation"), 1);
	ep_warnings_deinit(&warnings);
	ep_sprof_deinit(&prof);
}

static void errors_name_the_place_and_the_form(void **state)
{
	(void)state;
	check_bad("f:5\n", "in:1:1: expected NAME:TOTAL:HEAD, found 'f:5'");
	check_bad("f:5:1\ng:x:1\n", "in:2:3: expected NAME:TOTAL:HEAD, found 'x:1'");
	check_bad("f:5:\n", "in:1:5: expected NAME:TOTAL:HEAD, found ''");
	check_bad(":5:1\n", "in:1:1: expected NAME:TOTAL:HEAD, found ':5:1'");
	check_bad("\xef\xbb\xbf"
	          "f:5:1\n",
	          "in:1:1: a byte-order mark, found '\xef\xbb\xbf"
	          "f:5:1'");
	check_bad("f:5:1\n\t1: 5\n", "in:2:1: expected blanks or a function's name, found '?1: 5'");
	check_bad(" 1: 5\n", "in:1:1: expected NAME:TOTAL:HEAD before its lines, found ' 1: 5'");
	check_bad("f:5:1\n 1:5\n", "in:2:3: expected one blank behind the colon, and "
	                           "OFFSET[.DISCRIMINATOR]: COUNT[ TARGET:COUNT]..., found ':5'");
	check_bad("f:5:1\n 1:  5\n",
	          "in:2:3: expected one blank behind the colon, and "
	          "OFFSET[.DISCRIMINATOR]: COUNT[ TARGET:COUNT]..., found ':  5'");
	check_bad("f:5:1\n 65536: 5\n",
	          "in:2:2: expected a line offset of at most 65535, found '65536: 5'");
	check_bad("f:5:1\n 65536.1: 5\n",
	          "in:2:2: expected a line offset of at most 65535, found '65536.1: 5'");
	check_bad("f:5:1\n 1.4294967296: 5\n",
	          "in:2:4: expected a discriminator of 32 bits, found '4294967296: 5'");
	check_bad("f:5:1\n +1: 5\n", "in:2:2: expected OFFSET[.DISCRIMINATOR]: COUNT[ "
	                             "TARGET:COUNT]... or OFFSET[.DISCRIMINATOR]: CALLEE:TOTAL, "
	                             "found '+1: 5'");
	check_bad("f:5:1\n 1: 5 g\n", "in:2:7: expected TARGET:COUNT, found 'g'");
	check_bad("f:5:1\n 1: 5 g:x\n", "in:2:7: expected TARGET:COUNT, found 'g:x'");
	check_bad("f:5:1\n 1: g\n",
	          "in:2:5: expected COUNT[ TARGET:COUNT]... or CALLEE:TOTAL, found 'g'");
	check_bad("f:5:1\n 1: vtables a\n", "in:2:13: expected OFFSET[.DISCRIMINATOR]: vtables "
	                                    "NAME:COUNT..., found 'a'");
}

static void long_lines_are_cut_in_errors(void **state)
{
	(void)state;
	check_bad(
	    "f:5:1\n 1: 5 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
	    "in:2:7: expected TARGET:COUNT, found "
	    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'...");
}

static void other_formats_are_refused_by_name(void **state)
{
	static const char compact[] = "\x82\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53\x67";
	static const char context[] = "[main:3 @ f]:5:1\n 1: 5\n";

	(void)state;
	check_refused(compact, 10, EP_ERROR_UNSUPPORTED,
	              "in: LLVM's compact binary sample profile, which LLVM dropped");
	check_refused("adcg*704\0\0\0\0", 12, EP_ERROR_UNSUPPORTED,
	              "in: a gcov profile, as GCC reads it");
	check_refused("\xfflprofi\x81\0\0", 10, EP_ERROR_UNSUPPORTED,
	              "in: an LLVM instrumentation profile, not a sample profile");
	check_refused(context, strlen(context), EP_ERROR_UNSUPPORTED,
	              "in:1: a context-sensitive profile, which is not read yet");
	check_refused("\x7f"
	              "ELF\0\0",
	              6, EP_ERROR_BAD_DATA, "in: not a sample profile");
	check_refused("", 0, EP_ERROR_BAD_DATA, "in: empty file");
	check_refused("# only this\n", 12, EP_ERROR_MISSING, "in: no function in the profile");
	check_refused("f:5:1\n 1: 5 \0:3\n", 16, EP_ERROR_BAD_DATA,
	              "in:2:7: a NUL byte, found '?:3'");
}

static void detection_is_by_content(void **state)
{
	static const char text[] = "# c\n\nf(a:b):5:1\n";
	static const char lines[] = " 1: 5\n";

	(void)state;
	assert_int_equal(ep_sprof_detect(text, strlen(text)), EP_SPROF_TEXT);
	assert_int_equal(ep_sprof_detect(text, 3), EP_SPROF_UNKNOWN);
	assert_int_equal(ep_sprof_detect(lines, strlen(lines)), EP_SPROF_UNKNOWN);
	assert_int_equal(ep_sprof_detect("\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8\x53", 9),
	                 EP_SPROF_EXTBINARY);
	assert_int_equal(ep_sprof_detect("\xff\xe5\xd0\xb1\xf4\xc9\x94\xa8\x53", 9),
	                 EP_SPROF_BINARY);
	assert_int_equal(ep_sprof_detect("\x84\xe4\xd0\xb1\xf4\xc9\x94\xa8", 8), EP_SPROF_UNKNOWN);
	assert_int_equal(ep_sprof_detect("", 0), EP_SPROF_UNKNOWN);
}

/*
 * A text cut anywhere is an error with its place, or as far as anyone can tell a shorter text: then
 * the missing line end is told, except where a whole line ends.
 */
static void truncations_are_clean(void **state)
{
	static const char text[] = "main:184:10\n 1: 534 f:3\n 65534.12: 2\n 10: g:1000\n  1: 3\n"
	                           " !CFGChecksum: 563022570642068\n";

	(void)state;
	for (size_t n = 0; n < strlen(text); n++) {
		struct ep_warnings warnings = {0};
		struct ep_sprof_read_opts opts = {.warnings = &warnings};
		struct ep_sprof prof;
		struct ep_error *err = read_guarded(text, n, &opts, &prof);
		if (err) {
			assert_true(err->code == EP_ERROR_BAD_DATA);
			ep_error_destroy(err);
		} else {
			check_u64_eq(ep_warn_count(&warnings, "no-line-end"), text[n - 1] != '\n');
			ep_sprof_deinit(&prof);
		}
		ep_warnings_deinit(&warnings);
	}
}

static void inlining_has_a_limit(void **state)
{
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	fputs("f:1:1\n", out);
	for (int depth = 1; depth <= EP_SPROF_DEPTH_MAX + 1; depth++)
		fprintf(out, "%*s1: f:1\n", depth, "");
	fclose(out);
	check_bad(text, "in:1002: more than 1000 levels of inlining");
	free(text);
}

static void memory_has_a_limit(void **state)
{
	struct ep_sprof_read_opts opts = {.memory_max = 1000};
	struct ep_sprof prof;

	(void)state;
	check_fails(EP_ERROR_NOMEM, read_guarded("f:1:1\n", 6, &opts, &prof));
}

static void guids_stay_guids(void **state)
{
	struct ep_sprof prof = profile_of("99:5:1\n 1: 5 7:3\n 2: 1000:2\n  1: 2\n1000:5:1\n");
	struct bytes text = written_as(&prof, EP_SPROF_TEXT);

	(void)state;
	check_u64_eq(prof.flags, EP_SPROF_MD5);
	assert_string_equal(text.v, "99:5:1\n 1: 5 7:3\n 2: 1000:2\n  1: 2\n1000:5:1\n");
	free(text.v);
	ep_sprof_deinit(&prof);
}

static void names_that_text_cannot_hold_are_refused(void **state)
{
	/* As function, callee, target. */
	static const struct {
		const char *name;
		bool refused[3];
	} cases[] = {
	    {"plain", {false, false, false}},    {"a b:c", {false, false, false}},
	    {"a\nb", {true, true, true}},        {"", {true, true, true}},
	    {" a", {true, true, true}},          {"[a]", {true, false, false}},
	    {"#a", {true, false, false}},        {"\ta", {true, false, false}},
	    {"12 a", {false, true, false}},      {"12", {false, false, false}},
	    {"vtables a", {false, true, false}}, {"a:5", {false, false, true}},
	    {"a:5 b", {false, false, true}},     {"a:5b", {false, false, false}},
	    {":a", {false, false, true}},
	};
	struct ep_sprof_write_opts opts = {.format = EP_SPROF_TEXT};

	(void)state;
	for (size_t i = 0; i < EP_ARRAY_LEN(cases); i++) {
		for (int role = 0; role < 3; role++) {
			struct ep_sprof prof = {0};
			struct ep_sprof_func *func, *callee;
			struct ep_sprof_record *record;
			uint32_t name, plain;
			check_ok(ep_sprof_name(&prof, cases[i].name, strlen(cases[i].name), &name));
			check_ok(ep_sprof_name(&prof, "f", 1, &plain));
			check_ok(ep_sprof_func(&prof, role ? plain : name, &func));
			check_ok(ep_sprof_record(&prof, func, 1, 0, &record));
			if (role == 1)
				check_ok(ep_sprof_callee(&prof, func, 1, 0, name, &callee));
			if (role == 2)
				check_ok(ep_sprof_target_add(&prof, record, name, 1));
			check_ok(ep_sprof_finalise(&prof));
			if (cases[i].refused[role]) {
				FILE *out = fopen("/dev/null", "w");
				check_fails(EP_ERROR_USAGE, ep_sprof_write(&prof, &opts, out));
				fclose(out);
			} else {
				struct bytes text = written(&prof, &opts);
				check_text(text.v, text.v);
				free(text.v);
			}
			ep_sprof_deinit(&prof);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(everything_is_sorted),
	    cmocka_unit_test(comments_blanks_and_line_ends),
	    cmocka_unit_test(duplicates_add_up),
	    cmocka_unit_test(names_may_hold_colons_and_blanks),
	    cmocka_unit_test(counts_have_64_bits),
	    cmocka_unit_test(metadata_is_kept),
	    cmocka_unit_test(what_is_left_out_is_counted),
	    cmocka_unit_test(errors_name_the_place_and_the_form),
	    cmocka_unit_test(long_lines_are_cut_in_errors),
	    cmocka_unit_test(other_formats_are_refused_by_name),
	    cmocka_unit_test(detection_is_by_content),
	    cmocka_unit_test(truncations_are_clean),
	    cmocka_unit_test(inlining_has_a_limit),
	    cmocka_unit_test(memory_has_a_limit),
	    cmocka_unit_test(guids_stay_guids),
	    cmocka_unit_test(names_that_text_cannot_hold_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
