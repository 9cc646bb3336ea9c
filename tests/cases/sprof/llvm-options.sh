# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# What llvm-profdata only writes when told to: symbol lists, the split layout, GUIDs made names.
# shellcheck source-path=SCRIPTDIR source=tools.sh
. "$EP_SOURCE/tests/cases/sprof/tools.sh"
profdatas=$(versions_of llvm-profdata)

printf 'main:184:10\n 1: 534 f:3\n 4: f:20\n  1: 20\nf:9:1\n 0: 0\n' >in.txt
printf 'zeta\nmain\nnever_sampled\n' >symbols.txt
for profdata in $profdatas; do
	# A symbol list comes through, compressed or not.
	for extra in '' --compress-all-sections; do
		# shellcheck disable=SC2086 # an option or none
		"$profdata" merge --sample --extbinary $extra --prof-sym-list=symbols.txt in.txt -o sym.llvm
		"$edgeprof" convert ${extra:+--compress zlib} sym.llvm -o sym.ours
		same sym.llvm sym.ours "$profdata: symbol list $extra"
	done
	"$edgeprof" convert --format text sym.llvm -o sym.txt 2>err
	same in.txt sym.txt "$profdata: profile with a symbol list"
	grep -q 'the symbol list (3 names) is left out' err

	# GUIDs that were written as names are GUIDs again.
	"$profdata" merge --sample --extbinary --use-md5 in.txt -o md5.llvm
	"$profdata" merge --sample --extbinary md5.llvm -o names.llvm
	"$edgeprof" convert names.llvm -o md5.ours
	"$profdata" show --sample --show-sec-info-only md5.ours | grep -q 'NameTable.*fixlenmd5'
	"$edgeprof" convert --format text md5.llvm -o md5.txt 2>err
	grep -q 'the profile holds GUIDs, not names' err
	"$edgeprof" convert md5.txt -o again.ours
	same md5.ours again.ours "$profdata: GUIDs through text"

	# A context-sensitive profile is refused, and read as the hint says.
	printf '[main:3 @ f]:50:1\n 1: 50\n[main]:20:1\n 1: 20\n' >cs.txt
	"$profdata" merge --sample --extbinary cs.txt -o cs.llvm
	status=0
	"$edgeprof" convert cs.llvm -o cs.ours 2>err || status=$?
	[ "$status" -eq 2 ]
	grep -q '^hint: nest it: llvm-profdata merge .*--convert-sample-profile-layout=nest' err
	"$profdata" merge --sample --extbinary --convert-sample-profile-layout=nest cs.llvm -o nest.llvm
	"$edgeprof" convert --format text nest.llvm -o nest.txt
	printf 'main:70:1\n 1: 20\n 3: f:50\n  1: 50\n' >want.txt
	same want.txt nest.txt "$profdata: nested contexts"

	if "$profdata" merge --sample --extbinary --split-layout in.txt -o split.llvm 2>/dev/null; then
		"$edgeprof" convert --format text split.llvm -o split.txt
		same in.txt split.txt "$profdata: split layout"
	fi
done
