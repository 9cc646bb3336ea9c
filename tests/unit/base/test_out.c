/* SPDX-License-Identifier: BSD-2-Clause */
/* Files are replaced as a whole or not at all. */
#include "base/out.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "support/check.h"

static char dir[] = "/tmp/ep_out.XXXXXX";
static char path[64], link_path[64];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/f", dir);
	snprintf(link_path, sizeof(link_path), "%s/l", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(link_path);
	return rmdir(dir);
}

static size_t n_entries(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void check_content(const char *text)
{
	struct ep_file file;

	check_ok(ep_file_open(path, 0, &file));
	check_u64_eq(file.size, strlen(text));
	assert_memory_equal(file.data, text, strlen(text));
	ep_file_close(&file);
}

static void test_abort_keeps_the_old_file(void **state)
{
	(void)state;
	struct ep_out out = {0};

	check_ok(ep_out_write(path, "old", 3));
	assert_int_equal(chmod(path, 0640), 0);
	check_ok(ep_out_open(path, &out));
	fputs("new and longer", out.file);
	fflush(out.file);
	check_content("old");
	ep_out_abort(&out);
	ep_out_abort(&out);
	check_content("old");
	check_u64_eq(n_entries(), 1);
}

static void test_refuses_names_that_lead_nowhere(void **state)
{
	(void)state;
	struct ep_out out = {0};

	check_fails(EP_ERROR_USAGE, ep_out_open("", &out));
	assert_int_equal(symlink("l", link_path), 0);
	check_fails(EP_ERROR_OS, ep_out_open(link_path, &out));
	unlink(link_path);
	assert_int_equal(symlink("nowhere", link_path), 0);
	check_fails(EP_ERROR_OS, ep_out_open(link_path, &out));
	unlink(link_path);
	check_u64_eq(n_entries(), 1);
}

static void test_longest_name(void **state)
{
	(void)state;
	char name[512];
	int n = snprintf(name, sizeof(name), "%s/", dir);
	struct ep_out out = {0};

	memset(name + n, 'a', 256);
	name[n + 256] = '\0';
	check_fails(EP_ERROR_OS, ep_out_open(name, &out));
	name[n + 255] = '\0';
	check_ok(ep_out_write(name, "x", 1));
	check_u64_eq(n_entries(), 2);
	assert_int_equal(unlink(name), 0);
}

static void test_dying_removes_temporaries(void **state)
{
	(void)state;
	struct ep_out out = {0};
	int status = 0;

	pid_t pid = fork();
	if (!pid) {
		if (ep_out_open(path, &out))
			_exit(3);
		ep_out_remove_temporaries();
		_exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
	check_content("old");
	check_u64_eq(n_entries(), 1);
}

static void test_commit_replaces_and_keeps_mode_and_link(void **state)
{
	(void)state;
	struct stat st;

	assert_int_equal(symlink("f", link_path), 0);
	check_ok(ep_out_write(link_path, "newer", 5));
	check_content("newer");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	check_u64_eq(n_entries(), 2);
}

/* A link of /proc/self/fd to a pipe reads as a name that does not exist. */
static void test_links_to_a_pipe_are_written_in_place(void **state)
{
	(void)state;
	struct stat st;
	char name[40], got[8];
	int fds[2];

	unlink(link_path);
	assert_int_equal(pipe(fds), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", fds[1]);
	assert_int_equal(symlink(name, link_path), 0);
	check_ok(ep_out_write(link_path, "piped", 5));
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	check_u64_eq(n_entries(), 2);
	assert_int_equal(read(fds[0], got, sizeof(got)), 5);
	assert_memory_equal(got, "piped", 5);
	close(fds[0]);
	close(fds[1]);
}

static void test_errors(void **state)
{
	(void)state;
	struct ep_file file;
	char bad[80];

	snprintf(bad, sizeof(bad), "%s/none/x", dir);
	check_fails(EP_ERROR_OS, ep_out_write(bad, "x", 1));
	check_fails(EP_ERROR_OS, ep_out_write("/dev/full", "x", 1));
	check_fails(EP_ERROR_OS, ep_file_open(bad, 0, &file));
	check_fails(EP_ERROR_OS, ep_file_open(dir, 0, &file));
	check_fails(EP_ERROR_BAD_DATA, ep_file_open(path, 2, &file));
}

static void test_unnamed_files_leave_nothing(void **state)
{
	(void)state;
	FILE *file;
	char got[4] = {0};

	unlink(path);
	unlink(link_path);
	check_ok(ep_out_open_unnamed(path, &file));
	check_u64_eq(n_entries(), 0);
	fputs("abc", file);
	rewind(file);
	check_u64_eq(fread(got, 1, 3, file), 3);
	assert_string_equal(got, "abc");
	fclose(file);
	check_ok(ep_out_open_unnamed(NULL, &file));
	fclose(file);
	check_fails(EP_ERROR_OS, ep_out_open_unnamed("/nonexistent/folder/f", &file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_abort_keeps_the_old_file),
	    cmocka_unit_test(test_refuses_names_that_lead_nowhere),
	    cmocka_unit_test(test_longest_name),
	    cmocka_unit_test(test_dying_removes_temporaries),
	    cmocka_unit_test(test_commit_replaces_and_keeps_mode_and_link),
	    cmocka_unit_test(test_links_to_a_pipe_are_written_in_place),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_unnamed_files_leave_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
