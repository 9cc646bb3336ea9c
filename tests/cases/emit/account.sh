# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# What a run says: on success, of large counts, and when there is nothing to say.
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$EP_SOURCE/tests/cases/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../fold/loops.sh
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
{ map 7 $base1 /opt/t "$build_id"; sample 7 1 $base1; } >in.txt

expect 0 edgeprof emit --format text --binary t in.txt -o out.prof --report report.json
has err '1 sample, 4 records' "$build_id" '100.0 % is of this binary' density 'times as many samples'
has report.json '"schema": "edgeprof.emit/1"'
json_is report.json match '"build-id"'
json_is report.json forced false
json_is report.json samples 1
json_is report.json records 4
json_is report.json functions 1
expect 0 edgeprof emit -v --format text --binary t in.txt -o out.prof
has err 'input: perf script' "binary: $build_id /opt/t: 1 edge, 1 range, 4 records" 'debug information: t, '
expect 0 edgeprof emit -q --format text --binary t in.txt -o out.prof
[ ! -s err ] || fail "-q is not quiet"

# A count of 2^32 and more is written as it is, with a warning (a compiler keeps 32 bits).
{ map 7 $base1 /opt/t "$build_id"; echo 3000000000; sample 7 1 $base1; } >large.txt
expect 0 edgeprof emit --compat=llvm-profgen --format text --binary t large.txt -o large.prof
has err '32 bits'
has large.prof ': 9000000000'

# Samples without a build-id go by the name, and the account says so.
{ map 7 $base1 /nowhere/t; sample 7 1 $base1; } >bare.txt
expect 0 edgeprof emit --format text --binary t bare.txt -o bare.prof
same out.prof bare.prof

# Nothing of this binary: what there is instead; an old result stays.
cp t u
printf x >>u
objcopy --remove-section .note.gnu.build-id u other 2>/dev/null || cp u other
cp out.prof kept
expect 2 edgeprof emit --format text --binary other in.txt -o kept --report failed.json
has err 'no samples of this binary' hint: t "$build_id" '1 sample, 4 records'
same kept out.prof
json_is failed.json output null
json_is failed.json samples 1
json_is failed.json taken 0
has failed.json '"error": "other: no samples of this binary'
expect 2 edgeprof emit --format text --binary "$EP_SOURCE/LICENSE" in.txt -o kept
same kept out.prof
expect 2 edgeprof emit --format text --binary t --binary other in.txt -o kept
has err --out-dir
# The line from loop1 on into loop2 crosses a return: that is no lack of line info.
entry=$(printf '0x%x/0x%x/P/-/-/0' $((from1 + base1)) $((to1 + base1)))
far=$(printf '0x%x/0x%x/P/-/-/0' $((from2 + base1)) $((to2 + base1)))
{ map 7 $base1 /opt/t "$build_id"; echo "    7  $far  $entry "; } >crooked.txt
expect 2 edgeprof emit --format text --binary t crooked.txt -o kept --report failed.json
has err 'no sample fits the code' not-straight '1 sample, 2 records' 'dropped in emit: 1 range, not-straight'
lacks err 'no line info' density
json_is failed.json not-straight 1
json_is failed.json output null
has failed.json '"error": "t: no sample fits the code'
# An input is not written over.
for out in in.txt t; do
	cp "$out" copy
	expect 2 edgeprof emit --format text --binary t in.txt -o "$out"
	has err 'is an input' hint:
	same "$out" copy
done
# A report that cannot be written is found before anything else is.
expect 2 edgeprof emit --format text --binary t in.txt -o none --report no/such/folder/r.json
has err no/such/folder/r.json
absent none
expect 2 edgeprof emit --format text --binary t
expect 2 edgeprof emit --format text in.txt -o kept
expect 2 edgeprof emit --format text --md5 --binary t in.txt -o kept
expect 2 edgeprof emit --format nonsense --binary t in.txt -o kept
same kept out.prof
