# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# What is refused, how it is said, and that nothing is written then.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"
"$progs/build.sh" "$EP_CC" . 2>build.log || { cat build.log; exit 1; }
echo precious >kept.edges
echo precious >kept.epr

refused() { # STATUS TEXT OPTIONS...
	want_text=$2 want_status=$1
	shift 2
	status "$want_status" "$edgeprof" record -o kept.edges --raw kept.epr "$@" >out 2>messages
	grep -q "$want_text" messages || { cat messages; fail "no '$want_text'"; }
	grep -q '^hint: ' messages || [ "${want_text#No such}" != "$want_text" ] || [ "${want_text#is a}" != "$want_text" ] || fail "no hint: $(cat messages)"
	[ "$(cat kept.edges kept.epr)" = "$(printf 'precious\nprecious')" ] || fail "written: $*"
}

refused 2 'name the program'
refused 2 "backend 'magic' is none of" --backend magic -- ./branches
refused 3 'cannot record in this version' --backend perf -- ./branches
refused 3 'cannot record in this version' --backend hwt -- ./branches
refused 2 "event 'cycles' is none of" --event cycles -- ./branches
refused 2 "period '0'" --period 0 -- ./branches
refused 2 "depth '7'" --depth 7 -- ./branches
refused 2 'No such file' -- ./absent
refused 2 'no sample was taken' --period 1G -- ./branches 1
printf '#!/bin/sh\nexit 0\n' >script
chmod +x script
printf '#!%s\n' "$PWD/absent" >orphan
printf '#!./script\n' >nested
chmod +x orphan nested
refused 2 'No such file' -- ./orphan
refused 2 'is a script whose interpreter' -- ./nested
printf 'text' >text
chmod +x text
status 2 "$edgeprof" record -- ./text 2>messages
grep -q 'not an ELF program' messages
status 2 "$edgeprof" record --depth 12 -- ./branches 2>messages
grep -q 'none of 8, 16, 32, 64' messages
status 2 "$edgeprof" record -o - -- ./branches 2>messages
grep -q "the program's" messages
# A QEMU that is none, and a plugin that is not there.
refused 3 'without having loaded the plugin' --qemu ./script -- ./branches
EDGEPROF_SOFTBRBE=$PWD/nowhere refused 3 'softbrbe-api1.so: not found' -- ./branches
# The default name.
"$edgeprof" record -q --period 101 -- ./branches 100 >/dev/null
[ -s branches.edges ] || fail "no branches.edges"
if ls ./*.tmp.* 2>/dev/null; then
	fail "left-over files"
fi
