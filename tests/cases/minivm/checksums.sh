# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The training workload, built by this build's compiler, computes what is written beside its inputs.
minivm=$EP_SOURCE/profiles/minivm
"$minivm/build.sh" "$EP_CC" . ${EP_SANITIZE:+-g "-fsanitize=$EP_SANITIZE" -fno-sanitize-recover=all}
for input in train eval; do
	./minivm "$minivm/$input.list" >$input.got
	diff -u "$minivm/$input.expected" $input.got
done
