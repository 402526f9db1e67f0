#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice forecast import --columns`: tables in the form of TOKIO summaries and of a range query of Prometheus.
. "$(dirname "$0")/libtest.sh"

# The rows of TOKIO have a number that the first line does not name, and runs without server data have no file system.
python3 - <<'PYTHON'
import gzip, json
with gzip.open("summaries.csv.gz", "wt") as out:
    print("_file_system,_jobid,darshan_biggest_write_fs_bytes,darshan_io_time,darshan_start_time", file=out)
    for i in range(50):
        print("%d,%s,77,%d,%.3f,%d" % (i, "" if i % 10 == 3 else "cscratch", 1 << (30 if i % 2 else 20), 1 + i / 100,
                                       1500000000 + 600 * i), file=out)
result = [{"metric": {"__name__": "write_seconds", "target": "ost<%d>" % t},
           "values": [[1500000000 + 15 * i, str(0.01 + t + i / 1000)] for i in range(20)]} for t in range(3)]
json.dump({"status": "success", "data": {"resultType": "matrix", "result": result}}, open("answer.json", "w"))
PYTHON
tokio=time=darshan_start_time,target=_file_system,bytes=darshan_biggest_write_fs_bytes,seconds=darshan_io_time
check_rc 0 "$sluice" forecast import --system cori --columns $tokio summaries.csv.gz
check_has "$(cat err)" "5 rows"
check_rc 0 "$sluice" forecast export --system cori -o -
grep -q '^cscratch 1s -$' out || fail "no first write: $(head -5 out)"
check_eq "$(grep -c '^Timestamp:' out)" 45

python3 -c 'import json, sys
print("time,target,seconds")
for series in json.load(sys.stdin)["data"]["result"]:
    for time, value in series["values"]:
        print(time, series["metric"]["target"], value, sep=",")' <answer.json >table.csv
check_rc 0 "$sluice" forecast import --system prom --columns bytes=1048576 table.csv --json
check_json out sluice.probe/1
check_eq "$(json_get out '["files"][0]["samples"]')" 60
check_eq "$(json_get out '["files"][0]["targets"]')" 3
check_rc 0 "$sluice" forecast export --system prom -o -
grep -q '^ost<2> 2.029s$' out || fail "the last value is missing: $(tail -5 out)"

# A write that was aborted.
printf 'time,target,bytes,seconds,timeout\n10,a,1048576,20,1\n20,a,1048576,2,0\n' >aborted.csv
check_rc 0 "$sluice" forecast import --system aborted --columns time=time aborted.csv
check_rc 0 "$sluice" forecast export --system aborted -o -
grep -q '^a >20s$' out || fail "no timeout: $(cat out)"

# Errors name what is wrong.
check_rc 1 "$sluice" forecast import --columns when=time aborted.csv
check_has "$(cat err)" when=time
check_rc 1 "$sluice" forecast import --columns time=nothing aborted.csv
check_has "$(cat err)" nothing
check_rc 1 "$sluice" forecast import --columns target=5 aborted.csv
check_has "$(cat err)" target
check_rc 1 "$sluice" forecast import --columns time=time missing.csv
(echo time,target,bytes,seconds; for i in 1 2 3 4 5 6 7 8 9; do echo "$i,a,$i,1"; done) >sizes.csv
check_rc 1 "$sluice" forecast import --columns time=time sizes.csv
check_has "$(cat err)" sizes
