# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Inputs and outputs: pipes, several of each kind, the same twice; same bytes for any -j.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
{ map 7 $base1 "$PWD/t"; for _ in $(seq 50); do sample 7 1 $base1; done; } >a.txt
{ map 9 $base2 "$PWD/t"; for _ in $(seq 70); do sample 9 2 $base2; done; } >b.txt
fold_json a.json a.txt -j 1
expect 0 edgeprof fold a.txt -o a2.edges -j 2
same a.json.edges a2.edges
edgeprof fold -q - -o - <a.txt >piped.edges
same a.json.edges piped.edges
# shellcheck disable=SC2002 # a pipe, not a file
cat a.txt | edgeprof fold -q - -o - >piped.edges
same a.json.edges piped.edges
# Several inputs are merged, whatever they are and come in.
fold_json b.json b.txt
fold_json ab.json a.txt b.txt
json_is ab.json samples 120
json_is ab.json edges 2
json_is ab.json edge_count 480
fold_json ba.json b.json.edges a.txt
same ab.json.edges ba.json.edges
# shellcheck disable=SC2002
cat b.json.edges | edgeprof fold -q a.json.edges - -o piped.edges
same ab.json.edges piped.edges
edgeprof merge -q a.json.edges b.json.edges -o merged.edges
same ab.json.edges merged.edges
edgeprof fold -q a.json.edges -o again.edges
same a.json.edges again.edges
# Folding what is joined gives what joining the folded gives.
cat a.txt b.txt >joined.txt
fold_json joined.json joined.txt
same_sums ab.json joined.json
# The same capture twice.
for again in a.txt a.json.edges; do
	expect 2 edgeprof fold a.txt b.txt "$again" -o twice.edges
	has err 'same capture' a.txt hint:
	absent twice.edges
done
# Bad use.
for args in '' 'a.txt' '-o x' '- - -o x' 'a.txt -o - --json' 'a.txt -o x --weights some' 'a.txt -j 0 -o x'; do
	# shellcheck disable=SC2086
	expect 2 edgeprof fold $args </dev/null
	has err hint:
	absent x
done
expect 2 edgeprof fold missing.txt -o x
has err missing.txt
expect 2 edgeprof fold a.txt -o no/such/folder/x
absent no x
# An input is not written over, whatever it is called.
ln -s a.txt link
cp a.txt copy
for out in a.txt ./a.txt link; do
	expect 2 edgeprof fold b.txt a.txt -o "$out"
	has err 'is an input' hint:
	expect 2 edgeprof fold a.txt -o x --report "$out"
	absent x
done
same a.txt copy
# Nothing is written where the report cannot be.
expect 2 edgeprof fold a.txt -o x --report no/such/folder/r.json
has err no/such/folder/r.json
absent no x
# A torn file of edges.
size=$(wc -c <a.json.edges)
for n in 0 1 8 20 100 $((size / 2)) $((size - 1)); do
	head -c "$n" a.json.edges >torn.edges
	expect 2 edgeprof fold torn.edges -o x
	absent x
done
# JSON on standard output is all there is on it.
edgeprof fold a.txt -o x --json >x.json 2>/dev/null
json_is x.json schema '"edgeprof.fold/1"'
same x.json a.json
# What is in an input does no harm to a terminal.
{ cat a.txt; printf 'strange \033[2J line\n'; } >escape.txt
expect 0 edgeprof fold escape.txt -o x
has err 'strange \x1b[2J line'
