# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# Exact counts of programs whose counts are known: loops, threads, forks, signals, libraries that
# come and go; static and dynamic, native and AArch64. Each record and range fits its binary.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"

record_one() { # FOLDER PROGRAM ARGUMENTS...
	dir=$1 program=$2
	shift 2
	"$edgeprof" record -q --exact --raw "$dir/$program.epr" -- "./$dir/$program" "$@" >"$dir/out"
	sed 's/^A:/dlone.so:/; s/^B:/dltwo.so:/' "$dir/out" >"$dir/want"
	"$check" "$dir/$program.epr" counts "$dir/want" >"$dir/$program.got" ||
		fail "$dir/$program: $(grep -E 'wrong|ended|bad' "$dir/$program.got")"
	for key in lost corrupt; do
		[ "$(value "$dir/$program.got" $key)" -eq 0 ] || fail "$dir/$program: $key"
	done
}

record_all() { # FOLDER CC [FLAGS]
	dir=$1 cc=$2
	shift 2
	"$progs/build.sh" "$cc" "$dir" "$@" 2>build.log || { cat build.log; exit 1; }
	record_one "$dir" branches 1000
	record_one "$dir" threads 1000
	[ "$(value "$dir/threads.got" threads)" -eq 5 ] || fail "threads: $(cat "$dir/threads.got")"
	record_one "$dir" forks 1000
	grep -q '^in_exec 5000$' "$dir/out" || fail "forks: $(cat "$dir/out")"
	[ "$(value "$dir/forks.got" processes)" -eq 5 ] || fail "forks: $(cat "$dir/forks.got")"
	record_one "$dir" signals 300
	record_one "$dir" dl "$dir/dlone.so" "$dir/dltwo.so" 1000
	[ "$(value "$dir/dl.got" unmaps)" -ge 3 ] || fail "dl: $(cat "$dir/dl.got")"
	rm -rf "$dir"
}

record_all dynamic "$EP_CC"
record_all static "$EP_CC" -static
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	record_all a64 aarch64-linux-gnu-gcc
	record_all a64-static aarch64-linux-gnu-gcc -static
else
	echo "no aarch64-linux-gnu-gcc or qemu-aarch64: natively only"
fi
