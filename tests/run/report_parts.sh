#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reports of the parts of a job: read together, saved on their nodes and added up later, and the same as the report of
# the merged trace. The traces are written by hand, so no MPI is needed.
. "$(dirname "$0")/libtest.sh"

mkdir job.parts
for first in 0 2 4; do
	python3 "$SOURCE/tests/run/parts_trace.py" part.txt $first 2 6
	"$sluice" trace convert part.txt job.parts/n$first.sluice
done

# The parts together give the report of the merged trace, which only adds how the clocks were aligned.
check_rc 0 "$sluice" trace merge -o merged.sluice job.parts/n0.sluice job.parts/n2.sluice job.parts/n4.sluice
# report ARGUMENT...: the report in out, without the lines that name the trace
report() {
	check_rc 0 "$sluice" report "$@"
	grep -v -e '^clock ' -e '^ *show: ' -e '^ *slow calls: ' out >lines
}
report merged.sluice
mv lines expected
report job.parts
check_eq "$(cat lines)" "$(cat expected)" "the report of the parts"
check_words "$(head -n 1 out)" "6 ranks on 3 hosts" "MPI_File_write_at"
report job.parts/n4.sluice job.parts/n0.sluice job.parts/n2.sluice
check_eq "$(cat lines)" "$(cat expected)" "the report of the parts in another order"
"$sluice" report --survey merged.sluice >expected.survey
check_rc 0 "$sluice" report --survey job.parts
check_eq "$(cat out)" "$(cat expected.survey)" "the survey of the parts"

# System files have one row unless all are wanted, and are marked in the JSON.
check_has "$(cat expected)" "system files (1)"
check_eq "$(grep -c libm.so expected || true)" 0 "system files in the table"
check_rc 0 "$sluice" report --all job.parts
check_has "$(cat out)" /usr/lib/libm.so.6
check_rc 0 "$sluice" report --json job.parts
check_json out sluice.report/1
check_eq "$(json_get out '["file_count"]')" 5
check_eq "$(python3 -c 'import json
for row in json.load(open("out"))["files"]:
    print(row["file"], row["class"])' | sort | tail -n 2)" "/data/shared user
/usr/lib/libm.so.6 system" "classes of files"

# Processes of a launcher share the parts.
for rank in 0 1; do
	PMI_RANK=$rank PMI_SIZE=2 "$sluice" report --part job.parts >>saved
done
check_eq "$(sort saved)" "$(printf 'job.parts/n%d.profile\n' 0 2 4)" "saved profiles"
rm job.parts/n2.sluice # what remains is taken from the profiles
report job.parts/n0.profile job.parts/n2.profile job.parts/n4.profile
check_eq "$(cat lines)" "$(cat expected)" "the report of saved profiles"
report job.parts
check_eq "$(cat lines)" "$(cat expected)" "the report of a directory that lacks a part"

# A directory may hold nothing but profiles.
mkdir saved.parts
cp job.parts/*.profile saved.parts
touch saved.parts/.profile
report saved.parts
check_eq "$(cat lines)" "$(cat expected)" "the report of a directory of profiles"
check_rc 1 "$sluice" report --part saved.parts
check_words "$(cat err)" "saved already" "sluice report saved.parts"
mkdir empty.parts
check_rc 1 "$sluice" report empty.parts
check_words "$(cat err)" .sluice .profile
check_rc 0 "$sluice" report --part -o two.profile job.parts
report two.profile job.parts/n2.profile
check_eq "$(cat lines)" "$(cat expected)" "the report of profiles that were added up in two steps"

# What does not belong together is refused, and so is damage; no file of the user is replaced.
check_rc 1 "$sluice" report job.parts/n0.sluice job.parts/n0.profile
check_words "$(cat err)" same
python3 "$SOURCE/tests/run/parts_trace.py" part.txt 6 2 8 2
check_rc 1 "$sluice" report job.parts/n0.sluice part.txt
check_words "$(cat err)" "same job"
head -c 3000 two.profile >cut.profile
check_rc 1 "$sluice" report cut.profile job.parts/n2.profile
echo precious >mine
check_rc 1 "$sluice" report --part -o mine job.parts
check_eq "$(cat mine)" precious "a file of the user"
check_rc 2 "$sluice" report --part
check_rc 2 "$sluice" report -o x job.parts
check_rc 2 "$sluice" report --part --survey job.parts
