# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Debug information in every place and form it may have gives the same profile.
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$EP_SOURCE/tests/cases/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../fold/loops.sh
. "$EP_SOURCE/tests/cases/fold/loops.sh"
need objcopy strip
build t
{ map 7 $base1 /opt/t "$build_id"; sample 7 1 $base1; sample 7 2 $base1; } >in.txt
expect 0 edgeprof fold in.txt -o in.edges
expect 0 edgeprof emit --format text --binary t in.edges -o whole

# emits FLAGS...: gives the profile of the whole binary.
emits()
{
	expect 0 edgeprof emit --format text "$@" in.edges -o out.prof
	same whole out.prof
	rm out.prof
}

for form in zlib zlib-gnu; do
	objcopy --compress-debug-sections=$form t t.$form
	emits --binary t.$form
done

objcopy --only-keep-debug t t.debug
strip -g -o plain t
emits --binary plain --debug-file t.debug

# By the link, beside the binary and in its .debug; by the build-id, under --search.
objcopy --add-gnu-debuglink=t.debug plain linked
emits --binary linked
mkdir -p .debug elsewhere deep/.build-id
mv t.debug .debug
emits --binary linked
mv .debug/t.debug elsewhere
emits --binary linked --search elsewhere
first=$(echo "$build_id" | cut -c1-2)
mkdir deep/.build-id/"$first"
cp elsewhere/t.debug "deep/.build-id/$first/${build_id#??}.debug"
emits --binary plain --search deep
expect 2 edgeprof emit --format text --binary plain in.edges -o out.prof
has err 'no line info' 'hint: ' --debug-file
absent out.prof

# A debug file of another build is refused, by both names.
build u -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233
expect 2 edgeprof emit --format text --binary plain --debug-file u in.edges -o out.prof
has err 00112233445566778899aabbccddeeff00112233 hint:
absent out.prof
emits --binary plain --debug-file u --force
