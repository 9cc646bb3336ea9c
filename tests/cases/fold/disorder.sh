# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Entries in the wrong order are not fed to anything, and are counted; a tight loop is no disorder.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
entry1=$(printf '0x%x/0x%x/P/-/-/0' $((from1 + base1)) $((to1 + base1)))
entry2=$(printf '0x%x/0x%x/P/-/-/0' $((from2 + base1)) $((to2 + base1)))
{
	map 7 $base1 "$PWD/t"
	# From the target of loop2 to the branch of loop1 the range would be negative.
	echo "    7  $entry1  $entry2  $entry2 "
} >in.txt
fold_json a.json in.txt
json_is a.json edges 2
json_is a.json edge_count 3
json_is a.json range_count 1
json_is a.json negative-range 1
has err negative-range
