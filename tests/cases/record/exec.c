/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that execute programs: exec HOW [N]. Each image calls turn() N times (1000) before it
 * goes on; prints the sum that an exact recording of all of them must count. chain      executes
 * itself three times over, by path, by PATH and by /proc/self/exe thread     a thread other than
 * the first executes it fail       tries to execute what is not there, is no program or may not be
 * executed, goes on end        nothing more
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) static void turn(void)
{
	static volatile unsigned long n;

	n++;
}

static void work(int n)
{
	for (int i = 0; i < n; i++)
		turn();
}

static void *exec_end(void *payload)
{
	char *const *argv = payload;

	execl(argv[0], argv[0], "end", argv[2], (char *)NULL);
	perror(argv[0]);
	exit(9);
}

static void fail_to_exec(void)
{
	char *const argv[] = {(char[]){"x"}, NULL};

	execv("/nonexistent/program", argv);
	execv("/etc/passwd", argv);
	execv("/tmp", argv);
	execv((const char *)8, argv);
	execve("/bin/true", (char *const *)8, environ);
}

static void chain(char **argv, int step)
{
	char next[16];

	snprintf(next, sizeof(next), "%d", step + 1);
	setenv("STEP", next, 1);
	if (step == 0)
		execv(argv[0], argv);
	else if (step == 1)
		execvp("exec", argv);
	else if (step == 2)
		execv("/proc/self/exe", argv);
	if (step < 3) {
		perror("exec");
		exit(9);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "end", *step = getenv("STEP");
	int n = argc > 2 ? atoi(argv[2]) : 1000, n_images = 1;
	pthread_t thread;

	work(n);
	if (!strcmp(how, "chain")) {
		chain(argv, step ? atoi(step) : 0);
		n_images = 4;
	} else if (!strcmp(how, "fail")) {
		fail_to_exec();
	} else if (!strcmp(how, "thread")) {
		pthread_create(&thread, NULL, exec_end, argv);
		pthread_join(thread, NULL);
	} else if (getenv("IMAGES")) {
		n_images = atoi(getenv("IMAGES"));
	}
	printf("turn %d\n", n_images * n);
	return 7;
}
