# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The text and JSON forms of an .edges file, pipes, and files that are not whole.
edgeprof=$EP_BUILD/tools/edgeprof/edgeprof
make_edges=$EP_BUILD/tests/support/make_edges

"$make_edges" 7 4 200 a.edges
LC_ALL=C "$edgeprof" show --top 3 a.edges >text
for want in '^Inputs$' '^Binaries$' '^Hottest edges$' '^Hottest ranges$' '^Dropped$' '^Notes ' \
	'host7' 'br_inst_retired.near_taken' 'half-record  *7  records' 'reason-90[01]' \
	'note-4000' '####'; do
	grep -q -- "$want" text || { echo "no '$want' in:"; cat text; exit 1; }
done
if grep -q "$(printf '\033')" text; then echo "colours in a file"; exit 1; fi
[ "$(sed -n '/^Hottest edges/,/^$/p' text | wc -l)" -eq 6 ]
LC_ALL=C.UTF-8 "$edgeprof" show --top 3 a.edges | grep -q '█'

"$edgeprof" show --json --top 3 a.edges >json
[ "$(jq -r 'keys_unsorted | join(" ")' json)" = "schema file kind bytes digest taken taken_fixed\
 mispredicted mispredicted_fixed n_edges n_ranges n_saturated n_skipped_parts inputs binaries\
 hottest_edges hottest_ranges dropped notes" ]
[ "$(jq -r .schema json)" = edgeprof.show/1 ]
[ "$(jq '.hottest_edges | length' json)" = 3 ]
[ "$(jq '[.binaries[].n_edges] | add' json)" = "$(jq .n_edges json)" ]
[ "$(jq '[.binaries[].taken_fixed] | add' json)" = "$(jq .taken_fixed json)" ]
jq -e '.hottest_edges[0].count >= .hottest_edges[1].count' json >/dev/null
jq -e '.dropped[] | select(.name == "half-record") | .n == 7' json >/dev/null

"$edgeprof" show --json --top 3 - <a.edges | jq 'del(.file)' >piped
jq 'del(.file)' json | cmp - piped

# Never a part of a damaged file.
head -c 700 a.edges >short
for bad in short /dev/null missing .; do
	status=0
	"$edgeprof" show $bad >out 2>err || status=$?
	if [ $status -ne 2 ] || [ -s out ] || [ ! -s err ]; then echo "$bad: $status"; exit 1; fi
done
status=0
"$edgeprof" show 2>err || status=$?
[ $status -eq 2 ]

# A reader that has seen enough is no error worth a word.
mkfifo gate
{ cat gate >/dev/null; "$edgeprof" show a.edges 2>err || true; } | { exec <&-; echo go >gate; }
[ ! -s err ] || { cat err; exit 1; }
