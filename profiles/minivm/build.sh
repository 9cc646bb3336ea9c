#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Builds minivm: build.sh CC OUTDIR [extra flags]. CC may have arguments of its own
# ("clang-19 --target=aarch64-linux-gnu"). The program is OUTDIR/minivm.
set -eu
if [ $# -lt 2 ]; then
	echo 'usage: build.sh CC OUTDIR [extra flags]' >&2
	exit 2
fi
cc=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2

# -funique-internal-linkage-names hashes the name a source is given by: with the same relative
# names everywhere, a profile made in one place is of use in another.
cd "$(dirname "$0")"

# Without contraction of a * b + c every machine computes the same checksums.
# shellcheck disable=SC2086 # CC is a command with its arguments
exec $cc -std=gnu17 -O2 -ffp-contract=off -Wall -Wextra -Werror "$@" \
	main.c arr.c builtin.c compile.c fn.c heap.c lex.c map.c str.c value.c vm.c \
	-o "$out/minivm" -lm
