# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Another build of the same name is refused, with both ids; --force takes it and says so.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
mkdir old
build t -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233
mv t old/t
build t
{ map 7 $base1 /opt/t "$build_id"; sample 7 1 $base1; } >in.txt
expect 2 edgeprof emit --format text --binary old/t in.txt -o out.prof
has err 00112233445566778899aabbccddeeff00112233 "$build_id" hint:
absent out.prof
expect 0 edgeprof emit --format text --binary old/t --force in.txt -o out.prof
has out.prof loop1:
has err "$build_id"
