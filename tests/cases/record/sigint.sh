# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# An interrupt ends the program and finishes the file. A shell's background jobs ignore SIGINT, so
# it takes another parent.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"
cat >forever.c <<'END'
#include <unistd.h>
static volatile unsigned long n;
int main(void)
{
	for (;;) {
		for (int i = 0; i < 100000; i++)
			n += i & 3 ? 1 : 2;
		usleep(1000);
	}
}
END
cat >interrupt.c <<'END'
/* interrupt COMMAND...: runs it, sends SIGINT to it alone after a second, passes its status on */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int status;
	pid_t pid = argc > 1 ? fork() : -1;
	signal(SIGINT, SIG_DFL);
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	sleep(1);
	kill(pid, SIGINT);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
END
$EP_CC -O1 forever.c -o forever
$EP_CC -O1 interrupt.c -o interrupt
status 130 ./interrupt "$edgeprof" record --raw x.epr -o x.edges -- ./forever 2>messages
"$check" x.epr >got || { cat got; exit 1; }
[ "$(value got samples)" -gt 0 ] || fail "no samples"
[ -s x.edges ] || fail "no edges"
status 0 ./interrupt "$edgeprof" record -q --ignore-exit -o x.edges -- ./forever

# Killed in the middle, the exact mode still tells how much it counted.
sed 's/usleep(1000);//' forever.c >busy.c
$EP_CC -O1 busy.c -o busy
status 130 ./interrupt "$edgeprof" record -q --exact --report x.json -o x.edges -- ./busy
said=$(member x.json taken_branches)
counted=$("$edgeprof" show --json x.edges | sed -n 's/^ *"n_records": \([0-9]*\).*/\1/p' | head -n 1)
[ "$said" -gt 100000 ] || fail "only $said branches in a second"
[ "$said" -ge "$counted" ] || fail "$said said, $counted counted"
