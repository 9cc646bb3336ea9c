/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loops, a switch, recursion and indirect calls: branches [N], N rounds (1000). With N rounds
 *   leaf     N               a call in a loop
 *   tick     10 N            a loop of ten rounds in that loop
 *   seldom   N / 100 up      when the round divides by 100
 *   never    0               an error path
 *   pick     N               holds the switch over round % 8, which calls
 *   zero     round % 8 == 0
 *   few      round % 8 == 1, 2 or 3
 *   other    all other rounds
 *   fib      1973 a hundred rounds: fib(15), two calls of itself each above 1
 *   down     51 a hundred rounds: recursion 50 deep
 *   op_*     round % 4 = 0..3, through a table of pointers
 *   callback N, through a pointer passed to each()
 */
#include "progs.h"

#include <stdbool.h>

enum { FIB_ARG = 15, FIB_CALLS = 1973, DOWN_ARG = 50 };

COUNTED void leaf(unsigned long i);
COUNTED void tick(unsigned long i);
COUNTED void seldom(unsigned long i);
COUNTED void never(unsigned long i);
COUNTED void pick(unsigned long i);
COUNTED void zero(unsigned long i);
COUNTED void few(unsigned long i);
COUNTED void other(unsigned long i);
COUNTED unsigned fib(unsigned n);
COUNTED unsigned down(unsigned n);
COUNTED unsigned long op_add(unsigned long a);
COUNTED unsigned long op_mul(unsigned long a);
COUNTED unsigned long op_xor(unsigned long a);
COUNTED unsigned long op_rot(unsigned long a);
COUNTED void callback(unsigned long i);
COUNTED void each(unsigned long n, void (*fn)(unsigned long i));

static unsigned long sum;

void leaf(unsigned long i)
{
	sum += i;
	keep(1);
}

void tick(unsigned long i)
{
	sum ^= i * 3;
	keep(2);
}

void seldom(unsigned long i)
{
	sum += i * 5;
	keep(3);
}

void never(unsigned long i)
{
	fprintf(stderr, "branches: round %lu cannot be\n", i);
	exit(1);
}

void zero(unsigned long i)
{
	sum += i * 7;
	keep(4);
}

void few(unsigned long i)
{
	sum += i * 11;
	keep(5);
}

void other(unsigned long i)
{
	sum += i * 13;
	keep(6);
}

void pick(unsigned long i)
{
	switch (i % 8) {
	case 0:
		zero(i);
		break;
	case 1:
	case 2:
	case 3:
		few(i);
		break;
	default:
		other(i);
		break;
	}
	keep(7);
}

unsigned fib(unsigned n)
{
	unsigned v = n;

	if (n > 1) {
		v = fib(n - 1);
		v += fib(n - 2);
	}
	keep(8);
	return v;
}

unsigned down(unsigned n)
{
	unsigned v = n == 0 ? 0 : down(n - 1) + n;

	keep(9);
	return v;
}

unsigned long op_add(unsigned long a)
{
	keep(10);
	return a + 12345;
}

unsigned long op_mul(unsigned long a)
{
	keep(11);
	return a * 69069;
}

unsigned long op_xor(unsigned long a)
{
	keep(12);
	return a ^ 0x5bd1e995;
}

unsigned long op_rot(unsigned long a)
{
	keep(13);
	return (a << 7 | a >> 25) & 0xffffffff;
}

static unsigned long (*const ops[])(unsigned long) = {op_add, op_mul, op_xor, op_rot};

void callback(unsigned long i)
{
	sum += i & 15;
	keep(14);
}

void each(unsigned long n, void (*fn)(unsigned long i))
{
	for (unsigned long i = 0; i < n; i++)
		fn(i);
}

static void round_of(unsigned long i, unsigned long n)
{
	leaf(i);
	for (unsigned j = 0; j < 10; j++)
		tick(j);
	if (i % 100 == 0) {
		seldom(i);
		sum += fib(FIB_ARG);
		sum += down(DOWN_ARG);
	}
	if (i >= n)
		never(i);
	pick(i);
	sum = ops[i % 4](sum) & 0xffffffff;
}

int main(int argc, char **argv)
{
	unsigned long n = number_arg(argc, argv, 1, 1000), hundreds = n_of_rest(n, 100, 0);

	for (unsigned long i = 0; i < n; i++)
		round_of(i, n);
	each(n, callback);

	expect("leaf", n);
	expect("tick", 10 * n);
	expect("seldom", hundreds);
	expect("never", 0);
	expect("pick", n);
	expect("zero", n_of_rest(n, 8, 0));
	expect("few", n_of_rest(n, 8, 1) + n_of_rest(n, 8, 2) + n_of_rest(n, 8, 3));
	expect("other",
	       n_of_rest(n, 8, 4) + n_of_rest(n, 8, 5) + n_of_rest(n, 8, 6) + n_of_rest(n, 8, 7));
	expect("fib", FIB_CALLS * hundreds);
	expect("down", (DOWN_ARG + 1) * hundreds);
	expect("op_add", n_of_rest(n, 4, 0));
	expect("op_mul", n_of_rest(n, 4, 1));
	expect("op_xor", n_of_rest(n, 4, 2));
	expect("op_rot", n_of_rest(n, 4, 3));
	expect("callback", n);
	printf("# sum %lu\n", sum & 0xffffffff);
	return 0;
}
