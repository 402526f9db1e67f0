#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A real query engine reads Parquet exports: every column of every table equals that of the trace, and the queries of
# docs/reference/queries.md run.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
npm_install duckdb "$npm_duckdb" || skip duckdb

# query FILE.sql: the rows of each statement go to $work/out as one line of JSON
query() {
	check_rc 0 timeout "$limit" node "$SOURCE/tests/duckdb.mjs" "$npm_modules" "$1"
}

# check_export TRACE [OPTION]...: exports the trace and compares what the engine reads with it
check_export() {
	local trace=$1 table
	shift
	rm -rf run.parquet expected.txt
	"$sluice" trace export "$@" "$trace" run.parquet 2>/dev/null
	"$sluice" print --csv "$trace" >expected.csv 2>/dev/null
	"$sluice" trace convert "$trace" expected.txt 2>/dev/null
	{
		echo "SELECT * FROM read_parquet('run.parquet/activities/**/*.parquet', hive_partitioning = true)"
		echo "ORDER BY start_ns, process, id;"
		for table in run processes files calls aggregates losses hosts statistics samples notes; do
			echo "FROM 'run.parquet/$table.parquet';"
		done
	} >tables.sql
	query tables.sql
	python3 "$SOURCE/tests/export_check.py" out expected.txt expected.csv || fail "$trace $*: Parquet differs from the trace"
}

# Unusual numbers, absent fields and hostile names; then several slices, and several passes over the trace.
python3 "$SOURCE/tests/export_trace.py" 3 100 made.txt
check_export made.txt
check_export made.txt --slice 1ms --memory 64K
[ "$(find run.parquet/activities -name '*.parquet' | wc -l)" -gt 4 ] || fail "there is only one slice"

# A real run with threads and processes.
"$sluice" run --quiet -o real.sluice -- sh -c 'tar -cf a.tar -C "$0" tests/run && gzip <a.tar >a.gz' "$SOURCE"
check_export real.sluice

# Several row groups: sums, and types and statistics as the engine sees them.
python3 "$SOURCE/tests/export_trace.py" 0 26000 large.txt
rm -rf run.parquet
"$sluice" trace export large.txt run.parquet 2>/dev/null
"$sluice" print --csv large.txt >expected.csv 2>/dev/null
columns='count(*), sum(start_ns), sum(duration_ns), sum(result), sum(size), count(size), sum("offset"), count("offset"),
	sum(span), sum(variable), count(file), count(DISTINCT file), sum(length(file)), count(name), max(function)'
cat >sums.sql <<END
SELECT $columns FROM read_parquet('run.parquet/activities/**/*.parquet', hive_partitioning = true);
SELECT $columns FROM read_csv('expected.csv', header = true);
END
query sums.sql
check_eq "$(head -n 1 out)" "$(tail -n 1 out)" "sums of the columns"
cat >types.sql <<'END'
SELECT started::VARCHAR AS started, typeof(started) AS type, epoch_ns(started) AS ns FROM 'run.parquet/run.parquet';
SELECT typeof(start_ns) AS start_ns, typeof(error) AS error, typeof(file) AS file, typeof(rank) AS rank
FROM read_parquet('run.parquet/activities/**/*.parquet', hive_partitioning = true) LIMIT 1;
SELECT max(row_group_id) > 0 AS groups, bool_and(stats_min_value IS NOT NULL) AS minima,
       bool_and(compression = 'ZSTD') AS packed
FROM parquet_metadata('run.parquet/activities/**/*.parquet') WHERE path_in_schema IN ('start_ns', 'layer');
SELECT decode(value) AS schema FROM parquet_kv_metadata('run.parquet/run.parquet') WHERE decode(key) = 'sluice.schema';
END
query types.sql
python3 - <<'END' || fail "types: $(cat out)"
import json
run, types, groups, schema = (json.loads(line)[0] for line in open("out"))
assert run["type"] == "TIMESTAMP WITH TIME ZONE" and run["ns"] == "1700000000123456000", run
assert types == {"start_ns": "BIGINT", "error": "INTEGER", "file": "VARCHAR", "rank": "BIGINT"}, types
assert groups == {"groups": True, "minima": True, "packed": True}, groups
assert schema == {"schema": "sluice.parquet/1"}, schema
END

# The queries of the documentation, on the generated trace: each one has a result that makes sense.
rm -rf run.parquet
"$sluice" trace export made.txt run.parquet 2>/dev/null
python3 - "$SOURCE/docs/reference/queries.md" >page.sql <<'END'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
print(*re.findall(r"^```sql\n(.*?)^```$", page, re.M | re.S))
print(*(sql + ";" for sql in re.findall(r'spark\.sql\("""(.*?)"""\)', page, re.S)), sep="\n")
for code in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S):
    compile(code, "queries.md", "exec")
END
query page.sql
python3 - <<'END' || fail "queries of the page: $(cut -c -300 out)"
import json
rows = [json.loads(line) for line in open("out", encoding="utf-8")][3:]
files, bandwidth, slowest, edges, ranks, stragglers, nodes, run, *spark = rows
assert len(spark) == 3 and all(spark) and spark[0][0]["file"] == files[0]["file"], spark
assert files[0]["file"].startswith("/data/gr") and files[0]["bytes_written"] == str(4 * 100 * 2 * 8192), files
assert {r["layer"] for r in bandwidth} == {"HDF5", "MPI", "POSIX"}, bandwidth
assert len(slowest) == 20 and slowest[0]["ms"] >= slowest[-1]["ms"]
inner = {(r["outer_call"], r["inner_call"]): r for r in edges}
edge = inner["MPI_File_write_at_all", "pwrite64"]
assert (edge["calls_ratio"], edge["byte_ratio"]) == (2, 4) and edge["outer_calls"] == "400", edge
assert {r["rank"] for r in ranks} == {"-1", "0", "1", "2"} and abs(sum(r["times_mean"] for r in ranks) - 4) < 1e-9, ranks
assert len(stragglers) == 20 and stragglers[0]["ranks"] == "4" and stragglers[0]["wait_ms"] > 0, stragglers
assert len(run) == 1 and int(run[0]["exit_status"]) == 3, run
END
