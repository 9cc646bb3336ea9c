# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# What show says of a sample profile, in words and as JSON.
# shellcheck source-path=SCRIPTDIR source=tools.sh
. "$EP_SOURCE/tests/cases/sprof/tools.sh"

printf 'main:184:10\n 1: 534 f:3\n 2.5: 4294967296\n 4: f:20\n  1: 20\n  2: g:5\n   1: 2\n 5: g:90\n  1: 1\nf:16:1\n 0: 0\nesc\033[31m:0:0\n 1: 0\n' >in.txt
"$edgeprof" show --top 3 in.txt >got
cat >want <<'END'
in.txt: LLVM sample profile, text
  flags                  none
  functions              3
  inlined copies         3
  records                7
  call targets           1
  symbol list            0

summary
  sum of counts          4294967853
  highest count          4294967296
  highest entry count    10
  hot from               4294967296
  cold up to             4294967296
  density                858993570.6
       share       of counts from      records
     1.0000%           4294967296            1
    10.0000%           4294967296            1
    20.0000%           4294967296            1
    30.0000%           4294967296            1
    40.0000%           4294967296            1
    50.0000%           4294967296            1
    60.0000%           4294967296            1
    70.0000%           4294967296            1
    80.0000%           4294967296            1
    90.0000%           4294967296            1
    95.0000%           4294967296            1
    99.0000%           4294967296            1
    99.9000%           4294967296            1
    99.9900%           4294967296            1
    99.9990%           4294967296            1
    99.9999%           4294967296            1

hottest functions (3 of 3)
    share                total          entries  inlined  function  <- hottest inlined in it
   92.00%                  184               10        3  main  <- g 48.9%, f 10.9%
    8.00%                   16                1        0  f
    0.00%                    0                0        0  esc?[31m
END
diff want got

"$edgeprof" convert --compress zlib --md5 in.txt -o ext.prof
"$edgeprof" show --top 0 ext.prof >got
grep -q '^ext.prof: LLVM sample profile, extbinary version 103$' got
grep -q '^  flags  *md5$' got
grep -q 'name table .* 0x300000001 compressed$' got
if grep -q 'hottest functions' got; then exit 1; fi

"$edgeprof" show --json --top 1 --symbols in.txt >got.json
for line in '"schema": "edgeprof.show/1"' '"kind": "sample-profile"' '"file": "in.txt"' '"format": "text"' \
	'"version": null' '"n_functions": 3' '"max_count": 4294967296' '"name": "main"' \
	'"share_percent": 92.0' '"symbols": \[\]'; do
	grep -q -- "$line" got.json || { echo "failed: no $line in the JSON"; exit 1; }
done
if grep -q '"name": "esc' got.json; then exit 1; fi

status=0
printf '\202\344\320\261\364\311\224\250Sg' | "$edgeprof" show - 2>err || status=$?
[ "$status" -eq 2 ]
grep -q "compact binary sample profile" err
status=0
"$edgeprof" show "$edgeprof" 2>err || status=$?
[ "$status" -eq 2 ]
grep -q '^hint: show reads: ' err
