#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# PostgreSQL on a unix socket: initdb, pgbench, a crash and its recovery, dump and restore. PostgreSQL refuses to run as
# root, so root runs everything as the user nobody.
. "$(dirname "$0")/libprograms.sh"
for bin in /usr/lib/postgresql/*/bin; do
	[ -x "$bin/initdb" ] && [ -x "$bin/pgbench" ] && export PATH="$bin:$PATH"
done
need postgresql initdb pgbench pg_ctl psql pg_dump

if [ "$(id -u)" = 0 ]; then
	need util-linux setpriv
	run_as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	"${run_as[@]}" test -r "$sluice" || skip nobody
	chown -R nobody:nogroup "$work" "$spools"
fi

normalize() {
	sed -E 's/(latency average|initial connection time|tps) = .*/\1 = ?/; s/^(done in|[0-9]+ of [0-9]+ tuples).*/\1 ?/; s/in [0-9.]+ s \(.*\)/?/; s/elapsed [0-9.]+ s, remaining [0-9.]+ s/?/'
}
compare_script "initdb, pgbench, crash, recovery, dump" '
export PGDATA="$PWD/data" PGHOST="$PWD" PGUSER=tester PGDATABASE=postgres LC_ALL=C TZ=UTC
initdb -U tester -A trust --data-checksums -N -E UTF8 --locale=C >initdb.log
cat >>data/postgresql.conf <<CONF
listen_addresses = '"''"'
unix_socket_directories = '"'\$PWD'"'
fsync = on
autovacuum = off
shared_buffers = 16MB
max_connections = 20
log_destination = stderr
CONF
pg_ctl -w -t 600 -l log start >/dev/null
psql -qAtc "SELECT 1"
pgbench -q -i -s 2 2>/dev/null
pgbench -n -c 4 -j 2 -t 100 | grep -v "^pgbench"
pgbench -n -c 2 -t 50 -S -M prepared | grep "actually processed"
psql -qAt <<SQL
SELECT count(*), sum(abalance) = (SELECT sum(bbalance) FROM pgbench_branches) FROM pgbench_accounts;
CREATE TABLE texts AS SELECT i, repeat(md5(i::text), 100) AS text FROM generate_series(1, 2000) AS i;
CREATE INDEX ON texts (md5(text));
SELECT count(*), md5(string_agg(text, NULL ORDER BY i)) FROM texts;
COPY texts TO PROGRAM '"'md5sum >copied'"';
SELECT pg_size_pretty(pg_relation_size('"'texts'"')) IS NOT NULL;
CHECKPOINT;
INSERT INTO texts SELECT i, i::text FROM generate_series(3000, 4000) AS i;
SQL
pg_ctl -m immediate stop >/dev/null
pg_ctl -w -t 600 -l log start >/dev/null
psql -qAtc "SELECT count(*), md5(string_agg(text, NULL ORDER BY i)) FROM texts"
psql -qAtc "VACUUM FULL texts" -c "REINDEX TABLE texts" -c "SELECT count(*) FROM texts"
pg_dump -Fc -t texts -f dump
psql -qc "CREATE DATABASE other"
pg_restore -d other dump
psql -qAt -d other -c "SELECT count(*), md5(string_agg(text, NULL ORDER BY i)) FROM texts"
pg_dump -t texts | grep -vE "^(--|.(un)?restrict )" | md5sum
pg_basebackup -D backup -X fetch -c fast
pg_verifybackup -q -n backup
pg_ctl -m fast stop >/dev/null
pg_checksums --check -D data | grep -E "Bad checksums|Data checksum version"
cat copied 2>/dev/null || cat data/copied
rm -rf data backup dump log initdb.log copied'
