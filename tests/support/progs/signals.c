/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals and jumps out of functions: signals [N], N rounds (1000). No timer is used, so all of it
 * happens at the same place every time. In each round SIGUSR1 is raised and its handler returns,
 * SIGUSR2 is raised and its handler, on a stack of its own, jumps back with siglongjmp(), and
 * setjmp()/longjmp() leave a recursion eight deep. Signal delivery is no branch: the handlers
 * themselves have no edge to their first instruction. Then
 *   in_handler  N      called by the handler of SIGUSR1
 *   in_escape   N      called by the handler of SIGUSR2
 *   escaped     N      called where siglongjmp() arrives
 *   deep        9 N    the recursion
 *   landed      N      called where longjmp() arrives
 *   after       N      at the end of a round
 */
#include "progs.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

enum { DEPTH = 8, STACK_BYTES = 64 * 1024 };

COUNTED void in_handler(void);
COUNTED void in_escape(void);
COUNTED void escaped(void);
COUNTED void deep(unsigned left);
COUNTED void landed(void);
COUNTED void after(void);

static volatile sig_atomic_t sum;
static sigjmp_buf from_signal;
static jmp_buf from_depth;
static char stack[STACK_BYTES];

void in_handler(void)
{
	sum = (sum + 1) & 0xffff;
	keep(1);
}

static void handler(int signo)
{
	(void)signo;
	in_handler();
	keep(2);
}

void in_escape(void)
{
	sum = (sum + 3) & 0xffff;
	keep(3);
}

static void escape(int signo)
{
	(void)signo;
	in_escape();
	siglongjmp(from_signal, 1);
}

void escaped(void)
{
	sum = (sum + 5) & 0xffff;
	keep(4);
}

void deep(unsigned left)
{
	if (left == 0)
		longjmp(from_depth, 1);
	if (left <= DEPTH)
		deep(left - 1);
	keep(5);
}

void landed(void)
{
	sum = (sum + 7) & 0xffff;
	keep(6);
}

void after(void)
{
	sum = (sum + 9) & 0xffff;
	keep(7);
}

static void one_round(void)
{
	raise(SIGUSR1);
	if (sigsetjmp(from_signal, 1) == 0)
		raise(SIGUSR2);
	else
		escaped();
	if (setjmp(from_depth) == 0)
		deep(DEPTH);
	else
		landed();
	after();
}

static void set_handler(int signo, void (*fn)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = fn;
	action.sa_flags = flags;
	sigemptyset(&action.sa_mask);
	if (sigaction(signo, &action, NULL) != 0) {
		perror("signals: sigaction");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned long n = number_arg(argc, argv, 1, 1000);
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};

	if (sigaltstack(&alternate, NULL) != 0) {
		perror("signals: sigaltstack");
		return 1;
	}
	set_handler(SIGUSR1, handler, SA_RESTART);
	set_handler(SIGUSR2, escape, SA_ONSTACK);
	for (volatile unsigned long i = 0; i < n; i++)
		one_round();

	expect("in_handler", n);
	expect("in_escape", n);
	expect("escaped", n);
	expect("deep", (DEPTH + 1) * n);
	expect("landed", n);
	expect("after", n);
	printf("# sum %d\n", (int)sum);
	return 0;
}
