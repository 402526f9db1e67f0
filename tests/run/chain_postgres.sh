#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# PostgreSQL and its clients, each under `sluice run`: the server forks a process per connection, which inherits the
# accepted socket. Each INSERT of psql leads to the write of its backend to exactly the part of the write-ahead log that
# the server itself names, to its fdatasync and to the reply; so does COPY, whose rows are sent by many calls. Each
# connection of pgbench leads to a backend of its own.
# Papers: SIOX-11.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../libpg.sh"
command -v psql >/dev/null && command -v pgbench >/dev/null || skip postgresql
# Only the backend of a connection may write the log because of it: no other process does so within the test. Segments
# have their default size of 16 MiB.
pg_start autovacuum=off wal_level=minimal max_wal_senders=0 checkpoint_timeout=1h jit=off \
	password_encryption=scram-sha-256 || skip postgresql
pg_as test -x "$sluice" || skip nobody
inserts=50
password=$(cat /proc/sys/kernel/random/uuid)
pg_psql "CREATE TABLE public.rows (number int, text text); ALTER TABLE public.rows ALTER text SET STORAGE EXTERNAL; ALTER ROLE \"$(id -un)\" PASSWORD '$password'"
kill -INT "$pg_pid"
wait "$pg_pid"

# start_server: again, under sluice and on a port that was free; another process may have taken it since
start_server() {
	local try
	pg_under=(env HOME="$pg_dir" "$sluice" run -o "$pg_dir/server.sluice" --)
	printf 'host all all 127.0.0.1/32 scram-sha-256\n' >>"$pg_dir/data/pg_hba.conf"
	for try in 1 2 3 4 5; do
		export PGPORT=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
		printf "listen_addresses = '127.0.0.1'\nport = %s\n" "$PGPORT" >>"$pg_dir/data/postgresql.conf"
		pg_run && return
		wait "$pg_pid" || true
	done
	fail "PostgreSQL does not start: $(tail -n 5 "$pg_dir/log")"
}
sed -i '/^host/d' "$pg_dir/data/pg_hba.conf"
start_server
export PGHOST=127.0.0.1 PGDATABASE=sluice PGPASSWORD=$password PGUSER=$(id -un)
# On a slow machine, the process that writes the log in the background would come before a backend now and then. It is
# stopped while it waits for work: anywhere else it might hold a lock that the backends need.
log_writer=$(psql -qAtXc "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")
at_exit "kill -CONT $log_writer 2>/dev/null"
stop_log_writer() {
	kill -STOP "$log_writer"
	wait_for "stopped process" grep -q '^State:.*T (stopped)' "/proc/$log_writer/status"
	[ "$(psql -qAtXc "SELECT wait_event FROM pg_stat_activity WHERE pid = $log_writer")" = WalWriterMain ] && return
	kill -CONT "$log_writer"
	return 1
}
wait_for "idle log writer" stop_log_writer

# Each INSERT has another length and needs more than a page of the log. After it, the server is asked for the end of the
# log that is on storage.
{
	echo "SELECT pg_backend_pid();"
	for i in $(seq $inserts); do
		printf "INSERT INTO rows VALUES (%d, '%0*d');\nSELECT pg_current_wal_flush_lsn();\n" "$i" "$((9000 + i))" 0
	done
	echo "COPY rows FROM STDIN;"
	awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d\t%050d\n", i, i; print "\\." }'
	echo "SELECT pg_current_wal_flush_lsn();"
} >statements
timeout "$limit" "$sluice" run -o client.sluice -- psql -qAtX -v ON_ERROR_STOP=1 -f statements >answers
check_eq "$(wc -l <answers)" $((inserts + 2)) "answers of psql"
timeout "$limit" pgbench -i -q sluice >bench.log 2>&1 || fail "$(cat bench.log)"
timeout "$limit" "$sluice" run -o bench.sluice -- pgbench -n -c 4 -j 2 -t 25 sluice >bench.log 2>&1 || fail "$(cat bench.log)"
check_line bench.log processed 100/100
kill -CONT "$log_writer"
kill -INT "$(head -n 1 "$pg_dir/data/postmaster.pid")"
wait "$pg_pid" || fail "the server has failed: $(tail -n 5 "$pg_dir/log")"

"$sluice" trace merge --join -o both.sluice client.sluice "$pg_dir/server.sluice" >/dev/null
"$sluice" print --json both.sluice >print.json 2>/dev/null
python3 "$SOURCE/tests/run/chain_postgres.py" inserts print.json statements answers >first
# The tree of the first INSERT: its receive in the backend, what the backend did for it, and the reply. The backend also
# extends the file of the table.
"$sluice" print --tree --call "$(cat first)" both.sluice 2>/dev/null >tree
check_eq "$(cut -c43- tree | sed 's/(.*//' | grep -E '^(send|  recv|    pwrite(64)?|    fdatasync|    send|      recv)$' | tr -d ' ' |
	sed s/pwrite64/pwrite/ | uniq | tr '\n' ' ')" "send recv pwrite fdatasync send recv " "tree of one INSERT"

"$sluice" trace merge --join -o bench-both.sluice bench.sluice "$pg_dir/server.sluice" >/dev/null
"$sluice" print --json bench-both.sluice >print.json 2>/dev/null
python3 "$SOURCE/tests/run/chain_postgres.py" bench print.json 4
