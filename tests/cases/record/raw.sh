# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# A kept recording folds to what was folded live; cut short, it gives what it has and says so.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"
"$progs/build.sh" "$EP_CC" . 2>build.log || { cat build.log; exit 1; }

# Room for all samples, so that there are several blocks however busy the machine is.
"$edgeprof" record -q --seed 1 --period 23 --buffer 67108864 -o live.edges --raw x.epr -- \
	./branches 20000 >/dev/null
"$edgeprof" fold -q x.epr -o kept.edges
"$edgeprof" show --json live.edges >live.json
"$edgeprof" show --json kept.edges >kept.json
# All is the same but what made the file, and with it the digests.
differ=$(diff live.json kept.json | grep '^[<>]' | grep -vE '"(tool|content|bytes|file|path|digest)":' || :)
[ -z "$differ" ] || { echo "$differ"; fail 'the kept recording folds differently'; }
status 2 "$edgeprof" merge live.edges kept.edges -o both.edges 2>messages
grep -q 'same capture' messages || { cat messages; fail 'merged twice'; }

# Cut behind its middle.
size=$(wc -c <x.epr)
head -c $((size * 2 / 3)) x.epr >torn.epr
status 0 "$edgeprof" fold torn.epr -o torn.edges 2>messages
grep -q 'ends without its footer' messages || { cat messages; fail 'not seen to be torn'; }
grep -q 'dropped 1 record, corrupt-input' messages || { cat messages; fail 'the loss is not counted'; }
# Damaged behind its middle.
{
	head -c $((size * 3 / 4)) x.epr
	echo damage
	tail -c +$((size * 3 / 4 + 8)) x.epr
} >bad.epr
status 0 "$edgeprof" fold bad.epr -o bad.edges 2>messages
grep -q 'checksum of a block is wrong' messages || { cat messages; fail 'not seen to be damaged'; }
# Nothing left of it, and a pipe.
head -c 30 x.epr >stub.epr
status 2 "$edgeprof" fold stub.epr -o stub.edges 2>messages
[ ! -e stub.edges ] || fail 'made from nothing'
"$edgeprof" fold -q - -o piped.edges <x.epr
# shellcheck disable=SC2002 # a pipe is wanted, not a file
cat x.epr | "$edgeprof" fold -q - -o piped2.edges
cmp kept.edges piped.edges
cmp kept.edges piped2.edges

# The recorder is killed: what it had written so far is beside the name.
cat >forever.c <<'END'
#include <stdio.h>
#include <unistd.h>
static volatile unsigned long n;
int main(void)
{
	alarm(60);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (;;)
		n += n & 3 ? 1 : 2;
}
END
$EP_CC -O1 forever.c -o forever
"$edgeprof" record -q --period 500 --raw killed.epr -- ./forever >program 2>messages &
recorder=$!
i=0
while [ $i -lt 600 ] && { [ ! -s program ] || [ -z "$(find . -name 'killed.epr.tmp.*' -size +24k)" ]; }; do
	sleep 0.1
	i=$((i + 1))
done
kill -9 $recorder "$(cat program)"
wait $recorder 2>/dev/null || :
[ ! -e killed.epr ] || fail 'an unfinished file has the name of a finished one'
status 0 "$edgeprof" fold killed.epr.tmp.* -o killed.edges 2>messages
grep -q 'ends without its footer' messages || { cat messages; fail 'not seen to be torn'; }
