#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What one database sustains: a simulated centre of 1,000 nodes with 64 processes each sends ten minutes of site time to a
# private PostgreSQL (bench/centre.c). Every node completes 5 runs of 64 processes in that time. The runs are copies of one
# that `sluice run` records here. The time is compressed: senders do not wait for site time, so the result is the rate at
# which the server is saturated, for several shares of activities and numbers of connections. Rows are counted afterwards.
# BUILD names the build tree, CENTRE_DIR a directory on the disk to measure, CENTRE_SECONDS the wall time of a case,
# CENTRE_CALLS the calls of a process.
set -eu
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/libbench.sh"
exit_commands=
at_exit() {
	exit_commands="$1; $exit_commands"
	trap 'cd /; eval "$exit_commands"' EXIT
}
. "$here/../tests/libpg.sh"
nodes=1000 processes=64 runs=5 site_seconds=600
seconds=${CENTRE_SECONDS:-15} calls=${CENTRE_CALLS:-1000}
work=$(mktemp -d "${CENTRE_DIR:-${TMPDIR:-/tmp}}/sluice-bench.XXXXXX")
at_exit 'rm -rf "$work"'
cd "$work"
isolate "$work"
pg_start shared_buffers=256MB max_wal_size=4GB || { miss "PostgreSQL is not installed" && finish centre; exit 1; }
mkdir files
SLUICE_OVERHEAD_BUDGET=0 "$BUILD/sluice" run -q -o node.sluice -- \
	"$BUILD/bench/bench_clients" $processes "$calls" 1 one "$work/files" >/dev/null
"$BUILD/sluice" site init --database "$pg" >/dev/null

# server_cpu: CPU seconds of all processes of the server, also of those that have ended
server_cpu() {
	local pid
	for pid in "$pg_pid" $(pgrep -P "$pg_pid"); do
		cat "/proc/$pid/stat" 2>/dev/null || true
	done | awk -v hz="$(getconf CLK_TCK)" '{ t += $14 + $15 + $16 + $17 } END { printf "%.2f\n", t / hz }'
}

# centre_case CONNECTIONS SAMPLE [SECONDS]: prints a row of the table; sets $sustained, the
# number of such nodes, and $sent, the number of runs
centre_case() {
	local rows=0 activities=0 bytes=0 elapsed=1 cpu=0 used before size wal
	sent=0
	pg_psql "TRUNCATE $(pg_psql "SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables WHERE schemaname = 'sluice'
		AND tablename IN ('run', 'run_process', 'run_file', 'run_call', 'run_host', 'run_loss', 'run_counter', 'statistic',
		'sample', 'note', 'aggregate', 'activity', 'finding', 'source')")"
	pg_psql CHECKPOINT
	before=$(server_cpu) size=$(pg_psql "SELECT pg_database_size('sluice')") wal=$(pg_psql 'SELECT pg_current_wal_lsn()')
	read -r sent rows activities bytes elapsed cpu < <("$BUILD/bench/bench_centre" node.sluice "$pg" $nodes $runs "$1" "$2" \
		"${3:-$seconds}") || true
	# The server adds up the time of a connection when it has noticed its end.
	sleep 1
	used=$(awk -v a="$(server_cpu)" -v b="$before" 'BEGIN { print a - b }')
	[ "$sent" != 0 ] || { miss "the case with $1 connections and sample $2 failed" && return; }
	[ "$(pg_psql 'SELECT count(*) FROM run')" = "$sent" ] || miss "the database has not $sent runs"
	[ "$(pg_psql 'SELECT count(*) FROM activity')" = "$activities" ] || miss "the database has not $activities activities"
	[ "$(pg_psql 'SELECT count(*) FROM run LEFT JOIN (SELECT run, count(*) AS n FROM activity GROUP BY run) a
		ON a.run = run.id WHERE kept <> coalesce(n, 0)')" = 0 ] ||
		miss "some runs are incomplete"
	size=$(($(pg_psql "SELECT pg_database_size('sluice')") - size))
	wal=$(pg_psql "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '$wal')::bigint")
	read -r sustained per_day wal_day < <(awk -v r="$sent" -v e="$elapsed" -v n=$nodes -v k=$runs -v s=$site_seconds -v z="$size" \
		-v w="$wal" 'BEGIN { need = n * k / s; day = need * 86400 / r
			printf "%.0f %.1f %.1f\n", n * (r / e) / need, z * day / 1e9, w * day / 1e9 }')
	say "$(awk -v c="$1" -v m="$2" -v r="$sent" -v w="$rows" -v a="$activities" -v b="$bytes" -v e="$elapsed" -v g="$cpu" \
		-v p="$used" -v u="$sustained" -v d="$per_day" -v l="$wal_day" \
		'BEGIN { printf "%11d %6d %7.1f %9.0f %7.1f %8.0f %8.2f %8.2f %9d %9.1f %9.1f", c, m, r / e, w / e, b / e / 1e6,
			w / r, p / e, g / e, u, d, l }')"
}

say "a run: $processes processes, $("$BUILD/sluice" print --csv node.sluice | wc -l) calls; the centre completes" \
	"$(awk "BEGIN { printf \"%.2f\", $nodes * $runs / $site_seconds }") runs per second"
say "connections sample  runs/s    rows/s    MB/s rows/run  CPU srv CPU send     nodes    GB/day   GB WAL/day"
# The whole ten minutes of site time
centre_case 4 100 $site_seconds
[ "$sent" = $((nodes * runs)) ] || miss "the database took $sent of $((nodes * runs)) runs in $site_seconds s"
key nodes_whole "$sustained"
for connections in 1 2 4 8; do
	centre_case $connections 100
	key "nodes_${connections}_connections" "$sustained"
done
centre_case 4 0
key nodes_without_activities "$sustained"
less 999 "$sustained" || miss "one database sustains $sustained nodes without activities, not 1000"
centre_case 4 10
key nodes_tenth "$sustained"
centre_case 4 1
key nodes_complete "$sustained"
finish centre
