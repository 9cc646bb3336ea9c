/* SPDX-License-Identifier: BSD-2-Clause */
/* Static functions of the same names as in first.c, and two equal functions to fold. */
#include <stdlib.h>
static void init(double *p, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = i * 0.5;
}
static int hash(int s)
{
	int h = 5381;
	for (int i = 0; i < s; i++)
		h = h * 33 + i;
	return h;
}
int other(int x)
{
	double d[64];
	init(d, 64);
	if (x == 77) {
		x += hash(x);
	}
	for (int i = 0; i < 64; i++)
		x += (int)d[i];
	return x;
}
int same1(int x)
{
	return other(x) + 1;
}
int same2(int x)
{
	return other(x) + 1;
}
