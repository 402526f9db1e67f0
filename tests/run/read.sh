#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every command can read a recorded run: print in all its formats, report, ls, trace path and trace convert.
# Papers: SIOX-32, SIOX-48, SIOX-AC-3, SIOX-AC-7.
. "$(dirname "$0")/libtest.sh"

printf 'hello\n' >input
check_rc 0 "$sluice" run --quiet -- cp input output
check_eq "$(cat output)" hello
check_rc 0 "$sluice" trace path
trace=$(cat out)
check_has "$trace" "$work/runs/"
check_rc 0 "$sluice" trace path --json
check_json out sluice.trace.path/1

# print: the layout of each line, and all calls on one file.
check_rc 0 "$sluice" print
check_eq "$(cat err)" "" "stderr of print"
layout='^[0-9]+\.[0-9]{7} ID([0-9]+:)?([0-9]+\.)?[0-9]+ [A-Za-z.]+ [A-Za-z0-9_]+\(.*\) = -?[0-9]+( ID[0-9:.]+)*$'
odd=$(grep -vE "$layout" out || true)
check_eq "$odd" "" "a line of print"
check_has "$(cat out)" "POSIX/descriptor/filename=\"$work/output\", POSIX/descriptor/filehandle="
lines=$(wc -l <out)
check_rc 0 "$sluice" print "$trace"
check_eq "$(wc -l <out)" "$lines" "lines by name"
check_rc 0 "$sluice" print --limit 3
check_eq "$(wc -l <out)" 3
check_rc 0 "$sluice" print --file output
check_has "$(cat out)" "= 0"
check_eq "$(grep -c input out || true)" 0 "lines on another file"
check_rc 0 "$sluice" print --layer stdio,POSIX.Network
check_eq "$(grep -cE 'ID[0-9:.]+ POSIX ' out || true)" 0 "lines of another layer"
check_rc 0 "$sluice" print --between 1h:2h
check_eq "$(cat out)" ""
check_rc 0 "$sluice" print --min-duration 1h
check_eq "$(cat out)" ""
check_rc 0 "$sluice" print --tree
check_eq "$(wc -l <out)" "$lines" "lines of the tree"
check_rc 0 "$sluice" print --csv
check_eq "$(wc -l <out)" $((lines + 1)) "lines of CSV"
columns=$(python3 -c 'import csv; print({len(r) for r in csv.reader(open("out"))})')
check_eq "$columns" "{26}" "columns of CSV"
check_rc 0 "$sluice" print --json
check_json out sluice.print/1
check_eq "$(json_get out '["activities"].__len__()')" "$lines" "activities of JSON"
check_eq "$(json_get out '["complete"]')" True

# report and ls.
check_rc 0 "$sluice" report
check_words "$(head -n 1 out)" I/O
check_has "$(cat out)" "By layer"
check_has "$(cat out)" "$work/output"
check_rc 0 "$sluice" report --json
check_json out sluice.report/1
check_eq "$(json_get out '["run"]["activities"]')" "$lines"
check_eq "$(json_get out '["losses"]["activities"]')" 0
check_rc 0 "$sluice" ls
check_has "$(cat out)" "complete"
check_has "$(cat out)" "cp input output"
"$sluice" run --quiet -- true
check_rc 0 "$sluice" ls --json
check_json out sluice.ls/1
check_eq "$(json_get out '["runs"].__len__()')" 2
check_eq "$(json_get out '["runs"][1]["path"]')" "$trace" "the older run"
check_rc 0 "$sluice" ls --limit 1
check_eq "$(wc -l <out)" 2

# A broken trace is listed and does not hide the others.
head -c 100 "$trace" >"$work/runs/broken.sluice"
touch -d '2001-01-01' "$work/runs/broken.sluice"
check_rc 0 "$sluice" ls
check_has "$(cat out)" "truncated"
check_eq "$(wc -l <out)" 4
rm "$work/runs/broken.sluice"

# convert to another format and back: the activities are the same.
"$sluice" print "$trace" >before
for form in text sqlite container; do
	check_rc 0 "$sluice" trace convert "$trace" "copy.$form" --format $form --json
	check_json out sluice.convert/1
	check_rc 0 "$sluice" print "copy.$form"
	cmp out before || fail "print of the $form differs"
	check_rc 0 "$sluice" trace convert "copy.$form" back.sluice
	"$sluice" print back.sluice | cmp - before || fail "print after the way back from $form differs"
done
check_rc 2 "$sluice" trace convert "$trace" copy.unknown
check_rc 2 "$sluice" trace convert "$trace" "$trace"
