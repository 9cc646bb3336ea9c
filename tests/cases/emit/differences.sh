# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Each difference from llvm-profgen that edgeprof-emit(1) lists, and llvm-profgen's own way of it.
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$EP_SOURCE/tests/cases/lib.sh"
# shellcheck source-path=SCRIPTDIR source=parts.sh
. "$EP_SOURCE/tests/cases/emit/parts.sh"

# Code without a line counts for its function, but is no line. GNU as makes no rows of line 0.
if command -v clang-22 >/dev/null; then
	build_parts clang-22
	raw 1 lineless-lineless_end:7 0
	emits
	has out 'lineless:28:0'
	lacks out ' 655'
	emits -c
	has out 'lineless:28:0'
	count_is out 1 ' 655'
fi
build_parts "$EP_CC"

# A loop at the entry is no call; calls from elsewhere are.
raw 1 spin-spin_again:90 2 'spin_again->spin:80' '-->spin:10'
emits
has out 'spin:360:10'
lacks out 'spin:80'
emits -c
has out 'spin:360:90' ' spin:80'

# A line runs at least as often as it calls, inlined or not.
raw 0 1 'inlined_call->leaf:50'
"$EP_BUILD/tests/oracle/emit_raw" parts raw >out
grep -qE '^  [0-9]+: 50 leaf:50$' out || fail "an inlined call was not raised"
"$EP_BUILD/tests/oracle/emit_raw" -c parts raw >out
grep -qE '^  [0-9]+: 0 leaf:50$' out || fail "an inlined call was raised with --compat"

# Nothing crosses an indirect jump or a trap, or ends where nothing branches.
raw 3 jumps_out-jumps_end:5 jumps_behind-jumps_end:5 leaf_end-leaf_end:1 0
emits
has err 'not-straight 10'
lacks out jumps:
emits -c
has out jumps:
raw 2 struck-struck_at:5 leaf_end-leaf_end:1 0
emits
has err 'not-transfer 5'
emits -c
has out struck:

# A direct branch leads where it leads.
raw 1 leaf_end-leaf_end:1 1 'spin_again->leaf:50'
emits
has err 'wrong-target 50'
has out 'leaf:1:0'
emits -c
has out 'leaf:1:50'

# llvm-profgen says the same as --compat where it is installed.
command -v llvm-profgen-22 >/dev/null || exit 0
for counts in "1 lineless-lineless_end:7 0" "1 spin-spin_again:90 2 spin_again->spin:80 -->spin:10" \
	"0 1 inlined_call->leaf:50" \
	"3 jumps_out-jumps_end:5 jumps_behind-jumps_end:5 leaf_end-leaf_end:1 0" \
	"2 struck-struck_at:5 leaf_end-leaf_end:1 0" "1 leaf_end-leaf_end:1 1 spin_again->leaf:50"; do
	# shellcheck disable=SC2086 # words are meant
	raw $counts
	emits -c
	llvm-profgen-22 --binary=parts --unsymbolized-profile=raw --format=text -o peer 2>/dev/null
	same out peer
done
