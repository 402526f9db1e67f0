#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs with tuned parameters are compared with runs without them, and an entry that loses is demoted. The costs of earlier
# runs are written into the store, so that the results do not depend on measured times.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"
command -v readelf >/dev/null || skip binutils
export SLUICE_TUNE_PLATFORM=testbed SLUICE_STORE_PATH=$work/store.db
program=$(mpi_program mpich levels)
[ -n "$program" ] || skip libmpich-dev
run=("$program" -l collective-noncontiguous -b 1K -n 32 -d write -f "$work/data")

# sql STATEMENT [VALUE]...: runs an SQL statement on the store and prints its rows
sql() {
	python3 - "$SLUICE_STORE_PATH" "$@" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for row in db.execute(sys.argv[2], sys.argv[3:]):
	print(*row)
db.commit()
END
}

# runs COST...: replaces the runs of the entry by those of these costs: d5 without parameters, a5 with them
runs() {
	local run
	sql "DELETE FROM entry_run"
	for run; do
		sql "INSERT INTO entry_run (entry, applied, cost, bytes, time) VALUES (1, ? = 'a', ?, $bytes, 1)" "${run:0:1}" "${run:1}"
	done
}

# tuned RC [OPTION]...: runs the program with tuned parameters
tuned() {
	check_rc "$1" "$sluice" run --tune=apply -o trace "${@:2}" -- "${run[@]}"
}

# said WORD...: one line has all of the words
said() {
	check_line err "$@"
}

# last ORDER: the last run: 1 with parameters, 0 without
last() {
	check_eq "$(sql "SELECT applied FROM entry_run ORDER BY id DESC LIMIT 1")" "$1" "$this: the last run"
}

build=$(readelf -n "$program" | sed -n 's/.*Build ID: //p')
arguments="-l collective-noncontiguous -b 1K -n 32 -d write -f $work/data"
cat >entry.json <<END
{"schema": "sluice.kb/1", "entries": [{"program": "levels", "fingerprint": "build:$build", "arguments": "$arguments",
 "platform": "testbed", "filesystem": "$(filesystem_here)", "ranks": 1, "size_class": 0, "objective": "io", "before": 2, "after": 1,
 "gain": 2, "gain_low": 1.5, "gain_high": 3, "found_ns": 1700000000000000000,
 "parameters": [{"name": "cb_buffer_size", "value": "65536"}]}]}
END
check_rc 0 "$sluice" kb import entry.json

case_is "an entry for another size of the data is not applied any more, once the size is known"
tuned 0
said "applied entry 1" cb_buffer_size=65536
said "entry 1" "amount of data" "not be applied"
tuned 0
said "no parameters" "found cb_buffer_size=65536" "different run" "size of the data"
bytes=$(sql "SELECT bytes FROM entry_run ORDER BY id DESC LIMIT 1")
sql "UPDATE knowledge SET size = ?" "$(python3 -c 'import math, sys; print(int(math.log(float(sys.argv[1]), 4) + 1e-9))' "$bytes")"

case_is "a run that is faster than the default needs no control"
runs d1e9 d2e9 d1e9 d1e9
for _ in 1 2; do
	tuned 0
	said "applied entry 1" cb_buffer_size=65536
	said I/O "entry 1" "4 runs without"
	last 1
done
check_rc 0 "$sluice" kb show 1
check_words "$(cat out)" "4 without parameters" "2 with parameters" "kb export 1"

case_is "a run without parameters is added to the baseline"
check_rc 0 "$sluice" run -o trace -- "${run[@]}"
said "found cb_buffer_size=65536" "run with --tune=apply"
last 0
check_rc 0 "$sluice" run --tune=off -o trace -- "${run[@]}"
"$sluice" kb export 1 --format json >params.json
check_rc 0 "$sluice" run --params params.json -o trace -- "${run[@]}"
check_eq "$(sql "SELECT count(*) FROM entry_run")" 7 "$this: number of runs"

case_is "after a loss, the next run is a control"
runs d1e-9 d2e-9 d1e-9 d1e-9
tuned 0
said "applied entry 1"
said "slower than all" control
last 1
tuned 0
said "control run" "without parameters" "entry 1"
last 0
"$sluice" report --json trace >report
check_eq "$(json_get report '["applied"]')" "[]" "$this"

case_is "a control that is as slow excuses losses"
runs d1e-9 d1e-9 d1e-9 d1e-9 a1e-7 d1e-9 a1e-7
tuned 0
said "control run"
check_eq "$(sql "SELECT demoted FROM knowledge")" 0 "$this: demoted"
tuned 0
said "applied entry 1"

case_is "an entry that loses twice is demoted"
runs d1e-9 d1e-9 d1e-9 d1e-9 a1e6 d1e-9 a1e6
tuned 0
said "control run"
said "entry 1" demoted "2 of the last 2 runs" "kb pin 1"
tuned 0
said "no parameters" "entry 1" demoted "2 of the last 2 runs"
last 0
check_rc 0 "$sluice" run -o trace -- "${run[@]}"
[ ! -s err ] || wrong "a demoted entry is suggested: $(cat err)"
check_rc 0 "$sluice" kb list
check_words "$(cat out)" "1 demoted" "2 of the last 2 runs" "$(date +%Y)"
check_rc 0 "$sluice" kb show 1
check_words "$(cat out)" demoted "2 of the last 2 runs" "kb pin 1"
check_rc 0 "$sluice" kb export
cp out demoted.json
check_rc 0 env SLUICE_STORE_PATH="$work/other.db" "$sluice" kb import demoted.json
check_rc 0 env SLUICE_STORE_PATH="$work/other.db" "$sluice" kb list
check_words "$(cat out)" "1 demoted" "2 of the last 2 runs"

case_is "a pin enables the entry, and a pinned entry is always applied"
check_rc 0 "$sluice" kb pin 1
tuned 0
said "applied entry 1"
runs d1e-9 d1e-9 d1e-9 d1e-9 a1e6 d1e-9 a1e6 d1e-9
tuned 0
said "applied entry 1"
said "entry 1" "still applied" pinned
check_rc 0 "$sluice" kb unpin 1

case_is "a run that fails is a loss if runs without parameters do not fail"
runs d1e9 d1e9 d1e9 d1e9
failing=("$program" -l no-such-level)
sql "UPDATE knowledge SET arguments = '-l no-such-level'"
code=0
"${failing[@]}" >/dev/null 2>&1 || code=$?
check_rc "$code" "$sluice" run --tune=apply -o trace -- "${failing[@]}"
said "applied entry 1"
said failed "entry 1" control
last 1
check_rc "$code" "$sluice" run --tune=apply -o trace -- "${failing[@]}"
said "control run" failed
said "not compared" # the control failed, too
last 1
sql "UPDATE knowledge SET arguments = ?" "$arguments"

case_is "parameters without effect are reported, and the run is not compared"
runs d1e9 d1e9 d1e9 d1e9
sql "UPDATE knowledge SET parameters = ?" '{"schema": "sluice.params/1", "parameters": [{"name": "cb_buffer_size", "value": "65536", "file": "elsewhere"}]}'
tuned 0
said "applied entry 1"
said cb_buffer_size=65536 "not applied" "no file matches"
said "not compared" "no parameter" effect
last 0
tuned 0 --quiet
[ ! -s err ] || wrong "something is said: $(cat err)"
