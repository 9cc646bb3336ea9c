#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes FOLDER/sqlite3, the program the benches record: the SQLite shell in one unit, from Debian's
# sources. sqlite.sh FOLDER; what is there already is kept.
set -eu
if [ $# -ne 1 ]; then
	echo 'usage: sqlite.sh FOLDER' >&2
	exit 2
fi
mkdir -p "$1"
cd "$1"
if [ -x sqlite3 ]; then
	exit 0
fi

# apt with a state of its own, so that neither root nor deb-src lines are needed.
fetch()
{
	mkdir -p apt/lists/partial apt/cache
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Component: main' 'Origin: Debian' | sort -u >apt/sources
	set -- -qq -o "Dir::Etc::SourceList=$PWD/apt/sources" -o Dir::Etc::SourceParts=/dev/null \
		-o "Dir::State::Lists=$PWD/apt/lists" -o "Dir::Cache=$PWD/apt/cache"
	apt-get "$@" update
	apt-get "$@" --download-only source sqlite3
}

amalgamate()
{
	if [ -z "$(find . -maxdepth 1 -name 'sqlite3_*.orig.tar.xz')" ]; then
		fetch >fetch.log 2>&1 || { cat fetch.log >&2; exit 1; }
	fi
	rm -rf source
	mkdir source
	tar -xf sqlite3_*.orig.tar.xz -C source --strip-components=1
	mkdir source/build
	(cd source/build && ../configure --disable-readline && make sqlite3.c shell.c) >source.log 2>&1 ||
		{ tail -n 20 source.log >&2; exit 1; }
	mv source/build/sqlite3.c source/build/sqlite3.h source/build/shell.c .
	rm -rf source
}

[ -f shell.c ] || amalgamate
# DWARF 4: Debian's create_llvm_prof cannot read 5.
clang-19 -O2 -g -gdwarf-4 -fdebug-info-for-profiling -funique-internal-linkage-names \
	-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_ENABLE_FTS5 -I. \
	shell.c sqlite3.c -o sqlite3.new -lm
mv sqlite3.new sqlite3
