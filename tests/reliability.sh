#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: BUILD=TREE tests/reliability.sh [N [CTEST_OPTION]...]
# Runs the tests of `make check` N times (default 10) while LOAD busy processes (default 6) compete with them for the
# processors. Prints one row per pass and then each test that failed, with the number of passes in which it did. The
# output of failed tests is kept in TREE/reliability. Exits with 1 if any pass had a failure.
set -eu
cd "$(dirname "$0")/.."
passes=${1:-10}
[ $# = 0 ] || shift
build=${BUILD:-build}
results=$build/reliability
rm -rf "$results"
mkdir -p "$results"

busy=()
stop_load() {
	[ ${#busy[@]} = 0 ] || kill "${busy[@]}" 2>/dev/null || true
}
trap stop_load EXIT
trap 'exit 130' INT TERM
for ((i = 0; i < ${LOAD:-6}; i++)); do
	while :; do :; done &
	busy+=($!)
done

failed=0
printf '%4s  %-20s  %8s  %s\n' pass started seconds result
for ((pass = 1; pass <= passes; pass++)); do
	log=$results/pass-$pass.log
	started=$(date -u +'%Y-%m-%d %H:%M:%S') SECONDS=0
	python3 tests/check.py "$build" check -j "${JOBS:-$(nproc)}" --label-exclude 'deep|programs|long|packages|cluster' "$@" >"$log" 2>&1 || failed=1
	printf '%4d  %-20s  %8d  %s\n' "$pass" "$started" "$SECONDS" "$(tail -n 1 "$log")"
	sed -n 's/^failed: \([^:]*\).*/\1/p' "$log" >>"$results/failed"
done
echo
if [ -s "$results/failed" ]; then
	printf '%8s  %s\n' failures test
	sort "$results/failed" | uniq -c | sort -rn | awk '{ printf "%8d  %s\n", $1, $2 }'
else
	echo "no test failed in $passes passes"
fi
exit $failed
