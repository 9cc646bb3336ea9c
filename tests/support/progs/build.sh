#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Builds the test programs: build.sh CC OUTDIR [extra flags]. CC may have arguments of its own.
# -static among the flags applies to the programs only, not to the library they load.
set -eu
if [ $# -lt 2 ]; then
	echo 'usage: build.sh CC OUTDIR [extra flags]' >&2
	exit 2
fi
cc="$1 -std=gnu17 -O2 -g -Wall -Wextra -Werror"
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
cd "$(dirname "$0")"

# shellcheck disable=SC2086 # CC is a command with its arguments
for program in branches threads forks dl signals; do
	libs=
	case $program in
	threads) libs=-pthread ;;
	dl) [ "$(uname -s)" = FreeBSD ] || libs=-ldl ;;
	esac
	$cc "$@" $program.c -o "$out/$program" $libs
done
# The library needs nothing, so that a static program can load it, too.
# shellcheck disable=SC2086
for copy in one two; do
	$cc -fPIC -shared -nostdlib "-Wl,-soname,dl$copy.so" dlmod.c -o "$out/dl$copy.so"
done
