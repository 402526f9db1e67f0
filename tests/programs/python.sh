#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# CPython's own tests of files, processes, threads and signals: the same tests run, and the same fail, without and with
# capture. Some of them depend on the load of the machine, so a difference counts if it is there three times.
. "$(dirname "$0")/libprograms.sh"
python=/usr/bin/python3
"$python" -c 'import test.test_io, test.test_multiprocessing_fork, test.libregrtest' 2>/dev/null ||
	skip 'libpython3.*-testsuite'

# In virtual machines, tests of VSOCK may wait for the host for ever.
options=(-u "all,-largefile,-network,-urlfetch,-gui" -i "*VSOCK*")

# results FILE...: how many tests ran, how many were skipped, and which failed
results() {
	cat "$@" | sed -nE 's/^(Ran [0-9]+ tests?) in .*/\1/p; /^(FAIL|ERROR|UNEXPECTED SUCCESS): /p; /^(OK|FAILED)( \(.*\))?$/p' | sort
}

# compare_tests NAME: 0 if the results of the test are the same
compare_tests() {
	bare "$python" -m test -v "${options[@]}" "$1"
	captured "$python" -m test -v "${options[@]}" "$1"
	results bare.out bare.err >bare.results
	results captured.out captured.err >captured.results
	grep -q '^Ran ' bare.results || wrong "no test ran: $(tail -5 bare.out bare.err)"
	diff bare.results captured.results >diff && [ "$bare_rc" = "$captured_rc" ]
}

for name in test_io test_file test_fileio test_os test_posix test_subprocess test_mmap test_shutil test_tempfile \
	test_pathlib test_glob test_signal test_threading test_thread test_select test_selectors test_socket test_pty \
	test_eintr test_fcntl test_tarfile test_zipfile test_gzip test_lzma test_bz2 \
	test_dbm test_fork1 test_wait3 test_wait4 test_popen test_faulthandler test_atexit \
	test_concurrent_futures test_asyncio test_multiprocessing_fork test_multiprocessing_spawn \
	test_multiprocessing_forkserver test_shelve test_logging; do
	case_begin "$name"
	for attempt in 1 2 3; do
		compare_tests "$name" && break
		[ "$attempt" -lt 3 ] || wrong "results differ, exit codes $bare_rc and $captured_rc: $(head -20 diff)"
		echo "$case: results differ, again: $(head -5 diff)"
	done
	check_recorded
done
