# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# What is folded while recording is what its raw capture folds to, and both are known to be one.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"
"$progs/build.sh" "$EP_CC" . 2>build.log || { cat build.log; exit 1; }

# All but the name and digest of the file itself and the tool that each input names.
content() {
	"$edgeprof" show --json "$1" | sed '/"tool"/d; /^  "\(file\|digest\|bytes\)"/d'
}

for options in "--period 499" "--exact" "--period 2003 --event instructions"; do
	# shellcheck disable=SC2086
	"$edgeprof" record -q $options --raw x.epr -o live.edges -- ./threads 500 >/dev/null
	"$edgeprof" fold -q x.epr -o later.edges
	content live.edges >live
	content later.edges >later
	diff live later
	status 2 "$edgeprof" merge live.edges later.edges -o both.edges 2>messages
	grep -q 'same capture' messages || { cat messages; exit 1; }
done
