/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions of x86-64 that are easily taken for branches, or for none: insns N. Prints what an
 * exact recording must count: NAME COUNT, as the programs of tests/support/progs do.
 */
#include <stdio.h>
#include <stdlib.h>

/* Each is a function whose first instruction is reached by a call; labels in it are functions to
 * the symbol table. */
__asm__(".text\n"
        /* rep: one instruction, re-entered for each of its iterations under QEMU */
        ".globl copy_bytes\n.type copy_bytes,@function\n"
        "copy_bytes: mov %rdx,%rcx\n"
        "rep movsb\n"
        "ret\n.size copy_bytes,.-copy_bytes\n"
        /* a jump and a call to the next instruction are taken */
        ".globl to_next\n.type to_next,@function\n"
        "to_next: jmp 1f\n"
        ".type after_jump,@function\n"
        "after_jump: 1: call 2f\n"
        ".type after_call,@function\n"
        "after_call: 2: pop %rax\n"
        /* a conditional one to the next instruction cannot be told from one not taken */
        "cmp %eax,%eax\n"
        "je 3f\n"
        ".type after_cond,@function\n"
        "after_cond: 3: ret\n"
        /* an instruction that is its own target */
        ".globl spin\n.type spin,@function\n"
        "spin: mov %rdi,%rcx\n"
        ".type spinning,@function\n"
        "spinning: loop spinning\n"
        "ret\n"
        /* an indirect jump to the start of its own block, and into the middle of it */
        ".globl own_block\n.type own_block,@function\n"
        "own_block: lea own_start(%rip),%rax\n"
        "lea own_middle(%rip),%rdx\n"
        "lea own_end(%rip),%rsi\n"
        "jmp *%rax\n"
        ".type own_start,@function\n"
        "own_start: nop\n"
        ".type own_middle,@function\n"
        "own_middle: dec %rdi\n"
        "mov %rdx,%rcx\n"
        "test $1,%dil\n"
        "cmovz %rax,%rcx\n"
        "test %rdi,%rdi\n"
        "cmovz %rsi,%rcx\n"
        "jmp *%rcx\n"
        ".type own_end,@function\n"
        "own_end: ret\n");

extern void copy_bytes(void *to, const void *from, unsigned long n);
extern void to_next(void);
extern void spin(unsigned long n);
extern void own_block(unsigned long n);

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	static char a[4096], b[4096];

	for (unsigned long i = 0; i < n; i++) {
		copy_bytes(a, b, sizeof(a));
		to_next();
	}
	spin(n);
	own_block(2 * n);
	printf("copy_bytes %lu\nto_next %lu\nafter_jump %lu\nafter_call %lu\nafter_cond 0\n", n, n,
	       n, n);
	printf("spinning %lu\nown_block 1\nown_start %lu\nown_middle %lu\nown_end 1\n", n - 1, n,
	       n);
	return 0;
}
