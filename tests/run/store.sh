#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs add rows to the store, and `sluice config store` shows them. If the store cannot be used, the run prints a
# warning and works without it.
# Papers: SIOX-12.
. "$(dirname "$0")/libtest.sh"

export SLUICE_STORE_PATH=$work/known/store.db
# Only problems of the store may cause a warning here.
cat >"$SLUICE_ETC" <<SETTINGS
[plugins]
load = catalogue histogram
SETTINGS

# rows TOPIC EXPRESSION: evaluates the expression over the rows r of a topic
rows() {
	"$sluice" config store "$1" --json >rows.json || fail "sluice config store $1"
	check_json rows.json sluice.store/1
	python3 -c 'import json, sys
r = json.load(open("rows.json"))["rows"]
print(eval(sys.argv[1]))' "$2"
}

check_rc 3 "$sluice" config store
check_words "$(cat err)" known/store.db "sluice run"
[ ! -e "$work/known" ] || fail "looking made a store"
check_rc 2 "$sluice" config store nothing
check_words "$(cat err)" nodes devices layers calls attributes runs

# Eight simultaneous runs create the store and use the same ids. Each has a directory of its own, because the program
# reads back what it wrote to files with fixed names.
export SLURM_JOB_ID=4711
pids=
for i in 1 2 3 4 5 6 7 8; do
	mkdir "run$i"
	(cd "run$i" && exec "$sluice" run -o "../t$i.sluice" "$prog/plain") >"out$i" 2>"err$i" &
	pids="$pids $!"
done
for pid in $pids; do
	rc=0
	wait "$pid" || rc=$?
	check_eq "$rc" 23 "exit code of a run"
done
check_eq "$(cat err?)" "$(for i in 1 2 3 4 5 6 7 8; do echo "to stderr"; done)" "messages of the runs"
check_eq "$(rows runs 'len(r)')" 8 "runs"
check_eq "$(rows runs 'sorted(set((x["job"], x["command"].split("/")[-1]) for x in r))')" "[('4711', 'plain')]"
check_eq "$(rows nodes '[x["name"] for x in r]')" "['$(uname -n)']" "nodes"
check_eq "$(rows layers 'sorted(x["name"] for x in r)')" "['POSIX', 'STDIO']" "layers"
check_eq "$(rows calls 'len(set((x["name"], x["layer"]) for x in r)) == len(r)')" True "each call once"
check_eq "$(rows calls '("fopen", "STDIO") in [(x["name"], x["layer"]) for x in r]')" True "fopen is known"
check_eq "$(rows calls '"mmap" in [x["name"] for x in r]')" False "what was not used is known"
check_eq "$(rows attributes '[x["type"] for x in r if (x["domain"], x["name"]) == ("POSIX", "quantity/BytesToRead")]')" \
	"['bytes']" "type of BytesToRead"
check_eq "$(rows durations '[x["calls"] for x in r if x["call"] == "fopen"]')" "[8]" "fopens of eight runs"
check_eq "$(rows facts 'sorted(set(x["key"] for x in r))')" \
	"['command', 'host', 'job', 'program', 'started', 'user']" "facts"
before=$(rows calls r)
check_rc 23 "$sluice" run -o t9.sluice "$prog/plain"
check_eq "$(rows calls r)" "$before" "calls after one more run"
check_eq "$(rows runs 'len(r)')" 9 "runs"

check_rc 0 "$sluice" config store
check_has "$(cat out)" "         9 runs"
check_rc 0 "$sluice" config store --json
check_json out sluice.store/1
check_eq "$(json_get out '["topics"]["nodes"]')" 1 "nodes"
check_rc 0 "$sluice" config store durations
check_has "$(cat out)" "fopen"
check_rc 2 "$sluice" config store nodes --forget
check_has "$(cat err)" ids
check_rc 0 "$sluice" config store runs --forget
check_rc 3 "$sluice" config store runs
check_eq "$(rows calls r)" "$before" "calls after runs were forgotten"

# The rows of the plug-in history (run/mpi_history.sh tests it with real programs).
python3 - "$SLUICE_STORE_PATH" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
columns = [c[1] for c in db.execute("PRAGMA table_info(outcome)")]
row = dict(operation="write", user="me", program="app", extension="h5", filesystem="/s", size=8, hints="cb_nodes=2", run="1", count=3,
           bytes=6e6, seconds=3, rate=2 << 20, spread=0)
assert sorted(columns) == sorted(row), columns
db.execute("INSERT INTO outcome (%s) VALUES (%s)" % (",".join(row), ",".join("?" * len(row))), list(row.values()))
db.commit()
PYTHON
check_eq "$(rows outcomes '[(x["program"], x["filesystem"], x["hints"], x["runs"], x["files"], x["bytes"], x["bytes_per_second"]) for x in r]')" \
	"[('app', '/s', 'cb_nodes=2', 1, 3, 65536, 2097152)]" "outcomes"
check_rc 0 "$sluice" config store outcomes
check_has "$(cat out)" "2.00 MiB/s"
check_rc 0 "$sluice" config store outcomes --forget
check_rc 3 "$sluice" config store outcomes

# unusable WHAT PATH WORD...: the run works as without a store, and one warning has the path and the key words
unusable() {
	check_rc 23 "$sluice" run -o bad.sluice "$prog/plain"
	check_eq "$(cat out)" "file" "output of a run with $1"
	check_words "$(cat err)" "${@:2}"
	check_eq "$(grep -c "$2" err)" 1 "warnings about $1"
	"$sluice" print bad.sluice >printed || fail "trace of a run with $1"
	check_has "$(cat printed)" "plain.stream"
	rm bad.sluice
}
head -c 100000 /dev/urandom >"$work/noise"
export SLUICE_STORE_PATH=$work/noise
unusable "noise" "$work/noise" store.path
check_rc 1 "$sluice" config store
check_words "$(cat err)" store.path
export SLUICE_STORE_PATH=/proc/store.db
unusable "a place that cannot be written" /proc/store.db
python3 - "$work/later.db" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("PRAGMA application_id = 0x736c7374; PRAGMA user_version = 77")
PYTHON
export SLUICE_STORE_PATH=$work/later.db
unusable "the store of a later version" "$work/later.db" "later version"

# A full disk: the test mounts its own file system if it may.
mkdir small
full() {
	mount -t tmpfs -o size=16k,mode=700 none small && head -c 8192 /dev/zero >small/ballast || exit 77
	export SLUICE_STORE_PATH=$work/small/store.db
	unusable "a full disk" "$work/small/store.db" full
}
export -f full unusable check_rc check_eq check_has check_words fail
export sluice prog work
if unshare -rm true 2>/dev/null; then
	rc=0
	unshare -rm bash -euc full || rc=$?
	[ $rc != 77 ] || skip_case mounts "a full disk"
	[ $rc = 0 ] || [ $rc = 77 ] || fail "full disk"
else
	skip_case namespaces "a full disk"
fi
