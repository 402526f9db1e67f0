#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice plot` draws a recorded run, a tuning, the model and probe data; its tables have the sums of the trace; and it
# neither overwrites files nor hides that data is missing.
# Papers: SIOX-49.
. "$(dirname "$0")/libtest.sh"

export SLUICE_STORE_PATH=$work/store.db SLUICE_MODEL_PATH=$work/hybrid.model SLUICE_FORECAST_MODEL=$work/forecast.model
run_kinds="offsets heatmap bandwidth sizes causes"
stored_kinds="tuning importance model forecast writes reliability jobs"

check_rc 0 "$sluice" plot --list
for kind in $run_kinds ranks $stored_kinds; do
	grep -q "^$kind " out || fail "--list lacks $kind"
done

# Wrong use, and missing data.
check_rc 2 "$sluice" plot
check_rc 2 "$sluice" plot pie
check_has "$(cat err)" pie
check_rc 2 "$sluice" plot heatmap -o picture.gif
check_words "$(cat err)" picture.gif svg
check_rc 2 "$sluice" plot tuning --all
check_rc 3 "$sluice" plot heatmap
for kind in $stored_kinds; do
	check_rc 3 "$sluice" plot "$kind"
	check_has "$(cat err)" sluice
done
[ -z "$(ls ./*.svg 2>/dev/null)" ] || fail "a failed plot left a file"

# A run on a file with a name that is hostile to markup and to tables: 24 writes, then 6 reads of four times the size.
name=$'evil <script>&"\',=1;\n\e[31m.dat'
"$sluice" run -q -- bash -c '
	dd if=/dev/zero of="$1" bs=4096 count=24 status=none
	dd if="$1" of=/dev/null bs=16384 count=6 status=none' bash "$name"
for kind in $run_kinds; do
	check_rc 0 "$sluice" plot "$kind"
	check_eq "$(cat out)" "$kind.svg"
	check_rc 0 "$sluice" plot "$kind" -o "$kind.csv"
done
check_rc 3 "$sluice" plot ranks
check_words "$(cat err)" ranks
check_rc 0 "$sluice" print --csv
cp out calls.csv
python3 - "$name" $run_kinds <<'PYTHON' || fail "plots of a run"
import csv, glob, sys
import xml.etree.ElementTree as tree

name, kinds = sys.argv[1], sys.argv[2:]
calls = [r for r in csv.DictReader(open("calls.csv", newline="")) if r["file"].endswith(".dat")]

def total(layers, call):
    return sum(int(r["result"]) for r in calls if r["layer"] in layers and r["function"] == call)

wrote, read = total(["POSIX"], "write"), total(["POSIX"], "read")
assert (wrote, read) == (24 * 4096, 6 * 16384), (wrote, read)

def rows(kind):
    return list(csv.DictReader(open(kind + ".csv", newline="")))

offsets = [r for r in rows("offsets") if r["layer"] == "POSIX"]
assert sum(int(r["bytes"]) for r in offsets if r["direction"] == "write") == wrote
assert sum(int(r["bytes"]) for r in offsets if r["direction"] == "read") == read
assert {int(r["offset"]) for r in offsets if r["direction"] == "read"} == {16384 * i for i in range(6)}
sizes = {int(r["from_bytes"]): r for r in rows("sizes") if r["layer"] == "POSIX"}
assert sizes[4096]["writes"] == "24" and sizes[16384]["reads"] == "6", sizes
posix = [r for r in rows("bandwidth") if r["series"] == "POSIX"]
assert sum(int(r["written_bytes"]) for r in posix) >= wrote
heat = rows("heatmap")
assert abs(sum(int(r["written_bytes"]) for r in heat) - sum(int(r["written_bytes"]) for r in posix)) < 100
causes = {r["chain"]: r for r in rows("causes")}
assert causes["write"]["written_bytes"] == str(wrote), causes
for kind in kinds:
    text = open(kind + ".svg").read()
    root = tree.fromstring(text)
    assert root.tag.endswith("}svg") and root[0].text and root[1].text, kind
    assert not [e for e in root.iter() if e.tag.endswith("}script")], kind
    assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), kind
    assert "prefers-color-scheme" in text, kind
PYTHON

# A file that exists is kept, unless --force.
echo mine >mine.svg
check_rc 1 "$sluice" plot sizes -o mine.svg
check_words "$(cat err)" mine.svg --force
check_eq "$(cat mine.svg)" mine
ln -s mine.svg link.svg
check_rc 1 "$sluice" plot sizes -o link.svg
check_rc 1 "$sluice" plot sizes
check_rc 0 "$sluice" plot sizes -o mine.svg --force --theme dark
! grep -q "prefers-color-scheme" mine.svg || fail "the theme was not chosen"
check_rc 0 "$sluice" plot sizes --format csv -o -
cmp -s out sizes.csv || fail "standard output differs from the file"
check_rc 0 "$sluice" plot offsets --file "*.dat" -o -
check_rc 3 "$sluice" plot offsets --file nothing -o -
check_has "$(cat err)" nothing

# PNG needs a converter, and says so.
mkdir empty
check_rc 3 env PATH="$work/empty" "$sluice" plot heatmap -o heatmap.png
check_words "$(cat err)" rsvg-convert .svg
[ ! -e heatmap.png ] || fail "a failed conversion left a file"
if command -v rsvg-convert >/dev/null; then
	check_rc 0 "$sluice" plot heatmap -o heatmap.png
	check_eq "$(head -c 4 heatmap.png | tail -c 3)" PNG
else
	skip_case librsvg2-bin "PNG"
fi

# Boundaries of HDF5 chunks are those that the file has; of compressed chunks only the size is known.
python=/usr/bin/python3
[ -x $python ] || python=python3
if $python -c 'import h5py' 2>/dev/null; then
	cat >chunks.py <<'PYTHON'
import h5py, numpy, sys
name, filters = sys.argv[1], {"compression": "gzip"} if sys.argv[2:] else {}
with h5py.File(name, "w") as f:
    f.create_dataset("other", data=range(5000))
    data = f.create_dataset("data", (96, 128), chunks=(32, 64), dtype="f8", **filters)
    data[...] = numpy.ones((96, 128))
PYTHON
	"$sluice" run -q -o plain.sluice -- $python chunks.py plain.h5
	"$sluice" run -q -o packed.sluice -- $python chunks.py packed.h5 gzip
	check_rc 0 "$sluice" plot offsets plain.sluice --file plain.h5 -o plain.svg
	$python - <<'PYTHON' || fail "boundaries of chunks"
import h5py
import xml.etree.ElementTree as tree
data = h5py.File("plain.h5")["data"].id
ends = set()
for i in range(data.get_num_chunks()):
    info = data.get_chunk_info(i)
    ends |= {info.byte_offset, info.byte_offset + info.size}
root = tree.parse("plain.svg").getroot()
texts = [e.text for e in root.iter() if e.tag.endswith("}text") and e.text]
assert any("chunks of up to 16.0 KiB" in t for t in texts), texts
heights = sorted({float(e.get("y1")) for e in root.iter() if e.get("class") == "rule dotted"}, reverse=True)
assert len(ends) == len(heights) >= 7, (ends, heights)
ends = sorted(ends)
for end, height in zip(ends, heights):  # the axis is linear
    share = (end - ends[0]) / (ends[-1] - ends[0])
    assert abs(heights[0] + share * (heights[-1] - heights[0]) - height) < 0.2, (ends, heights)
PYTHON
	check_rc 0 "$sluice" plot offsets packed.sluice --file packed.h5 -o packed.svg
	check_has "$(cat packed.svg)" "chunks of up to 16.0 KiB, some compressed"
	! grep -q '"rule dotted"' packed.svg || fail "places of compressed chunks"
else
	skip_case python3-h5py "HDF5 chunks"
fi

# What Sluice has learned.
check_rc 0 "$sluice" tune --simulate hopper --kernel vpic --ranks 64 --runs 12
check_rc 0 "$sluice" kb tunings 1 --json
cp out tuning.json
python3 - >rows.txt <<'PYTHON'
import math, random
random.seed(3)
for i in range(400):
    print("Timestamp: %d\nSystem: little" % (1520700000 + 60 * i))
    if i % 5 == 0:
        print("All running jobs:")
        for j in range(i // 20, i // 20 + 3):
            print("Job Id: %d\n    Job_Name = x\n    Job_Owner = u@h\n    job_state = R\n    queue = batch\n"
                  "    Resource_List.nodect = %d\n    Resource_List.walltime = 02:00:00\n    resources_used.mem = %dkb\n"
                  "    resources_used.walltime = 00:%02d:00" % (j, 1 + j, 1024 * (1 + j), 1 + i % 60))
    print("Performance:\nOSS id 1MB 1GB")
    for t in "ab":
        busy = (i // 40) % 2 if t == "a" else 0
        write = "%.6gs" % (math.exp(.1 * random.gauss(0, 1)) * (3 if busy else 1)) if i % 5 == 4 else "-"
        print("oss-<%s> %.6gs %s" % (t, math.exp(.2 * random.gauss(0, 1)) * (.03 if busy else .01), write))
PYTHON
check_rc 0 "$sluice" forecast import rows.txt
python3 - >costs.csv <<'PYTHON'
print("platform,operation,placement,nodes,cores,senders,receivers,writers,bytes,round,repetition,seconds")
for k in range(2, 19):
    print("here,ar,,8,16,0,0,0,%d,0,0,%.9g" % (1 << k, 1e-5 + 1e-9 * (1 << k)))
PYTHON
cat >here.ini <<END
[machine]
name = here
romio = lustre
[nodes]
cores = 16
[storage]
block = 4K
[defaults]
cb_buffer_size = 16M
node_aggregators = 16
striping_factor = 16
striping_unit = 16M
END
check_rc 0 "$sluice" model fit --rows costs.csv --machine "$work/here.ini" --learners linear --candidates 1
for kind in $stored_kinds; do
	check_rc 0 "$sluice" plot "$kind"
	check_rc 0 "$sluice" plot "$kind" -o "$kind.csv"
done
check_rc 0 "$sluice" plot tuning 1 -o again.svg
cmp -s again.svg tuning.svg || fail "the latest tuning is not tuning 1"
check_rc 1 "$sluice" plot tuning first
check_has "$(cat err)" first
check_rc 3 "$sluice" plot tuning 99
python3 - $stored_kinds <<'PYTHON' || fail "plots of the store"
import csv, json, sys
import xml.etree.ElementTree as tree

rows = {kind: list(csv.DictReader(open(kind + ".csv"))) for kind in sys.argv[1:]}
for kind in sys.argv[1:]:
    assert tree.parse(kind + ".svg").getroot().tag.endswith("}svg"), kind
    assert rows[kind], kind
runs = json.load(open("tuning.json"))["runs"]
assert len(rows["tuning"]) == len(runs)
for row, run in zip(rows["tuning"], runs):
    assert row["phase"] == run["phase"] and (not row["cost"] or abs(float(row["cost"]) / run["cost"] - 1) < 1e-6)
shares = [float(r["share"]) for r in rows["importance"]]
assert abs(sum(shares) - 1) < 1e-3, shares
assert len(rows["model"]) == 17 and all(float(r["predicted_s"]) > 0 for r in rows["model"])
assert {r["target"] for r in rows["forecast"]} == {"oss-<a>", "oss-<b>"}
for size in {r["bytes"] for r in rows["writes"]}:
    share = sum(float(r["share"]) for r in rows["writes"] if r["bytes"] == size)
    assert 0.98 < share <= 1.0001, share
for r in rows["reliability"]:
    assert 0 <= float(r["low"]) <= float(r["observed"]) <= float(r["high"]) <= 1 and int(r["writes"]) > 0, r
assert sum(int(r["writes"]) for r in rows["reliability"]) in (16, 32), rows["reliability"]
for quantity in ("nodes", "memory", "run time"):
    share = sum(float(r["share"]) for r in rows["jobs"] if r["quantity"] == quantity)
    assert abs(share - 1) < 1e-6, (quantity, share)
assert "calibrated: predictions differ" in open("reliability.svg").read()
PYTHON
