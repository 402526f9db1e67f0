#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tests of the store pass on a real PostgreSQL as they do on SQLite.
# Papers: SIOX-31, SIOX-33.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../libpg.sh"
pg_start fsync=off || skip postgresql

for unit in schema catalog durations elements entry_runs knowledge outcomes probes studies; do
	CHECK_DATABASE=$pg timeout "$limit" "$BUILD/tests/unit_store_$unit" >out 2>&1 || fail "$unit on PostgreSQL: $(cat out)"
done
for unit in site reader forget learn anomaly; do
	CHECK_DATABASE=$pg timeout "$limit" "$BUILD/tests/unit_site_$unit" >out 2>&1 || fail "$unit on PostgreSQL: $(cat out)"
done
# The tests leave no tables behind.
check_eq "$(pg_psql "SELECT count(*) FROM pg_tables WHERE schemaname LIKE 'sample%'")" 0 "tables of tests"
