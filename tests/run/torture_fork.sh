#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Torture: every way to create a process. Results are the same as without capture, the calls of the child are
# recorded, and inherited descriptors are known.
. "$(dirname "$0")/libtorture.sh"

case_begin "fork: parent and child write to one open file"
both "$prog/forks" plain
check_sound
check_rows 2 'function == "write" and file == "log" and p == 0'
check_rows 3 'function == "write" and file == "log" and p == 1'
check_rows 5 'function == "write" and of(relation)["function"] == "open" and of(relation)["p"] == 0'
check_rows 5 'file == "log" and function == "write" and offset in (0, 3, 6, 9, 12)'
check_rows 1 'function == "write" and file == "own" and p == 1 and of(relation)["p"] == 1'

case_begin "fork in a thread while others write"
both "$prog/forks" in_thread
check_sound
check_rows 2000 'function == "pwrite" and p > 0 and file == "busy"'
check_rows 0 'function == "pwrite" and file != "busy"'
check_eq "$(json_get report.json '["run"]["processes"]')" 21 "processes"

case_begin "four generations of forks"
both "$prog/forks" generations
check_sound
for depth in 0 1 2 3; do
	check_rows 1 "function == 'open' and file == 'gen$depth' and p == $depth"
	# Each process and all its descendants write once; each process and its ancestors write once more.
	check_rows $((4 - depth + 3 - depth)) "function == 'write' and file == 'gen$depth'"
	check_rows $((4 - depth + 3 - depth)) "function == 'write' and of(relation).get('file') == 'gen$depth' and of(relation)['p'] == $depth"
done

# Only the kernel notices it; qemu-user 7.2 ignores MADV_WIPEONFORK.
if case_on_hardware "clone without libc"; then
	both "$prog/forks" raw
	check_sound
	check_rows 2 'function == "write" and file == "log" and p == 1'
	check_rows 2 'function == "write" and file == "log" and p == 0'
fi

case_begin "a child returns from a call that its parent started"
both "$prog/forks" inside_call
check_sound 1
check_rows 6 'function == "write" and file == "visited" and p == 0'
check_rows 5 'function == "write" and file == "visited" and p == 1'
check_rows 1 'function == "nftw" and p == 0 and result == 6'
check_rows 0 'cause and of(cause).get("function") != "nftw"'

case_begin "a child makes calls inside of such a call"
both "$prog/forks" inside_call 9
check_sound 1
check_rows 14 'function == "write" and file == "visited" and p == 1'
check_rows 1 'function == "nftw" and p == 0 and result == 6'
check_rows 0 'cause and of(cause) and of(cause)["function"] != "nftw"'

case_begin "forkpty"
if [ -c /dev/ptmx ] && [ -d /dev/pts ]; then
	both "$prog/forks" pty
	check_sound
	check_rows 2 'function == "write" and file == "out"'
else
	skip_case terminals "$case"
fi

case_begin "only the child still has a descriptor, after many others were opened"
both "$prog/forks" old_descriptor 30000
check_rows 1 'function == "write" and file == "log" and p == 1'

case_begin "300 children, one after the other"
both "$prog/forks" many 300
check_sound
check_rows 300 'function == "write" and file == "log" and p > 0'

case_begin "a child outlives the command: --wait records all its calls"
run_options=--wait captured "$prog/forks" outlive 300
check_eq "$captured_rc" 0 "exit code"
check_sound
check_rows 31 'function == "write" and file == "log"'

# Its parent creates it without libc, too.
if case_on_hardware "a child outlives the command and joins late: --wait waits for it"; then
	run_options=--wait captured "$prog/forks" outlive_late 300
	check_eq "$captured_rc" 0 "exit code"
	check_sound
	check_rows 1 'function == "write" and file == "log" and p == 1'
fi

case_begin "a child outlives the command and the collector"
bare "$prog/forks" outlive 600
captured "$prog/forks" outlive 600
same_code
for try in $(seq $polls); do
	grep -q end "$work/captured/log" && break
	sleep 0.1
done
cmp "$work/bare/log" "$work/captured/log" || wrong "the child did not finish its work"
