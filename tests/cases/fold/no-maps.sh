# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# A script without any map needs a binary whose linked addresses it has.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
{ sample 7 1 0; sample 7 2 0; } >in.txt
expect 2 edgeprof fold in.txt -o out.edges
has err 'hint:' '--binary'
absent out.edges
fold_json a.json --binary t in.txt
json_is a.json edges 2
json_is a.json edge_count 8
json_is a.json build_id "\"$build_id\""
