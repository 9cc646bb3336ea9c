# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# BRBE's records with one end or none: whole ones on both sides count, no range reaches over them.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
whole=$(printf '0x%x/0x%x/P/-/-/0' $((from1 + base1)) $((to1 + base1)))
from_only=$(printf '0x%x/0x0/P/-/-/0' $((from1 + base1)))
to_only=$(printf '0x0/0x%x/P/-/-/0' $((to1 + base1)))
{
	map 7 $base1 "$PWD/t"
	echo "    7  $whole  0x0/0x0/-/-/-/0  $whole "
	echo "    7  $whole  $from_only  $whole "
	echo "    7  $whole  $to_only  $whole  $whole "
	echo "    7  $from_only "
} >in.txt
fold_json a.json in.txt
json_is a.json samples 4
json_is a.json records 11
json_is a.json edges 1
json_is a.json edge_count 7
json_is a.json range_count 1
json_is a.json half-record 3
json_is a.json filler 1
has err 'half-record'
# The whole ones are the only edge there is.
expect 0 edgeprof show --json a.json.edges
json_is out from "\"$(printf '0x%x' $((from1 - text_addr + text_off)))\""
json_is out to "\"$(printf '0x%x' $((to1 - text_addr + text_off)))\""
