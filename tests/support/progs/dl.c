/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Libraries that come and go: dl A.so B.so [N], N rounds (1000). A and B are two builds of
 * dlmod.c, or the same one twice. A is loaded, called N times and unloaded; B is loaded, often at
 * the address that A had, called 2 N times and unloaded; then A again, N times. Then
 *   round_of           4 N
 *   mod_work in A      2 N      printed as A:mod_work
 *   mod_step in A      8 N      four in each of those calls
 *   mod_work in B      2 N
 *   mod_step in B      8 N
 */
#include "progs.h"

#include <dlfcn.h>

typedef unsigned long (*work_fn)(unsigned long i);

COUNTED void round_of(work_fn work, unsigned long i);

static unsigned long sum;

void round_of(work_fn work, unsigned long i)
{
	sum += work(i);
	keep(1);
}

static void use(const char *path, unsigned long n)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "mod_work") : NULL;
	work_fn work;

	if (!symbol) {
		fprintf(stderr, "dl: %s\n", dlerror());
		exit(1);
	}
	*(void **)&work = symbol;
	for (unsigned long i = 0; i < n; i++)
		round_of(work, i);
	dlclose(library);
}

int main(int argc, char **argv)
{
	unsigned long n = number_arg(argc, argv, 3, 1000);

	if (argc < 3) {
		fputs("usage: dl A.so B.so [N]\n", stderr);
		return 2;
	}
	use(argv[1], n);
	use(argv[2], 2 * n);
	use(argv[1], n);

	expect("round_of", 4 * n);
	expect("A:mod_work", 2 * n);
	expect("A:mod_step", 8 * n);
	expect("B:mod_work", 2 * n);
	expect("B:mod_step", 8 * n);
	printf("# sum %lu\n", sum);
	return 0;
}
