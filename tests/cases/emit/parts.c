/* SPDX-License-Identifier: BSD-2-Clause */
/* Code with a name at each place where it differs what emit and llvm-profgen make of counts. */

/* The first instruction is the head of a loop. */
__attribute__((naked, used)) void spin(void)
{
	/* A local label: assemblers disagree about the length of a jump to a global one. */
	__asm__("spin_head: decl %edi\n"
	        "spin_again: jne spin_head\n"
	        "spin_end: ret\n");
}

/* The middle has no line. */
__attribute__((naked, used)) void lineless(void)
{
	__asm__("nop\n"
	        ".loc 1 0 0\n"
	        "nop\n"
	        "nop\n"
	        ".loc 1 19 0\n"
	        "lineless_end: ret\n");
}

/* A range cannot go on behind an indirect jump or a trap. */
__attribute__((naked, used)) void jumps(void)
{
	__asm__("jumps_out: jmp *%rax\n"
	        "jumps_behind: ud2\n"
	        "jumps_end: ret\n");
}

__attribute__((naked, used)) void leaf(void)
{
	__asm__("leaf_end: ret\n");
}

/* Calls leaf: what is inlined here calls. */
static inline __attribute__((always_inline)) void inlined(void)
{
	__asm__ volatile("inlined_call: call leaf" ::: "memory");
}

__attribute__((used, noinline)) void outer(void)
{
	inlined();
}

/* An exception strikes at its second instruction. */
__attribute__((naked, used)) void struck(void)
{
	__asm__("nop\n"
	        ".loc 1 58 0\n"
	        "struck_at: nop\n"
	        "struck_end: ret\n");
}

int main(void)
{
	return 0;
}
