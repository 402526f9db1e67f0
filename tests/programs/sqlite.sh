#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# SQLite: processes that write to one database at the same time, imports, memory-mapped access, full-text search.
. "$(dirname "$0")/libprograms.sh"
need sqlite3 sqlite3

for mode in delete truncate persist wal; do
	compare_script "concurrent writers, journal_mode=$mode" '
sqlite3 data.db "PRAGMA journal_mode='$mode'; CREATE TABLE t (writer INTEGER, n INTEGER, text TEXT);" >/dev/null
pids=
for writer in 1 2 3 4; do
	{
		echo ".timeout 600000"
		for n in $(seq 60); do
			echo "INSERT INTO t VALUES ($writer, $n, hex(zeroblob($n)));"
		done
	} | sqlite3 data.db &
	pids="$pids $!"
done
for pid in $pids; do
	wait $pid
done
sqlite3 data.db "SELECT writer, count(*), sum(n), sum(length(text)) FROM t GROUP BY writer ORDER BY writer"
sqlite3 data.db "PRAGMA integrity_check; PRAGMA wal_checkpoint(TRUNCATE);"
rm -f data.db*'
done

compare_script "import, index, mmap, full text, attach, backup" '
seq 1 100000 | awk "{ print \$1 \",word\" \$1 % 977 \",\" \$1 * 7 % 1000003 }" >rows.csv
sqlite3 data.db <<SQL
PRAGMA page_size=8192;
PRAGMA mmap_size=268435456;
PRAGMA synchronous=FULL;
CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT, value INTEGER);
.mode csv
.import rows.csv t
CREATE INDEX t_word ON t (word, value);
CREATE VIRTUAL TABLE f USING fts5 (word);
INSERT INTO f SELECT word FROM t WHERE id % 10 = 0;
SELECT count(*) FROM f WHERE f MATCH "word77";
SELECT word, count(*), sum(value) FROM t GROUP BY word ORDER BY 3 DESC LIMIT 5;
UPDATE t SET value = value + 1 WHERE id % 3 = 0;
DELETE FROM t WHERE id % 5 = 0;
ATTACH "other.db" AS other;
CREATE TABLE other.t AS SELECT * FROM t WHERE value < 1000;
SELECT count(*) FROM other.t;
DETACH other;
VACUUM;
REINDEX;
ANALYZE;
PRAGMA integrity_check;
.backup copy.db
.output dump.sql
.dump
SQL
md5sum dump.sql
sqlite3 restored.db <dump.sql
sqlite3 restored.db "SELECT count(*), sum(value) FROM t; PRAGMA integrity_check"
sqlite3 copy.db "VACUUM INTO '"'small.db'"'"
sqlite3 small.db "SELECT count(*) FROM t"
! sqlite3 -readonly data.db "DELETE FROM t" 2>/dev/null
head -c 5000 data.db >damaged.db
! sqlite3 damaged.db "SELECT count(*) FROM t" 2>/dev/null'
