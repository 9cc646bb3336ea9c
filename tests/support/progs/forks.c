/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes: forks [N [CHILDREN]], N rounds (1000), 0 to 64 children (3). The parent forks
 * CHILDREN times; child k of 0..CHILDREN-1 does (k + 1) N rounds. The last child has a child of
 * its own first, which executes this program again for 5 N rounds. All processes run one at a
 * time. Then
 *   before     N, before the first fork
 *   in_child   N CHILDREN (CHILDREN + 1) / 2
 *   in_exec    5 N, or 0 where the program could not be executed again (an emulator for another
 *              machine, not registered with the kernel) or there are no children
 *   in_parent  N, when all children are gone
 */
#include "progs.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CHILDREN = 64, CANNOT_EXEC = 126 };

COUNTED void before(void);
COUNTED void in_child(void);
COUNTED void in_exec(void);
COUNTED void in_parent(void);

static volatile unsigned long sum;

void before(void)
{
	sum += 1;
	keep(1);
}

void in_child(void)
{
	sum += 3;
	keep(2);
}

void in_exec(void)
{
	sum += 5;
	keep(3);
}

void in_parent(void)
{
	sum += 7;
	keep(4);
}

/* fork() that ends the program when it fails, so that the counts hold or nothing is printed. */
static pid_t make_child(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("forks: fork");
		exit(1);
	}
	return pid;
}

/* The child's exit status; a child that a signal ended makes this fail. */
static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
		fputs("forks: a child did not exit\n", stderr);
		exit(1);
	}
	return WEXITSTATUS(status);
}

static int exec_again(const char *program, unsigned long n)
{
	char number[32];
	pid_t pid = make_child();

	if (pid == 0) {
		snprintf(number, sizeof(number), "%lu", 5 * n);
		execl(program, program, "exec", number, (char *)NULL);
		_exit(CANNOT_EXEC);
	}
	return wait_for(pid);
}

static int run_child(const char *program, unsigned long n, unsigned long k, unsigned long last)
{
	int status = k == last ? exec_again(program, n) : 0;

	for (unsigned long i = 0; i < (k + 1) * n; i++)
		in_child();
	return status;
}

int main(int argc, char **argv)
{
	unsigned long n, n_children = number_arg(argc, argv, 2, 3);
	int status = CANNOT_EXEC;

	if (argc == 3 && strcmp(argv[1], "exec") == 0) {
		for (unsigned long i = 0; i < n_children; i++)
			in_exec();
		return sum == 5 * n_children ? 0 : 1;
	}
	if (n_children > MAX_CHILDREN) {
		fputs("usage: forks [N [CHILDREN]], at most 64 children\n", stderr);
		return 2;
	}
	n = number_arg(argc, argv, 1, 1000);
	for (unsigned long i = 0; i < n; i++)
		before();
	for (unsigned long k = 0; k < n_children; k++) {
		pid_t pid = make_child();

		if (pid == 0)
			_exit(run_child(argv[0], n, k, n_children - 1));
		status = wait_for(pid);
		if (status != 0 && (status != CANNOT_EXEC || k != n_children - 1))
			return 1;
	}
	for (unsigned long i = 0; i < n; i++)
		in_parent();

	expect("before", n);
	expect("in_child", n * n_children * (n_children + 1) / 2);
	expect("in_exec", status == 0 ? 5 * n : 0);
	expect("in_parent", n);
	printf("# sum %lu\n", sum);
	return 0;
}
