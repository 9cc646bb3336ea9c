/* SPDX-License-Identifier: BSD-2-Clause */
/* Two loops in functions of their own, whose branches the cases write captures of. */
#include <stdlib.h>

__attribute__((noinline)) unsigned loop1(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) {
		sum = sum * 3 + i;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

__attribute__((noinline)) unsigned loop2(unsigned n)
{
	unsigned sum = 1;

	for (unsigned i = 0; i < n; i++) {
		sum = (sum ^ i) * 5;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;

	return (int)((loop1(n) + loop2(n)) & 1);
}
