/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the test programs share. Each program prints lines "NAME COUNT": the function NAME is
 * called exactly COUNT times, all threads and processes taken together, whatever the compiler and
 * its options. Every such call is one taken branch to the function's first instruction, so a
 * complete recording has COUNT edges to that address. The counts are computed from the arguments,
 * not counted while running.
 */
#ifndef PROGS_H
#define PROGS_H

#include <stdio.h>
#include <stdlib.h>

/* A function whose calls no compiler may inline, clone, merge, hoist or drop. */
#ifdef __clang__
#define COUNTED __attribute__((noinline))
#else
#define COUNTED __attribute__((noipa))
#endif

/* Makes a function impure and a call before it no tail call; k makes bodies differ. */
static inline void keep(unsigned k)
{
	__asm__ volatile("" : : "r"(k) : "memory");
}

static inline void expect(const char *name, unsigned long count)
{
	printf("%s %lu\n", name, count);
}

/* The numeric argument at position at of the command line, or fallback. */
static inline unsigned long number_arg(int argc, char **argv, int at, unsigned long fallback)
{
	return argc > at ? strtoul(argv[at], NULL, 10) : fallback;
}

/* How many of 0..n-1 leave that rest when divided by m. */
static inline unsigned long n_of_rest(unsigned long n, unsigned long m, unsigned long rest)
{
	return n / m + (n % m > rest);
}

#endif
