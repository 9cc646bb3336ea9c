# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC1091,SC2154
# Sampled stacks of the same programs: every record and range fits its binary, at each depth and
# by each event; the same seed gives the same samples.
. "$EP_SOURCE/tests/cases/record/common"
need "$(native_qemu)"
"$progs/build.sh" "$EP_CC" . 2>build.log || { cat build.log; exit 1; }

take() { # NAME OPTIONS -- PROGRAM
	name=$1
	shift
	"$edgeprof" record -q --raw "$name.epr" --report "$name.json" "$@" >/dev/null
	"$check" "$name.epr" >"$name.got" || { cat "$name.got"; exit 1; }
	[ "$(value "$name.got" samples)" -eq "$(member "$name.json" samples)" ] || fail "$name: samples"
	[ "$(value "$name.got" samples)" -gt 50 ] || fail "$name: few samples"
}

for depth in 8 16 32 64; do
	take d$depth --depth $depth --period 997 -- ./branches 1000
	records=$(value d$depth.got records) samples=$(value d$depth.got samples)
	[ "$records" -le $((samples * depth)) ] || fail "depth $depth: $records records"
	[ "$records" -gt $((samples * depth - 2 * depth)) ] || fail "depth $depth: $records records"
done
take insns --event instructions --period 4999 -- ./branches 1000
take threads --period 499 -- ./threads 2000
[ "$(value threads.got threads)" -eq 5 ] || fail "threads"
take forks --period 997 -- ./forks 2000
[ "$(value forks.got threads)" -eq 6 ] || fail "forks: $(cat forks.got)"
[ "$(value forks.got processes)" -ge 4 ] || fail "forks: $(cat forks.got)"
take signals --period 97 -- ./signals 300
[ "$(value signals.got moved)" -gt 50 ] || fail "signals: $(cat signals.got)"
[ "$(value signals.got discontinuities)" -gt "$(value signals.got moved)" ] || fail "signals"
[ "$(member signals.json pc_moved)" -ge 900 ] || fail "signals: $(cat signals.json)"
take dl --period 997 -- ./dl ./dlone.so ./dltwo.so 2000

# Period: the mean is what was asked for, and no two runs of another seed are the same.
branches=$(member d32.json taken_branches) samples=$(member d32.json samples)
mean=$((branches / samples))
{ [ $mean -gt 930 ] && [ $mean -lt 1070 ]; } || fail "mean period $mean"
for run in 1 2; do
	take s$run --seed 5 --period 997 -- ./branches 1000
done
take other --seed 6 --period 997 -- ./branches 1000
[ "$(value s1.got records)" -eq "$(value s2.got records)" ] || fail "seed"
