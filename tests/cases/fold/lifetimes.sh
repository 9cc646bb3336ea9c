# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# A pid at different times: another program, a child without maps of its own, memory mapped over.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build b
id_b=$build_id
build a
# The code of the two is the same but for the id.
{
	echo 'PERF_RECORD_COMM exec: a:7/7'
	map 7 $base1 /opt/a "$build_id"
	sample 7 1 $base1
	echo 'PERF_RECORD_COMM exec: b:7/7'
	map 7 $base1 /opt/b "00$id_b"
	sample 7 1 $base1
	sample 7 1 $base1
	echo 'PERF_RECORD_FORK(8:8):(7:7)'
	sample 8 2 $base1
	echo 'PERF_RECORD_EXIT(7:7):(6:6)'
} | sed "s/00$id_b/0123456789abcdef/" >in.txt
fold_json out.json in.txt
json_is out.json build_id "\"$build_id\""
json_is out.json build_id '"0123456789abcdef"'
json_is out.json edges 3
json_is out.json edge_count 16
edgeprof fold -v -q in.txt -o x.edges
edgeprof fold -v in.txt -o x.edges 2>err
has err "$build_id /opt/a: 1 edge, 1 range, 4 records" "0123456789abcdef /opt/b: 2 edges, 2 ranges, 12 records"
# Code copied to anonymous memory over its file: only on demand it is the file's.
{
	map 7 $base1 /opt/a "$build_id"
	sample 7 1 $base1
	map 7 $base1 //anon
	sample 7 1 $base1
} >anon.txt
fold_json ended.json anon.txt
json_is ended.json edge_count 4
json_is ended.json anonymous 4
fold_json kept.json --keep-file-map anon.txt
json_is kept.json edge_count 8
json_lacks kept.json anonymous
