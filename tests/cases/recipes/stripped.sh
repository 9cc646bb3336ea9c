# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Without line information there is no profile, but a hint; with the debug file it is the same.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
need objcopy strip
build t
{ map 7 $base1 /opt/t "$build_id"; sample 7 1 $base1; } >in.txt
profile in.txt
objcopy --only-keep-debug t t.debug
for flags in -g -s; do
	strip $flags -o stripped t
	for format in text binary extbinary; do
		expect 2 edgeprof emit --format $format --binary stripped in.txt -o out.prof
		has err hint: --debug-file
		absent out.prof
	done
	expect 0 edgeprof emit --format text --binary stripped --debug-file t.debug in.txt -o out.prof
	same in.txt.prof out.prof
	rm out.prof
done
