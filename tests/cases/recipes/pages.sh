# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# A map made with pages of 64 KiB gives the same profile.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
{ map 7 $base1 "$PWD/t"; sample 7 1 $base1; } >small.txt
{
	printf 'PERF_RECORD_MMAP2 7/7: [0x%x(0x10000) @ 0 08:01 1 1]: r-xp %s/t\n' \
		$((base1 + text_addr - text_off)) "$PWD"
	sample 7 1 $base1
} >large.txt
profile small.txt
profile large.txt
has small.txt.prof loop1:
same small.txt.prof large.txt.prof
