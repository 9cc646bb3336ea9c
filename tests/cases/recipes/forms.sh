# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Half records, kernel records and the ways text comes in leave the profile what it is.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
mkdir 'a b'
build 'a b/t'
whole=$(printf '0x%x/0x%x/P/-/-/0' $((from1 + base1)) $((to1 + base1)))
stacks()
{
	map 7 $base1 "$PWD/a b/t"
	for stack in "$@"; do
		printf '    7  %s \n' "$stack"
	done
}
# One range and four records, pieced together in several ways.
stacks "$whole $whole" "$whole" "$whole" >plain.txt
stacks "$whole $whole 0x0/0x0/-/-/-/0 $whole ${whole%%/*}/0x0/P/-/-/0 $whole" >half.txt
kernel=0xffffffff81000000/0xffffffff81000010/P/-/-/0
stacks "$kernel $whole $whole $kernel $whole $kernel $kernel $whole" >kernel.txt
sed 's/$/\r/' plain.txt >crlf.txt
sed 's,/0 ,/0/COND/- ,g; s,/0$,/0/COND/-,' plain.txt >types.txt
sed 's,/P/,/PN/,g' plain.txt >spe.txt
for name in plain half kernel crlf types spe; do
	expect 0 edgeprof emit --format text --binary 'a b/t' $name.txt -o $name.prof
	same plain.prof $name.prof
done
has plain.prof loop1:
