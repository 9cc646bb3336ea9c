/* SPDX-License-Identifier: BSD-2-Clause */
/* A program in two files: loops, inlining, a table of functions, lines of another file. */
#include <stdio.h>
#include <stdlib.h>
static int hash(const char *s)
{
	int h = 5381;
	while (*s)
		h = h * 33 + *s++;
	return h;
}
static void init(int *p, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = i * i;
}
extern int other(int);
static inline __attribute__((always_inline)) int clampi(int x, int lo, int hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}
__attribute__((noinline)) int work(int *p, int n, int k)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (__builtin_expect(p[i] < 0, 0)) {
			fprintf(stderr, "neg %d\n", p[i]);
			abort();
		}
		s += clampi(p[i] % k, 3, 77);
	}
	return s;
}
static int (*table[])(int) = {other, abs};
int main(int argc, char **argv)
{
	int buf[512];
	init(buf, 512);
	int t = 0;
	for (int i = 1; i < 300; i++)
		t += work(buf, 512, i) + table[i & 1](i) + hash(argv[0]);
#line 3 "weird.c"
	t += argc > 3 ? other(t) : 4;
	printf("%d\n", t);
	return 0;
}
