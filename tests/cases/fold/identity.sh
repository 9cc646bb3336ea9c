# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The build-id names a binary; its path is only a hint.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
for path in '/opt/app/t (deleted)' /opt/app/t.old /var/lib/docker/overlay2/x/merged/t "/opt/my app/t"; do
	{ map 7 $base1 "$path" "$build_id"; sample 7 1 $base1; } >in.txt
	fold_json a.json in.txt
	json_is a.json build_id "\"$build_id\""
	json_is a.json edge_count 4
done
# As perf does not print it, but people do.
{ map 7 $base1 /opt/t "0x$build_id"; sample 7 1 $base1; } >in.txt
fold_json a.json in.txt
json_is a.json build_id "\"$build_id\""
# No id in the text: the file at the path, else one named by --binary.
{ map 7 $base1 "$PWD/t"; sample 7 1 $base1; } >in.txt
fold_json a.json in.txt
json_is a.json build_id "\"$build_id\""
{ map 7 $base1 '/gone/t (deleted)'; sample 7 1 $base1; } >in.txt
fold_json a.json --binary t in.txt
json_is a.json build_id "\"$build_id\""
# Another note before the build-id, ids of 8 bytes, none at all: a hash stands in.
build other -Wl,--build-id=0x0123456789abcdef
{ map 7 $base1 "$PWD/other"; sample 7 1 $base1; } >in.txt
fold_json a.json in.txt
json_is a.json build_id '"0123456789abcdef"'
build none -Wl,--build-id=none
{ map 7 $base1 "$PWD/none"; sample 7 1 $base1; } >in.txt
fold_json a.json in.txt
json_is a.json build_id '"hash:[0-9a-f]{32}"'
