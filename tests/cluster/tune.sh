#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice tune` on a real CephFS, by FUSE, which knows no birth times of files: it notices that the program creates its file,
# tries stripes of it without being told, and finds the data identical.
# Papers: H5T-5, H5T-11.
. "$(dirname "$0")/libcluster.sh"
use_bed cephfs
export SLUICE_STORE_PATH=$work/store.db
data=$SLUICE_TESTBED/cephfs/tune
at_exit 'on head rm -rf "$data"'
on head mkdir "$data"

check_rc 0 on head sh -c 'cd "$0" && exec "$@"' "$data" "$sluice" tune --search exhaustive --runs 6 --repeat 1 --pairs 4 --no-ablation --timeout-factor 1000 --json -- \
	dd if=/dev/zero of=file bs=1M count=4 conv=fsync status=none
check_eq "$(json_get out '["data"]')" identical "data"
check_rc 0 "$sluice" kb tunings 1 --json
python3 - out <<'END' || fail "stripes were not tried: $(cat out)"
import json, sys
tried = [run for run in json.load(open(sys.argv[1]))["runs"] if run["phase"] == "search"]
assert tried and all(run["state"] == "good" and "striping_" in json.dumps(run["parameters"]) for run in tried), tried
END
check_eq "$(on head ls -A "$data")" "" "files left behind"
