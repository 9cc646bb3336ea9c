# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# An edge is one edge, whatever the flags of its records.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
{
	map 7 $base1 "$PWD/t"
	sample 7 1 $base1 P/-/-/3
	sample 7 1 $base1 M/-/-/17
	sample 7 1 $base1 -/-/-/0
	sample 7 1 $base1 P/X/-/3/COND/-
} >in.txt
fold_json a.json in.txt
json_is a.json edges 1
json_is a.json ranges 1
json_is a.json edge_count 16
expect 0 edgeprof show --json a.json.edges
json_is out mispredicted 4
