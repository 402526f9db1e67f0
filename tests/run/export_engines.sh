#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The queries of docs/reference/queries.md for Polars and pandas run in these engines as they are on the page, and have
# the results of DuckDB. Neither the Python module of Polars nor a reader of Parquet for pandas is in Debian: the engine
# of Polars comes from npm (tests/engines/polars.py), and pandas gets a table that DuckDB has read.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
npm_install duckdb "$npm_duckdb" || skip duckdb
page=$SOURCE/docs/reference/queries.md
engines=$SOURCE/tests/engines
python=/usr/bin/python3
[ -x $python ] || python=python3

python3 "$SOURCE/tests/export_trace.py" 3 30 made.txt
"$sluice" trace export --slice 100us made.txt run.parquet 2>/dev/null

# query FILE.sql: the rows of each statement, one line of JSON each
query() {
	timeout "$limit" node "$SOURCE/tests/duckdb.mjs" "$npm_modules" "$1"
}
cat >expected.sql <<'END'
CREATE VIEW a AS FROM read_parquet('run.parquet/activities/**/*.parquet', hive_partitioning = true);
SELECT file, count(*) AS calls, sum(bytes_written)::BIGINT AS bytes_written, sum(duration_ns) / 1e9 AS seconds
FROM a WHERE layer = 'POSIX' AND file IS NOT NULL GROUP BY file;
SELECT rank, sum(duration_ns) / 1e9 AS seconds FROM a WHERE parent IS NULL AND class <> 'process' GROUP BY rank;
SELECT o.function AS function_outer, i.function AS function, count(*) AS inner_calls, sum(i.duration_ns) / 1e9 AS inner_s,
       count(*) / count(DISTINCT (o.process, o.id)) AS ratio
FROM a i JOIN a o ON o.process = i.process AND o.id = i.parent GROUP BY ALL;
SELECT start_ns // 1000000000 AS second, layer, sum(bytes_read) / 1e6 AS bytes_read, sum(bytes_written) / 1e6 AS bytes_written
FROM a GROUP BY ALL;
SELECT duration_ns FROM a ORDER BY duration_ns DESC LIMIT 20;
END
query expected.sql >expected || fail "DuckDB: $(cat expected)"

# check_results ENGINE: compares results.json with the rows of DuckDB
check_results() {
	python3 - "$1" <<'END' || fail "queries for $1: $(cut -c -400 results.json)"
import json, sys
files, ranks, edges, bandwidth, slowest = [json.loads(line) for line in open("expected", encoding="utf-8")][1:]
found = json.load(open("results.json", encoding="utf-8"))

def same(name, found, expected, keys, values):
    """The same values by key; {name here: name there} where they differ."""
    values = values if isinstance(values, dict) else {v: v for v in values}
    table = {tuple(str(row[k]) for k in keys): row for row in found}
    wanted = {tuple(str(row[k]) for k in keys): row for row in expected}
    assert table.keys() == wanted.keys() and len(found) == len(expected), (name, table.keys(), wanted.keys())
    for key, row in wanted.items():
        for mine, theirs in values.items():
            x, y = float(table[key][mine] or 0), float(row[theirs] or 0)
            assert abs(x - y) <= 1e-9 * max(abs(x), abs(y), 1), (name, key, mine, x, y)

def descending(rows, column):
    numbers = [float(row[column]) for row in rows]
    assert numbers == sorted(numbers, reverse=True), (column, numbers)

assert len(files) <= 20 and len(edges) == 2
if sys.argv[1] == "polars":
    assert found.keys() == {"top", "imbalance", "edges"}, found.keys()
    same("top", found["top"], files, ["file"], ["calls", "bytes_written", "seconds"])
    same("imbalance", found["imbalance"], ranks, ["rank"], ["seconds"])
    same("edges", found["edges"], edges, ["function_outer", "function"], ["inner_calls", "inner_s"])
    descending(found["top"], "seconds"), descending(found["imbalance"], "seconds"), descending(found["edges"], "inner_s")
else:
    same("top", found["top"], files, ["file"], {"count": "calls"})
    descending(found["top"], "sum")
    assert {r["file"]: r["sum"] / 1e9 for r in found["top"]} == {r["file"]: r["seconds"] for r in files}
    for row in bandwidth:
        row["start_ns"] = row["second"]
    same("bandwidth", found["bandwidth"], bandwidth, ["start_ns", "layer"], ["bytes_read", "bytes_written"])
    assert [r["duration_ns"] for r in found["slowest"]] == [int(r["duration_ns"]) for r in slowest]
    for row in found["ratio"]:
        row["ratio"] = row["0"]
    same("ratio", found["ratio"], edges, ["function_outer", "function"], ["ratio"])
END
}

# npm leaves out the engine of Polars if node is older than it wishes, so it is named.
machine=$(node -p process.arch)
if npm_install polars nodejs-polars@0.25.2 "nodejs-polars-linux-$machine-gnu@0.25.2"; then
	check_rc 0 python3 "$engines/page.py" "$page" polars
	cp out plans.json
	check_rc 0 timeout "$limit" node "$engines/polars.mjs" "$npm_modules" plans.json
	cp out results.json
	check_results polars
else
	skip_case polars
fi

if $python -c 'import pandas' 2>/dev/null; then
	cat >table.sql <<'END'
DESCRIBE SELECT * FROM read_parquet('run.parquet/activities/**/*.parquet', hive_partitioning = true);
SELECT * FROM read_parquet('run.parquet/activities/**/*.parquet', hive_partitioning = true);
END
	query table.sql >table.json || fail "DuckDB: $(cut -c -400 table.json)"
	check_rc 0 $python "$engines/page.py" "$page" pandas table.json
	cp out results.json
	check_results pandas
else
	skip_case python3-pandas
fi
