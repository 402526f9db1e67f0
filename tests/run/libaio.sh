#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Asynchronous I/O through libaio: every request is recorded below the call that submitted it, with its bytes and
# position, and every event is linked to its request. The results of the program are the same as without capture.
# Papers: SIOX-10.
. "$(dirname "$0")/libtorture.sh"

[ -x "$prog/libaio" ] || skip libaio-dev
bare "$prog/libaio" idle
[ "$bare_rc" != 77 ] || skip aio

# requests N [EXPRESSION]: there are N such requests, each below a submission
requests() {
	check_rows "$1" "function.startswith('libaio_') and cause and of(cause)['function'] == 'io_submit' and ${2:-True}"
	check_rows 0 "function.startswith('libaio_') and of(cause).get('function') != 'io_submit'"
}

# ended N [EXPRESSION]: there are N such completions; each belongs to a request, and no request has two
ended() {
	check_rows "$1" "function == 'completed' and ${2:-True}"
	check_rows 0 "function == 'completed' and not of(relation).get('function', '').startswith('libaio_')"
	check_rows 0 "function == 'completed' and not cause"
	check_eq "$("$python" -c 'import collections, csv, sys
seen = collections.Counter(row["relation"] for row in csv.DictReader(sys.stdin) if row["function"] == "completed")
print(sum(n > 1 for n in seen.values()))' <rows.csv)" 0 "requests that ended twice"
}

case_begin "data has the right bytes and positions"
both "$prog/libaio" data
check_sound
requests 10 'file == "data"'
for i in 0 1 2 3; do
	check_rows 1 "function == 'libaio_pwrite' and size == 100$i and offset == ${i}0000 and of(relation)['function'] == 'open'"
done
check_rows 1 'function == "libaio_pwritev" and size == 123 and offset == 50000'
check_rows 2 'function in ("libaio_fsync", "libaio_fdsync")'
check_rows 2 'function == "libaio_pread" and size == 5000'
check_rows 1 'function == "libaio_preadv" and size == 123 and offset == 50000'
ended 10 'file == "data" and not error and of(cause)["function"] == "io_getevents"'
check_rows 10 'function == "completed" and result in (of(relation)["size"], 23, 0)'
# The report counts the bytes that were moved once.
check_eq "$(json_get report.json '["storage"]["bytes_written"]')" $((4006 + 123)) "bytes written"
check_eq "$(json_get report.json '["storage"]["bytes_read"]')" $((5000 + 23 + 123)) "bytes read"

case_begin "one thread submits, another one takes the events"
both "$prog/libaio" threads
check_sound
requests 400
ended 400 'result == of(relation)["size"] and t != of(relation)["t"]'
for i in 1 200 400; do
	check_rows 1 "function == 'libaio_pwrite' and size == $i and offset == $((1000 * (i - 1)))"
done

case_begin "the kernel takes a part of the requests"
both "$prog/libaio" full
check_sound
ended 3000 'not error and result == 1'
check_least 1 'function == "completed" and error == 11 and of(cause)["function"] == "io_submit"'
check_eq "$(rows 'function == "completed" and error')" "$(($(rows 'function == "libaio_pwrite"') - 3000))" "requests that were not taken"
check_eq "$(json_get report.json '["storage"]["bytes_written"]')" 3000 "bytes written"

case_begin "requests that fail, and addresses that the kernel cannot read"
both "$prog/libaio" wrong
check_sound
requests 6
ended 6
check_rows 1 'function == "completed" and error == 9 and of(relation)["size"] == 10'
check_rows 1 'function == "completed" and error == 9 and of(relation)["size"] == 11'
check_rows 1 'function == "completed" and error == 14 and of(relation)["size"] == 12'
check_rows 1 'function == "completed" and error == 14 and of(relation)["function"] == "libaio_pwritev"'
check_rows 1 'function == "completed" and result == 13 and of(relation)["size"] == 13'
check_rows 1 'function == "completed" and error == 22 and of(relation)["size"] == 13'
check_least 6 'function == "io_submit" and error'

case_begin "the program polls without results"
both "$prog/libaio" idle
check_sound
requests 0
check_rows 1 'function == "io_getevents"'

case_begin "callbacks"
both "$prog/libaio" callbacks
check_sound
requests 3
ended 3 'result == of(relation)["size"]'

case_begin "counters mode"
run_options="--mode counters" captured "$prog/libaio" data
check_eq "$captured_rc" 0 "exit code"
