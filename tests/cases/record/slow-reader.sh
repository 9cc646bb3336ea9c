# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# More samples than the reader can take: they are dropped and counted, the program is as ever.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"
"$progs/build.sh" "$EP_CC" . 2>build.log || { cat build.log; exit 1; }
./branches 20000 >want
"$edgeprof" record --period 2 --buffer 8192 --raw x.epr --report x.json -- ./branches 20000 >got 2>messages
cmp want got
"$check" x.epr >totals || { cat totals; exit 1; }
lost=$(member x.json lost_samples)
[ "$lost" -gt 1000 ] || fail "lost $lost"
[ "$(value totals lost)" -eq "$lost" ] || fail "the stream says $(value totals lost), not $lost"
tr -d , <messages | grep -q "warning: $lost samples lost" || { cat messages; exit 1; }
# Nothing else was lost: one sample every two branches.
branches=$(member x.json taken_branches) taken=$(($(member x.json samples) + lost))
{ [ $((taken * 2)) -gt $((branches * 9 / 10)) ] && [ $((taken * 2)) -lt $((branches * 11 / 10)) ]; } ||
	fail "$taken samples of $branches branches"
