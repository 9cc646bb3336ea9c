# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Exact counts of real programs on both machines: --compat gives what llvm-profgen makes of the same
# counts, and nothing of them is dropped for being at odds with the code.
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$EP_SOURCE/tests/cases/lib.sh"
need llvm-profgen-22 qemu-x86_64

# compare NAME PROGRAM ARGUMENTS...
compare()
{
	name=$1
	program=$2
	shift 2
	"$EP_BUILD/tools/edgeprof/edgeprof" record -q --exact -o "$name.edges" -- "$program" "$@" \
		>/dev/null
	"$EP_BUILD/tests/oracle/edges_raw" "$program" "$name.edges" >raw
	llvm-profgen-22 --binary="$program" --unsymbolized-profile=raw --format=text -o peer \
		>/dev/null 2>&1
	expect 0 edgeprof emit --compat=llvm-profgen --format text --binary "$program" \
		"$name.edges" -o "$name.prof"
	same "$name.prof" peer
	expect 0 edgeprof emit --format text --binary "$program" "$name.edges" -o "$name.own" \
		--report report.json
	for reason in not-straight not-transfer not-insn-start wrong-target wrong-type; do
		json_lacks report.json $reason
	done
	echo "$name: $(wc -l <peer) lines"
}

compare_all()
{
	"$EP_SOURCE/profiles/minivm/build.sh" "$2" "$1" -g -static
	"$EP_SOURCE/tests/support/progs/build.sh" "$2" "$1" -static 2>build.log || {
		cat build.log
		fail "the programs do not build"
	}
	compare "$1-minivm" "./$1/minivm" "$EP_SOURCE/profiles/minivm/train.list"
	compare "$1-branches" "./$1/branches" 40000
}

compare_all native "$EP_CC"
if command -v clang-22 >/dev/null; then
	compare_all clang "clang-22 -fdebug-info-for-profiling"
fi
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	compare_all a64 aarch64-linux-gnu-gcc
fi
