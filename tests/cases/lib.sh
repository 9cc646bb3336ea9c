# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# What the cases have in common; a case begins with:  . "$EP_SOURCE/tests/cases/lib.sh"

edgeprof()
{
	"$EP_BUILD/tools/edgeprof/edgeprof" "$@"
}

# fail TEXT: ends the case as failed.
fail()
{
	echo "failed: $*" >&2
	exit 1
}

# skip TEXT: ends the case as one that cannot run here.
skip()
{
	echo "skipped: $*"
	exit 77
}

# need COMMAND...: skips the case where one of them is missing.
need()
{
	for need_command in "$@"; do
		command -v "$need_command" >/dev/null || skip "$need_command is not installed"
	done
}

# corpus FILE: prints the path of a foreign test input; skips the case where there is none.
corpus()
{
	[ -e "${EP_CORPUS:-}/$1" ] || skip "no test input $1"
	echo "$EP_CORPUS/$1"
}

# expect STATUS COMMAND...: runs it, with its output in the files out and err.
expect()
{
	expect_status=$1
	shift
	expect_got=0
	"$@" >out 2>err || expect_got=$?
	[ "$expect_got" -eq "$expect_status" ] || {
		cat out err >&2
		fail "exit status $expect_got, not $expect_status: $*"
	}
}

# has FILE TEXT...: each text occurs in the file.
has()
{
	has_file=$1
	shift
	for has_text in "$@"; do
		grep -qF -- "$has_text" "$has_file" || {
			cat "$has_file" >&2
			fail "$has_file has no '$has_text'"
		}
	done
}

# lacks FILE TEXT...: none of them occurs.
lacks()
{
	lacks_file=$1
	shift
	for lacks_text in "$@"; do
		! grep -qF -- "$lacks_text" "$lacks_file" || {
			cat "$lacks_file" >&2
			fail "$lacks_file has '$lacks_text'"
		}
	done
}

# count_is FILE N TEXT: the text occurs in N lines.
count_is()
{
	count_got=$(grep -cF -- "$3" "$1" || true)
	[ "$count_got" -eq "$2" ] || {
		cat "$1" >&2
		fail "$1 has '$3' in $count_got lines, not $2"
	}
}

# json_is FILE KEY VALUE: some member of that name in a report has that value.
json_is()
{
	grep -qE "^ *\"$2\": $3,?\$" "$1" || {
		cat "$1" >&2
		fail "$1 has no \"$2\": $3"
	}
}

# json_lacks FILE KEY: no member has that name.
json_lacks()
{
	! grep -qE "^ *\"$2\": " "$1" || {
		cat "$1" >&2
		fail "$1 has a \"$2\""
	}
}

# same FILE FILE [WHAT]: their bytes are equal.
same()
{
	cmp -- "$1" "$2" || fail "${3:+$3: }$1 and $2 differ"
}

# absent FILE...: none of them is there.
absent()
{
	for absent_file in "$@"; do
		[ ! -e "$absent_file" ] || fail "$absent_file is there"
	done
}
