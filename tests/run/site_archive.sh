#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# DuckDB queries the archive of a site as docs/reference/site.md shows it: it has the calls that left the database.
: "${BUILD:?names the build tree}"
. "$(dirname "$0")/../libnpm.sh"
. "$(dirname "$0")/libtest.sh"
npm_install duckdb @duckdb/node-api@1.5.6-r.1 || skip duckdb

export SLUICE_SITE_DATABASE=$work/site.db SLUICE_SITE_ARCHIVE=$work/archive SLUICE_SITE_KEEP_ACTIVITIES=1ns
total=0
for i in 1 2 3; do
	"$sluice" run --quiet -o $i.sluice -- dd if=/dev/zero of=data.$i bs=100 count=$((i * 10)) 2>/dev/null
	total=$((total + $("$sluice" print --csv $i.sluice | wc -l) - 1))
	check_rc 0 "$sluice" site import --sample 1 $i.sluice
done
check_rc 0 "$sluice" site archive --json
check_eq "$(json_get out '["activities"]')" "$total" "archived calls"
check_eq "$("$sluice" site query --csv 'SELECT count(*) FROM activity' | tail -n 1)" 0 "calls in the database"
{
	python3 - "$SOURCE/docs/reference/site.md" <<'END'
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
print(*(sql for sql in re.findall(r"^```sql\n(.*?)^```$", page, re.M | re.S) if "read_parquet" in sql))
END
	echo "SELECT count(*) AS calls FROM read_parquet('archive/run=*/activities/**/*.parquet', hive_partitioning = true);"
} >query.sql
check_rc 0 timeout "$limit" node "$SOURCE/tests/duckdb.mjs" "$npm_modules" query.sql
python3 - "$total" <<'END' || fail "the archive: $(cut -c -300 out)"
import json, sys
rows, count = (json.loads(line) for line in open("out"))
assert count[0]["calls"] == sys.argv[1], count
written = sorted(int(row["written"]) for row in rows if row["function"] == "write" and int(row["written"]) >= 1000)
assert written == [1000, 2000, 3000], rows
assert len({row["run"] for row in rows}) == 3, rows
END
