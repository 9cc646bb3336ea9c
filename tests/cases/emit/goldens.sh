# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# llvm-profgen's own test inputs give llvm-profgen's profiles, byte for byte, for any -j.
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$EP_SOURCE/tests/cases/lib.sh"
corpus llvm-profgen/golden >/dev/null
dir=$EP_CORPUS/llvm-profgen

for pair in inline-noprobe inline-noprobe2 artificial-branch:inline-noprobe2 noprobe \
	noprobe.mmap:noprobe func-split external-address:inline-cs-noprobe inline-cs-noprobe \
	cs-interrupt:noinline-cs-noprobe; do
	name=${pair%%:*}
	binary=$dir/${pair##*:}.perfbin
	for jobs in 1 2 7; do
		expect 0 edgeprof emit --compat=llvm-profgen --ignore-stack-samples --format text \
			-j $jobs --binary "$binary" "$dir/$name.perfscript" -o text
		same text "$dir/golden/$name.perfscript.22.flat.prof"
		same text "$dir/golden/$name.perfscript.19.flat.prof"
	done
	# The same by way of a file of edges.
	expect 0 edgeprof fold --weights none --binary "$binary" "$dir/$name.perfscript" -o edges
	expect 0 edgeprof emit --compat=llvm-profgen --format text --binary "$binary" edges -o text
	same text "$dir/golden/$name.perfscript.22.flat.prof"
	# Counts of the same edges without our own view of them.
	"$EP_BUILD/tests/oracle/emit_raw" -c "$binary" "$dir/golden/$name.perfscript.22.flat.raw" >text
	same text "$dir/golden/$name.perfscript.22.flat.prof"
done
expect 0 edgeprof emit --compat=llvm-profgen --format text --binary "$dir/noprobe.perfbin" \
	"$dir/noprobe.aggperfscript" -o text
same text "$dir/golden/noprobe.aggperfscript.22.flat.prof"
# A program built for flow-sensitive profiles keeps its discriminators whole.
if command -v llvm-profgen-22 >/dev/null; then
	llvm-profgen-22 --binary="$dir/fs-discriminator.perfbin" --format=text -o peer \
		--unsymbolized-profile="$dir/fs-discriminator.raw.prof" >/dev/null 2>&1
	"$EP_BUILD/tests/oracle/emit_raw" -c "$dir/fs-discriminator.perfbin" \
		"$dir/fs-discriminator.raw.prof" >text
	same text peer
fi
