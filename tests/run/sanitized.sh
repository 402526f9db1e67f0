#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that are built with sanitizers behave as without Sluice: those without errors run to their end, and the
# sanitizer finds the same errors in the others.
. "$(dirname "$0")/libtorture.sh"

# Times, process numbers and addresses differ between runs. Tables of nearby bytes and lists of modules depend on the
# layout of the memory.
findings() {
	grep -E '^SUMMARY|runtime error|ERROR: |WARNING: |does not come first|incompatible' "$1" |
		sed -e 's/==[0-9]*==//; s/0x[0-9a-f]*/ADDRESS/g; s/pid=[0-9]*/PID/g; s/T[0-9]*/THREAD/g; s/BuildId.*//'
}

# finds CASE...: the sanitizer reports the same without and with capture
finds() {
	bare "$@"
	captured "$@"
	same_code
	same_out
	findings bare.err >bare.findings
	findings captured.err >captured.findings
	diff bare.findings captured.findings >diff || wrong "the findings differ: $(cat diff)"
	[ -s captured.findings ] || wrong "the sanitizer found nothing: $(cat captured.err)"
}

# build NAME COMPILER OPTION...: compiles the program; false if the compiler lacks the sanitizer
build() {
	local name=$1
	shift
	command -v "$1" >build.log || return 1
	"$@" -g -O1 -w -I "$SOURCE/tests/prog" -o "$name" "$SOURCE/tests/prog/sanitized.c" -pthread 2>build.log
}

# checks NAME CASE...: runs the program without an error, as the child of a shell, and with each error
checks() {
	local name=$work/$1 error
	shift
	case_begin "$name without errors"
	both "$name" fine
	check_eq "$bare_rc" 3 "exit code"
	check_eq "$(lost)" 0 "lost"
	check_rows 1 'function == "write" and file == "data" and size == 4'
	case_begin "$name, started by a shell"
	both sh -c '"$0" fine; echo $?' "$name"
	for error; do
		case_begin "$name: $error"
		finds "$name" "$error"
	done
}

for compiler in gcc clang; do
	for kind in address thread undefined; do
		name=$compiler-$kind
		if ! build "$name" $compiler -fsanitize=$kind; then
			[ $compiler = gcc ] && skip_case gcc "-fsanitize=$kind" || skip_case libclang-rt-dev "-fsanitize=$kind"
			continue
		fi
		case $kind in
		address) checks "$name" overflow buffer ;;
		thread) checks "$name" race ;;
		undefined) checks "$name" undefined ;;
		esac
	done
done

# The runtime inside the program, or as a library in all cases.
if build gcc-static gcc -fsanitize=address -static-libasan; then
	checks gcc-static overflow
else
	skip_case gcc -static-libasan
fi
runtime=$(clang -print-file-name=libclang_rt.asan-"$(uname -m)".so 2>/dev/null || true)
if [ -e "$runtime" ] && build clang-shared clang -fsanitize=address -shared-libasan "-Wl,-rpath,$(dirname "$runtime")"; then
	checks clang-shared overflow
else
	skip_case libclang-rt-dev -shared-libasan
fi

# The user preloads the runtime himself.
runtime=$(gcc -print-file-name=libasan.so 2>/dev/null || true)
runtime=$(readlink -f "$runtime" 2>/dev/null || true)
if [ -e "$runtime" ]; then
	case_begin "preloaded libasan"
	export LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0
	both "$prog/plain"
	unset LD_PRELOAD ASAN_OPTIONS
	check_rows 1 'function == "write" and file == "plain.file"'
else
	skip_case gcc libasan
fi
