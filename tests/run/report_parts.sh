#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reports of the parts of a job: read together, saved on their nodes and added up later, and the same as the report of
# the merged trace. The traces are written by hand, so no MPI is needed.
. "$(dirname "$0")/libtest.sh"

cat >make.py <<'PYTHON'
import sys
name, first, ranks, world = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
RESULT, SIZE, OFFSET = 1, 16, 32  # bits of the fields, contract/call.h
calls = [("none", "POSIX", "control"), ("pwrite", "POSIX", "write"), ("MPI_File_write_at", "MPI", "write"),
         ("pread", "POSIX", "read")]
rows = []
for process in range(ranks):
    rank = first + process
    for i in range(50):
        start, at = 1000 * i + rank, (i * world + rank) * 1000
        rows.append((start, 500 + rank, process, 2 * i + 1, 0, "MPI", "MPI_File_write_at", 1000, at, 1))
        rows.append((start + 10, 100, process, 2 * i + 2, 2 * i + 1, "POSIX", "pwrite", 4096, at // 4096 * 4096, 1))
    rows.append((900000 + rank, 50, process, 500, 0, "POSIX", "pread", 10, 0, 2))
    rows.append((900100 + rank, 20, process, 501, 0, "POSIX", "pread", 10, 0, 3))
out = open(name, "w")
print("#sluice-text\t1", file=out)
print("#run", "uuid=%032x" % (int(sys.argv[5]) if len(sys.argv) > 5 else 1), "command=app", "host=n%d" % first,
      "started_ns=1000", sep="\t", file=out)
print("#clock", "source=monotonic", "tick0=0", "num=1", "den=1", "error_ns=0", sep="\t", file=out)
for i, (call, layer, kind) in enumerate(calls):
    print("#call", "number=%d" % i, "name=" + call, "layer=" + layer, "class=" + kind, "failure=never", "fields=",
          sep="\t", file=out)
for p in range(ranks):
    print("#process", "process=%d" % p, "parent=-1", "first_thread=0", "pid=%d" % (100 + first + p), "ppid=1",
          "rank=%d" % (first + p), "ranks=%d" % world, "host=n%d" % first, "program=app", sep="\t", file=out)
for i, path in enumerate(["/data/shared", "/data/in.%d" % first, "/usr/lib/libm.so.6"]):
    print("#file", "id=%d" % (i + 1), "path=" + path, sep="\t", file=out)
print("start_ns duration_ns process id parent layer call result error file file2 present link link2 handle size "
      "offset flags mode".replace(" ", "\t"), file=out)
for start, length, process, number, parent, layer, call, n, at, file in sorted(rows):
    print(start, length, process, number, parent, layer, call, n, 0, file, 0, RESULT | SIZE | OFFSET, "-", "-", "-", n,
          at, "-", "-", sep="\t", file=out)
print("#end", "duration_ns=1000000", "exit_status=0", "complete=1", sep="\t", file=out)
PYTHON
mkdir job.parts
for first in 0 2 4; do
	python3 make.py part.txt $first 2 6
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
check_rc 0 "$sluice" report --part -o two.profile job.parts
report two.profile job.parts/n2.profile
check_eq "$(cat lines)" "$(cat expected)" "the report of profiles that were added up in two steps"

# What does not belong together is refused, and so is damage; no file of the user is replaced.
check_rc 1 "$sluice" report job.parts/n0.sluice job.parts/n0.profile
check_words "$(cat err)" same
python3 make.py part.txt 6 2 8 2
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
