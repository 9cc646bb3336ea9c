/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors and signals of the whole process. */
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/out.h"
#include "cmd.h"

static void on_end(int signal, siginfo_t *info, void *context)
{
	static const char text[] = "edgeprof: an input was cut short while it was read\n"
	                           "hint: give it when it is complete, or a copy of it\n";

	(void)context;
	ep_out_remove_temporaries();
	if (signal == SIGBUS && info->si_code == BUS_ADRERR) {
		ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);
		(void)n;
		_exit(EP_EXIT_BAD);
	}
	/* The handler is gone by now: this is the end that the signal stands for. */
	raise(signal);
}

static void catch_ends(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGBUS, SIGXCPU};
	struct sigaction action = {.sa_sigaction = on_end,
	                           .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < EP_ARRAY_LEN(signals); i++) {
		struct sigaction old;
		/* What nohup and the like ignore stays ignored. */
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
	}
}

/* Opened the wrong way round: use of a closed descriptor is still an error. */
static void fill_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void ep_process_init(void)
{
	fill_descriptors();
	/* A closed pipe shows as a failed write, which says which file it was. */
	signal(SIGPIPE, SIG_IGN);
	catch_ends();
}
