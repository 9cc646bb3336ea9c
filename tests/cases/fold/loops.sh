# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Captures of loops.c as perf script would print them; sourced by the cases of fold.
# shellcheck disable=SC2034 # those who source it read more than it does

need objdump readelf awk
base1=0x555555554000
base2=0x556655554000
# What build() learns: the binary's identity, its code, and the branch of either loop.
build_id='' text_off='' text_addr='' text_size=''
from1='' to1='' from2='' to2=''

# build NAME [FLAGS...]: compiles loops.c to ./NAME and learns where its branches and code are.
build()
{
	build_name=$1
	shift
	"$EP_CC" -O1 -g -pie -fPIE -Wl,--build-id=sha1 "$@" -o "$build_name" \
		"$EP_SOURCE/tests/cases/fold/loops.c"
	build_id=$(readelf -n "$build_name" | awk '/Build ID:/ { print $3 }')
	# The segment of the code: offset, address and size.
	# shellcheck disable=SC2046
	set -- $(readelf -lW "$build_name" | awk '$1 == "LOAD" && / R E / { print $2, $3, $5; exit }')
	text_off=$1 text_addr=$2 text_size=$3
	for build_loop in 1 2; do
		# The one branch of the function back into itself: its address and its target.
		# shellcheck disable=SC2046
		set -- $(objdump -d --no-show-raw-insn "$build_name" | awk -v f="<loop$build_loop>:" '
			$2 == f { inside = 1; next }
			NF == 0 { inside = 0 }
			inside && /<loop[12]\+0x[0-9a-f]*>/ {
				for (i = 3; $i !~ /^<loop/; i++)
					;
				from = $1; sub(":", "", from)
				to = $(i - 1); sub("^0x", "", to)
				if (to < from)
					found = from " " to
			}
			END { print found }')
		[ $# -eq 2 ] || fail "no loop found in loop$build_loop"
		eval "from$build_loop=0x$1 to$build_loop=0x$2"
	done
}

# map PID BASE PATH [BUILD-ID]: the MMAP2 line of the code mapped at BASE.
map()
{
	if [ $# -gt 3 ]; then map_id="<$4>"; else map_id="08:01 1 1"; fi
	printf 'PERF_RECORD_MMAP2 %d/%d: [0x%x(0x%x) @ 0x%x %s]: r-xp %s\n' "$1" "$1" \
		$(($2 + (text_addr & ~0xfff))) $((((text_addr & 0xfff) + text_size + 0xfff) & ~0xfff)) \
		$((text_off & ~0xfff)) "$map_id" "$3"
}

# sample PID LOOP BASE [FLAGS]: a line with four times the branch of a loop.
sample()
{
	sample_from='' sample_to=''
	eval "sample_from=\$from$2 sample_to=\$to$2"
	sample_entry=$(printf '0x%x/0x%x/%s' $((sample_from + $3)) $((sample_to + $3)) "${4:-P/-/-/3}")
	printf '%5d  %16x %s  %s  %s  %s \n' "$1" $((sample_to + $3)) "$sample_entry" "$sample_entry" \
		"$sample_entry" "$sample_entry"
}

# fold_json JSON FOLD-ARGUMENTS...: folds, with the account in the file JSON.
fold_json()
{
	fold_report=$1
	shift
	expect 0 edgeprof fold "$@" -o "$fold_report.edges" --report "$fold_report"
}

# sums FILE: what an account says of the edges, without what only names the input.
sums()
{
	grep -E '^  "(samples|records|edges|ranges|edge_count|range_count)":' "$1"
	sed -n '/"dropped": {}/p; /"dropped": {$/,/}/p' "$1"
}

# same_sums FILE FILE: two accounts count the same.
same_sums()
{
	sums "$1" >sums.1
	sums "$2" >sums.2
	same sums.1 sums.2
}

# profile SCRIPT: makes SCRIPT.prof, a text profile, with the binary ./t.
profile()
{
	expect 0 edgeprof emit --format text --binary t "$1" -o "$1.prof"
}
