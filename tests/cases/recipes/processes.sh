# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Two processes at two bases, interleaved: both loops have the totals they have one after the other.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
{ map 100 $base1 "$PWD/t"; map 200 $base2 "$PWD/t"; } >maps
{ cat maps; for _ in $(seq 100); do sample 100 1 $base1; sample 200 2 $base2; done; } >mixed.txt
{ cat maps; grep '^  100' mixed.txt; grep '^  200' mixed.txt; } >sequential.txt
{ cat maps; grep '^  100' mixed.txt; } >one.txt
{ cat maps; grep '^  200' mixed.txt; } >two.txt
for name in mixed sequential one two; do
	profile $name.txt
done
same mixed.txt.prof sequential.txt.prof
# The loops do not know of each other: together they are what each is alone.
for n in 1:one 2:two; do
	grep "^loop${n%:*}:" mixed.txt.prof >a || fail "no loop${n%:*} in the profile"
	grep "^loop${n%:*}:" "${n#*:}.txt.prof" >b
	same a b
done
# llvm-profgen knows no process of a sample, so it gets one at a time.
for tool in llvm-profgen-22 llvm-profgen-19; do
	command -v $tool >/dev/null || continue
	{ map 100 $base1 "$PWD/t"; sed -n 's/^  100  //p' one.txt; } >alone.txt
	$tool --format=text --perfscript=alone.txt --binary=t --output=alone.prof 2>/dev/null
	edgeprof emit -q --compat llvm-profgen --format text --binary t one.txt -o compat.prof
	same compat.prof alone.prof
done
