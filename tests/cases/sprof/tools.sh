# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# For the cases that compare with LLVM's tools: which of them there are.
. "$EP_SOURCE/tests/cases/lib.sh"
# shellcheck disable=SC2034 # used by the cases
edgeprof=$EP_BUILD/tools/edgeprof/edgeprof
# shellcheck disable=SC2034 # used by the cases
here=$EP_SOURCE/tests/cases/sprof

# Those of the versions 19 and 22 of tool $1 that are installed; skips when there is none.
versions_of() {
	found=
	for version in 19 22; do
		if command -v "$1-$version" >/dev/null; then
			found="$found $1-$version"
		fi
	done
	[ -n "$found" ] || skip "neither $1-19 nor $1-22 is installed"
	echo "$found"
}
