# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# However the program or the recording ends, the file is whole and the status is the program's.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"
cat >ends.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile unsigned long n;
__attribute__((noinline)) static void turn(void) { n++; __asm__ volatile("" ::: "memory"); }
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";
	for (int i = 0; i < 100000; i++)
		turn();
	puts("turn 100000");
	fflush(stdout);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "forever"))
		for (;;)
			usleep(1000);
	if (!strcmp(how, "deaf")) {
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		puts("deaf");
		fflush(stdout);
		for (;;)
			usleep(1000);
	}
	return 9;
}
END
$EP_CC -O1 ends.c -o ends

# By itself: counts are complete even if it is killed.
for end in exit:9 abort:134 kill:137 segv:139; do
	status "${end#*:}" "$edgeprof" record -q --exact --raw x.epr -- ./ends "${end%:*}" >want
	"$check" x.epr counts want >got || { echo "$end"; cat want got; exit 1; }
done
status 0 "$edgeprof" record -q --ignore-exit --exact --raw x.epr -- ./ends abort >/dev/null

# By a signal to the recorder, which the program dies of.
stop() { # SIGNAL STATUS HOW
	rm -f x.edges x.epr out
	"$edgeprof" record --period 101 -o x.edges --raw x.epr -- ./ends "$3" >out 2>messages &
	pid=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		grep -q "$4" out 2>/dev/null && break
		sleep 0.5
	done
	kill -s "$1" $pid
	if [ "$3" = deaf ]; then
		sleep 0.5
		kill -s "$1" $pid
	fi
	got=0
	wait $pid || got=$?
	[ "$got" -eq "$2" ] || { cat messages; fail "$1: status $got, not $2"; }
	"$check" x.epr >got || { cat got; exit 1; }
	[ -s x.edges ] || fail "$1: no edges"
	grep -q 'once more' messages || fail "$1: $(cat messages)"
}
stop TERM 143 forever turn
stop HUP 129 forever turn
# Background jobs of sh ignore SIGINT, and so would the program.
stop TERM 137 deaf deaf
