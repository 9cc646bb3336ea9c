# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The README's first command works, and what it makes is worth it on both machines. Counts by the
# plugin do not vary, so the bounds are not a matter of timing.
for tool in clang-19 aarch64-linux-gnu-gcc qemu-x86_64 qemu-aarch64; do
	command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
"$EP_SOURCE/profiles/minivm/demo.sh" "$EP_BUILD" --dir "$PWD/demo" --no-time >out
cat out
grep -q "All files: $PWD/demo" out
awk -F'\t' '
	$2 == "instructions" && $4 < 0.95 * $3 { n++ }
	$2 == "taken_branches" && $4 < 0.85 * $3 { n++ }
	END { exit n != 4 }' demo/results.tsv || { echo 'gained too little'; exit 1; }

# A folder that is not of an earlier demo is not emptied.
mkdir other
: >other/precious
if "$EP_SOURCE/profiles/minivm/demo.sh" "$EP_BUILD" --dir "$PWD/other" >out 2>&1; then exit 1; fi
[ -e other/precious ]
