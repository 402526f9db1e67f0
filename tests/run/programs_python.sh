#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Real programs: the fast part of the test suite of Python for files, io, os and subprocess. The same tests run and fail
# without and with capture. programs/python.sh runs all of it.
. "$(dirname "$0")/libtorture.sh"
python=/usr/bin/python3
[ -x "$python" ] || skip python3
"$python" -c 'import test.test_io, test.test_subprocess, test.libregrtest' 2>/dev/null || skip 'libpython3.*-testsuite'

slow="-i test_daemon_threads* -i test_interrupted_* -i test_*_reentrant* -i test_large_file_ops -i test_threads_* -i *ThreadSafety* -i test_threading -i *interrupt* -i *timeout* -i test_wait* -i *Timeout*"

# results FILE: how many tests ran, how many were skipped, and which failed
results() {
	sed -nE 's/^(Ran [0-9]+ tests?) in .*/\1/p; /^(FAIL|ERROR|UNEXPECTED SUCCESS): /p; /^(OK|FAILED)( \(.*\))?$/p' "$1" | sort
}

# compared NAME: runs the tests without and with capture; do they have the same results?
compared() {
	set -f
	bare "$python" -m test -v $slow "$1"
	captured "$python" -m test -v $slow "$1"
	set +f
	cat bare.out bare.err >bare.all
	cat captured.out captured.err >captured.all
	results bare.all >bare.results
	results captured.all >captured.results
	diff bare.results captured.results >diff
}

for name in test_file test_io test_os test_subprocess; do
	case_begin "$name"
	# Some of the tests have time limits of their own, which a loaded machine exceeds now and then.
	compared $name || compared $name || compared $name || wrong "results differ: $(head -20 diff)"
	same_code
	[ "$(sed -n 's/^Ran \([0-9]*\).*/\1/p' captured.results)" -ge 30 ] || wrong "hardly any test ran: $(tail -5 captured.all)"
	check_eq "$(lost)" 0 "lost"
	check_eq "$(($(wc -l <rows.csv) - 1))" "$(json_get report.json '["run"]["activities"]')" "rows that print shows"
done
