# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Records of the kernel in a stack of user code end the trace there; there is no warning for each.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
whole=$(printf '0x%x/0x%x/P/-/-/0' $((from1 + base1)) $((to1 + base1)))
enter=$(printf '0x%x/0xffffffff81a00000/P/-/-/0' $((from1 + base1)))
leave=$(printf '0xffffffff81a00100/0x%x/P/-/-/0' $((to1 + base1)))
kernel=0xffffffff81a00050/0xffffffff81a00080/P/-/-/0
{
	map 7 $base1 "$PWD/t"
	for _ in $(seq 50); do
		echo "    7  $whole  $whole  $leave  $kernel  $enter  $whole "
	done
} >in.txt
fold_json a.json in.txt
json_is a.json samples 50
json_is a.json records 300
# whole x 3, leave and enter with their far ends outside; ranges: 2 before and 1 behind the kernel.
json_is a.json edges 3
json_is a.json ranges 1
json_is a.json range_count 150
json_is a.json external 100
json_lacks a.json negative-range
[ "$(wc -l <err)" -lt 8 ] || fail "a flood of messages"
