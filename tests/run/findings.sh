#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Serial programs that each do one thing badly have exactly that finding; programs that do it well have none. What the
# findings offer is tested by findings_fixes.sh.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/libfindings.sh"
patterns=$prog/patterns

expect small-requests "$patterns" small_writes data/f
query=$(json_get report.json '["findings"][0]["query"]')
eval "${query/sluice/\"$sluice\"}" >shown || fail "the query fails: $query"
check_eq "$(grep -c 'write(' shown)" 600 "calls that the query shows"
expect small-requests "$patterns" small_reads data/f
expect random-access "$patterns" random_reads data/f
expect random-access "$patterns" random_writes data/f
expect strided-reads "$patterns" strided_reads data/f
expect strided-reads "$patterns" backward_reads data/f
expect redundant-reads "$patterns" redundant_reads data/f
expect small-files "$patterns" small_files data/f
expect open-churn "$patterns" open_churn data/f
expect stat-storm "$patterns" stats data/f
expect stat-storm "$patterns" missing_stats data/f
expect metadata-storm "$patterns" directories data/f
expect metadata-storm "$patterns" renames data/f
expect sync-storm "$patterns" syncs data/f
expect mapped-io "$patterns" mapped data/f
expect stdio-buffer "$patterns" stream_small data/f
expect stdio-buffer "$patterns" stream_unbuffered data/f
expect stdio-large "$patterns" stream_large data/f
expect shared-contention "$patterns" interleaved data/f
expect unaligned-requests "$patterns" unaligned data/f
SLUICE_FINDINGS_MIN_TIME=100ms SLUICE_FINDINGS_TIME_PERCENT=1 expect lock-time "$patterns" locks data/f 500

# The same, done well.
for clean in large_writes large_reads few_files open_once one_stat one_sync stream_buffered stream_short aligned inherited flushes; do
	expect "" "$patterns" $clean data/f
done
expect "" "$patterns" locks data/f 0
expect "" cp "$(command -v bash)" data/copy
expect "" python3 -c 'print("hello")'

# What a person sees: the worst finding in the summary, all of them in the report, in a terminal and as JSON.
rm -rf data && mkdir data
check_rc 0 "$sluice" run --summary -o trace -- "$patterns" small_writes data/f
check_line err finding small-requests
check_rc 0 "$sluice" report trace
check_line out small-requests requests
check_line out sluice print
check_rc 0 "$sluice" report --findings trace
check_line out fix: c
check_rc 0 "$sluice" --set findings.min_calls=601 report --findings trace
check_has "$(cat out)" none
check_rc 2 "$sluice" report --findings --survey trace

# A run is compared with earlier runs of the same command in the directory of traces.
for delay in 0 0 0 0 0 5; do
	echo $delay >delay
	check_rc 0 "$sluice" run -- sh -c 'sleep $(cat delay)'
done
"$sluice" --set findings.min_time=1s report --json >report.json
check_eq "$(json_get report.json '["findings"][0]["code"]')" regression
check_words "$(json_get report.json '["findings"][0]["evidence"]')" median 5 runs
inspect
# A prediction names its source, and a missing one its reason. The program must take much longer than its start, also on a
# loaded machine, or no gain is predicted.
check_rc 0 "$sluice" run -o trace -- "$patterns" redundant_reads data/f 4000
check_rc 0 "$sluice" report --findings trace
check_line out "Predicted from" "causal chain"
check_rc 0 "$sluice" run -o trace -- "$patterns" random_reads data/f
check_rc 0 "$sluice" report --findings trace
check_line out "No gain is predicted"
