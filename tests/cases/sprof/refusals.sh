# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# convert with wrong input or options: exit 2, a message that says what, and no output file.
# shellcheck source-path=SCRIPTDIR source=tools.sh
. "$EP_SOURCE/tests/cases/sprof/tools.sh"

# refused MESSAGE OPTIONS...
refused() {
	message=$1 status=0
	shift
	"$edgeprof" convert "$@" >stdout 2>stderr || status=$?
	[ "$status" -eq 2 ] || { echo "failed: exit $status of convert $*"; exit 1; }
	[ ! -s stdout ]
	grep -qF -- "$message" stderr || { echo "failed: no '$message' in:"; cat stderr; exit 1; }
	[ ! -e out ] || { echo "failed: output written by convert $*"; exit 1; }
}

printf 'f:5:1\n 1: 5\n' >good
printf 'f:5:1\n\t1: 5\n' >tab
printf 'f:5:1\n 70000: 5\n' >offset
printf '\177ELF' >elf
: >empty
refused "tab:2:1: expected blanks or a function's name" tab -o out
refused 'hint: lines are indented with blanks, not tabs' tab -o out
refused 'offset:2:2: expected a line offset of at most 65535' offset -o out
refused 'elf: not a sample profile' elf -o out
refused 'empty: empty file' empty -o out
printf '[main:3 @ f]:50:1\n 1: 50\n' >context
refused 'context:1: a context-sensitive profile, which is not read yet' context -o out
refused 'absent: ' absent -o out
refused 'name one profile' -o out
refused 'name one profile' good good -o out
refused 'name the output with -o FILE' good
refused "format 'xml' is none of: text, binary, extbinary" --format xml good -o out
refused "method 'zstd' is none of: none, zlib" --compress zstd good -o out
refused 'only the extbinary format has GUIDs' --format text --md5 good -o out

# What is there stays there.
cp good kept
status=0
"$edgeprof" convert tab -o kept 2>/dev/null || status=$?
[ "$status" -eq 2 ]
same good kept "an existing file after a failure"

# Pipes on both sides.
"$edgeprof" convert - -o - <good | "$edgeprof" convert --format text - -o - >back
same good back "pipes"
