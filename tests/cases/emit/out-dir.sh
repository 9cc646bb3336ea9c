# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# All binaries of an input at once, found by build-id wherever they are.
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$EP_SOURCE/tests/cases/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../fold/loops.sh
. "$EP_SOURCE/tests/cases/fold/loops.sh"
mkdir -p bin other
build bin/one
{ map 7 $base1 /opt/one "$build_id"; sample 7 1 $base1; } >in.txt
one=$(echo "$build_id" | cut -c1-16)
id_one=$build_id from_one=$((from1 + base1)) to_one=$((to1 + base1))
build bin/two -DTWO -Wl,--build-id=0x22222222222222222222aabbccddeeff00112233
{ map 8 $base2 /opt/two "$build_id"; sample 8 2 $base2; } >>in.txt
# One of the name, but not the one that ran.
build other/two -Wl,--build-id=0x3333333333333333333333333333333333333333
expect 0 edgeprof fold in.txt -o in.edges

expect 0 edgeprof emit --out-dir out.d --format text --search other --search bin in.edges --json
json_is out binary '"bin/one"'
json_is out binary '"bin/two"'
has "out.d/one.$one.prof" loop1:
has out.d/two.2222222222222222.prof loop2:
[ "$(find out.d -type f | wc -l)" -eq 2 ] || fail "more files than binaries"
expect 0 edgeprof emit --binary bin/one --format text in.edges -o one
same one "out.d/one.$one.prof"

# Shares do not overlap: a branch between two binaries is of the one it leaves.
own1=$(printf '0x%x/0x%x/P/-/-/0' $from_one $to_one)
own2=$(printf '0x%x/0x%x/P/-/-/0' $((from2 + base2)) $((to2 + base2)))
cross=$(printf '0x%x/0x%x/P/-/-/0' $from_one $((to2 + base2)))
{
	map 7 $base1 /opt/one "$id_one"
	map 7 $base2 /opt/two 22222222222222222222aabbccddeeff00112233
	echo "    7  $own2  $own2  $own2  $cross  $own1 "
} >cross.txt
expect 0 edgeprof emit --out-dir cross.d --search bin cross.txt --json
json_is out taken_percent 40.0
json_is out taken_percent 60.0
# Stacks of one record have no ranges, yet they are looked at (this one has no call).
{ map 7 $base1 /opt/one "$id_one"; echo "    7  $own1 "; } >short.txt
expect 2 edgeprof emit --out-dir short.d --format text --search bin short.txt
has err 'bin/one: no line info' 'could be emitted'
lacks err --search

# What cannot be found is named; nothing at all is an error.
rm bin/two
expect 0 edgeprof emit --out-dir out2.d --format text --search bin --search other in.edges --json
has err '/opt/two (22222222222222222222aabbccddeeff00112233): not found'
json_is out binary '"bin/one"'
has out /opt/two
expect 2 edgeprof emit --out-dir out3.d --search other in.edges
has err hint: --search
expect 2 edgeprof emit --out-dir out3.d --binary bin/one in.edges
expect 2 edgeprof emit --out-dir out3.d in.edges -o out
