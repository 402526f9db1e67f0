#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How much a site takes in: messages to the daemon (ingest_daemon.sh, if it was built), and activities per second into the
# trace container, into SQLite and into a real PostgreSQL on a unix socket (bench/ingest.c). The server syncs every
# transaction to disk. Rows are counted afterwards by the engines themselves. All parts run one after the other.
# BUILD names the build tree, INGEST_DIR a directory on the disk to measure, INGEST_ACTIVITIES their number in millions.
set -eu
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/libbench.sh"
# Commands that run at the end, the last one first.
exit_commands=
at_exit() {
	exit_commands="$1; $exit_commands"
	trap 'cd /; eval "$exit_commands"' EXIT
}
. "$here/../tests/libpg.sh"
millions=${INGEST_ACTIVITIES:-5}
work=$(mktemp -d "${INGEST_DIR:-${TMPDIR:-/tmp}}/sluice-bench.XXXXXX")
at_exit 'rm -rf "$work"'
cd "$work"
isolate "$work"
ingest=$BUILD/bench/bench_ingest
sluice=$BUILD/sluice

# bar NAME TITLE LEAST COMMAND...: runs the command three times; the median rate must be at least LEAST
bar() {
	local name=$1 title=$2 least=$3 rate count seconds round
	shift 3
	: >rates
	for round in 1 2 3; do
		rate=
		read -r count seconds rate < <("$@") || true
		[ -n "$rate" ] || { miss "$title failed" && return; }
		echo "$rate" >>rates
		say "$(printf '%-12s %9d activities in %6.2f s: %10d activities/s' "$title" "$count" "$seconds" "$rate")"
	done
	rate=$(median rates)
	! less "$rate" "$least" || miss "$title: $rate activities/s, not $least"
	key "${name}_per_s" "$rate"
}

# check_rows TITLE ACTUAL EXPECTED
check_rows() {
	[ "$2" = "$3" ] || miss "$1 has $2 rows, not $3"
}

if [ -e "$here/ingest_daemon.sh" ]; then
	. "$here/ingest_daemon.sh"
	ingest_daemon
fi

bar container container 5000000 "$ingest" trace container.sluice $((millions * 1000000))
check_rows container "$(($("$sluice" print --csv container.sluice | wc -l) - 1))" $((millions * 1000000))
# A fifth is enough for the databases.
"$ingest" trace part.sluice $((millions * 200000)) >/dev/null

sqlite_round() {
	rm -f store.db
	"$ingest" store part.sluice "$work/store.db"
}
bar sqlite SQLite 300000 sqlite_round
check_rows SQLite "$(sqlite3 store.db 'SELECT count(*) FROM activity')" $((millions * 200000))

if pg_start shared_buffers=256MB max_wal_size=4GB; then
	"$sluice" site init --database "$pg" >/dev/null
	postgres_round() {
		pg_psql 'DELETE FROM source; TRUNCATE activity' >/dev/null
		"$ingest" store part.sluice "$pg"
	}
	bar postgresql PostgreSQL 300000 postgres_round
	check_rows PostgreSQL "$(pg_psql 'SELECT count(*) FROM activity')" $((millions * 200000))
	check_rows "PostgreSQL (distinct)" "$(pg_psql 'SELECT count(*) FROM (SELECT DISTINCT run, process, id FROM activity) a')" $((millions * 200000))
else
	miss "PostgreSQL is not installed"
fi
finish ingest
