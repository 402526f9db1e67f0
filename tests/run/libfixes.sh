# SPDX-License-Identifier: BSD-3-Clause
# Executes the fixes that findings offer; to be sourced after libtest.sh, libmpi.sh and libfindings.sh.
#
# tests/fixes/CODE.KIND[.NAME].c or .py is a program that does what the finding CODE is about. The test records it, takes
# the lines of the fix of that KIND from the report, puts them into the program, and records it again: the program must be
# accepted without a warning, and no finding may remain. A C program includes the lines where it says `#include FIX`; in
# Python, they replace the line `#fix`, and what is between `#if bad` and `#else`. Fixes of the kind "sluice" are executed
# as they are, for each C program whose finding has one; so are those of the kind "shell", before the program runs again.
# Comments of a program may contain
#   @libraries NAME...  what it is linked with: hdf5, netcdf, pnetcdf, z
#   @mpi MPI...         it is parallel, and runs with these; python: with the MPI of mpi4py
#   @ranks N            number of ranks (2); more: one more than there are processors
#   @if CODE            only if this Python code succeeds: other versions of the library do not have the finding
#   @prepare            it runs once with one more argument before it is recorded, to make its files
#   @disk               its files must be on a block device
#   @set NAME=VALUE     environment, such as thresholds of findings
#   @with CODE...       findings that it has besides
#   @leaves CODE...     findings that the fix may leave or cause
#   @only               does not execute the fix of the kind "sluice", because another program does
#   @also KIND          executes the fix of this kind, too
#   @replace WORD=TEXT  what a user has to fill in: a word in capitals
#   @attempts N         executions, one of which must have the finding, and of the fix, one of which must leave none: the
#                       evidence includes other programs, or times that depend on the load of the machine
#   @after COMMAND      to be executed after a fix of the kind "shell"
fixes=$SOURCE/tests/fixes
python=/usr/bin/python3

# directive NAME: the values of @NAME in the template, one per line
directive() {
	sed -n "s/^[ #*]*@$1 *\(.*\)$/\1/p" "$template"
}

# has_directive NAME
has_directive() {
	grep -q "^[ #*]*@$1\b" "$template"
}

# weave FIX: the Python program of the template: with the lines of the file FIX, or the bad one if FIX is empty
weave() {
	python3 - "$template" "$1" <<'END_WEAVE'
import sys
fix = open(sys.argv[2]).read().splitlines() if sys.argv[2] else None
shown = True
for line in open(sys.argv[1]).read().splitlines():
    word, indent = line.strip(), line[:len(line) - len(line.lstrip())]
    if word == "#if bad":
        shown = fix is None
    elif word == "#else":
        shown = fix is not None
    elif word == "#endif":
        shown = True
    elif shown and word == "#fix":
        print(*[indent + part for part in fix], sep="\n")
    elif shown:
        print(line)
END_WEAVE
}

# with_library NAME: adds what links the program with this library to the array `flags`
with_library() {
	case $1 in
	# shellcheck disable=SC2046
	hdf5) flags+=(-DWITH_HDF5 $(pkg-config --cflags --libs "hdf5-${mpi:-serial}")) ;;
	# shellcheck disable=SC2046
	*netcdf) flags+=("-DWITH_${1^^}" $(pkg-config --cflags --libs "$1")) ;;
	*) flags+=("-l$1") ;;
	esac
}

# helpers CC: compiles once what all programs with this MPI have in common, and prints the names of the objects
helpers() {
	local name
	for name in keep yield; do
		[ -e "$name.$mpi.o" ] || "$1" -c -std=gnu17 -D_GNU_SOURCE -I"$SOURCE" -o "$name.$mpi.o" "$SOURCE/kernels/$name.c"
		echo "$name.$mpi.o"
	done
}

# compile [FIX]: builds ./program from a C template; without a fix only if ./bad is not that program already
compile() {
	local cc=$CC flags=() library
	if [ -z "$1" ] && [ "$(cat bad.of 2>/dev/null)" = "$template $mpi" ]; then
		cp bad program
		return
	fi
	[ -z "$mpi" ] || cc="mpicc.$mpi"
	# shellcheck disable=SC2046
	[ -z "$mpi" ] || flags+=(-DWITH_MPI $(helpers "$cc") -ldl)
	for library in $(directive libraries); do
		with_library "$library"
	done
	[ -z "$1" ] || flags+=(-DFIX="\"$work/$1\"")
	"$cc" -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$SOURCE" -I"$fixes" -o program "$template" "${flags[@]}" >err 2>&1 ||
		fail "$case: the compiler refuses the fix: $(cat err)"
	[ -n "$1" ] || { cp program bad && echo "$template $mpi" >bad.of; }
}

# make_program [FIX]: sets `command` to the program with the fix, or to the bad one
make_program() {
	local ranks
	command=()
	if [ -n "$mpi" ]; then
		ranks=$(directive ranks)
		[ "$ranks" != more ] || ranks=$(($(nproc) + 1))
		command=("mpiexec.$mpi" -n "${ranks:-2}")
	fi
	case $template in
	*.c)
		compile "${1:-}"
		command+=(./program data/f)
		;;
	*.py)
		weave "${1:-}" >program.py
		command+=("$python" program.py)
		;;
	esac
}

prepare() {
	rm -rf data && mkdir data
	! has_directive prepare || "${command[@]}" prepare >out 2>err || fail "$case: $(cat err)"
}

# record TRACE COMMAND...
record() {
	local trace=$1
	shift
	rm -f "$trace"
	timeout "$limit" "$sluice" run -o "$trace" -- "$@" >out 2>err || fail "$case: \"$*\" fails: $(tail -60 err)"
}

# fix_text KIND: the fix of the report, with what the user fills in
fix_text() {
	python3 - "$code" "$1" "$(directive replace)" <<'END_TEXT'
import json, sys
for f in json.load(open("report.json"))["findings"]:
    for x in f["fixes"]:
        if f["code"] == sys.argv[1] and x["kind"] == sys.argv[2]:
            text = x["text"]
            for rule in sys.argv[3].splitlines():
                text = text.replace(*rule.split("=", 1))
            print(text)
END_TEXT
}

# left_by_fix: the findings of the trace `fixed`, but those that may remain
left_by_fix() {
	codes fixed | tr ' ' '\n' | grep -vxF -e "" $(directive leaves | tr ' ' '\n' | sed 's/^/-e /') || true
}

# fix_by_code: the lines become a part of the program
fix_by_code() {
	make_program fix.inc
	prepare
	record fixed "${command[@]}"
}

# fix_by_command: the lines are commands
fix_by_command() {
	local fix
	fix=$(cat fix.inc)
	make_program
	prepare
	case $fix in
	*" run "*) PATH=$BUILD:$PATH timeout "$limit" bash -c "${fix/ run / run -o fixed }" >out 2>err </dev/null ;;
	mpiexec*) eval "record fixed ${fix/PROGRAM/./program data/f}" ;;
	*) timeout "$limit" bash -c "$fix
$(directive after)
exec \"\$@\"" - "$sluice" run -o fixed -- "${command[@]}" >out 2>err </dev/null ;;
	esac || fail "$case: $fix: exit code $?: $(tail -60 err)"
	! grep -q "not applied" err || fail "$case: $fix: $(cat err)"
}

# apply_fix KIND: executes the fix until no finding is left
apply_fix() {
	local attempts left
	attempts=$(directive attempts)
	for ((attempts = ${attempts:-1}; attempts > 0; attempts--)); do
		case $1 in
		sluice | shell) fix_by_command ;;
		*) fix_by_code ;;
		esac
		left=$(left_by_fix)
		[ -n "$left" ] || return 0
	done
	fail "$case: $left after the fix of kind $1, \"$(cat fix.inc)\": $("$sluice" report --findings fixed)"
}

# record_bad: executes the program until it has its findings
record_bad() {
	local attempts expected found
	attempts=$(directive attempts)
	expected=$(echo "$code" $(directive with) | tr ' ' '\n' | sort | xargs)
	for ((attempts = ${attempts:-1}; attempts > 0; attempts--)); do
		prepare
		record trace "${command[@]}"
		found=$(codes)
		[ "$found" != "$expected" ] || return 0
	done
	check_eq "$found" "$expected" "$case: findings"
}

# fix_case TEMPLATE [MPI]: executes the fix of the template's kind, and the commands that the finding offers
fix_case() {
	local template=$1 mpi=${2:-} name code kind kinds command=() variable
	name=$(basename "$template")
	code=${name%%.*} kind=${name#*.}
	kind=${kind%%.*}
	case="$name${mpi:+ with $mpi}"
	[ "$code" != oversubscribed ] || ignored=
	for variable in $(directive set); do
		export "${variable?}"
	done
	make_program
	record_bad
	cp report.json bad.json
	kinds="$kind $(directive also)"
	[[ $template != *.c || $kind == sluice ]] || has_directive only || [ -z "$(fix_text sluice)" ] || kinds+=" sluice"
	for kind in $kinds; do
		cp bad.json report.json
		fix_text "$kind" >fix.inc
		[ -s fix.inc ] || fail "$case: the finding offers no fix of kind $kind: $(cat bad.json)"
		apply_fix "$kind"
		echo "executed: $code $kind${mpi:+ ($mpi)}"
	done
}

# lacks_library: prints the package of a library that the template needs and that is not installed
lacks_library() {
	local library
	for library in $(directive libraries); do
		[[ $library != *netcdf ]] || pkg-config --exists "$library" || echo "lib$library-dev"
	done
}

# fix_cases TEMPLATE...: all of them, each in a process of its own, with each MPI that is installed
fix_cases() {
	local template mpi
	for template; do
		if has_directive disk && ! is_disk; then
			skip_case disk "$(basename "$template")"
			continue
		fi
		if has_directive if && ! "$python" -c "$(directive if)"; then
			echo "not executed: $(basename "$template"): this version of the library does not have the finding"
			continue
		fi
		if [ -n "$(lacks_library)" ]; then
			skip_case "$(lacks_library)" "$(basename "$template")"
			continue
		fi
		if ! has_directive mpi; then
			(fix_case "$template") || exit 1
			continue
		fi
		for mpi in $(directive mpi); do
			[ "$mpi" != python ] || mpi=$(mpi_of_python)
			[ -z "$mpi" ] || ! mpi_list | grep -qx "$mpi" || (fix_case "$template" "$mpi") || exit 1
		done
	done
}
