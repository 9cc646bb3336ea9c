# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The same samples in all the ways perf script text comes in.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
mkdir 'a b'
build 'a b/t'
samples()
{
	for _ in 1 2 3; do
		sample 7 1 $base1 "$@"
		sample 7 2 $base1 "$@"
	done
}
{ map 7 $base1 "$PWD/a b/t" "$build_id"; samples; } >plain.txt
fold_json plain.json plain.txt
json_is plain.json records 24
check()
{
	fold_json "$1.json" "$1.txt"
	same_sums plain.json "$1.json"
	lacks err warning
}
sed 's/$/\r/' plain.txt >crlf.txt
check crlf
{ map 7 $base1 "$PWD/a b/t" "$build_id"; samples P/-/-/0/COND/-; } >types.txt
check types
{ map 7 $base1 "$PWD/a b/t" "$build_id"; samples PN/-/-/0; } >spe.txt
check spe
{ map 7 $base1 "$PWD/a b/t" "$build_id"; samples P/-/-/0//NON_SPEC_CORRECT_PATH; } >spec.txt
check spec
{ printf '\357\273\277'; cat plain.txt; } >bom.txt
check bom
sed 's,/P/-/-/3,,g' plain.txt >bare.txt
check bare
sed '/MMAP/!s,0x\([0-9a-f]*\)/0x,\1/,g' plain.txt >no0x.txt
check no0x
sed "s,^    7 ,          my app       7 ," plain.txt >comm.txt
check comm
sed 's,^    7  ,    7/7     12.000001:         99 cycles:u: ,' plain.txt >time.txt
fold_json time.json --weights none time.txt
same_sums plain.json time.json
# Each sample once, with a count before it.
{
	map 7 $base1 "$PWD/a b/t" "$build_id"
	echo 3
	sample 7 1 $base1
	echo 3
	sample 7 2 $base1
} >counted.txt
fold_json counted.json counted.txt
json_is counted.json edge_count 24
json_is counted.json range_count 18
# A last line that is cut costs one entry and says where.
head -c -30 plain.txt >cut.txt
fold_json cut.json cut.txt
json_is cut.json records 23
json_is cut.json corrupt-input 1
count_is err 1 warning
has err "cut.txt: line $(wc -l <plain.txt)"
