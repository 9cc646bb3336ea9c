# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Random counts on programs of several compilers: the same bytes as llvm-profgen.
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$EP_SOURCE/tests/cases/lib.sh"
need llvm-profgen-22 llvm-objdump-22 python3
src=$EP_SOURCE/tests/cases/emit
n_same=0

compare()
{
	n_same=$((n_same + 1))
	python3 "$EP_SOURCE/tests/oracle/random_raw.py" llvm-objdump-22 "$1" $n_same 400 >raw
	llvm-profgen-22 --binary="$1" --unsymbolized-profile=raw --format=text -o peer \
		>/dev/null 2>&1 || fail "llvm-profgen refuses $1"
	for jobs in 1 2; do
		"$EP_BUILD/tests/oracle/emit_raw" -c -j $jobs "$1" raw >text
		same peer text
	done
}

# built COMPILER ARGUMENTS...: compiles to ./program and compares, if there is such a compiler.
built()
{
	command -v "$1" >/dev/null || return 0
	rm -f program
	"$@" -o program 2>/dev/null || return 0
	compare ./program
}

profiling="-fdebug-info-for-profiling -funique-internal-linkage-names"
for level in 0 2 3; do
	for dwarf in 2 5; do
		built gcc -O$level -gdwarf-$dwarf "$src/first.c" "$src/second.c"
		for clang in clang-19 clang-22; do
			# shellcheck disable=SC2086 # words are meant
			built $clang -O$level -gdwarf-$dwarf $profiling "$src/first.c" "$src/second.c"
		done
	done
	built aarch64-linux-gnu-gcc -O$level -g "$src/first.c" "$src/second.c"
	# shellcheck disable=SC2086 # words are meant
	built clang-22 --target=aarch64-linux-gnu -O$level -g $profiling "$src/first.c" "$src/second.c"
done
built g++ -O2 -g "$src/classes.cc"
built clang++-22 -O2 -g -gz=zlib "$src/classes.cc"
built clang++-22 -O2 -gline-tables-only "$src/classes.cc"
built clang++-22 -O2 -gdwarf-5 -gdwarf64 "$src/classes.cc"
built clang++-22 -O3 -g -funroll-loops "$src/classes.cc"
built clang++-22 -O2 -g -fbasic-block-sections=all "$src/classes.cc"
built clang++-22 -O2 -g -ffunction-sections -fuse-ld=lld -Wl,--icf=all,--gc-sections "$src/classes.cc"
built clang-22 -O2 -g -flto -fuse-ld=lld "$src/first.c" "$src/second.c"
mixed=${EP_CORPUS:-}/pairs/dwarf2_dwarf5.bin
[ ! -e "$mixed" ] || compare "$mixed"
[ $n_same -gt 0 ] || skip "no compiler"
echo "$n_same profiles are the same"
