# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# doctor: one line a backend, JSON of the same, status 3 when nothing works.
. "$EP_SOURCE/tests/cases/record/common"
got=0
"$edgeprof" doctor >text || got=$?
{ [ $got -eq 0 ] || [ $got -eq 3 ]; } || fail "status $got"
for backend in soft perf hwt; do
	grep -Eq "^$backend +(works|does not work: [a-z-]+) \(" text || { cat text; exit 1; }
done
status $got "$edgeprof" doctor --json >json
grep -q '"schema": "edgeprof.doctor/1"' json
[ "$(grep -c '"name":' json)" -eq 3 ] || { cat json; exit 1; }
status $got "$edgeprof" doctor -q >lines
[ "$(wc -l <lines)" -eq 3 ] || { cat lines; exit 1; }
status 2 "$edgeprof" doctor extra 2>/dev/null
if command -v "$(native_qemu)" >/dev/null; then
	grep -q '^soft  works' text || { cat text; exit 1; }
	grep -q "recorded 'true'" text || { cat text; exit 1; }
	# Without QEMU, and without the plugin.
	status 3 env PATH=/nonexistent "$edgeprof" doctor -q >lines
	grep -q '^soft  does not work: qemu' lines || { cat lines; exit 1; }
	status 3 env EDGEPROF_SOFTBRBE=/nonexistent "$edgeprof" doctor -q >lines
	grep -q '^soft  does not work: plugin' lines || { cat lines; exit 1; }
fi
