# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Profiles that llvm-profgen wrote: text to text gives the same bytes, also by way of ExtBinary.
# shellcheck source-path=SCRIPTDIR source=tools.sh
. "$EP_SOURCE/tests/cases/sprof/tools.sh"
golden=$EP_CORPUS/llvm-profgen/golden
[ -d "$golden" ] || skip "the corpus folder is absent (EP_CORPUS=$EP_CORPUS)"

n_read=0
for profile in "$golden"/*.prof; do
	[ -s "$profile" ] || continue
	"$edgeprof" convert --format text "$profile" -o text
	same "$profile" text "$profile"
	"$edgeprof" convert --compress zlib text -o ext 2>err
	"$edgeprof" convert --format text ext -o back
	# ExtBinary has attributes for profiles of a pre-inliner only; convert says so.
	if grep -q 'attributes are left out' err; then
		sed '/^ *!Attributes: /d' text >kept
	else
		cp text kept
	fi
	same kept back "$profile by way of extbinary"
	n_read=$((n_read + 1))
done
echo "$n_read profiles"
[ "$n_read" -ge 20 ]
