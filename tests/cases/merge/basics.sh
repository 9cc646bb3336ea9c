# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Sums, the same bytes in any order and from pipes, and the account.
edgeprof=$EP_BUILD/tools/edgeprof/edgeprof
make_edges=$EP_BUILD/tests/support/make_edges

for i in 1 2 3 4 5 6 7 8 9; do "$make_edges" $i 3 300 $i.edges; done
"$edgeprof" merge -j1 1.edges 2.edges 3.edges 4.edges 5.edges 6.edges 7.edges 8.edges 9.edges -o a
"$edgeprof" merge -j2 9.edges 3.edges 5.edges 7.edges 1.edges 8.edges 2.edges 6.edges 4.edges -o b
cmp a b

# In two steps, through pipes, and from a list.
"$edgeprof" merge -q 4.edges 9.edges 1.edges -o - | "$edgeprof" merge -q - 8.edges 5.edges -o part
printf '%s\n' 2.edges 3.edges '' 6.edges 7.edges >list
"$edgeprof" merge -q part --files-from list -o c
cmp a c
"$edgeprof" merge -q --files-from - part -o c <list
cmp a c

# The output may be an input.
cp 1.edges sum
for i in 2 3 4 5 6 7 8 9; do "$edgeprof" merge -q sum $i.edges -o sum; done
cmp a sum

# What is reported is what is there.
"$edgeprof" merge -q --json 1.edges 2.edges -o d >report
[ "$(jq -r .schema report)" = edgeprof.merge/1 ]
"$edgeprof" show --json d >shown
for key in n_edges n_ranges bytes digest n_saturated; do
	[ "$(jq .$key report)" = "$(jq .$key shown)" ] || { echo "$key differs"; exit 1; }
done
[ "$(jq .n_binaries report)" = "$(jq '.binaries | length' shown)" ]
[ "$(jq .n_captures report)" = 2 ]

# No trace of temporary files, hidden ones included.
rm -f ./*.edges a b c d sum part list report shown
[ -z "$(ls -A)" ]
