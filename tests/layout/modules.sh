#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# modules.sh SOURCE: holds the tree against the rules of src/README.md and CONTRIBUTING.md. Prints each breach.
#
# A module includes only modules above it in the table of src/README.md, which is also the order of ARCHITECTURE.md and
# src/CMakeLists.txt. Headers of libraries are seen by the modules named below, headers of one system by files named
# for it. Files have fewer than 800 lines and begin with the licence.
set -eu
cd "$1"
breaches=$(mktemp)
trap 'rm -f "$breaches"' EXIT

# C17 and POSIX: on every system.
portable='assert ctype errno fcntl getopt inttypes limits math poll pthread signal stdalign stdarg stdatomic stdbool
	stddef stdint stdio stdlib string strings sys/mman sys/resource sys/socket sys/stat sys/time sys/types sys/uio
	sys/un sys/utsname sys/wait time unistd'

# module:header. symbolise takes from libelf what libdw hands out: the ELF file behind its Dwarf.
libraries='base:xxhash.h base:xxh_x86dispatch.h isa:Zydis/Decoder.h record:xxhash.h record:zstd.h
	import:zstd.h edges:xxhash.h edges:zstd.h object:gelf.h object:libelf.h symbolise:dwarf.h
	symbolise:elfutils/libdw.h symbolise:gelf.h sprof:md5.h sprof:zlib.h tools/edgeprof:jansson.h'

# file:header, where a file of another name may see a header of one system.
#   find.c: reads the head of a program without opening it as an object; <elf.h> is on Linux and FreeBSD.
#   tools/softbrbe: lives in qemu-user, which is Linux only, and is built for nothing else.
exceptions='src/capture/soft/find.c:elf.h'

# What a module shows to others besides <module>/<module>.h; base shows all it has.
faces='record/branch.h record/build_id.h record/drop.h record/event.h record/machine.h record/raw.h import/input.h
	sprof/read.h sprof/summary.h sprof/write.h capture/soft/softbrbe_wire.h'

one_line() { printf '%s' "$1" | tr -s '\n\t' '  '; }

portable=$(one_line "$portable")
libraries=$(one_line "$libraries")
faces=$(one_line "$faces")

contains() # LIST WORD
{
	case " $1 " in
	*" $2 "*) return 0 ;;
	esac
	return 1
}

breach() { printf '%s\n' "$*" >>"$breaches"; }

# -- the order of the modules, three times the same --
order=$(one_line "$(sed -n 's/^| \([a-z]*\) |.*/\1/p' src/README.md | grep -v '^folder$')")
described=$(sed -n '/^## Modules/,/^## [^M]/s/^| \([a-z]*\) |.*/\1/p' ARCHITECTURE.md | grep -v '^module$')
described=$(one_line "$described")
built=$(one_line "$(sed -n 's/^add_subdirectory(\([a-z]*\))$/\1/p' src/CMakeLists.txt)")
[ -n "$order" ] || breach "src/README.md: no table of modules"
[ "$order" = "$described" ] || breach "ARCHITECTURE.md: other modules, or in another order, than src/README.md"
[ "$order" = "$built" ] || breach "src/CMakeLists.txt: other modules, or in another order, than src/README.md"
for folder in src/*/; do
	contains "$order" "$(basename "$folder")" || breach "$folder: not in src/README.md"
done

check_include() # FILE MODULE MODULES-IT-MAY-SEE HEADER-AS-WRITTEN
{
	header=${4#?}
	header=${header%?}
	case $4 in
	\"*/*)
		owner=${header%%/*}
		contains "$3" "$owner" || breach "$1: includes $header, which is not above $2"
		case $owner in
		base | "$2") return ;;
		esac
		[ "$header" = "$owner/$owner.h" ] || contains "$faces" "$header" ||
			breach "$1: includes $header, which is $owner's own"
		return
		;;
	\"*) return ;; # beside it
	esac
	if contains "$portable" "${header%.h}" || contains "$libraries" "$2:$header" ||
		contains "$exceptions" "$1:$header"; then
		return
	fi
	case $1 in
	*_linux.c | *_freebsd.c | tools/softbrbe/*) return ;;
	esac
	breach "$1: includes <$header>, which is neither portable nor a library of $2"
}

check_folder() # FOLDER MODULE MODULES-IT-MAY-SEE
{
	find "$1" -name '*.[ch]' -exec grep -E '^#[[:space:]]*include' /dev/null {} + | sort |
		while IFS=: read -r file line; do
			check_include "$file" "$2" "$3" "${line##*include }"
		done
}

above=
for module in $order; do
	above="$above $module"
	check_folder "src/$module" "$module" "$above"
done
check_folder tools/edgeprof tools/edgeprof "$above"
# Loaded into QEMU, linked with nothing: of the modules it may see the wire and the types alone.
check_folder tools/softbrbe tools/softbrbe "record capture"
grep -hE '^#include "(record|capture)/' tools/softbrbe/*.[ch] | sort -u | while read -r _ header; do
	contains '"record/event.h" "record/machine.h" "capture/soft/softbrbe_wire.h"' "$header" ||
		breach "tools/softbrbe: includes $header, which has more than types"
done

# -- every file --
find src tools tests profiles cmake .ci run CMakeLists.txt -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \
	-o -name '*.awk' -o -name '*.cmake' -o -name CMakeLists.txt -o -name run -o -name 'run-*' -o -path '.ci/*' \
	! -name codespell-ignore \) -exec awk '
	# What is read by the shell or shellcheck may come before it.
	FNR == 1 { line = 1 }
	FNR == 1 && /^#(!| shellcheck)/ { line = 2 }
	FNR == line && !/SPDX-License-Identifier: BSD-2-Clause/ { print FILENAME ": does not begin with the licence" }
	FNR == 800 { print FILENAME ": has 800 lines or more" }
' {} + >>"$breaches"

sort "$breaches"
[ ! -s "$breaches" ]
