#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# check_man.sh EDGEPROF PAGE: the page passes mandoc's lint, and it and --help name the same options.
set -eu
edgeprof=$1
page=$2
command -v mandoc >/dev/null || { echo "skipped: mandoc is not installed"; exit 77; }
# The order and the date belong to the project's conventions, not to the page's validity.
lint=$(mandoc -T lint -W warning "$page" 2>&1) || { echo "$lint"; exit 1; }
verb=$(basename "$page" .1 | sed -n 's/^edgeprof-//p')
[ -n "$verb" ] || exit 0
status=0
help=$("$edgeprof" "$verb" --help | grep -oE -- '--[a-z0-9][a-z0-9-]*' | sort -u)
for option in $help; do
	name=${option#--}
	grep -qE "Fl -$name( |\$)" "$page" || { echo "$page: no entry for $option"; status=1; }
done
documented=$(grep -oE '^\.It .*' "$page" | grep -oE 'Fl -[a-z0-9][a-z0-9-]*' | sed 's/Fl -/--/' | sort -u)
for option in $documented; do
	echo "$help" | grep -qx -- "$option" || { echo "$page: $option is not in --help"; status=1; }
done
exit $status
