# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Counts of parts.c, written with the names of its places; sourced by cases of emit.

need nm readelf
[ "$(uname -m)" = x86_64 ] || skip "the code is for x86-64"

# build_parts COMPILER: compiles parts.c to ./parts.
build_parts()
{
	cp "$EP_SOURCE/tests/cases/emit/parts.c" .
	"$1" -O1 -gdwarf-4 -fcf-protection=none -fomit-frame-pointer -o parts parts.c ||
		skip "the compiler has no naked functions"
	nm parts >names
	base=$(readelf -lW parts | awk '$1 == "LOAD" && / R E / { print $3; exit }')
	base=$((base & ~0xfff))
}

# at NAME: its address, as llvm-profgen writes it.
at()
{
	at_addr=$(awk -v name="$1" '$3 == name { print $1; exit }' names)
	[ -n "$at_addr" ] || fail "parts has no $1"
	printf '%x' $((0x$at_addr - base))
}

# raw N FROM-TO:COUNT... M FROM->TO:COUNT...: the file raw. FROM "-" is another binary.
raw()
{
	for raw_word in "$@"; do
		case $raw_word in
		*-\>*)
			raw_from=${raw_word%%->*}
			raw_to=${raw_word#*->}
			if [ "$raw_from" = - ]; then
				raw_from=$(printf '%x' $((1 - base)))
			else
				raw_from=$(at "$raw_from")
			fi
			echo "$raw_from->$(at "${raw_to%:*}"):${raw_to##*:}"
			;;
		*-*)
			raw_to=${raw_word#*-}
			echo "$(at "${raw_word%%-*}")-$(at "${raw_to%:*}"):${raw_to##*:}"
			;;
		*)
			echo "$raw_word"
			;;
		esac
	done >raw
}

# emits FLAGS...: the text profile of the file raw, in the file out.
emits()
{
	expect 0 "$EP_BUILD/tests/oracle/emit_raw" "$@" parts raw
}
