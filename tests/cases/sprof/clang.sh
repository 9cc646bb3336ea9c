# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# clang takes every format we write without a word, and applies it.
# shellcheck source-path=SCRIPTDIR source=tools.sh
. "$EP_SOURCE/tests/cases/sprof/tools.sh"
clangs=$(versions_of clang)

cat >prog.c <<'END'
int leaf(int x)
{
	return x * 3;
}

int work(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		if (i % 7)
			sum += leaf(i);
		else
			sum ^= i;
	return sum;
}
END
# Counts over 32 bits are written as they are.
printf 'work:18000000000:2\n 2: 6000000000\n 3: 6000000000\n 4: 5142857143\n 4.2: 5142857143 leaf:5142857143\n 6: 857142857\n 7: 2\nleaf:10:5\n 1: 10\n' >in.txt
"$edgeprof" convert --format text in.txt -o text.prof
same in.txt text.prof "counts over 32 bits"
"$edgeprof" convert --format binary in.txt -o binary.prof
"$edgeprof" convert in.txt -o ext.prof
"$edgeprof" convert --md5 in.txt -o md5.prof
"$edgeprof" convert --compress zlib in.txt -o zlib.prof
"$edgeprof" convert --md5 --compress zlib in.txt -o both.prof
for clang in $clangs; do
	for profile in text binary ext md5 zlib both; do
		"$clang" -O2 -gline-tables-only -fdebug-info-for-profiling -S -emit-llvm \
			-fprofile-sample-use=$profile.prof prog.c -o out.ll 2>messages
		[ ! -s messages ] || { cat messages; echo "failed: $clang, $profile"; exit 1; }
		# Also our ExtBinary's table of offsets is good: the entry count is the profile's.
		grep -q 'function_entry_count' out.ll || { echo "failed: $clang did not apply $profile"; exit 1; }
	done
done
