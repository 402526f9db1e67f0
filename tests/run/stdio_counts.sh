#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Bytes and layers of streams: what macros move in the buffer of a stream, and streams that are pipes.
. "$(dirname "$0")/libtorture.sh"

# moved CLASS FILE: the bytes that calls of a class have moved
moved() {
	"$python" - "$work" "$1" "$2" <<'PYTHON'
import csv, sys

work, kind, name = sys.argv[1:]
print(sum(int(row["result"] or 0) for row in csv.DictReader(open(work + "/rows.csv"))
          if row["class"] == kind and row["file"].endswith("/" + name)))
PYTHON
}

nm -D --undefined-only "$prog/unlocked" | grep -q ' __uflow' || fail "prog/unlocked does not use the macros"
seq 1 209000 | head -c 1288895 >in

for what in copy mixed some; do
	case_begin "macros: $what"
	both sh -c 'cp ../in . && exec "$0" "$1"' "$prog/unlocked" "$what"
	n=$(cat captured.out)
	check_eq "$(moved read in)" "$n" "$case: bytes read"
	check_eq "$(moved write out)" "$n" "$case: bytes written"
	[ "$what" != copy ] || check_eq "$n" 1288895 "bytes of the file"
	check_sound
done

case_begin "macros: stdout"
both sh -c 'cp ../in . && exec "$0" stdout >copy' "$prog/unlocked"
check_eq "$(moved read in)" 1288895 "bytes read"
check_eq "$(moved write copy)" 1288895 "bytes written"

case_begin "popen"
both "$prog/pipes"
for name in popen fgets pclose; do
	check_rows 1 "function == '$name' and layer == 'POSIX.Network'"
	check_rows 0 "function == '$name' and layer == 'STDIO'"
done
check_rows 1 'function == "fputs" and layer == "STDIO"'
# Waiting for a pipe does not count as I/O: the time of I/O is at most that of all other calls, however slow they were.
"$python" - <<'PYTHON' || fail "the time of I/O includes waiting for a pipe"
import csv, json
rows = list(csv.DictReader(open("rows.csv")))
others = sum(int(row["duration_ns"]) for row in rows if row["layer"] != "POSIX.Network")
io = json.load(open("report.json"))["io"]["time_ns"]
assert io <= others, (io, others)
PYTHON
