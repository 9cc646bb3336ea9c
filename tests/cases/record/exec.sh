# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# Programs that execute others: followed and counted like the first, or said not to be.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"

counted() { # IMAGES COMMAND...
	images=$1
	shift
	status 7 env IMAGES="$images" PATH="$PWD:$PATH" \
		"$edgeprof" record --exact --raw x.epr -- "$@" >want 2>messages
	"$check" x.epr counts want >got || { cat want got; exit 1; }
	[ "$(value got not-followed)" -eq 0 ] || fail "not followed: $*"
	[ "$(value got processes)" -eq 1 ] || fail "processes: $*"
}

try() { # CC
	$1 -O1 "$EP_SOURCE/tests/cases/record/exec.c" -o exec -pthread
	counted 1 ./exec end
	counted 4 ./exec chain
	counted 1 ./exec fail
	counted 2 ./exec thread
	# Scripts, also by PATH, with an argument of the interpreter's.
	printf '#! %s/exec  end \n' "$PWD" >script
	chmod +x script
	counted 1 ./script 500
	counted 1 script 500
}

try "$EP_CC"
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
	try aarch64-linux-gnu-gcc
	$EP_CC -O1 "$EP_SOURCE/tests/cases/record/exec.c" -o exec -pthread
fi

# A daemon-like child goes on: said, and all that is there is written.
printf '#!/bin/sh\nsleep 3 >/dev/null 2>&1 &\n./exec end\n' >leaves
chmod +x leaves
status 7 "$edgeprof" record --exact --raw x.epr --report x.json -- ./leaves >out 2>messages
"$check" x.epr counts out >got || { cat got; exit 1; }
[ "$(member x.json still_running)" -eq 1 ] || { cat x.json; exit 1; }
[ "$(value got not-followed)" -eq 1 ] || fail "the daemon is in no drop: $(cat got)"
grep -q 'still running when' messages || { cat messages; exit 1; }

# A program that is replaced between two runs is two binaries.
printf '#!/bin/sh\n./exec end 10\ncp other exec.new\nmv exec.new exec\n./exec end 10\n' >replaced
chmod +x replaced
$EP_CC -O0 "$EP_SOURCE/tests/cases/record/exec.c" -o other -pthread
status 7 "$edgeprof" record -q --exact --raw x.epr -o x.edges -- ./replaced >out
[ "$("$edgeprof" show --json x.edges | grep -c '/exec"')" -eq 2 ] || fail "one binary: $("$edgeprof" show x.edges)"
$EP_CC -O1 "$EP_SOURCE/tests/cases/record/exec.c" -o exec -pthread

# A shell script with children that are programs.
printf '#!/bin/sh\n./exec end 300\n./exec end 200 >/dev/null\nexec ./exec end 1000\n' >children
chmod +x children
status 7 env IMAGES=1 "$edgeprof" record -q --exact --raw x.epr --report x.json -- ./children >out
echo 'turn 1500' >want
"$check" x.epr counts want >got || { cat got; exit 1; }
[ "$(member x.json processes)" -eq 3 ] || { cat x.json; exit 1; }
status 7 "$edgeprof" record --no-follow --exact --raw x.epr -- ./children >out 2>messages
"$check" x.epr >got || { cat got; exit 1; }
[ "$(value got not-followed)" -eq 3 ] || { cat got; exit 1; }
grep -q 'warning: 3 processes not followed' messages || { cat messages; exit 1; }
