/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library that dl.c loads. Two copies are built that differ in their soname only, and so in
 * their build-id. It needs no other library.
 */
#ifdef __clang__
#define COUNTED __attribute__((noinline))
#else
#define COUNTED __attribute__((noipa))
#endif

unsigned long mod_work(unsigned long i);
COUNTED __attribute__((visibility("hidden"))) unsigned long mod_step(unsigned long v);

unsigned long mod_step(unsigned long v)
{
	__asm__ volatile("" : : : "memory");
	return v * 3 + 1;
}

COUNTED unsigned long mod_work(unsigned long i)
{
	unsigned long v = i;

	for (unsigned j = 0; j < 4; j++)
		v = mod_step(v);
	return v & 0xffff;
}
