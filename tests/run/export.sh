#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice trace export: formats, limits, selection, and what happens to files that exist or to an interrupted export.
# export_duckdb.sh reads Parquet back.
. "$(dirname "$0")/libtest.sh"

python3 "$SOURCE/tests/export_trace.py" 3 30 run.txt
calls=$(("$("$sluice" print --csv run.txt 2>/dev/null | wc -l)" - 1))

# check_parquet DIRECTORY: every file begins and ends as it must
check_parquet() {
	python3 - "$1" <<'END' || fail "$1 has damaged files"
import glob, sys
files = glob.glob(sys.argv[1] + "/**/*.parquet", recursive=True)
assert len(files) >= 10, files
for name in files:
    data = open(name, "rb").read()
    footer = int.from_bytes(data[-8:-4], "little")
    assert data[:4] == data[-4:] == b"PAR1" and 0 < footer < len(data) - 8, name
END
}

# Parquet: one directory per rank and slice.
check_rc 0 "$sluice" trace export --json run.txt run.parquet
check_json out sluice.export/1
check_eq "$(json_get out '["activities"]')" "$calls" "exported calls"
check_eq "$(json_get out '["files"]')" "$(find run.parquet -type f | wc -l)" files
check_eq "$(json_get out '["bytes"]')" "$(find run.parquet -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" bytes
check_parquet run.parquet
check_eq "$(ls run.parquet/activities)" "$(printf 'rank=-1\nrank=0\nrank=1\nrank=2')" ranks
check_eq "$(stat -c %a run.parquet run.parquet/run.parquet)" "$(printf '700\n600')" modes
check_rc 0 "$sluice" trace export --slice 100us --rank 1 run.txt sliced.parquet/
check_eq "$(ls sliced.parquet/activities)" rank=1
[ "$(ls sliced.parquet/activities/rank=1 | wc -l)" -gt 2 ] || fail "one slice only"
check_rc 1 "$sluice" trace export --slice 1ns run.txt many.parquet
check_words "$(cat err)" slices longer

# Nothing is replaced, and a failure leaves nothing.
mkdir taken.parquet
ln -s nowhere dangling.json
echo precious >taken.csv
for name in run.parquet taken.parquet dangling.json taken.csv; do
	check_rc 1 "$sluice" trace export run.txt "$name"
	check_words "$(cat err)" "$name" exists
done
check_eq "$(cat taken.csv)" precious
check_rc 1 "$sluice" trace export run.txt missing/run.parquet
check_rc 1 "$sluice" trace export run.txt missing/run.json
sed '$d' run.txt | sed 's/^2\([0-9]*\t\)/x\1/' >damaged.txt
for suffix in parquet json csv folded; do
	check_rc 1 "$sluice" trace export damaged.txt "damaged.$suffix"
done
check_eq "$(ls -d many* damaged.* missing* *.tmp 2>/dev/null)" damaged.txt "what failures left"
check_rc 2 "$sluice" trace export run.txt run.xyz
check_words "$(cat err)" suffix --format
check_rc 2 "$sluice" trace export --format parquet run.txt -
check_rc 2 "$sluice" trace export --json --format csv run.txt -

# Ctrl-C ends an export and removes what was written. Commands in the background ignore SIGINT by default.
python3 "$SOURCE/tests/export_trace.py" 2 5000 large.txt
"$sluice" trace convert large.txt large.sluice 2>/dev/null
mkfifo pipe
exec 9<>pipe
env --default-signal=INT "$sluice" trace export --format csv large.sluice - >pipe 2>err &
pid=$!
read -r -n 1 -t "$limit" -u 9 || fail "no data" # the export has begun, and it cannot end before somebody reads everything
kill -INT $pid
timeout "$limit" tail --pid=$pid -f /dev/null || { kill -KILL $pid; fail "Ctrl-C does not end an export to a pipe"; }
rc=0
wait $pid || rc=$?
check_eq $rc 130 "exit code after Ctrl-C"
exec 9<&-
for format in parquet folded; do
	env --default-signal=INT "$sluice" trace export --format $format large.txt "stopped.$format" 2>err &
	pid=$!
	for try in $(seq $polls); do
		[ -z "$(ls -d "stopped.$format"* 2>/dev/null)" ] || break
		sleep 0.05
	done
	kill -INT $pid 2>/dev/null || true
	rc=0
	wait $pid || rc=$?
	# The export may have ended before the signal.
	[ $rc = 130 ] || [ -e "stopped.$format" ] || fail "$format: exit code $rc: $(cat err)"
	[ -e "stopped.$format" ] || check_eq "$(ls -d stopped.$format* 2>/dev/null)" "" "what Ctrl-C left"
	rm -rf "stopped.$format"
done

# Perfetto: valid JSON with the longest calls, their causes, names, arrows and counters.
check_rc 0 "$sluice" trace export run.txt run.json
check_rc 0 "$sluice" trace export --max 100 run.txt few.json
check_words "$(cat err)" "left out" --max "$((calls - 100)) of $calls calls"
python3 - "$calls" <<'END' || fail "events"
import json, sys
full, few = (json.load(open(name, encoding="utf-8")) for name in ("run.json", "few.json"))
calls = [e for e in full["traceEvents"] if e["ph"] == "X"]
assert len(calls) == int(sys.argv[1]) == full["otherData"]["activities"] and full["otherData"]["left_out"] == 0
assert [e["ts"] for e in calls] == sorted(e["ts"] for e in calls)
tracks = {}
for e in calls:
    tracks.setdefault(e["tid"], set()).add(e["pid"])
assert all(len(pids) == 1 for pids in tracks.values())
names = {e["args"].get("name") for e in full["traceEvents"] if e["ph"] == "M"}
assert any(n and n.startswith("rank 2: a;p") for n in names) and "thread 2" in names and "node node1" in names, names
arrows = [e for e in full["traceEvents"] if e["ph"] in "sf"]
starts, ends = ([e for e in arrows if e["ph"] == ph] for ph in "sf")
assert len(starts) == len(ends) == sum(e["name"] == "MPI_Wait" for e in calls) > 0
assert all(s["id"] == f["id"] and s["ts"] < f["ts"] for s, f in zip(starts, ends))
counters = {(e["name"], e["args"]["value"]) for e in full["traceEvents"] if e["ph"] == "C"}
assert ("cpu/user (%)", 10.0) in counters and any(n == "io/vda/read (bytes/s)" for n, v in counters), counters
assert sum(e["ph"] == "i" for e in full["traceEvents"]) == 1
kept = [e for e in few["traceEvents"] if e["ph"] == "X"]
ids = {(e["pid"], e["args"]["id"]) for e in kept}
assert len(kept) == 100 and all("cause" not in e["args"] or (e["pid"], e["args"]["cause"]) in ids for e in kept)
longest = sorted((e["dur"] for e in calls), reverse=True)[:100]
assert sorted((e["dur"] for e in kept), reverse=True) == longest
assert few["otherData"]["left_out_not_longer_than_ns"] == round(1000 * longest[-1])
END
if type node >/dev/null 2>&1; then
	node -e 'JSON.parse(require("fs").readFileSync("run.json", "utf8"))' || fail "node cannot parse the events"
fi
check_rc 0 "$sluice" trace export --max 0 run.txt none.json
check_eq "$(json_get none.json '["otherData"]["left_out"]')" "$calls"

# Folded stacks: the times add up to those of the outermost calls; hostile names stay one frame.
check_rc 0 "$sluice" trace export --format folded run.txt -
mv out run.folded
python3 - <<'END' || fail "stacks: $(cat run.folded)"
stacks = dict(line.rstrip("\n").rsplit(" ", 1) for line in open("run.folded", encoding="utf-8"))
assert all(name.split(";")[0] == r"a_p\xffp" for name in stacks), stacks
chain = r"a_p\xffp;H5Dwrite;MPI_File_write_at_all;pwrite64"
assert int(stacks[chain]) == 4 * 30 * 2 * 300 // 1000, stacks
assert int(stacks[chain.rsplit(";", 1)[0]]) == 4 * 30 * (900 - 600) // 1000
assert int(stacks[r"a_p\xffp;H5Dwrite"]) == 4 * 30 * 100 // 1000
END

# CSV is that of print, with the same selection.
check_rc 0 "$sluice" trace export --layer MPI --between 10us: run.txt run.csv
"$sluice" print --csv --layer MPI --between 10us: run.txt >expected 2>/dev/null
cmp run.csv expected || fail "CSV of export and of print differ"

# Traces without activities, without processes and without a clock; a real run.
printf '#sluice-text\t3\n#clock\tsource=monotonic\tnum=1\tden=1\n' >empty.txt
grep -m 1 '^start_ns' run.txt >>empty.txt
for suffix in parquet json folded csv; do
	check_rc 0 "$sluice" trace export empty.txt "empty.$suffix"
done
check_parquet empty.parquet
check_eq "$(ls empty.parquet/activities)" ""
check_eq "$(json_get empty.json '["traceEvents"]')" "[]"
check_eq "$(cat empty.folded)" ""
"$sluice" run --quiet -o real.sluice -- cp run.txt copy.txt
check_rc 0 "$sluice" trace export real.sluice real.folded
check_has "$(cat real.folded)" "cp;"
check_rc 0 "$sluice" trace export real.sluice real.parquet
check_parquet real.parquet
