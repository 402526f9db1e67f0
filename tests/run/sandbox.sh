#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that give up system calls by seccomp behave as without Sluice: same output, errno and exit code. In a sandbox
# the guest makes no system call of its own, and goes on with the memory it has.
. "$(dirname "$0")/libtorture.sh"

# Losses are warned about; they depend on the speed of the collector.
run_options=--quiet
sandbox=$prog/sandbox
grep -q '^Seccomp:' /proc/self/status || skip seccomp

case_begin "strict mode"
both "$sandbox" strict
check_eq "$bare_rc" 3 "exit code"

for function in prctl syscall; do
	case_begin "a filter that returns errors, installed by $function()"
	both "$sandbox" filter error $function
	check_eq "$bare_rc" 4 "exit code"
	check_has "$(cat captured.out)" "changed 0 times" "output"
	# Some calls may be lost if the collector is slow, but no call disappears.
	n=$(($(rows 'function == "write" and file == "/dev/null"') + $(lost)))
	[ "$n" -ge 20000 ] || wrong "only $n of 20000 writes are recorded or lost"

	case_begin "a filter that kills, installed by $function()"
	both "$sandbox" filter kill $function
	check_eq "$bare_rc" 159 "exit code" # the program's own forbidden call
	check_has "$(cat captured.out)" "changed 0 times" "output"
done

case_begin "a filter for all threads at once"
both "$sandbox" threads
check_eq "$bare_rc" 5 "exit code"
check_has "$(cat captured.out)" "changed 0 times" "output"

case_begin "a child that inherits a filter"
both "$sandbox" forks
check_eq "$bare_rc" 7 "exit code"
check_has "$(cat captured.out)" "child 6" "output"

for action in kill error; do
	case_begin "a program that is executed in a sandbox ($action)"
	both "$sandbox" denies $action "$sandbox" failed
	check_eq "$bare_rc" 0 "exit code"
done

case_begin "a program that gives up the clock"
both "$sandbox" clock_lost
check_eq "$bare_rc" 8 "exit code"

case_begin "a filter that the kernel rejects"
both "$sandbox" failed
check_eq "$bare_rc" 0 "exit code"
check_sound
check_rows 20000 'function == "write" and file == "/dev/null"'

# A sandbox that also contains sluice, as in a container, does not keep the program from being recorded.
case_begin "a run inside a sandbox"
observed "$sandbox" denies allow "$sluice" run -o "$work/trace" -- "$prog/plain"
check_eq "$captured_rc" 23 "exit code"
check_rows 1 'function == "write" and file == "plain.file"'
