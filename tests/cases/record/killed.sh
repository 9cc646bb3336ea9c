# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# A recorder that is killed takes its program with it, and leaves no file.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"
[ "$(uname -s)" = Linux ] || skip "tells by /proc"
cat >forever.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	FILE *f = fopen("pid.new", "w");
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
	rename("pid.new", "pid");
	for (;;)
		usleep(1000);
}
END
$EP_CC -O1 forever.c -o forever
edgeprof record -o killed.edges ./forever 2>err &
n=0
until [ -e pid ]; do
	n=$((n + 1))
	[ "$n" -lt 600 ] || fail "the program did not start"
	sleep 0.1
done
program=$(cat pid)
recorder=$(awk '/^PPid:/ { print $2 }' "/proc/$program/status")
kill -KILL "$recorder"
n=0
while kill -0 "$program" 2>/dev/null; do
	n=$((n + 1))
	[ "$n" -lt 600 ] || {
		kill -KILL "$program"
		fail "the program goes on"
	}
	sleep 0.1
done
[ ! -e killed.edges ] || fail "an output of a killed recorder"
[ -z "$(find . -name '*.tmp.*')" ] || fail "a temporary file is left"
