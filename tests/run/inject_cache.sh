#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# HDF5's caches: an h5py program whose chunk cache thrashes makes few storage calls with rdcc_nbytes, for the file or for
# one dataset; the page buffer is given only to files that can have one; the tuner finds the chunk cache.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_STORE_PATH=$work/store.db
case=cache python=/usr/bin/python3
[ -x $python ] || python=python3
$python -c 'import h5py' 2>/dev/null || skip python3-h5py

# Rows are written into chunks that are columns: each row touches 64 chunks of 64 KiB, more than the cache of 1 MiB holds.
cat >rows.py <<'END'
import sys, h5py
own = dict(rdcc_nbytes=2 << 20) if "own" in sys.argv else {}
with h5py.File(sys.argv[1], "w", **own) as f:
    data = f.create_dataset("data", (32, 64 * 256), chunks=(32, 256), dtype="f8")
    f.create_dataset("plain", (4,), dtype="i4")
    for i in range(32):
        data[i, :] = i
END
cat >read.py <<'END'
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    data = h5py.Dataset(h5py.h5d.open(f.id, b"data"))
    print(sum(int(data[i, :].max()) for i in range(32)), len(f["plain"]))
END

# params NAME=VALUE[@OBJECT]...: writes params.json
params() {
	$python - "$@" >params.json <<'END'
import json, sys
rows = []
for word in sys.argv[1:]:
    name, value = word.split("=")
    value, _, name_of = value.partition("@")
    rows.append({"name": name, "value": value, **({"object": name_of} if name_of else {})})
print(json.dumps({"schema": "sluice.params/1", "parameters": rows}))
END
}

# stored FILE: prints the number of calls that read or write the file
stored() {
	check_trace "$1" <<'END'
print(len([c for c in calls if base(c) == arguments[0] and c.function.startswith(("pread", "pwrite", "read", "write"))]))
END
	cat wrong
}

# told FUNCTION: prints what each record requests and reads back
told() {
	check_trace "$1" <<'END'
for c in calls:
    if c.function == arguments[0]:
        print(c.name or "-", c.hints or "-")
END
	cat wrong
}

check_rc 0 "$sluice" run -o trace -- $python rows.py bare.h5
many=$(stored bare.h5)
[ "$many" -gt 2000 ] || fail "the cache does not thrash: $many calls"

params rdcc_nbytes=16M rdcc_w0=1 rdcc_nslots=1009
check_rc 0 "$sluice" run -p params.json -o trace -- $python rows.py a.h5
few=$(stored a.h5)
[ "$few" -lt 200 ] || fail "rdcc_nbytes for the file: $few calls instead of $many"
check_has "$(told H5F_parameters)" "rdcc_nbytes=16777216;rdcc_nslots=1009;rdcc_w0=1 "
check_has "$(told H5F_parameters | sed 's/^[^ ]* //')" "rdcc_nbytes=16777216;rdcc_nslots=1009;rdcc_w0=1"
h5diff bare.h5 a.h5 >difference || fail "the data differs: $(cat difference)"

# For one dataset, when it is created and when it is opened. A dataset without chunks has no cache.
params rdcc_nbytes=16M@data rdcc_w0=0.25@plain
check_rc 0 "$sluice" run -p params.json -o trace -- $python rows.py a.h5
few=$(stored a.h5)
[ "$few" -lt 200 ] || fail "rdcc_nbytes for the dataset: $few calls instead of $many"
check_has "$(told H5D_parameters)" "rdcc_nbytes=16777216;rdcc_nslots=521;rdcc_w0=0.75"
check_has "$(told H5D_parameters)" "rdcc_w0=!layout "
check_has "$(told H5F_parameters)" "rdcc_nbytes=1048576"
check_rc 0 "$sluice" run -p params.json -o trace -- $python read.py a.h5
check_eq "$(cat out)" "496 4"
few=$(stored a.h5)
[ "$few" -lt 200 ] || fail "rdcc_nbytes when reading: $few calls"
check_has "$(told H5D_parameters)" "rdcc_nbytes=16777216 chunk_size=32,256;rdcc_nbytes=16777216"

# f["plain"] calls H5Oopen, which takes no access list.
check_has "$(told H5D_parameters)" "rdcc_w0=!function "

# The program's own cache is kept if it takes precedence.
params rdcc_nbytes=16M
check_rc 0 "$sluice" --set params.authority=application run -p params.json -o trace -- $python rows.py a.h5 own
check_has "$(told H5F_parameters)" "rdcc_nbytes=!application"
check_has "$(told H5F_parameters)" "rdcc_nbytes=2097152"
check_rc 0 "$sluice" run -p params.json -o trace -- $python rows.py a.h5 own
check_has "$(told H5F_parameters | sed 's/^[^ ]* //')" "rdcc_nbytes=16777216"

# The page buffer: only a file with pages can have one, and HDF5 would fail to open others with it.
cat >pages.py <<'END'
import sys, h5py
name, mode = sys.argv[1:3]
more = {"w": {}, "p": dict(fs_strategy="page", fs_page_size=4096), "r": {}}[mode]
with h5py.File(name, mode.replace("p", "w"), **more) as f:
    if mode == "r":
        print(int(f["x"][7]))
    else:
        f["x"] = range(8)
END
params page_buffer_size=64K mdc_max_size=16M
paged() { # NAME MODE REFUSAL-OR-SIZE
	check_rc 0 "$sluice" run -p params.json -o trace -- $python pages.py "$1" "$2"
	[ "$2" != r ] || check_eq "$(cat out)" 7 "data of $1"
	! grep HDF5-DIAG err || fail "$1: HDF5 has printed errors"
	check_has "$(told H5F_parameters)" "mdc_max_size=16777216;page_buffer_size=$3 "
}
paged plain.h5 w !strategy
paged plain.h5 r !strategy
paged pages.h5 p 65536
check_has "$(told H5F_parameters | sed 's/^[^ ]* //')" "mdc_max_size=16777216;meta_block_size=2048;page_buffer_size=65536"
paged pages.h5 r 65536
params page_buffer_size=1K
check_rc 0 "$sluice" run -p params.json -o trace -- $python pages.py pages.h5 r
check_has "$(told H5F_parameters)" "page_buffer_size=!page"
# A file that does not exist, or is not of HDF5, has the error that it always has.
for name in missing.h5 pages.py; do
	check_rc 1 $python pages.py $name r
	tail -n 1 err >expected
	check_rc 1 "$sluice" run -p params.json -o trace -- $python pages.py $name r
	check_eq "$(grep -v '^sluice' err | tail -n 1)" "$(cat expected)" "error of $name"
done

# The space that is derived from the first run has the chunk cache, and what the tuner finds is applied.
check_rc 0 "$sluice" tune --runs 3 --repeat 1 --pairs 4 --no-ablation -- $python rows.py tuned.h5
$python - <<'END' || fail "the chunk cache is not in the space"
import json, os, sqlite3, sys
plan, = sqlite3.connect(os.environ["SLUICE_STORE_PATH"]).execute("SELECT plan FROM study").fetchone()
names = [d["name"] for d in json.loads(plan)["space"]["dimensions"]]
print(names)
sys.exit("rdcc_nbytes" not in names)
END
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "rdcc_nbytes", "values": [null, "16M"]}]}' >space.json
check_rc 0 "$sluice" tune --space space.json --runs 4 --repeat 1 --pairs 4 --no-ablation --json -- $python rows.py best.h5
# The times of a loaded machine may hide even this gain.
if [ "$(json_get out '["proof"]["holds"]')" = True ]; then
	check_rc 0 "$sluice" run --tune=apply -o trace -- $python rows.py best.h5
	few=$(stored best.h5)
	[ "$few" -lt 200 ] || fail "after the tuning: $few calls instead of $many"
fi
