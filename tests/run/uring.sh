#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# io_uring through liburing: every operation is recorded below the call that submitted it, with its bytes and
# position, and every completion is linked to its operation. The results of the program are the same as without
# capture.
. "$(dirname "$0")/libtorture.sh"

[ -x "$prog/uring" ] || skip liburing-dev
bare "$prog/uring" idle
[ "$bare_rc" != 77 ] || skip io_uring

# operations N [EXPRESSION]: there are N such operations, each below a submission and with its file
operations() {
	check_rows "$1" "function != 'completed' and cause and of(cause)['function'].startswith('io_uring_submit') and ${2:-True}"
}

# completed N [EXPRESSION]: there are N such completions; each belongs to an operation, and no operation has two
completed() {
	check_rows "$1" "function == 'completed' and ${2:-True}"
	check_rows 0 "function == 'completed' and not of(relation).get('function', '').startswith('io_uring_')"
	check_rows 0 "function == 'completed' and not cause"
	check_eq "$("$python" "$work/twice.py" <rows.csv)" 0 "operations completed twice"
}
cat >"$work/twice.py" <<'PYTHON'
import collections, csv, sys
seen = collections.Counter(row["relation"] for row in csv.DictReader(sys.stdin) if row["function"] == "completed")
print(sum(n > 1 for n in seen.values()))
PYTHON

case_begin "data has the right bytes and positions"
both "$prog/uring" data
check_sound 1
operations 10 'file == "data"'
for i in 0 1 2 3; do
	check_rows 1 "function == 'io_uring_write' and size == 100$i and offset == ${i}0000 and of(relation)['function'] == 'open'"
done
check_rows 1 'function == "io_uring_writev" and size == 123 and offset == 50000'
check_rows 1 'function == "io_uring_write_fixed" and size == 77 and offset == 60000'
check_rows 1 'function == "io_uring_fsync" and flags == 1'
check_rows 2 'function == "io_uring_read" and size == 5000'
check_rows 1 'function == "io_uring_readv" and size == 123 and offset == 50000'
completed 10 'file == "data" and not error'
check_rows 9 'function == "completed" and result > 0 and result in (of(relation)["size"], 77)'
check_rows 1 'function == "io_uring_register_buffers" and size == 4096'
# The report counts the bytes that were moved once.
check_eq "$(json_get report.json '["storage"]["bytes_written"]')" $((4006 + 123 + 77)) "bytes written"
check_eq "$(json_get report.json '["storage"]["bytes_read"]')" $((5000 + 77 + 123)) "bytes read"

case_begin "print --tree shows submissions and completions"
"$sluice" print --tree "$work/trace" >tree 2>/dev/null
grep -A1 'POSIX *io_uring_submit_and_wait(' tree | grep -q '  io_uring_write(' || wrong "no operation beneath: $(cat tree)"
grep -q 'POSIX *  completed(POSIX/quantity/BytesTransferred=1003' tree || wrong "no completion: $(cat tree)"

case_begin "reads end in reverse order"
both "$prog/uring" reversed
operations 5
completed 5 'result == of(relation)["size"] and layer == "POSIX.Network"'
check_rows 5 'function == "__io_uring_get_cqe" and not error'
check_rows 5 'function == "completed" and of(cause)["function"] == "__io_uring_get_cqe"'

case_begin "one thread submits, another one takes the results"
both "$prog/uring" threads
operations 320 'file == "data"'
completed 320 'result == of(relation)["size"]'
for i in 1 160 320; do
	check_rows 1 "function == 'io_uring_write' and size == $i and offset == $((1000 * (i - 1)))"
done
check_rows 0 'function == "completed" and start_ns < of(relation)["start_ns"]'

case_begin "many operations have the same user data"
both "$prog/uring" alike
operations 200
completed 200 'result == 10'

case_begin "files are opened and closed through the ring"
both "$prog/uring" files
operations 11
completed 11
check_rows 1 'function == "completed" and result >= 0 and of(relation)["function"] == "io_uring_openat" and of(relation)["mode"] == 0o640'
check_rows 2 'function == "io_uring_openat" and file == "made"'
check_rows 1 'function == "completed" and error == 2 and of(relation)["file"] == "absent"'
check_rows 1 'function == "io_uring_fallocate" and file == "made" and size == 8192 and offset == 4096'
check_rows 1 'function == "io_uring_write" and size == 11 and file == "made"'
check_rows 1 'function == "io_uring_write" and size == 12 and file == "other"'
check_rows 2 'function == "io_uring_close" and file in ("made", "other")'
check_rows 1 'function == "read" and file == "made"'
check_rows 1 'function == "io_uring_statx" and file == "other"'
check_rows 1 'function == "io_uring_renameat" and file == "other" and file2 == "moved"'
check_rows 1 'function == "io_uring_unlinkat" and file == "moved"'

case_begin "registered files"
both "$prog/uring" registered
check_rows 1 'function == "io_uring_write" and size == 20 and file == "zero"'
check_rows 1 'function == "io_uring_write" and size == 21 and file == "one"'
check_rows 1 'function == "io_uring_write" and size == 22 and file == "two"'
check_rows 1 'function == "io_uring_write" and size == 23 and file == "direct"'
completed 6
check_rows 1 'function == "write" and file == "two" and size == 3'

case_begin "sockets"
both "$prog/uring" sockets
check_rows 2 'function in ("io_uring_send", "io_uring_recv") and layer == "POSIX.Network"'
completed 2 'result == 300 and layer == "POSIX.Network"'

case_begin "a ring is shared with a child"
both "$prog/uring" forked
operations 2
check_rows 1 'function == "io_uring_write" and p == 1 and size == 44'
check_rows 1 'function == "completed" and p == 1 and result == 44 and of(relation)["size"] == 44'
check_rows 1 'function == "completed" and p == 0 and result == 3 and of(relation)["size"] == 33'
completed 2

case_begin "a ring ends with pending operations"
both "$prog/uring" unfinished
operations 3
completed 0
check_rows 4 'function == "io_uring_queue_exit"'

case_begin "some operations fail or are unreadable for the kernel"
both "$prog/uring" wrong
operations 6
completed 6 'error == -result and result < 0'
check_rows 1 'function == "completed" and error == 9 and of(relation)["size"] == 10'

case_begin "the program polls without results"
both "$prog/uring" idle
check_rows 0 'function not in ("inherited", "io_uring_queue_init", "io_uring_queue_init_params", "io_uring_queue_mmap",
	"io_uring_queue_exit")'

case_begin "results are taken without a call"
both "$prog/uring" peeked
operations 50
completed 50 'result == of(relation)["size"]'

case_begin "copied rings, large entries, and a kernel that polls"
both "$prog/uring" setups
operations 30 'file == "data"'
completed 30 'result == of(relation)["size"] and result in range(100, 310)'

case_begin "results are overwritten before they are read"
both "$prog/uring" unseen
operations 2
completed 1 'result == 44 and of(relation)["size"] == 44'

case_begin "counters mode"
run_options="--mode counters" captured "$prog/uring" data
check_eq "$captured_rc" 0 "exit code"
