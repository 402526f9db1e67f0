#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The server and the sender are killed at random moments while a run is sent to PostgreSQL: in the end every call is in the
# database exactly once.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../libpg.sh"
pg_start fsync=off || skip postgresql

"$sluice" run --quiet -o big.sluice -- dd if=/dev/zero of=data bs=16 count=15000 2>/dev/null
calls=$(($("$sluice" print --csv big.sluice | wc -l) - 1))
[ "$calls" -gt 30000 ] || fail "the sample has only $calls calls"
check_rc 0 "$sluice" site init --database "$pg"

# rows: the number of calls in the database
rows() {
	pg_psql 'SELECT count(*) FROM activity'
}

# pause: up to 0.5 s
pause() {
	sleep "0.$(printf '%03d' $((RANDOM % 500)))"
}

for round in 1 2 3; do
	node=node-$round
	for kill in sender server sender server; do
		"$prog/site_apply" big.sluice "$pg" $node >sent 2>&1 &
		sender=$!
		pause
		if [ $kill = server ]; then
			pg_kill
			pause
			pg_again || fail "the server does not start again: $(tail -n 3 "$pg_dir/log")"
			pause
		fi
		kill -KILL $sender 2>/dev/null || true
		wait $sender 2>/dev/null || true
	done
	timeout "$limit" "$prog/site_apply" big.sluice "$pg" $node >sent 2>&1 || fail "round $round: $(cat sent)"
	check_eq "$(rows)" "$calls" "calls after round $round"
	check_eq "$(pg_psql 'SELECT count(*) FROM (SELECT DISTINCT process, id FROM activity) a')" "$calls" "distinct calls"
	check_eq "$(pg_psql 'SELECT count(*) FROM run')" 1 "runs"
	check_eq "$(pg_psql 'SELECT kept FROM run')" "$calls" "stated calls"
done
# The database is sound, and its run is the trace.
check_rc 0 "$sluice" site export --database "$pg" "$(pg_psql 'SELECT uuid FROM run')" back.sluice
"$sluice" print --csv big.sluice >a.csv
"$sluice" print --csv back.sluice >b.csv
cmp -s a.csv b.csv || fail "the exported trace differs"
