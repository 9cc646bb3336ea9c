#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Measures speed and memory against the peers, in turn on the same inputs; prints medians.
set -eu

usage()
{
	cat <<'TEXT'
usage: run.sh BUILD_DIR [--work DIR] [--rounds N] [--own]
  BUILD_DIR    where edgeprof was built (preset release)
  --work DIR   where inputs are made and kept (default: BUILD_DIR/bench)
  --rounds N   runs of each peer (default 3); the faster commands are run three times as often
  --own        leave the peers out
TEXT
}

build_dir='' work='' rounds=3 own=
while [ $# -gt 0 ]; do
	case $1 in
	--work) work=$2; shift ;;
	--rounds) rounds=$2; shift ;;
	--own) own=1 ;;
	-*) usage >&2; exit 2 ;;
	*) build_dir=$1 ;;
	esac
	shift
done
[ -d "$build_dir" ] || { usage >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build_dir=$(cd "$build_dir" && pwd)
work=${work:-$build_dir/bench}
mkdir -p "$work"
cd "$work"
edgeprof=$build_dir/tools/edgeprof/edgeprof
profgen=llvm-profgen-22
min_records=5000000

say() { printf '== %s\n' "$*" >&2; }
for tool in "$edgeprof" $profgen create_llvm_prof perf /usr/bin/time qemu-x86_64; do
	command -v "$tool" >/dev/null || { echo "bench: $tool is missing" >&2; exit 2; }
done

# -- inputs --

# run_sqlite COMMAND...: the workload, once, under COMMAND.
run_sqlite() { "$@" ./sqlite/sqlite3 :memory: <"$here/workload.sql" >result; }

# A capture of enough branch records; samples that a busy machine loses are made up by a shorter
# period.
make_inputs()
{
	period=300
	while :; do
		say "recording sqlite3, one sample in $period branches"
		run_sqlite "$edgeprof" record -q --backend soft --seed 1 --period $period \
			--buffer 67108864 --raw capture.epr --
		"$build_dir/tests/bench/epr2perf" capture.epr perf.data >counts
		read -r n_samples n_records <counts
		[ "$n_records" -ge $min_records ] && break
		period=$((period / 2))
		[ $period -ge 50 ] || { echo 'bench: too many samples are lost' >&2; exit 2; }
	done
	say 'perf script'
	perf script -i perf.data --show-mmap-events -F ip,brstack >script.new
	mv script.new script
}

"$here/sqlite.sh" sqlite
cksum sqlite/sqlite3 "$here/workload.sql" >made_of.new
if ! cmp -s made_of made_of.new; then
	make_inputs
	mv made_of.new made_of
fi
read -r n_samples n_records <counts
cat perf.data script >/dev/null

# -- measuring --

rm -rf times out
mkdir times out

# measure KEY COMMAND...: adds "wall us, CPU us, peak KB" to times/KEY.
measure()
{
	key=$1
	shift
	start=$(date +%s%N)
	/usr/bin/time -o time.out -f '%U %S %M' "$@" >command.log 2>&1 || {
		echo "bench: $* failed:" >&2
		cat command.log >&2
		exit 1
	}
	end=$(date +%s%N)
	tail -n 1 time.out | awk -v us=$(((end - start) / 1000)) \
		'{ print us, ($1 + $2) * 1e6, $3 }' >>"times/$key"
}

measure_sqlite()
{
	key=$1
	shift
	start=$(date +%s%N)
	run_sqlite "$@"
	end=$(date +%s%N)
	echo "$(((end - start) / 1000)) 0 0" >>"times/$key"
}

peers()
{
	say "peers, round $1"
	measure profgen_data $profgen --binary sqlite/sqlite3 --perfdata perf.data -o out/profgen.prof
	measure profgen_script $profgen --binary sqlite/sqlite3 --perfscript script \
		-o out/profgen-script.prof
	# The one format of its that Debian's version writes without failing.
	measure autofdo create_llvm_prof --binary sqlite/sqlite3 --profile perf.data \
		--format text --out out/autofdo.prof
}

ours()
{
	say "edgeprof, round $1"
	measure emit_data "$edgeprof" emit -q --binary sqlite/sqlite3 --format extbinary perf.data \
		-o out/emit.prof
	measure emit_script "$edgeprof" emit -q --binary sqlite/sqlite3 --format extbinary script \
		-o out/emit-script.prof
	measure emit_edges "$edgeprof" emit -q --binary sqlite/sqlite3 --format extbinary \
		out/fold.edges -o out/emit-edges.prof
	measure fold_j1 "$edgeprof" fold -q -j 1 perf.data -o out/fold.edges
	measure fold_j2 "$edgeprof" fold -q -j 2 perf.data -o out/fold2.edges
	measure fold_raw "$edgeprof" fold -q capture.epr -o out/fold-raw.edges
	measure fold_script_j1 "$edgeprof" fold -q -j 1 script -o out/fold-script.edges
	measure fold_script "$edgeprof" fold -q script -o out/fold-script.edges
	# shellcheck disable=SC2046 # one name, many times
	measure merge "$edgeprof" merge -q --allow-duplicates $(yes out/fold.edges | head -n 256) \
		-o out/merge.edges
	measure_sqlite native
	measure_sqlite qemu qemu-x86_64
	measure_sqlite record "$edgeprof" record -q --backend soft -o out/record.edges --
	measure_sqlite exact "$edgeprof" record -q --backend soft --exact -o out/exact.edges --
}

# Processes that run or wait for a CPU, without this script's.
busy=$(awk '{ split($4, p, "/"); print p[1] - 1 }' /proc/loadavg 2>/dev/null || echo 0)
"$edgeprof" fold -q perf.data -o out/fold.edges
round=1
while [ $round -le "$rounds" ]; do
	[ -n "$own" ] || peers $round
	ours $round.1
	ours $round.2
	ours $round.3
	round=$((round + 1))
done
cmp out/fold.edges out/fold2.edges

# The same profile, by the tool that one compares with.
same=
if [ -z "$own" ]; then
	say 'comparing the profiles'
	$profgen --binary sqlite/sqlite3 --perfdata perf.data --format text -o out/profgen.txt \
		>command.log 2>&1
	"$edgeprof" emit -q --compat=llvm-profgen --binary sqlite/sqlite3 --format text perf.data \
		-o out/emit.txt
	same=0
	! cmp -s out/profgen.txt out/emit.txt || same=1
fi

# -- the table --

size() { wc -c <"$1"; }
# median KEY FIELD
median()
{
	[ ! -f "times/$1" ] || sort -n -k "$2,$2" "times/$1" |
		awk -v f="$2" '{ v[NR] = $f } END { print v[int((NR + 1) / 2)] }'
}

for key in profgen_data profgen_script autofdo emit_data emit_script emit_edges fold_j1 fold_j2 \
	fold_raw fold_script fold_script_j1 merge native qemu record exact; do
	echo "$key $(median $key 1) $(median $key 2) $(median $key 3)"
done >medians
{
	echo "busy $busy"
	echo "same $same"
	echo "n_samples $n_samples"
	echo "n_records $n_records"
	echo "b_data $(size perf.data)"
	echo "b_script $(size script)"
	echo "b_epr $(size capture.epr)"
	echo "b_edges $(size out/fold.edges)"
} >>medians
"$here/table.awk" medians
