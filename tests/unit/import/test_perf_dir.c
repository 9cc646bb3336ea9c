/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data directories: --threads writes a file for each thread, --kcore only one. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "import/import.h"
#include "perf_data_case.h"

struct dir {
	char path[40];
	size_t n_parts;
};

static void write_file(const struct dir *dir, const char *name, const struct ep_buf *buf)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/%s", dir->path, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, buf->v, buf->n), (ssize_t)buf->n);
	close(fd);
}

static void add_part(struct dir *dir, const struct ep_buf *buf)
{
	char name[32];

	snprintf(name, sizeof(name), "data.%zu", dir->n_parts++);
	write_file(dir, name, buf);
}

static void remove_dir(const struct dir *dir)
{
	char path[80];

	for (size_t i = 0; i < dir->n_parts; i++) {
		snprintf(path, sizeof(path), "%s/data.%zu", dir->path, i);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/data", dir->path);
	unlink(path);
	rmdir(dir->path);
}

static struct dir make_dir(void)
{
	struct dir dir = {.path = "/tmp/ep_perf_dir_XXXXXX"};

	assert_non_null(mkdtemp(dir.path));
	return dir;
}

static void begin(struct perf_builder *b, bool big_endian)
{
	static const unsigned char version[8] = {1};

	pb_init(b, big_endian, false);
	pb_add_attr(b, &(struct pb_attr){.sample_type = ST_USUAL, .ids = {10}, .n_ids = 1});
	pb_feature(b, PERF_FEAT_DIR_FORMAT, version, sizeof(version));
}

static void run_dir(const struct dir *dir, struct event_text *text, struct ep_warnings *warnings,
                    struct ep_import_info *ret)
{
	struct ep_import *import;
	struct ep_event_sink sink = event_text_sink(text);

	check_ok(ep_import_open(dir->path, EP_IMPORT_AUTO, warnings, &import));
	check_ok(ep_import_run(import, &sink, ret));
	ep_import_close(import);
}

/* The times of all SAMPLE lines ascend. */
static void check_ascending(struct event_text *text)
{
	unsigned long long last = 0;

	for (const char *p = event_text_get(text); (p = strstr(p, "SAMPLE ")); p++) {
		unsigned long long t = strtoull(strchr(p, '@') + 1, NULL, 10);
		assert_true(t >= last);
		last = t;
	}
}

/* Five files with samples at interleaved times, more than one step of reading each. */
static void test_threads(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct perf_builder b;
		struct dir dir = make_dir();
		struct event_text text = {.no_branches = true};
		struct ep_warnings warnings = {0};
		struct ep_import_info info, again;
		begin(&b, i & 1);
		pb_mmap(&b, 7, 0x1000, 0x1000, 0, "/a", 2, 0);
		write_file(&dir, "data", pb_finish(&b));
		pb_deinit(&b);
		for (uint64_t part = 0; part < 5; part++) {
			begin(&b, i & 1);
			if (i & 2)
				pb_pack_begin(&b);
			for (uint64_t k = 0; k < 2000; k++)
				pb_sample(&b,
				          &(struct pb_sample){.pid = 7,
				                              .t_ns = 100 + k * (part + 1) + part,
				                              .branches = two_branches,
				                              .n_branches = 2});
			if (i & 2)
				pb_pack_end(&b, PERF_COMPRESSED2, 3000);
			add_part(&dir, &b.data);
			pb_deinit(&b);
		}
		run_dir(&dir, &text, &warnings, &info);
		check_u64_eq(text.n_samples, 10000);
		check_ascending(&text);
		assert_true(text.ended);
		check_u64_eq(warnings.n, 0);
		event_text_deinit(&text);
		/* Another part, another digest. */
		begin(&b, i & 1);
		pb_sample(&b, &(struct pb_sample){.pid = 7, .t_ns = 100});
		add_part(&dir, &b.data);
		pb_deinit(&b);
		text = (struct event_text){.no_branches = true};
		run_dir(&dir, &text, &warnings, &again);
		check_u64_eq(text.n_samples, 10001);
		check_ascending(&text);
		assert_memory_not_equal(info.digest, again.digest, EP_DIGEST_SIZE);
		event_text_deinit(&text);
		remove_dir(&dir);
	}
}

static void test_torn_part(void **state)
{
	(void)state;
	struct perf_builder b;
	struct dir dir = make_dir();
	struct event_text text = {0};
	struct ep_warnings warnings = {0};
	struct ep_import_info info;

	begin(&b, false);
	pb_comm(&b, 7, "x", false, 0);
	write_file(&dir, "data", pb_finish(&b));
	b.data.n = 0;
	for (uint64_t k = 0; k < 10; k++)
		pb_sample(&b, &(struct pb_sample){.pid = 7, .t_ns = 100 + k});
	b.data.n -= 3;
	add_part(&dir, &b.data);
	add_part(&dir, &(struct ep_buf){0});
	pb_deinit(&b);
	run_dir(&dir, &text, &warnings, &info);
	check_u64_eq(text.n_samples, 9);
	check_u64_eq(text.n_corrupt, 1);
	assert_false(text.ended);
	event_text_deinit(&text);
	ep_warnings_deinit(&warnings);
	remove_dir(&dir);
}

/* One file alone: read, with a warning that there are others. */
static void test_file_of_a_directory(void **state)
{
	(void)state;
	struct perf_builder b;
	struct outcome o;

	begin(&b, false);
	pb_sample(&b, &(struct pb_sample){.pid = 7, .t_ns = 100});
	run_builder(&b, 0, &o);
	check_u64_eq(o.text.n_samples, 1);
	check_u64_eq(ep_warn_count(&o.warnings, "directory-part"), 1);
	outcome_deinit(&o);
}

static void test_other_directories(void **state)
{
	(void)state;
	struct ep_import *import;
	ep_autoerr err = ep_import_open("/tmp", EP_IMPORT_AUTO, NULL, &import);

	assert_non_null(err);
	assert_int_equal(err->code, EP_ERROR_OS);
	assert_non_null(err->hint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_torn_part),
	    cmocka_unit_test(test_file_of_a_directory),
	    cmocka_unit_test(test_other_directories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
