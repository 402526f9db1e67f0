#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Torture: I/O of threads when they start, while they run and when they end.
. "$(dirname "$0")/libtorture.sh"

case_begin "I/O in destructors of keys and of thread-local objects"
both "$prog/threads" destructors
check_sound
bytes=$(stat -c %s "$work/captured/shared")
check_rows "$bytes" 'function == "write" and file == "shared" and size == 1'

# The program crashes under qemu-user 7.2 even without Sluice.
if case_on_hardware "threads are canceled in read()"; then
	both "$prog/threads" cancelled
	# Canceled calls never ended, so their numbers are missing.
	check_sound 10
	check_rows 10 'function == "write" and size == 7'
	check_rows 10 'function == "write" and size == 8'
	check_rows 10 'function == "write" and size == 5 and t == 0'
fi

case_begin "fifty detached threads"
both "$prog/threads" detached
check_sound
check_rows 50 'function == "write" and of(relation)["function"] == "open" and of(relation)["t"] == t'

# The program is never far ahead of the collector, however slow that is: what it needs in addition was not freed.
case_begin "10,000 threads in sequence: all are recorded, in bounded space"
rm -rf "$work/captured"
mkdir "$work/captured"
(cd "$work/captured" && exec timeout "$limit" "$sluice" run -o "$work/trace" -- "$prog/threads" many 10000) >"$work/out" &
pid=$!
peak=0
while kill -0 $pid 2>/dev/null; do
	now=$(du -sk "$spools" 2>/dev/null | cut -f1)
	[ "${now:-0}" -le "$peak" ] || peak=$now
	sleep 0.02
done
wait $pid || wrong "exit code $?"
trace_read
check_eq "$(cat "$work/out")" "10000 bytes" "output"
check_sound
check_rows 10000 'function == "pwrite" and file == "shared" and size == 1'
[ "$peak" -le 40000 ] || wrong "the spool grew to $peak KiB"
spools_gone

case_begin "sixteen simultaneous threads: every record exists and is complete"
both "$prog/threads" sixteen 5000
check_sound
check_rows 80000 'function == "pwrite" and file == "shared"'
python3 - "$work/rows.csv" <<'PYTHON' || wrong "sizes and offsets do not fit the pattern"
import csv, sys
threads = {}
for row in csv.DictReader(open(sys.argv[1])):
    if row["function"] == "pwrite":
        threads.setdefault(row["thread"], []).append(row)
assert len(threads) == 16, len(threads)
seen = set()
for rows in threads.values():
    t = int(rows[0]["offset"]) // 64
    seen.add(t)
    assert len(rows) == 5000, len(rows)
    for i, row in enumerate(rows):
        assert int(row["offset"]) == t * 64 and int(row["size"]) == int(row["result"]) == 1 + (i + t) % 61, row
assert len(seen) == 16
PYTHON

case_begin "the first thread ends, the others continue"
both "$prog/threads" main_leaves
check_sound
check_rows 60 'function == "write" and file == "shared" and size == 1'
check_rows 1 'function == "write" and file == "shared" and size == 3'

case_begin "a thread calls exit()"
both "$prog/threads" exit_in_thread
check_sound
check_rows 1 'function == "write" and file == "shared" and size == 5'

case_begin "the smallest stack that a thread may have"
both "$prog/threads" tiny_stack
check_sound
check_rows 2 'function == "write" and file == "shared"'
check_rows 1 'function == "fprintf" and file == "stream"'
