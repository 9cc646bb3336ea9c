# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# A perf.data file with its binary: llvm-profgen, run beside, and --compat agree on every byte.
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$EP_SOURCE/tests/cases/lib.sh"
need llvm-profgen-22 llvm-profdata-22 perf
data=$(corpus pairs/test.lbr)
binary=$(corpus pairs/test.binary)

llvm-profgen-22 --binary="$binary" --perfdata="$data" --format=text -o peer >/dev/null 2>&1 ||
	skip "llvm-profgen cannot run perf here"
expect 0 edgeprof emit --compat=llvm-profgen --format text --binary "$binary" "$data" -o text
same text peer
llvm-profdata-22 merge --sample --extbinary peer -o peer.ext
for jobs in 1 2; do
	expect 0 edgeprof emit --compat=llvm-profgen -j $jobs --binary "$binary" "$data" -o ext
	same ext peer.ext
done
# What is right differs in little: no function is lost.
expect 0 edgeprof emit --format text --binary "$binary" "$data" -o text
grep -c '^[^ ]' peer >peer.n
grep -c '^[^ ]' text >text.n
same text.n peer.n
