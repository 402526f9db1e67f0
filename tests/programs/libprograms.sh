# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Helpers of the tests in tests/programs: real software of the distribution runs without and with capture, and behaves
# the same. These tests take minutes; `make check-programs` runs them. Sources libtorture.sh.
. "$(dirname "${BASH_SOURCE[0]}")/../run/libtorture.sh"
limit=${TEST_LIMIT:-3000}

# A server that hangs must not outlive the test.
kill_left() {
	local process
	for process in /proc/[0-9]*; do
		case $(readlink "$process/cwd") in
		"$work"/*) kill -9 "${process#/proc/}" ;;
		esac
	done 2>/dev/null
}
at_exit kill_left

# need PACKAGE PROGRAM...: ends the test unless all programs of the package are installed
need() {
	local package=$1 program
	shift
	for program; do
		command -v "$program" >/dev/null || skip "$package" "$program"
	done
}

# The traces have millions of rows, so only their report is read.
trace_read() {
	"$sluice" report --json "$work/trace" >"$work/report.json" 2>"$work/report.err" ||
		wrong "sluice report fails: $(cat "$work/report.err")"
}

# normalize: filters what differs from run to run out of the output; a test may replace it
normalize() {
	cat
}

normalize_output() {
	local file
	for file in bare.out bare.err captured.out captured.err; do
		normalize <"$work/$file" >"$work/$file.normal"
		mv "$work/$file.normal" "$work/$file"
	done
}

# compare_runs NAME COMMAND...: runs the command without and with capture. Exit code, output and files are the same, and
# the run was recorded. The command must succeed.
compare_runs() {
	case_begin "$1"
	shift
	bare "$@"
	[ "$bare_rc" = 0 ] || wrong "fails even without capture ($bare_rc): $(tail -20 "$work/bare.err")"
	captured "$@"
	normalize_output
	same_code
	same_out
	same_err
	same_files
	tree_list "$work/bare" >"$work/bare.tree"
	tree_list "$work/captured" >"$work/captured.tree"
	diff "$work/bare.tree" "$work/captured.tree" >"$work/diff" || wrong "trees differ: $(head -20 "$work/diff")"
	check_recorded
}

# check_recorded: prints how much was recorded; nothing at all is an error
check_recorded() {
	local calls
	calls=$(json_get "$work/report.json" '["run"]["activities"]')
	[ "$calls" -gt 0 ] || wrong "nothing was recorded"
	echo "$case: the same; $calls calls recorded, $(lost) lost"
}

# compare_script NAME SCRIPT: the same for a shell script
compare_script() {
	printf '%s\n' "$2" >"$work/script.sh"
	compare_runs "$1" sh -eu "$work/script.sh"
}
