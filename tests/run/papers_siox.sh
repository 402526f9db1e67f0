#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The measurements of the SIOX paper on this machine, by `sluice lab reproduce siox`, and the rates of messages, files and
# database. All of these depend on the machine and its load, so they are reported, not asserted.
# PAPER_SECONDS is the CPU time of each process of the application (default 100).
# Papers: SIOX-57 to SIOX-61.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libpapers.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
: "${SOURCE:?names the source tree}"
[ -x "$BUILD/mpi/mpich/climate" ] && command -v mpiexec.mpich >/dev/null || skip libmpich-dev
[ -x "$BUILD/bench/bench_ingest" ] || fail "the benchmarks were not built: cmake --build BUILD --target benches"

# ---- rates ----

INGEST_ACTIVITIES=1 MESSAGES=50000 ROUNDS=3 BUILD=$BUILD bash "$SOURCE/bench/ingest.sh" >ingest.out 2>ingest.err || :
rate_of() {
	sed -n "s/^bench ingest:.* $1=\([0-9]*\).*/\1/p" ingest.out
}
messages=$(rate_of messages_per_s) file=$(rate_of container_per_s) database=$(rate_of postgresql_per_s)
[ -n "$messages" ] && [ -n "$file" ] && [ -n "$database" ] || fail "no rates: $(tail -3 ingest.out ingest.err)"
paper_report SIOX-AC-12 "$messages >= 90000 && $file >= 70000 && $database > 3000" \
	"$messages messages/s, $file activities/s to a file, $database to PostgreSQL"

# ---- Table 1, Figures 7 to 9, and the application ----

reproduce=("$sluice" lab reproduce siox --mpi mpich --results kept)
"${reproduce[@]}" table1 figure7 figure8 figure9
"${reproduce[@]}" application --repeat 1 --seconds "${PAPER_SECONDS:-100}"
check_rc 0 "${reproduce[@]}" table1 figure7 figure8 figure9 --json
mv out figures.json
check_rc 0 "${reproduce[@]}" application --repeat 1 --seconds "${PAPER_SECONDS:-100}" --json
mv out application.json

# judged CHECK FILE: sets held (1 or 0) and value, as the reproduction judged the check; fails if it did not
judged() {
	held=$(told "$1" "$2" verdict) value=$(told "$1" "$2" value)
	[ -n "$value" ] || return 1
	[ "$held" = holds ] && held=1 || held=0
}
told() {
	python3 -c 'import json, sys
rows = next(s for s in json.load(open(sys.argv[2]))["sheets"] if s["name"] == "checks")["rows"]
print(next((r[sys.argv[3]] for r in rows if r["check"] == sys.argv[1]), ""))' "$@"
}
judged SIOX-AC-11 figures.json || fail "Figure 8 was not judged"
paper_report SIOX-AC-11 "$held" "$value"
judged SIOX-AC-13 application.json || fail "the application was not judged"
paper_report SIOX-AC-13 "$held" "$value"
judged SIOX-AC-15 figures.json || fail "Figure 9 was not judged"
paper_report SIOX-AC-15 "$held" "$value"
if judged SIOX-AC-14 figures.json; then
	paper_report SIOX-AC-14 "$held" "$value"
else
	skip_case root "strided reads on a slow disk"
fi
