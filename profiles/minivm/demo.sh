#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The whole road, on minivm: build, record, make the profile, rebuild, and count what it gained.
set -eu

usage()
{
	cat <<'TEXT'
usage: demo.sh BUILD_DIR [--keep | --dir DIR] [--no-time]
  BUILD_DIR   where edgeprof was built
  --keep      leave the files of the last run alone: work in a new folder
  --dir DIR   work in DIR, which is emptied first
  --no-time   count, but do not measure time
TEXT
}

build_dir='' dir='' keep='' timing=1
while [ $# -gt 0 ]; do
	case $1 in
	--keep) keep=1 ;;
	--dir)
		[ $# -ge 2 ] || { usage >&2; exit 2; }
		dir=$2
		shift
		;;
	--no-time) timing= ;;
	-*) usage >&2; exit 2 ;;
	*) build_dir=$1 ;;
	esac
	shift
done
[ -d "$build_dir" ] || { usage >&2; exit 2; }

here=$(cd "$(dirname "$0")" && pwd)
build_dir=$(cd "$build_dir" && pwd)
edgeprof=$build_dir/tools/edgeprof/edgeprof
flags='-g -fdebug-info-for-profiling -funique-internal-linkage-names -static'
host=$(uname -m)

fail() { echo "demo: $*" >&2; exit 1; }
step() { printf '%-8s %s\n' "$arch" "$*"; }

for tool in clang-19 "$edgeprof"; do
	command -v "$tool" >/dev/null || fail "$tool is missing; ./run demo installs and builds it"
done

if [ -z "$dir" ]; then
	dir=$build_dir/demo
	if [ -n "$keep" ] && [ -e "$dir" ]; then
		n=2
		while [ -e "$dir-$n" ]; do n=$((n + 1)); done
		dir=$dir-$n
	fi
fi
if [ -e "$dir" ]; then
	[ -e "$dir/results.tsv" ] || rmdir "$dir" 2>/dev/null ||
		fail "$dir: exists and is not of an earlier demo"
	rm -rf "$dir"
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
: >"$dir/results.tsv"

# The first of hwt, perf and soft that works here and can record.
best_backend()
{
	"$edgeprof" doctor --json | awk -F'"' '
		/^      "name":/ { name = $4 }
		/^      "works": true/ { works[name] = 1 }
		/^      "records": true/ { records[name] = 1 }
		END {
			n = split("hwt perf soft", order, " ")
			for (i = 1; i <= n; i++)
				if (works[order[i]] && records[order[i]]) { print order[i]; exit }
		}'
}

# run OUTPUT COMMAND...: runs minivm's command and compares what it prints with the expected file.
run_checked()
{
	expected=$here/$1.expected
	shift
	"$@" >"$dir/output" || fail "$*: failed"
	diff -u "$expected" "$dir/output" >&2 || fail "$*: wrong result"
}

# member FILE NAME: a number of a JSON report.
member() { sed -n "s/^ *\"$2\": \"\{0,1\}\([0-9][0-9]*\).*/\1/p" "$1"; }

# count WHICH: instructions and taken branches of the evaluation input, counted by the plugin.
count()
{
	run_checked eval "$edgeprof" record -q --backend soft --period 1000003 --seed 1 \
		--report "$dir/$arch/$1/count.json" -o "$dir/$arch/$1/eval.edges" -- \
		"$dir/$arch/$1/minivm" "$here/eval.list"
}

# One run of the evaluation input.
time_once()
{
	start=$(date +%s%N)
	# shellcheck disable=SC2086 # empty, or a command
	$runner "$dir/$arch/$1/minivm" "$here/eval.list" >/dev/null
	end=$(date +%s%N)
	echo $(((end - start) / 10000)) >>"$dir/$arch/$1/times"
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] / 100 }'; }

row() { printf '%s\t%s\t%s\t%s\n' "$arch" "$1" "$2" "$3" >>"$dir/results.tsv"; }

# demo ARCH TARGET BACKEND RUNS: from source to results for one machine; `runner` runs it unrecorded.
demo()
{
	arch=$1 cc="clang-19 --target=$2" backend=$3 runs=$4
	mkdir -p "$dir/$arch/before" "$dir/$arch/after"

	step "build:  $cc -O2 $flags"
	# shellcheck disable=SC2086 # a list of flags
	"$here/build.sh" "$cc" "$dir/$arch/before" $flags
	step "record: edgeprof record --backend $backend, training input"
	run_checked train "$edgeprof" record -q --backend "$backend" --seed 1 \
		--report "$dir/$arch/train.json" -o "$dir/$arch/train.edges" -- \
		"$dir/$arch/before/minivm" "$here/train.list"
	step "emit:   edgeprof emit, $(member "$dir/$arch/train.json" samples) samples"
	"$edgeprof" emit --binary "$dir/$arch/before/minivm" --format extbinary \
		--report "$dir/$arch/emit.json" "$dir/$arch/train.edges" -o "$dir/$arch/minivm.prof" \
		2>"$dir/$arch/emit.log" || { cat "$dir/$arch/emit.log" >&2; exit 1; }
	step "build:  the same with -fprofile-sample-use"
	# shellcheck disable=SC2086
	"$here/build.sh" "$cc" "$dir/$arch/after" $flags \
		"-fprofile-sample-use=$dir/$arch/minivm.prof"
	step "count:  evaluation input, before and after"
	count before
	count after
	for what in instructions taken_branches; do
		row $what "$(member "$dir/$arch/before/count.json" $what)" \
			"$(member "$dir/$arch/after/count.json" $what)"
	done
	[ -z "$timing" ] || measure_time
}

measure_time()
{
	step "time:   evaluation input, $runs runs each${runner:+ under $runner}"
	i=0
	while [ $i -lt "$runs" ]; do
		time_once before
		time_once after
		i=$((i + 1))
	done
	row "ms${runner:+_qemu}" "$(median "$dir/$arch/before/times")" "$(median "$dir/$arch/after/times")"
}

print_table()
{
	awk -F'\t' '
		function count(n) { return sprintf("%.1f M", n / 1e6) }
		function ms(n) { return sprintf("%.1f ms", n) }
		BEGIN {
			printf "\n%-36s %12s %12s %9s\n", "minivm, evaluation input",
				"before", "after", "change"
		}
		{
			if ($2 == "instructions") { name = "instructions"; b = count($3); a = count($4) }
			if ($2 == "taken_branches") { name = "taken branches"; b = count($3); a = count($4) }
			if ($2 == "ms") { name = "wall time"; b = ms($3); a = ms($4) }
			if ($2 == "ms_qemu") { name = "wall time in QEMU"; b = ms($3); a = ms($4) }
			printf "%-10s %-25s %12s %12s %+8.1f %%\n", $1 == last ? "" : $1, name, b, a,
				($4 - $3) * 100 / $3
			last = $1
		}' "$dir/results.tsv"
}

native=$(best_backend)
[ -n "$native" ] || { "$edgeprof" doctor >&2 || true; fail 'no backend works here'; }

for machine in x86_64 aarch64; do
	name=x86-64
	[ "$machine" = x86_64 ] || name=AArch64
	if [ "$machine" = "$host" ]; then
		runner=
		demo "$name" "$machine-linux-gnu" "$native" 9
	elif command -v "qemu-$machine" >/dev/null; then
		runner=qemu-$machine
		demo "$name" "$machine-linux-gnu" soft 5
	else
		echo "demo: no qemu-$machine: $name is left out" >&2
	fi
done
rm -f "$dir/output"
print_table
echo
echo "Counted by the QEMU plugin, so without noise${timing:+; times are medians}. All files: $dir"
