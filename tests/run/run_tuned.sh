#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice run` suggests, applies or ignores the results of tuning, says what it does, and never prevents the program from
# running.
# Papers: SIOX-1, ATE-1.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"
command -v readelf >/dev/null || skip binutils
export SLUICE_TUNE_PLATFORM=testbed SLUICE_STORE_PATH=$work/store.db

# The parameters that the program gets: it looks for them in the control page.
grep=$(readlink -f "$(type -P grep)")
look=("$grep" -r -a -h -o 'sluice-parameters 1 [a-z][a-z]*' "$spools")

# knows PROGRAM BUILD-ID ARGUMENTS RANKS PARAMETERS [GAIN]: adds an entry of size class $size to the knowledge base and
# prints its id
size=0
knows() {
	python3 - "$SLUICE_STORE_PATH" $size testbed "$(filesystem_here)" "$@" <<'END'
import sqlite3, sys
path, size, platform, filesystem, program, build, arguments, ranks, parameters, gain = sys.argv[1:] + ["2.3"] * (11 - len(sys.argv))
db = sqlite3.connect(path)
print(db.execute("""INSERT INTO knowledge (program, fingerprint, arguments, platform, filesystem, ranks, size, parameters,
	objective, before, after, gain, gain_low, gain_high, found, study, pinned)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'io', 2.3, 1, ?, 2, 3, 1, '', 0)""",
	(program, "build:" + build, arguments, platform, filesystem, ranks, size, parameters, float(gain))).lastrowid)
db.commit()
END
}

build_id() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# looked RC ARGUMENTS...: runs `sluice run ARGUMENTS`; the parameters are in out, the messages in err. Without recording,
# the runs are not compared with each other.
looked() {
	check_rc "$@" --mode off -o trace -- "${look[@]}"
}

# said WORD...: one line has all of the words
said() {
	check_line err "$@"
}

# applied TEXT: the parameters in the trace
applied() {
	"$sluice" report --json trace >report
	check_eq "$(json_get report '["applied"][:1]')" "$1" "$this: applied parameters"
}

# Nothing is known, and no store is created to find that out.
case_is "nothing is known"
check_rc 1 "$sluice" --set plugins.load= run --tune=apply --mode off -o trace -- "${look[@]}"
said "no parameters" "no tuning"
[ ! -e store.db ] || wrong "a store was made"
check_rc 1 "$sluice" --set plugins.load= run --mode off -o trace -- "${look[@]}"
[ ! -s err ] || wrong "something is said: $(cat err)"
echo '{"schema": "sluice.kb/1", "entries": []}' >nothing.json
check_rc 0 "$sluice" kb import nothing.json
looked 1 "$sluice" run --tune=apply
said "no parameters" "no tuning"
looked 1 "$sluice" run --tune=apply --quiet
[ ! -s err ] || wrong "something is said: $(cat err)"
looked 1 "$sluice" run
[ ! -s err ] || wrong "something is said: $(cat err)"

arguments="-r -a -h -o 'sluice-parameters 1 [a-z][a-z]*' $spools"
good='{"schema": "sluice.params/1", "parameters": [{"name": "cb_nodes", "value": "4"}]}'
id=$(knows "$(basename "$grep")" "$(build_id "$grep")" "$arguments" 1 "$good")

case_is "the tuned parameters are suggested"
looked 1 "$sluice" run
check_eq "$(wc -l <err)" 1 "$this: $(cat err)"
check_words "$(cat err)" "found cb_nodes=4" "2.30 times" --tune=apply "sluice kb show $id"
looked 1 "$sluice" run --quiet
[ ! -s err ] || wrong "something is said: $(cat err)"
looked 1 "$sluice" run --tune=off
[ ! -s err ] || wrong "something is said: $(cat err)"

case_is "the tuned parameters are applied, and the program's own settings take precedence"
looked 0 "$sluice" run --tune=apply
check_eq "$(cat out)" "sluice-parameters 1 application"
said "applied entry $id" cb_nodes=4 "2.30 times" "sluice kb show $id"
said "not compared" "no calls"
"$sluice" report --json trace >report
check_eq "$(json_get report '["applied"][0]["value"]')" "cb_nodes=4"
check_eq "$(json_get report '["applied"][1]["value"]')" "knowledge base, entry $id"
SLUICE_TUNE_APPLY=apply SLUICE_PARAMS_AUTHORITY=parameters looked 0 "$sluice" run --quiet
check_eq "$(cat out)" "sluice-parameters 1 parameters"
[ ! -s err ] || wrong "something is said: $(cat err)"
"$sluice" report --json trace >report
check_eq "$(json_get report '["applied"][0]["value"]')" "cb_nodes=4"

case_is "a parameter file takes precedence over the tuned parameters"
echo '{"schema": "sluice.params/1", "parameters": [{"name": "cb_nodes", "value": "8"}]}' >params.json
looked 0 "$sluice" run --tune=apply --params params.json
said tuned "not applied" params.json
"$sluice" report trace >report
check_line report user: cb_nodes "8 (user: params.json) instead of 4 (knowledge: entry $id)"
echo '{"schema": "sluice.params/1", "parameters": [{"name": "cb_buffer_size", "value": "64K"}]}' >other.json
looked 0 "$sluice" run --tune=apply --params other.json
"$sluice" report trace >report
check_line report default: cb_nodes "the default instead of 4 (knowledge: entry $id)" "only as a whole"
looked 0 "$sluice" run --params params.json
! grep -q tuned err || wrong "something is said: $(cat err)"
"$sluice" report --json trace >report
check_eq "$(json_get report '["applied"][0]["value"]')" "cb_nodes=8"

case_is "an entry is applied completely or not at all"
two='{"schema": "sluice.params/1", "parameters": [{"name": "cb_nodes", "value": "4"}, {"name": "cb_buffer_size", "value": "65536"}]}'
SLUICE_PARAMS_FORBID=cb_nodes looked 1 "$sluice" run --tune=apply
said cb_nodes params.forbid
said "entry $id" "not applied"
"$sluice" kb forget "$id"
id=$(knows "$(basename "$grep")" "$(build_id "$grep")" "$arguments" 1 "$two")
SLUICE_PARAMS_FORBID=cb_nodes looked 1 "$sluice" run --tune=apply
said "entry $id" "not applied"
applied "[]"
looked 0 "$sluice" run --tune=apply
said "applied entry $id"

case_is "parameters that were found for another run are only suggested"
check_rc 1 "$sluice" run --tune=apply --mode off -o trace -- "${look[@]}" /dev/null
said "no parameters" "found cb_nodes=4" "different run" "other arguments" "sluice kb show $id"
applied "[]"
cp "$grep" other-name
check_rc 1 "$sluice" run --tune=apply --mode off -o trace -- ./other-name "${look[@]:1}"
said "no parameters" "found cb_nodes=4" "different run" "program name $(basename "$grep")"
applied "[]"
knows cat 0123 "" 1 "$good" >/dev/null
check_rc 0 "$sluice" run --tune=apply --mode off -o trace -- cat /dev/null
said "no parameters" "found cb_nodes=4" "different run" "another version" "other arguments"
applied "[]"
cat=$(readlink -f "$(type -P cat)")
knows "$(basename "$cat")" "$(build_id "$cat")" /dev/null 3 "$good" >/dev/null
check_rc 0 "$sluice" run --tune=apply --mode off -o trace -- cat /dev/null
said "no parameters" "found cb_nodes=4" "different run" "3 ranks"
applied "[]"

case_is "a tuning of exactly this run that found nothing wins over other entries"
knows "$(basename "$cat")" "$(build_id "$cat")" /dev/null 1 "" 1 >/dev/null
check_rc 0 "$sluice" run --tune=apply --mode off -o trace -- cat /dev/null
check_eq "$(grep -c found err)" 1 "$this: $(cat err)"
said "no parameters" tuned 1970-01-01 "nothing better"
check_rc 0 "$sluice" run --mode off -o trace -- cat /dev/null
[ ! -s err ] || wrong "something is said: $(cat err)"

case_is "a broken entry and a broken store cause a warning"
knows true "$(build_id "$(readlink -f "$(type -P true)")")" "" 1 '{"nonsense' >/dev/null
check_rc 0 "$sluice" run --tune=apply --mode off -o trace -- true
said "knowledge base" "not used"
cp store.db good.db
head -c 5000 /dev/urandom >store.db
check_rc 0 "$sluice" --set plugins.load= run --tune=apply --mode off -o trace -- true
check_eq "$(wc -l <err)" 1 "$this: $(cat err)"
check_words "$(cat err)" "tuned parameters" applied
check_rc 0 "$sluice" --set plugins.load= run --mode off -o trace -- true
[ ! -s err ] || wrong "something is said: $(cat err)"
cp good.db store.db

# ranks_check: prints what all ranks of a job got
ranks_check() {
	check_eq "$(grep -c 'sluice: applied entry [0-9]*: cb_buffer_size=65536' err)" 1 "$this: $(cat err)"
	"$sluice" report --json trace >report
	check_eq "$(json_get report '["applied"][0]["value"]')" "cb_buffer_size=65536"
	check_eq "$(python3 -c 'import json
print([(r["effective"], r["openings"], r["honoured"]) for r in json.load(open("report"))["parameters"] if r.get("requested")])')" \
		"[('65536', 4, 'yes')]" "$this"
}

program=$(mpi_program mpich levels)
[ -n "$program" ] || skip libmpich-dev
options=(-l collective-noncontiguous -b 1K -n 64 -d write)
size=9 # 4 * 64 KiB
# know_levels: an entry without earlier runs
know_levels() {
	id=$(knows levels "$(build_id "$program")" "${options[*]}" 4 \
		'{"schema": "sluice.params/1", "parameters": [{"name": "cb_buffer_size", "value": "65536"}]}')
}
case_is "a parallel program whose launcher is inside of sluice run"
know_levels
check_rc 0 timeout -k 5 "$limit" "$sluice" run --tune=apply -o trace -- mpiexec.mpich -n 4 "$program" "${options[@]}"
ranks_check
case_is "a parallel program whose launcher is outside of sluice run"
"$sluice" kb forget "$id"
know_levels
check_rc 0 timeout -k 5 "$limit" mpiexec.mpich -n 4 "$sluice" run --tune=apply -o trace -- "$program" "${options[@]}"
ranks_check
check_eq "$(grep -c "I/O .* entry $id" err)" 1 "$this: comparisons"
