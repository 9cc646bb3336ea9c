# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The training workload computes the same on AArch64, built by each compiler that can.
minivm=$EP_SOURCE/profiles/minivm
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
	command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
for cc in aarch64-linux-gnu-gcc 'clang-19 --target=aarch64-linux-gnu'; do
	command -v "${cc%% *}" >/dev/null || continue
	"$minivm/build.sh" "$cc" . -static
	for input in train eval; do
		qemu-aarch64 ./minivm "$minivm/$input.list" >$input.got
		diff -u "$minivm/$input.expected" $input.got
	done
done
