# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The programs of tests/support/progs say the same however they are built and wherever they run:
# dynamic and static, on this machine and, where it can be emulated, on AArch64.

# check_all DIR [EMULATOR...]: runs the programs of DIR; in_exec may be 0 under an emulator.
check_all()
{
	dir=$1
	shift
	{
		for program in branches 'threads 700 3' 'forks 500' signals \
			"dl $dir/dlone.so $dir/dltwo.so"; do
			echo "== ${program%% *}"
			# shellcheck disable=SC2086 # a command with its arguments
			"$@" ./$dir/$program
		done
	} >"$dir/out"
	if [ $# -eq 0 ]; then
		cp "$dir/out" "$dir/got"
	else
		sed 's/^in_exec 0$/in_exec 2500/' "$dir/out" >"$dir/got"
	fi
	diff -u "$EP_SOURCE/tests/cases/progs/outputs.expected" "$dir/got"
}

# can_link_static CC
can_link_static()
{
	echo 'int main(void) { return 0; }' >try.c
	# shellcheck disable=SC2086 # CC is a command with its arguments
	$1 -static try.c -o try 2>/dev/null || { echo "no static programs with $1"; return 1; }
}

build=$EP_SOURCE/tests/support/progs/build.sh
"$build" "$EP_CC" host
check_all host
if [ "$(uname -s)" = Linux ] && can_link_static "$EP_CC"; then
	"$build" "$EP_CC" static -static
	check_all static
fi
command -v qemu-aarch64 >/dev/null || exit 0
for cc in aarch64-linux-gnu-gcc 'clang-19 --target=aarch64-linux-gnu'; do
	command -v "${cc%% *}" >/dev/null || continue
	can_link_static "$cc" || continue
	"$build" "$cc" cross
	check_all cross qemu-aarch64 -L /usr/aarch64-linux-gnu
	"$build" "$cc" cross-static -static
	check_all cross-static qemu-aarch64
done
