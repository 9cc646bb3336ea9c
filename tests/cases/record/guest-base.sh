# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# A program that QEMU runs at other addresses than its own: maps and records still fit.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"
"$progs/build.sh" "$EP_CC" . 2>build.log || { cat build.log; exit 1; }
printf '#!/bin/sh\nexec %s -B 0x100000000000 "$@"\n' "$(command -v "$(native_qemu)")" >moved
chmod +x moved
"$edgeprof" record -q --qemu ./moved --exact --raw x.epr -- ./dl ./dlone.so ./dltwo.so 500 >out
sed 's/^A:/dlone.so:/; s/^B:/dltwo.so:/' out >want
"$check" x.epr counts want >got || { cat got; exit 1; }
[ "$(value got unmapped)" -eq 0 ] || { cat got; exit 1; }
