# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# Random profiles: our bytes equal llvm-profdata's, each reads what the other wrote.
# shellcheck source-path=SCRIPTDIR source=tools.sh
. "$EP_SOURCE/tests/cases/sprof/tools.sh"
profdatas=$(versions_of llvm-profdata)
command -v python3 >/dev/null || skip "python3 is not installed"

# written_alike NAME PROFDATA_OPTIONS -- OPTIONS: in.txt becomes the same bytes NAME.
written_alike() {
	name=$1 theirs=
	shift
	while [ "$1" != -- ]; do
		theirs="$theirs $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # options are words
	"$profdata" merge --sample $theirs in.txt -o "llvm.$name"
	"$edgeprof" convert "$@" in.txt -o "ours.$name"
	same "llvm.$name" "ours.$name" "$about: $name"
}

# read_alike FILE: both read it to the same text.
read_alike() {
	"$profdata" merge --sample --text "$1" -o llvm.back
	"$edgeprof" convert -q --format text "$1" -o ours.back
	same llvm.back ours.back "$about: reading $1"
}

check_profile() {
	written_alike text --text -- --format text
	if [ "$flags" != probe ]; then
		written_alike binary --binary -- --format binary
		written_alike ext --extbinary --
		written_alike md5 --extbinary --use-md5 -- --md5
		written_alike zlib --extbinary --compress-all-sections -- --compress zlib
		written_alike both --extbinary --use-md5 --compress-all-sections -- --md5 --compress zlib
		for name in binary ext md5 zlib both; do
			read_alike "ours.$name"
		done
	else
		# The order of the metadata is that of a hash table there: any is right.
		"$profdata" merge --sample --extbinary in.txt -o llvm.ext
		"$edgeprof" convert in.txt -o ours.ext
		read_alike llvm.ext
		read_alike ours.ext
		"$profdata" merge --sample --text ours.ext -o back.ours
		"$profdata" merge --sample --text llvm.ext -o back.llvm
		same back.llvm back.ours "$about: metadata"
	fi
}

for seed in 1 2 3; do
	for flags in calm shuffle odd probe; do
		python3 "$here/random_profile.py" $seed 6 $flags >in.txt
		for profdata in $profdatas; do
			about="$profdata, seed $seed, $flags"
			check_profile
		done
	done
done
