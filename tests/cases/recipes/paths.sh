# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The path that ran is gone, renamed or another's view: the build-id finds the binary.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
{ map 7 $base1 /opt/app/t "$build_id"; sample 7 1 $base1; } >plain.txt
profile plain.txt
has plain.txt.prof loop1:
for path in '/opt/app/t (deleted)' /opt/app/t.old /var/lib/docker/overlay2/x/merged/t; do
	{ map 7 $base1 "$path" "$build_id"; sample 7 1 $base1; } >path.txt
	profile path.txt
	same plain.txt.prof path.txt.prof
done
