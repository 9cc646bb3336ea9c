# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# Signals by a timer, faults that are mended or jumped out of, self-modifying code: no record that
# is no branch comes of it, sampled or counted.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"

try() { # CC
	# shellcheck disable=SC2086 # CC is a command with its arguments
	$1 -O1 "$EP_SOURCE/tests/cases/record/signals.c" -static -o signals
	for options in "--exact" "--period 211" "--period 1009 --event instructions"; do
		# shellcheck disable=SC2086
		"$edgeprof" record -q $options --raw x.epr --report x.json -- ./signals 3000000 >out
		grep -q '^faults 200$' out || { cat out; exit 1; }
		"$check" x.epr >got || { cat got; exit 1; }
		# A mended fault moves the PC twice, one jumped out of once.
		[ "$(member x.json pc_moved)" -ge 300 ] || { cat x.json; exit 1; }
	done
}

try "$EP_CC"
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	try aarch64-linux-gnu-gcc
fi
