#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test.sh BUILD CC SANITIZE: installs to a new prefix and builds a consumer by find_package and by pkg-config.
set -eu
build=$1
cc=$2
[ -z "$3" ] || { echo "skipped: consumers are built without sanitizers"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
# Moved: nothing installed may know where it was.
mv "$work/prefix" "$work/moved"

CC=$cc cmake -G Ninja -S "$here/consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/moved" >/dev/null
cmake --build "$work/cmake" >/dev/null
"$work/cmake/consumer"

PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name edgeprof.pc)")
export PKG_CONFIG_PATH
# What a header includes is installed with it.
include=$work/moved/include/edgeprof
find "$include" -name '*.h' | while read -r header; do
	"$cc" -std=gnu17 -fsyntax-only -I"$include" -x c "$header"
done
# shellcheck disable=SC2046 # flags are words
"$cc" "$here/consumer/consumer.c" -o "$work/consumer" $(pkg-config --cflags --libs edgeprof)
"$work/consumer"
"$work/moved/bin/edgeprof" --version
# The recorder's plugin is found from where the tool is now.
if command -v "qemu-$(uname -m)" >/dev/null; then
	"$work/moved/bin/edgeprof" doctor | grep -q "$work/moved/.*softbrbe-api1.so: found"
fi
