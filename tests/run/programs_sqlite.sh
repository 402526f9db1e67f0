#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Real programs: sqlite3 with a real workload, in both journal modes.
. "$(dirname "$0")/libtorture.sh"
command -v sqlite3 >/dev/null || skip sqlite3

for mode in delete wal; do
	program "sqlite3, journal_mode=$mode" 1000 "sqlite3 data.db <<'SQL'
PRAGMA journal_mode=$mode;
CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL, blob BLOB);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
INSERT INTO t SELECT i, 'name ' || i, i * 1.5, zeroblob(i % 300) FROM n;
COMMIT;
CREATE INDEX t_name ON t (name);
SELECT count(*), sum(value), sum(length(blob)) FROM t;
SELECT * FROM t WHERE name = 'name 4711';
$(for i in $(seq 100); do echo "UPDATE t SET value = value + $i WHERE id % 101 = $i;"; done)
DELETE FROM t WHERE id % 7 = 0;
SAVEPOINT s; DELETE FROM t; ROLLBACK TO s; RELEASE s;
CREATE VIEW v AS SELECT name, value FROM t WHERE value > 100;
SELECT count(*) FROM v;
PRAGMA integrity_check;
VACUUM;
PRAGMA integrity_check;
PRAGMA wal_checkpoint(TRUNCATE);
SQL
sqlite3 data.db .dump | md5sum
sqlite3 -readonly data.db 'SELECT max(id) FROM t; PRAGMA quick_check;'
sqlite3 data.db '.backup copy.db'
sqlite3 copy.db 'SELECT count(*) FROM t'
rm -f data.db-shm data.db-wal"
	check_least 50 'function in ("pwrite64", "pwrite", "write") and file in ("data.db", "data.db-wal", "data.db-journal")'
	check_least 1 'function in ("fsync", "fdatasync") and file.startswith("data.db")'
done
