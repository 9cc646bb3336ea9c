/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the jobs of a list: minivm [-v] LIST. A line of it is a program's file name, looked for in
 * programs/ beside the list, and the integers its main() is called with; # starts a comment.
 * Prints a line with a checksum for each job and one for all of them; -v: what they printed, too.
 */
#include "vm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 8, MAX_SOURCE = 1 << 20 };

static bool verbose;

static bool fail(const char *path, unsigned line, const char *what)
{
	fprintf(stderr, "minivm: %s: line %u: %s\n", path, line, what);
	return false;
}

static uint64_t mix(uint64_t h, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * 0x100000001b3u;
	return h ^ h >> 31;
}

/* The file's text, to be freed, or NULL. */
static char *read_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	char *p;
	size_t n;

	if (!f) {
		fprintf(stderr, "minivm: %s: %s\n", path, strerror(errno));
		return NULL;
	}
	p = malloc(MAX_SOURCE);
	n = p ? fread(p, 1, MAX_SOURCE, f) : 0;
	if (!p || ferror(f) || n == MAX_SOURCE) {
		fprintf(stderr, "minivm: %s: cannot be read or is too large\n", path);
		free(p);
		p = NULL;
	}
	fclose(f);
	*ret_len = n;
	return p;
}

/* Compiles the source, runs its top level, then main(args...); shows what came back. */
static bool execute(struct mv_vm *vm, const char *name, const char *src, size_t len,
                    const struct mv_value *args, size_t n_args)
{
	struct mv_fn *fn = mv_compile(vm, name, src, len);
	struct mv_value v;

	if (!fn || !mv_vm_call(vm, fn, NULL, 0, &v))
		return false;
	v = vm->globals[mv_vm_global(vm, "main", 4)];
	if (v.tag != MV_FN)
		return mv_fail(vm, "%s: no function main", name);
	if (!mv_vm_call(vm, v.u.fn, args, n_args, &v))
		return false;
	mv_show(&vm->output, v);
	return true;
}

static bool run_program(const char *path, const char *name, const struct mv_value *args,
                        size_t n_args, uint64_t *ret)
{
	size_t len;
	char *src = read_file(path, &len);
	struct mv_vm *vm = src ? mv_vm_create() : NULL;
	bool ok = vm && execute(vm, name, src, len, args, n_args);

	if (ok && verbose)
		printf("%.*s\n", (int)vm->output.n, vm->output.p);
	if (ok)
		*ret = mix(0xcbf29ce484222325u, vm->output.p, vm->output.n);
	else if (vm)
		fprintf(stderr, "minivm: %s: %s\n", name, vm->error);
	mv_vm_destroy(vm);
	free(src);
	return ok;
}

/* One line of the list; a blank one or a comment is no job and leaves *total alone. */
static bool run_line(const char *list, unsigned line, char *text, uint64_t *total)
{
	struct mv_value args[MAX_ARGS];
	size_t n = 0;
	char path[512], *word, *rest = NULL, *name;
	const char *slash = strrchr(list, '/');
	uint64_t sum;

	text[strcspn(text, "#\n")] = '\0';
	name = strtok_r(text, " \t", &rest);
	if (!name)
		return true;
	while ((word = strtok_r(NULL, " \t", &rest))) {
		if (n == MAX_ARGS)
			return fail(list, line, "too many arguments");
		args[n++] = mv_int(strtoll(word, NULL, 10));
	}
	if (snprintf(path, sizeof(path), "%.*sprograms/%s", slash ? (int)(slash - list) + 1 : 0,
	             list, name) >= (int)sizeof(path))
		return fail(list, line, "path too long");
	if (!run_program(path, name, args, n, &sum))
		return fail(list, line, "the job failed");
	printf("%-12s %016" PRIx64 "\n", name, sum);
	*total = (*total ^ sum) * 0x100000001b3u;
	return true;
}

int main(int argc, char **argv)
{
	const char *list;
	char text[256];
	unsigned line = 0;
	uint64_t total = 1;
	bool ok = true;
	FILE *f;

	verbose = argc == 3 && strcmp(argv[1], "-v") == 0;
	if (argc != (verbose ? 3 : 2)) {
		fputs("usage: minivm [-v] LIST\n", stderr);
		return 2;
	}
	list = argv[argc - 1];
	f = fopen(list, "r");
	if (!f) {
		fprintf(stderr, "minivm: %s: %s\n", list, strerror(errno));
		return 1;
	}
	while (ok && fgets(text, sizeof(text), f))
		ok = run_line(list, ++line, text, &total);
	fclose(f);
	if (ok)
		printf("%-12s %016" PRIx64 "\n", "total", total);
	return ok ? 0 : 1;
}
