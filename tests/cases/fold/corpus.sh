# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Recordings of others: natively and as the text that perf printed of them, alone and together.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
for name in filtrate-user cycles-user-zstd filtrate-all; do
	data=$(corpus "brbe/$name.data")
	# The text lacks perf's header; what a missing cycle count means goes by the CPU.
	echo '# cpuid : 0x00000000000f0510' >"$name.txt"
	gzip -dc "$(corpus "brbe/$name.txt.gz")" >>"$name.txt"
	fold_json "$name.data.json" --weights none "$data"
	fold_json "$name.txt.json" --weights none "$name.txt"
	same_sums "$name.data.json" "$name.txt.json"
	# With two inputs there is twice as much, of the same edges.
	fold_json both.json --weights none "$data" "$name.txt"
	for key in edges ranges; do
		n=$(sed -n "s/^  \"$key\": \([0-9]*\),*/\1/p" "$name.txt.json")
		json_is both.json "$key" "$n"
	done
	n=$(sed -n 's/^  "edge_count": \([0-9]*\),*/\1/p' "$name.txt.json")
	json_is both.json edge_count $((2 * n))
done
# Every script that llvm-profgen's tests have can be read, with the binary it is of.
grep -v '^#' "$(corpus llvm-profgen/MANIFEST)" | while read -r script binary _; do
	expect 0 edgeprof fold --binary "$EP_CORPUS/llvm-profgen/$binary" \
		"$EP_CORPUS/llvm-profgen/$script" -o x.edges
	lacks err unknown-line 'no entry of' 'ends within'
done
# What a cut recording has lost is in the edges.
head -c 4024 "$EP_CORPUS/brbe/filtrate-user.data" >cut.data
expect 0 edgeprof fold cut.data -o cut.edges
has err 'warning: cut.data: is cut at offset 0xfb8'
expect 0 edgeprof show cut.edges
has out 'corrupt-input       3  records'
