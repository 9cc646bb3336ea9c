/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a fuzz entry over files and folders of files, for builds without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t n_run;

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;

	if (!f || fstat(fileno(f), &st) < 0) {
		perror(path);
		exit(1);
	}
	/* An exact-size heap block lets the address sanitizer see one byte of overread. */
	uint8_t *data = malloc((size_t)st.st_size + !st.st_size);
	if (!data || fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
	n_run++;
}

static void run_dir(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir) {
		run_file(path);
		return;
	}
	while ((entry = readdir(dir))) {
		char sub[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(sub, sizeof(sub), "%s/%s", path, entry->d_name);
		run_dir(sub);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run_dir(argv[i]);
	printf("%zu inputs replayed\n", n_run);
	return n_run ? 0 : 1;
}
