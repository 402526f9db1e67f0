#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice site` on a real PostgreSQL and on an SQLite file: tables, import, export, queries, hidden paths, archive, forget.
# Papers: SIOX-2, SIOX-6, SIOX-34.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../libpg.sh"
pg_start fsync=off || skip postgresql

"$sluice" run --quiet -o a.sluice -- sh -c 'head -c 100000 /dev/zero >a.dat && cat a.dat >b.dat'
"$sluice" print --csv a.sluice >a.csv
calls=$(($(wc -l <a.csv) - 1))
[ "$calls" -gt 10 ] || fail "the sample has only $calls calls"
"$sluice" trace convert a.sluice a.txt
uuid=$(grep -oE '[0-9a-f]{32}' a.txt | head -n 1)

# value SQL: the only value of a query
value() {
	"$sluice" site query --csv "$1" | tail -n 1
}

check_database() {
	export SLUICE_SITE_DATABASE=$1 SLUICE_SITE_ARCHIVE=$work/archive.$2
	local rows

	check_rc 0 "$sluice" site init
	check_has "$(cat out)" "version"
	check_rc 0 "$sluice" site init
	check_rc 0 "$sluice" site import --sample 1 --job 4711 --json a.sluice
	check_json out sluice.import/1
	check_eq "$(json_get out '["activities"]')" "$calls" "imported calls"
	check_rc 0 "$sluice" site status --json
	check_json out sluice.site/1
	check_eq "$(json_get out '["runs"]')" 1 "runs"
	check_eq "$(json_get out '["activities"]')" "$calls" "calls"
	check_rc 0 "$sluice" site status
	check_line out runs 1

	# The sums of the database are what the program wrote: 100,000 bytes by head and by cat.
	check_eq "$(value "SELECT sum(bytes_written) FROM aggregate a JOIN run_file f ON f.run = a.run AND f.file = a.file \
		WHERE path LIKE '%.dat'")" 200000 "bytes written"
	check_eq "$(value 'SELECT job FROM run')" 4711 "job"

	# Exported again, the trace has the same calls.
	rm -f back.sluice
	check_rc 0 "$sluice" site export "${uuid:0:8}" back.sluice
	"$sluice" print --csv back.sluice >back.csv 2>/dev/null
	cmp -s a.csv back.csv || fail "$2: the exported trace differs: $(diff a.csv back.csv | head -n 5)"

	# Queries cannot change anything, and are one statement.
	check_rc 1 "$sluice" site query "DELETE FROM run"
	check_rc 1 "$sluice" site query "SELECT 1; DELETE FROM run"
	check_rc 1 "$sluice" site query "SELEC 1"
	check_rc 3 "$sluice" site query "SELECT * FROM run WHERE uuid = ''"
	check_rc 0 "$sluice" site query --json "SELECT uuid, processes FROM run"
	check_json out sluice.query/1
	check_eq "$(json_get out '["rows"][0]["uuid"]')" "$uuid" "id of the run"
	check_rc 0 "$sluice" site query "SELECT uuid, owner FROM run"
	check_line out "$uuid"
	check_eq "$(value 'SELECT count(*) FROM run')" 1 "runs after queries"

	# Hidden paths and commands.
	SLUICE_SITE_KEY=$work/key SLUICE_SITE_PATHS=hash SLUICE_SITE_COMMANDS=omit \
		check_rc 0 "$sluice" site import --sample 1 a.sluice
	"$sluice" site query --csv 'SELECT path FROM run_file' >paths
	! grep -q / paths || fail "$2: paths are visible: $(grep / paths | head -n 3)"
	grep -qE '^[0-9a-f]{16}\.dat$' paths || fail "$2: the extension is not kept: $(head -n 5 paths)"
	check_eq "$(value "SELECT count(*) FROM run WHERE command <> '' OR hidden = 0")" 0 "visible commands"
	check_eq "$(value "SELECT count(*) FROM finding WHERE evidence <> ''")" 0 "visible evidence"
	check_eq "$(value "SELECT count(*) FROM note WHERE value LIKE '%/%'")" 0 "notes with paths"
	check_eq "$(value 'SELECT count(*) FROM activity')" "$calls" "calls after the second import"
	check_rc 0 "$sluice" site import --sample 1 a.sluice

	# What is learned names the file system of the files.
	check_rc 0 "$sluice" site learn
	check_line out learned
	check_rc 0 "$sluice" site learn --list --json
	check_json out sluice.learn/1
	check_eq "$(python3 -c 'import json
found = json.load(open("out"))["expectations"]
print(any(e["filesystem"] == "*" for e in found), any(e["filesystem"].startswith("/") for e in found))')" "True True" \
		"$2: file systems of expectations"

	# Old calls move to the archive; sums stay.
	rows=$(value 'SELECT count(*) FROM aggregate')
	check_rc 0 "$sluice" site archive
	check_eq "$(value 'SELECT count(*) FROM activity')" "$calls" "young calls"
	SLUICE_SITE_KEEP_ACTIVITIES=1ns check_rc 0 "$sluice" site archive --json
	check_json out sluice.archive/1
	check_eq "$(json_get out '["activities"]')" "$calls" "archived calls"
	check_eq "$(value 'SELECT count(*) FROM activity')" 0 "calls left"
	check_eq "$(value 'SELECT count(*) FROM aggregate')" "$rows" "sums"
	[ -e "$SLUICE_SITE_ARCHIVE/run=$uuid/run.parquet" ] || fail "$2: there is no dataset"
	[ ! -e "$SLUICE_SITE_ARCHIVE/run=$uuid.tmp" ] || fail "$2: a temporary file is left"

	# Everything of the run is removed, and does not come back.
	check_rc 0 "$sluice" site forget --json "$uuid"
	check_json out sluice.forget/1
	check_eq "$(json_get out '["archives"]')" 1 "removed archives"
	[ ! -e "$SLUICE_SITE_ARCHIVE/run=$uuid" ] || fail "$2: the archive is left"
	check_eq "$(value 'SELECT count(*) FROM run')" 0 "runs"
	check_rc 1 "$sluice" site import a.sluice
	check_words "$(cat err)" removed forget
	check_rc 3 "$sluice" site forget "$uuid"

	# Down, with an explanation of what is missing, and up.
	check_rc 0 "$sluice" site migrate --to 0
	[ "$2" = sqlite ] || check_rc 1 "$sluice" site status
	[ "$2" = sqlite ] || check_words "$(cat err)" "sluice site init"
	check_rc 0 "$sluice" site migrate
	check_rc 0 "$sluice" site status
	check_rc 2 "$sluice" site migrate --to 99
}

check_database "$pg" postgres
check_database "$work/site.db" sqlite

# Errors say what to do.
check_rc 1 "$sluice" site status --database "host=$work/nowhere dbname=sluice"
check_words "$(cat err)" server "site.database"
check_rc 1 "$sluice" site status --database "host=$pg_dir dbname=nothing"
check_words "$(cat err)" createdb
unset SLUICE_SITE_DATABASE
check_rc 1 "$sluice" site status
check_words "$(cat err)" "site.database"

# The reasoner of the system: two nodes with the same slow target.
export SLUICE_SITE_DATABASE=$pg
now=$(date +%s%N)
# A load counts for a minute; the test must not depend on that.
then=$((now + 3600 * 1000000000))
for node in n1 n2; do
	pg_psql "INSERT INTO anomaly (node, subject, owner, job, target, started_ns, cause, detail, value)
		VALUES ('$node', 'node', '', '', '/scratch', $now, 'slow', '', 9)"
done
pg_psql "INSERT INTO node_load VALUES ('n1', 'ann', '77', '/scratch', 1e9, 2e9, 5000, $then)"
check_rc 0 "$sluice" site watch --once
check_line out site "likely job" /scratch
check_line out load ann 77
check_words "$(grep ^load out)" "100 % of the bytes"
check_rc 0 "$sluice" site watch --once --json
check_json out sluice.watch/1
check_eq "$(json_get out '["anomalies"][2]["cause"]')" "likely job" "cause"
pg_psql "UPDATE anomaly SET ended_ns = 1 WHERE subject = 'node'"
check_rc 0 "$sluice" site watch --once --json
check_eq "$(json_get out '["anomalies"]')" "[]" "anomalies afterwards"
check_rc 0 "$sluice" site learn
check_line out learned
