# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Many inputs within an address space into which they would not fit all at once.
edgeprof=$EP_BUILD/tools/edgeprof/edgeprof
make_edges=$EP_BUILD/tests/support/make_edges

[ -z "$EP_SANITIZE" ] || { echo "skipped: sanitizers need the whole address space"; exit 77; }

# 100 files of some 36,000 rows, 40 bytes each in memory: 144 MB.
i=0
while [ $i -lt 100 ]; do
	"$make_edges" $i 3 6000 $i.edges
	i=$((i + 1))
done
ls ./*.edges >list
(
	# shellcheck disable=SC3045 # both dash and FreeBSD's sh have it
	ulimit -v 80000
	"$edgeprof" merge -q -j1 --files-from list -o out
)
"$edgeprof" show --json --top 0 out >shown
[ "$(jq '.inputs | length' shown)" = 100 ]
