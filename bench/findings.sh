#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How accurate the predicted gains of findings are. Programs that do one thing badly (tests/prog/patterns.c,
# tests/mpi/datasets.c) run with recording; their reports predict a gain for one finding. The same programs then run with
# the fix: corrected, or with the parameters that the finding offers. Runs of both are interleaved. The measured gain is the
# ratio of the medians of the run times. Cases whose program is too fast for this machine to show a gain (measured less
# than 1.1, predicted less than 1.1), or that have no prediction, do not count. At least 80 % of the others must be within a factor of 1.5.
# BUILD names the build tree, FINDINGS_DIR the directory for files, FINDINGS_RUNS the number of pairs of runs.
set -eu
BUILD=${BUILD:-build}
. "$(dirname "$0")/libbench.sh"
runs=${FINDINGS_RUNS:-7}
bar_share=80 bar_factor=1.5 least=1.1
sluice=$BUILD/sluice patterns=$BUILD/prog/patterns datasets=$BUILD/mpi/serial/datasets
work=$(mktemp -d "${FINDINGS_DIR:-/tmp}/sluice-bench.XXXXXX")
trap 'cd /; rm -rf "$work"' EXIT
cd "$work"
for variable in $(compgen -e SLUICE_ || true); do
	unset "$variable"
done
export LC_ALL=C HOME=$work SLUICE_ETC=/dev/null XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work
export SLUICE_FINDINGS_MIN_TIME=10ms SLUICE_TUNE_APPLY=off

# record FILE COMMAND...: runs the command (its first words may be options of `sluice run`) and adds its run time in seconds
record() {
	local to=$1
	shift
	rm -rf data && mkdir data
	"$sluice" run -q -o trace "$@" >out 2>err || { cat err >&2 && exit 1; }
	"$sluice" report --json trace >report.json
	python3 -c 'import json; print(json.load(open("report.json"))["run"]["duration_ns"] / 1e9)' >>"$to"
}

# predicted CODE: the predicted gain in the last report; 0 if there is none
predicted() {
	python3 - "$1" <<'END'
import json, sys
found = [f for f in json.load(open("report.json"))["findings"] if f["code"] == sys.argv[1] and f["predicted"]]
print(found[0]["predicted"]["gain"] if found else 0)
END
}

say "finding                predicted  measured  ratio"
counted=0 good=0

# compare CODE "BAD COMMAND" "GOOD COMMAND": the commands are arguments of `sluice run`
compare() {
	local code=$1 i gain expected ratio
	rm -f bad good gains
	for i in $(seq "$runs"); do
		# shellcheck disable=SC2086
		record bad $2
		predicted "$code" >>gains
		# shellcheck disable=SC2086
		record good $3
	done
	expected=$(median gains)
	gain=$(awk -v a="$(median bad)" -v b="$(median good)" 'BEGIN { printf "%.3f", a / b }')
	ratio=$(awk -v a="$expected" -v b="$gain" 'BEGIN { printf "%.2f", a / b }')
	printf '%-22s %9.2f %9.2f %6s' "$code" "$expected" "$gain" "$ratio"
	if less "$expected" 1; then
		say "  not predicted"
		return
	elif less "$expected" $least && less "$gain" $least; then
		say "  too small to be measured"
		return
	fi
	say ""
	counted=$((counted + 1))
	if less "$ratio" "$bar_factor" && less "$(awk -v b="$bar_factor" 'BEGIN { print 1 / b }')" "$ratio"; then
		good=$((good + 1))
	fi
}

compare redundant-reads "-- $patterns redundant_reads data/f 2000" "-- $patterns redundant_reads data/f 1"
compare open-churn "-- $patterns open_churn data/f 4000" "-- $patterns open_once data/f 4000"
compare stat-storm "-- $patterns stats data/f 200000" "-- $patterns stats data/f 1"
compare sync-storm "-- $patterns syncs data/f 300" "-- $patterns one_sync data/f 300"
compare lock-time "-- $patterns locks data/f 500" "-- $patterns locks data/f 0"
if [ -x "$datasets" ]; then
	compare chunk-cache "-- $datasets thrashing data/f" "-p rdcc_nbytes=16M -- $datasets thrashing data/f"
	compare write-amplification "-- $datasets filled data/f" "-- $datasets unfilled data/f"
fi
key cases "$counted"
key within "$good"
key runs "$runs"
[ $((good * 100)) -ge $((counted * bar_share)) ] || miss "$good of $counted predictions are within a factor of $bar_factor"
printf '%s' "$missed"
say "bench findings:$keys"
[ "$failed" = 0 ]
