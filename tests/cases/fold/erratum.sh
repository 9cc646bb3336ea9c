# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The newest entry doubled: dropped on the CPUs that are known for it, and there only; a tight loop
# looks like it and is kept.
. "$EP_SOURCE/tests/cases/lib.sh"
. "$EP_SOURCE/tests/cases/fold/loops.sh"
build t
forward=$(printf '0x%x/0x%x/P/-/-/0' $((to1 + base1)) $((to2 + base1)))
back=$(printf '0x%x/0x%x/P/-/-/0' $((from1 + base1)) $((to1 + base1)))
script()
{
	[ -z "$1" ] || echo "# cpuid : $1"
	map 7 $base1 "$PWD/t"
	printf '    7  %s \n' "$forward $forward $back" "$back $back $back"
}
script GenuineIntel,6,85,4 >skylake.txt
fold_json skylake.json skylake.txt
json_is skylake.json duplicate-top 1
json_is skylake.json edge_count 5
has err duplicate-top
for cpu in GenuineIntel,6,143,4 AuthenticAMD,25,17,1 ''; do
	script "$cpu" >other.txt
	fold_json other.json other.txt
	json_lacks other.json duplicate-top
	json_is other.json edge_count 6
done
