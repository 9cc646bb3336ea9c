# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The same capture twice, bad inputs, bad usage: exit status, messages, and the old output.
edgeprof=$EP_BUILD/tools/edgeprof/edgeprof
make_edges=$EP_BUILD/tests/support/make_edges

# expect STATUS COMMAND...: runs it with standard error in the file err.
expect()
{
	want=$1
	shift
	got=0
	"$@" 2>err || got=$?
	[ "$got" -eq "$want" ] || { echo "$*: exit status $got, not $want"; cat err; exit 1; }
}
says() { grep -q -- "$1" err || { echo "no '$1' in:"; cat err; exit 1; }; }

for i in 1 2 3 4; do "$make_edges" $i 2 100 $i.edges; done
echo old >out

# A copy under another name, and one inside a file that was merged before.
cp 1.edges copy.edges
expect 2 "$edgeprof" merge 1.edges 2.edges copy.edges -o out
says '1.edges and copy.edges hold the same capture'
says 'hint: .*--allow-duplicates'
expect 0 "$edgeprof" merge 1.edges 2.edges -o sum.edges
expect 2 "$edgeprof" merge 3.edges sum.edges 2.edges -o out
says 'sum.edges and 2.edges hold the same capture'
[ "$(cat out)" = old ]
expect 0 "$edgeprof" merge --allow-duplicates 1.edges copy.edges -o twice.edges
"$edgeprof" show --json 1.edges >one.json
"$edgeprof" show --json twice.edges >twice.json
[ "$(jq '.taken_fixed * 2' one.json)" = "$(jq .taken_fixed twice.json)" ]
[ "$(jq '.inputs | length' twice.json)" = 1 ]
[ "$(jq '.inputs[0].n_copies' twice.json)" = 2 ]

# Bad inputs: all are named, nothing is written.
head -c 500 3.edges >cut.edges
: >empty.edges
echo garbage, and some more of it >garbage.edges
mkdir folder.edges
expect 2 "$edgeprof" merge 1.edges cut.edges empty.edges 2.edges garbage.edges missing.edges \
	folder.edges -o out
says 'cut.edges: offset 0x[0-9a-f]*: the file is cut short'
says 'empty.edges: not a .edges file'
says 'garbage.edges: not a .edges file'
says 'missing.edges: No such file'
says 'folder.edges: .*directory'
says '5 of 7 inputs are bad'
says 'hint: --quarantine'
[ "$(cat out)" = old ]
expect 2 "$edgeprof" merge garbage.edges -o out
says 'hint: .*edgeprof fold'
expect 2 "$edgeprof" merge --quarantine cut.edges empty.edges -o out
says 'no input is left'
[ "$(cat out)" = old ]
expect 0 "$edgeprof" merge --quarantine --json 1.edges cut.edges empty.edges 2.edges -o out >report
says 'left out: cut.edges'
says 'left out: empty.edges'
cmp out sum.edges
[ "$(jq -r '.bad | map(.file) | join(" ")' report)" = 'cut.edges empty.edges' ]
[ "$(jq .n_merged report)" = 2 ]
expect 0 "$edgeprof" merge -v --quarantine 1.edges cut.edges empty.edges 2.edges -o out
says 'merged: 1.edges'
says 'merged: 2.edges'
says 'left out: cut.edges'

# A sink that cannot be written.
expect 2 "$edgeprof" merge 1.edges -o no/such/folder/out
says 'no/such/folder/out'

# Usage.
expect 2 "$edgeprof" merge 1.edges
says '-o FILE'
expect 2 "$edgeprof" merge -o out
says 'name the files'
expect 2 "$edgeprof" merge 1.edges --json -o -
says 'cannot both be standard output'
expect 2 "$edgeprof" merge -j 0 1.edges -o out
expect 2 "$edgeprof" merge --files-from missing -o out
says 'missing: No such file'
[ -z "$(find . -name '*tmp*' -o -name '.edgeprof*')" ]
