# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# A capture without branch stacks, an empty one, one that is none: the reason, a hint, no output.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
echo old >out.edges
refused()
{
	expect 2 edgeprof fold "$1" -o out.edges --report report.json
	shift
	has err hint: "$@"
	[ "$(cat out.edges)" = old ] || fail 'the old file is gone'
	absent report.json
	[ "$(find . -name 'out.edges*' | wc -l)" -eq 1 ] || fail 'something was left behind'
}
{
	map 7 $base1 "$PWD/t"
	printf ' app     7 12.000001:    99 cycles:  %16x main+0x1 (%s/t)\n' $((from1 + base1)) "$PWD"
} >ip.txt
refused ip.txt 'without branch stacks' 'perf record -b'
{
	map 7 $base1 "$PWD/t"
	printf '    7 \n    7 \n'
} >empty-stacks.txt
refused empty-stacks.txt 'without branch stacks'
: >empty.txt
refused empty.txt empty.txt empty
echo 'This is no capture.' >prose.txt
refused prose.txt prose.txt
{ map 7 $base1 "$PWD/t"; echo '    7  main+0x1/main+0x0/P/-/-/0 '; } >symbols.txt
refused symbols.txt 'line 2' brstack
{ map 7 $base1 "$PWD/t"; sample 7 1 0; sample 7 1 0; } >offsets.txt
refused offsets.txt brstackoff
# No record lies in what is known.
{ map 7 $base1 "$PWD/t"; sample 7 1 $base2; } >elsewhere.txt
refused elsewhere.txt
