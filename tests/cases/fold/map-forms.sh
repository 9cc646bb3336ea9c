# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Maps of other page sizes and linkers: the offset in the file decides, not how it was rounded.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
samples()
{
	sample 7 1 $base1
	sample 7 2 $base1
}
{ map 7 $base1 "$PWD/t"; samples; } >small.txt
{
	# 64 KiB pages: the whole file in one piece from offset 0.
	printf 'PERF_RECORD_MMAP2 7/7: [0x%x(0x10000) @ 0 08:01 1 1]: r-xp %s/t\n' \
		$((base1 + text_addr - text_off)) "$PWD"
	samples
} >large.txt
fold_json small.json small.txt
fold_json large.json large.txt
same_sums small.json large.json
json_is small.json edges 2
# A segment whose address and offset differ, and code that begins within a page.
build u -Wl,-z,noseparate-code
{ map 7 $base1 "$PWD/u"; samples; } >u.txt
fold_json u.json u.txt
json_is u.json edges 2
json_is u.json edge_count 8
json_is u.json range_count 6
json_is u.json dropped '[{][}]'
