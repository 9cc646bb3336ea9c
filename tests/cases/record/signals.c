/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals that strike anywhere, faults in the middle of blocks, code that changes itself: what
 * moves the PC without a branch. signals SECONDS-OF-CPU-LIKE ROUNDS.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int n_alarms, n_faults;
static char *page;
static size_t page_size;
static sigjmp_buf from_fault;

static void on_alarm(int signal)
{
	(void)signal;
	n_alarms++;
}

/* Makes the page writable, so that the faulting instruction goes on where it was. */
static void on_fault(int signal)
{
	(void)signal;
	if (++n_faults % 2)
		mprotect(page, page_size, PROT_READ | PROT_WRITE);
	else
		siglongjmp(from_fault, 1);
}

__attribute__((noinline)) static int work(int x)
{
	int r = 0;

	for (int i = 0; i < (x & 7); i++)
		r += i * x;
	return r;
}

static int (*volatile indirect)(int) = work;

#ifdef __x86_64__
/* A function that stores into the page it lies in. */
static long self_writing(int n)
{
	static const unsigned char text[] = {0x89, 0x3d, 0x20, 0, 0,    0,    0x8b, 0x05,
	                                     0x1a, 0,    0,    0, 0x01, 0xf0, 0xc3};
	unsigned char *code = mmap(NULL, page_size, PROT_READ | PROT_WRITE | PROT_EXEC,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*fn)(int, int);
	long sum = 0;

	memcpy(code, text, sizeof(text));
	memcpy(&fn, &code, sizeof(fn));
	for (int i = 0; i < n; i++)
		sum += fn(i, 1);
	munmap(code, page_size);
	return sum;
}
#endif

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000000;
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	long r = 0;

	sigaction(SIGALRM, &action, NULL);
	action.sa_handler = on_fault;
	sigaction(SIGSEGV, &action, NULL);
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	page = mmap(NULL, page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < rounds; i++)
		r += indirect(i);
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < 200; i++) {
		mprotect(page, page_size, PROT_NONE);
		if (!sigsetjmp(from_fault, 1))
			page[i] = (char)i;
	}
#ifdef __x86_64__
	r += self_writing(1000);
#endif
	printf("faults %d\nalarms %d\nsum %ld\n", n_faults, n_alarms, r);
	return 0;
}
