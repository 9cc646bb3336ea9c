# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Two processes of one program at different bases give the same, interleaved or one after the other.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
{
	map 100 $base1 "$PWD/t"
	map 200 $base2 "$PWD/t"
} >maps
for i in $(seq 100); do
	sample 100 1 $base1
	sample 200 2 $base2
done >mixed
{ cat maps mixed; } >interleaved.txt
{ cat maps; grep '^  100' mixed; grep '^  200' mixed; } >sequential.txt
fold_json a.json interleaved.txt
fold_json b.json sequential.txt
same_sums a.json b.json
# Each loop: one edge, 400 times, and one range, 300 times.
json_is a.json samples 200
json_is a.json records 800
json_is a.json edges 2
json_is a.json ranges 2
json_is a.json edge_count 800
json_is a.json range_count 600
json_is a.json build_id "\"$build_id\""
count_is a.json 1 '"build_id"'
# Without the column for the process all maps are looked at.
sed 's/^ *[12]00  //' interleaved.txt >nopid.txt
fold_json c.json nopid.txt
same_sums a.json c.json
# Threads that no line has told of: perf shows their number in place of the process's by default.
{
	map 100 $base1 "$PWD/t"
	for i in $(seq 10); do sample $((100 + i)) 1 $base1; done | sed 's/^  \(...\)  / app  \1  12.000001: /'
} >threads.txt
fold_json threads.json threads.txt
json_is threads.json edge_count 40
