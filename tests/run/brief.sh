#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice run` prints a short report to stderr, on request or on a terminal, and keeps it short.
# Papers: SIOX-53.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"

# check_brief FILE: the file is a short report and holds no other messages of Sluice
check_brief() {
	local lines
	lines=$(wc -l <"$1")
	[ "$lines" -le 12 ] || fail "$lines lines: $(cat "$1")"
	# The last line is a command and must not be truncated.
	check_eq "$(head -n -1 "$1" | awk 'length > 100' | wc -l)" 0 "lines of more than 100 columns"
	check_has "$(head -n 1 "$1")" "sluice: "
	check_has "$(tail -n 1 "$1")" "  more       sluice report "
}

head -c 3000000 /dev/urandom >input

# Without the option and without a terminal, only the path of the trace is printed.
export SLUICE_RUN_SUMMARY=auto
check_rc 0 "$sluice" run -o t.sluice -- cp input copy
check_eq "$(cat err)" "sluice: trace t.sluice" "stderr of a run that is not watched"
SLUICE_RUN_SUMMARY=no check_rc 0 "$sluice" run -o t.sluice -- cp input copy
check_eq "$(cat err)" "" "stderr of a run without a summary"
check_rc 0 "$sluice" run -q -o t.sluice -- cp input copy
check_eq "$(cat err)" "" "stderr of a quiet run"
check_rc 0 "$sluice" run --summary --quiet -o t.sluice -- cp input copy
check_eq "$(cat err)" "" "stderr of a quiet run"

check_rc 0 "$sluice" run --summary -o t.sluice -- cp input copy
check_eq "$(cat out)" "" "stdout"
check_brief err
check_words "$(head -n 1 err)" "read 2.86 MiB" "wrote 2.86 MiB"
check_words "$(grep "^  POSIX " err)" "read 2.86 MiB" "wrote 2.86 MiB"
check_words "$(grep "^  overhead " err)" collector
check_eq "$(tail -n 1 err)" "  more       sluice report t.sluice" "the last line"

# The command on the last line works.
eval "$(tail -n 1 err | sed "s|  more       sluice|$sluice|")" >full
check_has "$(cat full)" "By function"

# On a terminal the report is printed by default, and the exit code is that of the program.
rc=0
TERM=dumb script -qec "'$sluice' run -o t.sluice -- sh -c 'exit 3'" /dev/null </dev/null >tty || rc=$?
check_eq "$rc" 3 "exit code"
check_has "$(cat tty)" "  more       sluice report t.sluice"

# Bytes of a copy are read from one file and written to another.
python3 - >copies.py <<'PYTHON'
print("""import os
a, b = os.open("input", os.O_RDONLY), os.open("sent", os.O_WRONLY | os.O_CREAT)
assert os.sendfile(b, a, 0, 2500000) == 2500000""")
PYTHON
check_rc 0 "$sluice" run --summary -o t.sluice -- python3 copies.py
check_brief err
check_rc 0 "$sluice" report --json --top 1000 t.sluice
check_eq "$(python3 - <<'PYTHON'
import json
rows = {r["file"].rsplit("/")[-1]: r for r in json.load(open("out"))["files"]}
print(rows["sent"]["bytes_written"], rows["sent"]["bytes_read"], rows["input"]["bytes_read"])
PYTHON
)" "2500000 0 2500000" "bytes written to and read from the files of a copy"

# The report says that calls were only counted.
check_rc 0 "$sluice" run --summary --mode counters -o t.sluice -- cp input copy
check_brief err
check_words "$(cat err)" "threads spent" "calls counted"

for mpi in $(mpi_list); do
	for order in outside inside; do
		mpi_order "$order" "$mpi" 4 levels --block 10K --count 8
		rm -rf trace trace.parts
		SLUICE_RUN_SUMMARY=yes "${command[@]}" >out 2>err || fail "$mpi $order: $(cat err)"
		grep -E '^(sluice: |  [a-zA-Z])' err >brief || fail "$mpi $order: no report: $(cat err)"
		check_brief brief
		check_words "$(head -n 1 brief)" "4 ranks" "wrote 1.25 MiB"
		check_words "$(grep "^  ranks " brief)" I/O
		check_words "$(grep "^  MPI " brief)" "read 1.25 MiB" "wrote 1.25 MiB" "per rank"
		check_words "$(grep "^  files " brief)" levels.dat "2.50 MiB"
	done
done
