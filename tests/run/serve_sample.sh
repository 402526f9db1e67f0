#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The sample page of the SIOX paper in the web application: rows by start time and not by id, in pages, with the printed
# durations; the detail of a call has its causal chain. The rows come from a trace in the text format. Start times are ours:
# the printed one of the first fread contradicts its duration.
# Papers: SIOX-50 to SIOX-52, SIOX-AC-17.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"

mkdir runs
python3 - >sample.txt <<'PYTHON'
# Id, function, duration in ns, id of the call that made the handle, bytes; MPI_Init encloses the others.
rows = [(19691, "MPI_Init", 350896127, 0, 0), (19690, "fopen", 285247, 0, 0), (19689, "fileno", 623, 19690, 0),
        (19692, "fileno", 765, 19690, 0), (19693, "fread", 37409, 19690, 8192), (19694, "fread", 3773, 19690, 8192),
        (19695, "fileno", 603, 19690, 0), (19696, "fileno", 608, 19690, 0), (19697, "fclose", 42644, 19690, 0),
        (19699, "mmap", 25526, 0, 4096), (19701, "fopen", 8588, 0, 0), (19700, "fileno", 548, 19701, 0),
        (19702, "fgets", 52094, 19701, 4096)]
calls = {"MPI_Init": "MPI process RESULT", "fopen": "STDIO open RESULT HANDLE FLAGS PATH", "fileno": "STDIO stat RESULT LINK",
         "fread": "STDIO read RESULT LINK SIZE", "fclose": "STDIO close RESULT LINK", "mmap": "POSIX map RESULT SIZE",
         "fgets": "STDIO read RESULT LINK SIZE"}
columns = ("start_ns duration_ns process id parent layer call result error file file2 present link link2 handle size offset "
           "flags mode span variable collective name hints").split()
bits = {"RESULT": 0, "LINK": 1, "HANDLE": 3, "SIZE": 4, "FLAGS": 6, "PATH": 11}
print("#sluice-text\t4")
print("#run\tuuid=%032x\tcommand=./model\tdirectory=/\thost=west9\tuser=root\tversion=0.2.0\tstarted_ns=1400000000000000000" % 7)
print("#clock\tsource=clock_gettime\ttick0=0\tnum=1\tden=1\terror_ns=1")
for number, (name, text) in enumerate(calls.items()):
    layer, kind, *fields = text.split()
    print("#call\tnumber=%d\tname=%s\tlayer=%s\tclass=%s\tfailure=never\tfields=%s" % (number, name, layer, kind, " ".join(fields)))
print("\t".join(columns))
print("#process\tprocess=0\tparent=-1\tfirst_thread=0\tpid=1\tppid=1\trank=-1\tattached_ns=0\thost=west9\tprogram=/model"
      "\tcommand=./model\tdirectory=/\tranks=0")
print("#file\tid=1\tpath=/proc/cpuinfo")
for at, (number, name, duration, link, size) in enumerate(rows):
    layer, kind, *fields = calls[name].split()
    row = dict.fromkeys(columns, "-")
    row.update(start_ns=1000000 * (at + 1), duration_ns=duration, process=0, id=number,
               parent=0 if name == "MPI_Init" else 19691, layer=layer, call=name, result=size, error=0,
               file=0 if name in ("MPI_Init", "mmap") else 1, file2=0, present=sum(1 << bits[f] for f in fields), name=0, hints=0)
    row.update({k: v for k, f, v in (("link", "LINK", link), ("handle", "HANDLE", 5), ("size", "SIZE", size), ("flags", "FLAGS", 0))
                if f in fields})
    print("\t".join(str(row[c]) for c in columns))
PYTHON
check_rc 0 "$sluice" trace convert sample.txt "$work/runs/sample.sluice"
"$sluice" ls --json >ls.json
run=$(json_get ls.json '["runs"][0]["id"]')
serve --socket "$work/socket"

expected="MPI_Init 350896127
fopen 285247
fileno 623
fileno 765
fread 37409
fread 3773
fileno 603
fileno 608
fclose 42644
mmap 25526
fopen 8588
fileno 548
fgets 52094"
# rows: the functions and durations in ns of the answer
rows() {
	python3 -c 'import json
for row in json.load(open("answer"))["activities"]:
    print(row["function"], row["duration_ns"])'
}
is_complete() {
	get "/api/v1/runs/$run/activities?level=all&limit=100"
	[ "$(rows | wc -l)" = 13 ]
}
wait_for "complete list" is_complete
check_eq "$(rows)" "$expected" "rows by start time"
key=$(json_get answer '["activities"][4]["key"]')
expect 200 "/api/v1/runs/$run/activities?level=all&limit=5&offset=5"
check_eq "$(rows)" "$(sed -n 6,10p <<<"$expected")" "second page"

# The detail of the first fread: its parents are MPI_Init and the fopen of its handle.
expect 200 "/api/v1/runs/$run/activities/$key"
python3 - answer <<'PYTHON' || fail "the detail of the fread is $(cat answer)"
import json, sys

call = json.load(open(sys.argv[1]))
missing = {"name", "unique_id", "ucalid", "id", "thread_id", "cid_pid_nid", "cid_pid_time", "cid_id", "time_start", "time_stop",
           "duration", "attributes", "remote_calls", "parents", "error_value"} - set(call)
assert not missing, missing
assert (call["name"], call["duration"], call["error_value"]) == ("fread", 37409, 0)
assert call["time_stop"] - call["time_start"] == 37409
assert "8192" in json.dumps(call["attributes"])
assert call["parents"] == ["0.19691", "0.19690"], call["parents"]
PYTHON
# The whole chain of MPI_Init: every other call is below it.
get "/api/v1/runs/$run/activities?level=all&limit=1"
expect 200 "/api/v1/runs/$run/activities/$(json_get answer '["activities"][0]["key"]')"
check_eq "$(json_get answer '["children"].__len__()')" 12 "calls below MPI_Init"
