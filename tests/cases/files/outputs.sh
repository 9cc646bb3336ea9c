# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
# No input is lost to an output of the same name, no closed descriptor is taken for a file, no
# temporary file outlives the program, and streams without an end are given up.
. "$EP_SOURCE/tests/cases/lib.sh"

"$EP_CC" -g -O1 -o loops "$EP_SOURCE/tests/cases/fold/loops.c"
edgeprof record -q --ignore-exit --period 1000 --raw loops.epr -o loops.edges ./loops >/dev/null 2>&1 ||
	skip "cannot record here"

# Outputs that are inputs.
for file in loops loops.epr loops.edges; do
	cp "$file" "$file.kept"
done
expect 2 edgeprof fold loops.epr -o loops.epr
has err "loops.epr: is an input and would be lost"
ln -s loops other-name
expect 2 edgeprof emit --binary loops loops.edges -o other-name
expect 2 edgeprof emit --binary loops --debug-file other-name loops.edges -o loops
expect 2 edgeprof emit --binary loops loops.edges -o loops.edges
for file in loops loops.epr loops.edges; do
	cmp "$file" "$file.kept" || fail "$file was written over"
done
# Merging in place is of use, and safe.
expect 0 edgeprof merge loops.edges -o loops.edges

# Few descriptors are enough for many inputs.
n=0
while [ "$n" -lt 300 ]; do
	echo loops.edges
	n=$((n + 1))
done >list
# shellcheck disable=SC3045 # known to all shells that are sh somewhere
(ulimit -n 32 && edgeprof merge -q --allow-duplicates --files-from list -o few.edges) ||
	fail "300 inputs with 32 descriptors"

# Names that lead nowhere.
ln -s loop loop
expect 2 edgeprof merge loops.edges -o loop
has err "leads nowhere"
expect 2 edgeprof merge loops.edges -o ""

# Closed descriptors: the output is not one of them.
edgeprof fold loops.epr -o closed.edges <&- >&- 2>&- || fail "fold without descriptors"
expect 0 edgeprof fold loops.epr -o open.edges
cmp closed.edges open.edges || fail "messages went into the output"
edgeprof show loops.edges >&- 2>err && fail "a closed standard output is success"
for words in --version --help "show loops.edges" "show --json loops.edges"; do
	[ -e /dev/full ] || break
	# shellcheck disable=SC2086 # several words
	edgeprof $words >/dev/full 2>err && fail "$words: a full device is success"
done

# Streams without an end.
if [ -e /dev/zero ]; then
	expect 2 edgeprof merge /dev/zero -o zero
	expect 2 edgeprof merge loops.edges /dev/zero -o zero
	expect 2 edgeprof fold /dev/zero -o zero
	expect 2 edgeprof convert /dev/zero -o zero
	has err "a stream of over"
fi

# A signal while an output is under way.
mkfifo pipe
edgeprof fold loops.epr pipe -o signal.edges 2>err &
pid=$!
exec 3>pipe
kill -TERM "$pid"
wait "$pid" && fail "a signal is success"
exec 3>&-
[ ! -e signal.edges ] || fail "an output after a signal"
left=$(find . -name '*.tmp.*')
[ -z "$left" ] || fail "left behind: $left"
