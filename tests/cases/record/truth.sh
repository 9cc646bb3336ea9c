# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# Sampled edges agree with the counted ones within what chance allows: minivm and a second program,
# native and AArch64. The programs run the same way each time and the seed is fixed.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"

agree() { # NAME PROGRAM ARGUMENTS...
	name=$1
	shift
	"$edgeprof" record -q --exact --raw "$name.exact.epr" -- "$@" >/dev/null
	"$edgeprof" record -q --seed 7 --period 5003 --raw "$name.taken.epr" -- "$@" >/dev/null
	"$check" "$name.exact.epr" against "$name.taken.epr" >"$name.got" || { cat "$name.got"; exit 1; }
	echo "$name: $(sed -n 's/^\(overlap\|worst-deviation\|tested\)/\1/p' "$name.got" | tr '\n' ' ')"
}

agree_all() { # NAME CC
	"$EP_SOURCE/profiles/minivm/build.sh" "$2" "$1" -static
	"$progs/build.sh" "$2" "$1" -static 2>build.log || { cat build.log; exit 1; }
	agree "$1-minivm" "./$1/minivm" "$EP_SOURCE/profiles/minivm/train.list"
	agree "$1-branches" "./$1/branches" 40000
}

agree_all native "$EP_CC"
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	agree_all a64 aarch64-linux-gnu-gcc
fi
