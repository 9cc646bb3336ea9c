# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# Counts of instructions that are easily mistaken: rep, jumps to the next instruction or to
# oneself, into one's own block; across pages, since QEMU's blocks end there.
. "$EP_SOURCE/tests/cases/record/common"
need qemu-x86_64
case $(uname -m) in x86_64 | amd64) ;; *) echo "needs an x86-64 compiler"; exit 77 ;; esac
for align in 4096 4093 4090 4084 4072; do
	$EP_CC -O1 "-Wl,--defsym=unused=$align" -static "$EP_SOURCE/tests/cases/record/insns.c" -o insns
	"$edgeprof" record -q --exact --raw insns.epr -- ./insns 1000 >want
	"$check" insns.epr counts want >got || { cat want got; exit 1; }
done
