# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The same capture twice, bad inputs, bad usage: exit status, messages, and the old output.
. "$EP_SOURCE/tests/cases/lib.sh"
make_edges=$EP_BUILD/tests/support/make_edges

for i in 1 2 3 4; do "$make_edges" $i 2 100 $i.edges; done
echo old >merged

# A copy under another name, and one inside a file that was merged before.
cp 1.edges copy.edges
expect 2 edgeprof merge 1.edges 2.edges copy.edges -o merged
has err '1.edges and copy.edges hold the same capture'
has err 'hint: ' '--allow-duplicates'
expect 0 edgeprof merge 1.edges 2.edges -o sum.edges
expect 2 edgeprof merge 3.edges sum.edges 2.edges -o merged
has err 'sum.edges and 2.edges hold the same capture'
[ "$(cat merged)" = old ]
expect 0 edgeprof merge --allow-duplicates 1.edges copy.edges -o twice.edges
edgeprof show --json 1.edges >one.json
edgeprof show --json twice.edges >twice.json
[ "$(jq '.taken_fixed * 2' one.json)" = "$(jq .taken_fixed twice.json)" ]
[ "$(jq '.inputs | length' twice.json)" = 1 ]
[ "$(jq '.inputs[0].n_copies' twice.json)" = 2 ]

# Bad inputs: all are named, nothing is written.
head -c 500 3.edges >cut.edges
: >empty.edges
echo garbage, and some more of it >garbage.edges
mkdir folder.edges
expect 2 edgeprof merge 1.edges cut.edges empty.edges 2.edges garbage.edges missing.edges \
	folder.edges -o merged
has err 'cut.edges: offset 0x' 'the file is cut short'
has err 'empty.edges: not a .edges file'
has err 'garbage.edges: not a .edges file'
has err 'missing.edges: No such file'
has err 'folder.edges: ' 'directory'
has err '5 of 7 inputs are bad'
has err 'hint: --quarantine'
[ "$(cat merged)" = old ]
expect 2 edgeprof merge garbage.edges -o merged
has err 'hint: ' 'edgeprof fold'
expect 2 edgeprof merge --quarantine cut.edges empty.edges -o merged
has err 'no input is left'
[ "$(cat merged)" = old ]
expect 0 edgeprof merge --quarantine --json 1.edges cut.edges empty.edges 2.edges -o merged
mv out report
has err 'left out: cut.edges'
has err 'left out: empty.edges'
same merged sum.edges
[ "$(jq -r '.bad | map(.file) | join(" ")' report)" = 'cut.edges empty.edges' ]
[ "$(jq .n_merged report)" = 2 ]
expect 0 edgeprof merge -v --quarantine 1.edges cut.edges empty.edges 2.edges -o merged
has err 'merged: 1.edges'
has err 'merged: 2.edges'
has err 'left out: cut.edges'

# A sink that cannot be written.
expect 2 edgeprof merge 1.edges -o no/such/folder/out
has err 'no/such/folder/out'

# Usage.
expect 2 edgeprof merge 1.edges
has err '-o FILE'
expect 2 edgeprof merge -o merged
has err 'name the files'
expect 2 edgeprof merge 1.edges --json -o -
has err 'cannot both be standard output'
expect 2 edgeprof merge -j 0 1.edges -o merged
expect 2 edgeprof merge --files-from missing -o merged
has err 'missing: No such file'
[ -z "$(find . -name '*tmp*' -o -name '.edgeprof*')" ]
