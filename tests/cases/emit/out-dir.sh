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
