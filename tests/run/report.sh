#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The report of a parallel run: nested layers, comparison of ranks, and survey of files. The trace is written by hand
# in the text format, so that every number is known and no MPI is needed.
# Papers: SIOX-1.
. "$(dirname "$0")/libtest.sh"

# Four ranks on two hosts, started by a launcher. Each calls MPI_Init, which reads a settings file, and then
# writes 4 pieces of 1000 bytes, strided, by H5Dwrite -> MPI_File_write_at -> pread + pwrite of 4000 bytes.
# The H5Dwrite of rank r takes (r + 1) ms. A fifth rank was not recorded.
cat >make.py <<'PYTHON'
import sys
RESULT, LINK, SIZE, OFFSET = 1, 2, 16, 32  # bits of the fields, contract/call.h
calls = [("none", "POSIX", "control"), ("open", "POSIX", "open"), ("pread", "POSIX", "read"),
         ("pwrite", "POSIX", "write"), ("MPI_Init", "MPI", "process"), ("MPI_File_open", "MPI", "open"),
         ("MPI_File_write_at", "MPI", "write"), ("MPI_File_close", "MPI", "close"), ("H5Dwrite", "HDF5", "write")]
ms, kernel, piece = 1000000, 100000, 1000
rows = []

def add(process, start, length, number, parent, layer, call, result, file, link="-", size="-", offset="-"):
    present = RESULT | (link != "-") * LINK | (size != "-") * SIZE | (offset != "-") * OFFSET
    rows.append((start, length, process, number, parent, layer, call, result, 0, file, 0, present, link, "-", "-",
                 size, offset, "-", "-"))

add(0, 0, ms, 1, 0, "POSIX", "pread", 77, 2)
for rank in range(4):
    p = rank + 1
    add(p, 10 * ms, 5 * ms, 1, 0, "MPI", "MPI_Init", 0, 0)
    add(p, 11 * ms, ms, 2, 1, "POSIX", "pread", 512, 2)
    add(p, 20 * ms, ms, 3, 0, "MPI", "MPI_File_open", 0, 1)
    for i in range(4):
        start, n, at = (30 + 10 * i) * ms, 10 + 10 * i, (4 * i + rank) * piece
        add(p, start, (rank + 1) * ms, n, 0, "HDF5", "H5Dwrite", piece, 1)
        add(p, start + kernel, 5 * kernel, n + 1, n, "MPI", "MPI_File_write_at", piece, 1, 3, piece, at)
        add(p, start + 2 * kernel, kernel, n + 2, n + 1, "POSIX", "pread", 4000, 1)
        add(p, start + 3 * kernel, kernel, n + 3, n + 1, "POSIX", "pwrite", 4000, 1)
        add(p, start + 4 * kernel, kernel // 2, n + 4, n + 1, "POSIX.Network", "pwrite", 9, 0)
    add(p, 90 * ms, ms, 99, 0, "MPI", "MPI_File_close", 0, 1, 3)

out = open(sys.argv[1], "w")
print("#sluice-text\t1", file=out)
print("#run", "uuid=%032x" % 1, "command=mpiexec -n 4 app", "host=node1", "started_ns=1", sep="\t", file=out)
print("#clock", "source=monotonic", "tick0=0", "num=1", "den=1", "error_ns=0", sep="\t", file=out)
for i, (name, layer, kind) in enumerate(calls):
    print("#call", "number=%d" % i, "name=" + name, "layer=" + layer, "class=" + kind, "failure=never", "fields=",
          sep="\t", file=out)
for p in range(5):
    print("#process", "process=%d" % p, "parent=-1", "first_thread=0", "pid=%d" % (100 + p), "ppid=1",
          "rank=%d" % (p - 1), "ranks=%d" % (5 if p else 0), "host=node%d" % (1 + p // 3), "program=app", sep="\t", file=out)
for i, path in enumerate(["/data/out.h5", "/etc/mpi.conf"]):
    print("#file", "id=%d" % (i + 1), "path=" + path, sep="\t", file=out)
for host in [("node1", "reference", 0, 0), ("node2", "collective calls", -1500, 20)]:
    print("#host", "host=%s" % host[0], "method=%s" % host[1], "offset_ns=%d" % host[2], "error_ns=%d" % host[3],
          sep="\t", file=out)
print("start_ns duration_ns process id parent layer call result error file file2 present link link2 handle size "
      "offset flags mode".replace(" ", "\t"), file=out)
for row in sorted(rows):
    print(*row, sep="\t", file=out)
print("#end", "duration_ns=%d" % (100 * ms), "exit_status=0", "complete=1", sep="\t", file=out)
PYTHON
python3 make.py run.txt

# Each rank: 4 x (rank + 1) ms in H5Dwrite, 1 ms in the open, 1 ms in the close; none in MPI_Init.
check_rc 0 "$sluice" report run.txt
check_eq "$(cat err)" "" "stderr of report"
check_words "$(head -n 1 out)" "4 ranks on 2 hosts" "15.6 KiB" "100 ms" 12.0% "12.0 ms per rank" "rank 3: 18.0 ms" \
	"H5Dwrite (10.0%" "/data/out.h5 (12.0%)"
# The tables state the same shares of the run time as the verdict.
check_words "$(grep '^  H5Dwrite ' out)" 10.0%
check_words "$(grep ' /data/out.h5$' out)" 12.0%
check_words "$(grep "^ranks: " out)" "4 of 5 on 2 hosts" "12.0 ms" "6.00 ms (rank 0)" "18.0 ms (rank 3)"
check_words "$(grep "^storage: " out)" "read 62.5 KiB, wrote 62.5 KiB" "4.00 times" "32 calls" "0.98 KiB" "3.91 KiB"
check_words "$(grep "^sockets " out)" "16 calls" "800 us"
check_words "$(grep "MPI_Init, fork" out)" "4 calls" "read 2.00 KiB, wrote 0 B" "4.00 ms"
check_words "$(grep "outside the ranks" out)" "1 call" "read 77 B"
check_words "$(grep "node2: " out)" "-1.50 us" "collective calls" "20 ns"
check_has "$(cat out)" "HDF5,MPI,POSIX  /data/out.h5"
check_eq "$(grep -c /etc/mpi.conf out || true)" 0 "files of the start-up in the tables"
check_eq "$(grep -c 'By rank' out || true)" 0 "tables by rank unasked"

check_rc 0 "$sluice" report --by-rank run.txt
row=$(grep -E '^ +2  node2 ' out)
check_eq "$(echo $row)" "2 node2 6 0 0 B 3.91 KiB 15.6 KiB 15.6 KiB 14.0 ms 14.0 ms 1.00 ms 0 ns" "the row of rank 2"

# Rank r starts at piece r; all accesses are strided by 4: 4000 bytes from start to start, three of four accesses.
check_rc 0 "$sluice" report --survey run.txt
survey='[FileSurveyor:MPI] "/data/out.h5"/'
check_has "$(cat out)" "${survey}Accesses = (4,4,4)"
check_has "$(cat out)" "${survey}Accesses/Writing/Sequential = (0.25,0,1)"
check_has "$(cat out)" "${survey}Accesses/Writing/Random, short seek = (3.75,3,4)"
check_has "$(cat out)" "${survey}Seek Distance/Average writing = (3000,3000,3000)"
check_has "$(cat out)" "${survey}Bytes/Written per access = (1000,1000,1000)"
check_has "$(cat out)" "${survey}Time/Total for opening = (1e+06,1e+06,1e+06)"
check_has "$(cat out)" '[FileSurveyor:HDF5] "/data/out.h5"/Time/Total for writing = (1e+07,4e+06,1.6e+07)'
check_has "$(cat out)" "${survey}Accesses/Writing/Strided, up to 4 KiB = (2,2,2)"
check_has "$(cat out)" "${survey}Accesses/Writing/Aligned to 512 B = (0,0,0)"
check_has "$(cat out)" "${survey}Sharing/Writing = 4 ranks, interleaved"
check_has "$(cat out)" '[FileSurveyor:HDF5] "/data/out.h5"/Sharing/Writing = 4 ranks, unknown'
layout='^\[FileSurveyor:[A-Z0-9]*\] ".*"/(.* = \(.*,.*,.*\)|Sharing/(Reading|Writing) = [0-9]+ ranks?, [a-z]+)$'
check_eq "$(grep -Ecv "$layout" out || true)" 0 "lines of another layout"

check_rc 0 "$sluice" report --json run.txt
check_json out sluice.report/1
check_eq "$(json_get out '["io"]["busy_ns"]')" 18000000
check_eq "$(json_get out '["storage"]["write_amplification"]')" 4
check_eq "$(json_get out '["startup"]["bytes_read"]')" 2048
check_eq "$(json_get out '["ranks"]["fields"]["busy_ns"]["maximum_rank"]')" 3
check_eq "$(json_get out '["ranks"]["rows"][1]["time_ns"]')" 10000000
check_eq "$(json_get out '["ranks"]["world"]')" 5
check_eq "$(json_get out '["hosts"][1]["clock_offset_ns"]')" -1500
check_eq "$(json_get out '["layers"][0]["ranks"]["count"]')" 4
check_eq "$(json_get out '["files"][0]["layers"]')" "['POSIX', 'MPI', 'HDF5']"
check_eq "$(json_get out '["survey"][1]["layer"]')" MPI
check_eq "$(json_get out '["survey"][1]["writing"]')" "{'count': 4, 'sharing': 'interleaved'}"
check_eq "$(json_get out '["survey"][1]["fields"]["Accesses/Writing/Sequential"]["maximum_rank"]')" 0

# A run without ranks.
check_rc 2 "$sluice" report --survey --by-rank run.txt
printf 'hello\n' >input
"$sluice" run --quiet -o plain.sluice -- dd if=input of=copy bs=2 status=none
check_rc 0 "$sluice" report --by-rank plain.sluice
check_words "$(cat err)" --by-rank ranks
check_eq "$(grep -c 'By rank' out || true)" 0 "a table of no ranks"
check_rc 0 "$sluice" report --survey plain.sluice
check_has "$(cat out)" "[FileSurveyor:POSIX] \"$work/copy\"/Accesses/Writing/Sequential = (3,3,3)"
check_has "$(cat out)" "[FileSurveyor:POSIX] \"$work/copy\"/Bytes/Total written = (6,6,6)"

# A trace can be replayed to plug-ins, which report the same as during the run.
check_rc 0 "$sluice" report --plugin file_surveyor,histogram plain.sluice
check_has "$(cat out)" "[file_surveyor] POSIX \"$work/copy\"/Accesses: Writing 3"
check_has "$(cat out)" "[histogram] calls: graded 0"
check_rc 0 "$sluice" report --plugin file_surveyor --json plain.sluice
check_json out sluice.report.plugins/1
check_rc 1 "$sluice" report --plugin nosuch plain.sluice
check_words "$(cat err)" catalogue file_surveyor
check_rc 2 "$sluice" report --plugin histogram --survey plain.sluice

# Notes and node statistics of the run are in every format of the trace.
SLUICE_STATS_PERIOD=0 SLUICE_PLUGINS_LOAD= "$sluice" run --quiet --format text -o plain.txt -- cat input >/dev/null
python3 - <<'PYTHON'
lines = open("plain.txt").read().splitlines()
def fact(what, **fields):
    return "\t".join(["#" + what] + ["%s=%s" % field for field in fields.items()])
def note(kind, source, name, value, process=-1, time_ns=-1):
    return fact("note", time_ns=time_ns, process=process, host="node1", source=source, kind=kind, name=name, value=value)
new = [note("anomaly", "reasoner", "process 0", "9 of 10", 0, 1500000000),
       note("applied", "read_ahead", "advice given", 12, 0),
       note("degraded", "overhead", "counters", "too expensive", 0, 2000000000),
       note("refused", "mine", "abi", "ABI 7"),
       note("report", "histogram", "POSIX/read/very slow", 9, 0),
       note("cost", "mine", "spent_ns", 2500000, 0),
       fact("statistic", number=0, host="node1", name="utilization/io", unit="%", reduction="mean", scale=10),
       fact("sample", statistic=0, time_ns=10**12, period_ns=10**12, value=970)]
at = next(i for i, line in enumerate(lines) if line.startswith("#end"))
open("noted.txt", "w").write("\n".join(lines[:at] + new + lines[at:]) + "\n")
PYTHON
"$sluice" trace convert noted.txt noted.sluice
check_rc 0 "$sluice" report noted.sluice
check_words "$(cat out)" "1.50 s, process 0, reasoner: process 0: 9 of 10"
check_has "$(cat out)" "  [read_ahead] advice given 12"
check_words "$(cat out)" "2.00 s, process 0, overhead: counters: too expensive"
check_words "$(cat out)" "node1, mine: abi: ABI 7"
check_has "$(cat out)" "  [histogram] POSIX/read: very slow 9"
check_has "$(cat out)" "  [mine] spent_ns 2.50 ms"
check_has "$(cat out)" "  utilization/io  97.0%  97.0%  97.0%      -  node1"
check_rc 0 "$sluice" report --json noted.sluice
check_json out sluice.report/1
check_eq "$(json_get out '["anomalies"][0]["time_ns"]')" 1500000000
check_eq "$(json_get out '["refused"][0]["value"]')" "ABI 7"
check_eq "$(json_get out '["applied"][0]["sum"]')" 12
check_eq "$(json_get out '["plugins"][0]["spread"]["maximum"]')" 9
check_eq "$(json_get out '["node"]["statistics"][0]["mean"]')" 97

# The surveyor reports the same during the run and afterwards. (Times are in ticks during the run, and the length of a
# tick is known less exactly then.)
SLUICE_STATS_PERIOD=0 SLUICE_PLUGINS_LOAD=file_surveyor "$sluice" run --quiet -o live.sluice -- \
	dd if=input of=copy bs=2 status=none
"$sluice" report --survey live.sluice | grep -v '/Time/\|/Sharing/\|(0,0,0)' |
	sed -E 's/^\[FileSurveyor:(.*)\] "/\1 "/; s/\((.*),.*,.*\)/\1/' | sort >after
"$sluice" report --json live.sluice | python3 -c '
import json, sys
for row in json.load(sys.stdin)["plugins"]:
    if row["source"] == "file_surveyor":
        print("%s = %g" % (row["name"], row["sum"]))' | grep -v /Time/ | sort >meanwhile
check_has "$(cat meanwhile)" "POSIX \"$work/copy\"/Accesses/Writing/Sequential = 3"
check_eq "$(cat meanwhile)" "$(cat after)" "the survey while the program ran"
