# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# The training workload's own errors: named with file and line, exit 1, nothing leaked.
"$EP_SOURCE/profiles/minivm/build.sh" "$EP_CC" . \
	${EP_SANITIZE:+-g "-fsanitize=$EP_SANITIZE" -fno-sanitize-recover=all}
mkdir programs

# fails_with MESSAGE: the program on stdin does not run, and why is said.
fails_with()
{
	cat >programs/p.mv
	echo 'p.mv 1' >list
	status=0
	./minivm list >out 2>err || status=$?
	[ "$status" -eq 1 ] || { echo "exit $status, not 1, for: $1"; exit 1; }
	grep -qF "$1" err || { echo "expected: $1"; cat err; exit 1; }
}

fails_with 'p.mv:2: an expression expected' <<'P'
fn main(n) {
	return ;;
}
P
fails_with 'p.mv:1: cannot assign to this' <<'P'
fn main(n) { n + 1 = 2; }
P
fails_with 'p.mv:1: expression too deep' <<P
fn main(n) { return $(printf '%0200d' 0 | tr 0 '-') 1; }
P
fails_with 'division by zero (f, line 1) (main, line 3)' <<'P'
fn f(n) { return n / 0; }
fn main(n) {
	return eval("return f(" + str(n) + ");");
}
P
fails_with 'cannot combine int and str (main, line 1)' <<'P'
fn main(n) { return n + "x"; }
P
fails_with 'subscript 3 outside 0..2 (main, line 1)' <<'P'
fn main(n) { return [1, 2][3]; }
P
fails_with 'main: calls too deep' <<'P'
fn main(n) { return main(n + 1); }
P
fails_with 'no function main' <<'P'
let x = 1;
P

echo 'absent.mv' >list
if ./minivm list >out 2>err; then exit 1; fi
grep -q 'absent.mv' err
