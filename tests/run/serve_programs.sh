#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs over time and tags in the data of `sluice serve`: runs are grouped so that they can be compared, a change of the
# program is found with what changed, noise and too few runs are not taken for one, and tags are changed by requests.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
. "$(dirname "$0")/libprograms.sh"
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip python3-jsonschema
state() {
	cat "$work/served.err"
}

record_programs runs
serve --socket "$work/socket" runs

# wait_read PATH: the figures of all runs were read
wait_read() {
	get "$1"
	[ "$(json_get answer '["covered"]')" = 1 ]
}
# field EXPRESSION: of the answer `a`
field() {
	python3 -c 'import json, sys
a = json.load(open("answer"))
print(eval(sys.argv[1]))' "$1"
}

wait_for "figures of all runs" wait_read /api/v1/programs
expect_described programs "programs/writer" "programs/writer?group=all" "programs/steady"

# The list: the regression is found by the number of calls, which does not depend on any duration.
expect 200 /api/v1/programs
check_eq "$(field '{p["name"]: p["runs"] for p in a["programs"]}["writer"]')" 14 "runs of the program"
check_eq "$(field '{p["name"]: p["verdict"] for p in a["programs"]}["writer"]')" regression "verdict on the program that changed"
check_eq "$(field '{p["name"]: p["verdict"] for p in a["programs"]}["<i>x<!--"]')" "too few runs" "verdict on a single run"

# Six runs before, six after, in one group; two runs with another argument are in another one.
expect 200 /api/v1/programs/writer
check_eq "$(field '[g["runs"] for g in a["groups"]]')" "[2, 12]" "groups of comparable runs"
check_eq "$(field 'len(a["runs"])')" 12 "runs of the group"
check_eq "$(field '[e for e in a["events"] for s in e["shifts"] if s["measure"] == "calls"].__len__()')" 1 "changes of the number of calls"
shift='[s for e in a["events"] for s in e["shifts"] if s["measure"] == "calls"][0]'
check_eq "$(field "[$shift[k] for k in ('verdict', 'direction', 'before', 'after', 'runs_before', 'runs_after')]")" \
	"['exact', 'worse', 10, 162, 6, 6]" "change of the number of calls"
check_eq "$(field '[r["calls"] for r in a["runs"]]')" "[10, 10, 10, 10, 10, 10, 162, 162, 162, 162, 162, 162]" "calls of the runs"
check_eq "$(field 'len({r["binary"] for r in a["runs"]})')" 2 "builds of the program"
before=$(field '[e["before_run"] for e in a["events"] for s in e["shifts"] if s["measure"] == "calls"][0]')
after=$(field '[e["after_run"] for e in a["events"] for s in e["shifts"] if s["measure"] == "calls"][0]')
check_eq "$(field '[r["id"] for r in a["runs"]][5:7]')" "['$before', '$after']" "runs around the change"
"$sluice" report --json "runs/writer-06.sluice" >report.json
check_eq "$(field 'a["runs"][5]["calls"]')" "$(json_get report.json '["io"]["calls"]')" "calls as in the report"
check_eq "$(field 'a["runs"][5]["bytes_written"]')" "$(json_get report.json '["io"]["bytes_written"]')" "bytes as in the report"
expect 200 "/api/v1/programs/writer?group=all"
check_eq "$(field '[len(a["runs"]), a["verdict"], a["events"]]')" "[14, 'not comparable', []]" "all runs"
few=$(field '[g["id"] for g in a["groups"] if g["runs"] == 2][0]')
expect 200 "/api/v1/programs/writer?group=$few"
check_eq "$(field '[a["verdict"], a["events"]]')" "['too few runs', []]" "a group of two runs"

# What changed: the binary and a variable, and nothing else.
expect_described "changes?base=$before&with=$after"
check_eq "$(field '[(c["kind"], c["name"]) for c in a["conditions"]]')" "[('program', 'binary'), ('environment', 'HDF5_USE_FILE_LOCKING')]" "conditions"
check_eq "$(field '[c["after"] for c in a["conditions"]][1]')" FALSE "value of the variable"
expect_described "changes?base=$before&with=$before"
check_eq "$(field 'a["conditions"]')" "[]" "conditions of the same run"

# The program that stays as it is makes the same calls in all runs, and no change of them is claimed.
expect 200 /api/v1/programs/steady
check_eq "$(field '{s["measure"] for e in a["events"] for s in e["shifts"]} & {"calls", "bytes_read", "bytes_written"}')" "set()" "changes of counts"
# Arguments that differ only in the name of a temporary file are comparable; runs that failed are not.
check_eq "$(field '[len(a["groups"]), a["tested"]]')" "[1, 8]" "groups and tested runs"
check_eq "$(field '[r["comparable"] for r in a["runs"]].count(False)')" 1 "runs that are not tested"

# Wrong requests.
expect 404 /api/v1/programs/absent
expect 404 "/api/v1/programs/writer?group=000000000000"
expect 400 "/api/v1/changes?base=$before"
expect 404 "/api/v1/changes?base=$before&with=000000000000"
expect 400 "/api/v1/changes?base=../../etc&with=$after"
METHOD=POST expect 405 /api/v1/programs "X-Sluice: 1" "Content-Type: application/json" "Content-Length: 0"

# Tags.
change() {
	post "/api/v1/runs/$1/tags" "$2"
}
expect_described "runs/$after/tags"
check_eq "$(field 'a["tags"]')" "[]" "tags of a run without any"
change "$after" '{"add": ["nightly", "v2.0:rc_1"]}'
check_eq "$status" 200 "status of a change ($(cat answer))"
check_eq "$(field 'a["tags"]')" "['nightly', 'v2.0:rc_1']" "tags after a change"
check_eq "$("$sluice" tag runs/writer-07.sluice | tr '\n' ' ')" "nightly v2.0:rc_1 " "tags of the command"
"$sluice" tag runs/writer-06.sluice nightly >/dev/null
expect_described "runs?tag=nightly" "runs?tag=absent"
check_eq "$(field 'a["total"]')" 0 "runs with a tag that none has"
expect 200 "/api/v1/runs?tag=nightly"
check_eq "$(field '[a["total"], sorted(r["id"] for r in a["runs"]) == sorted(["'"$before"'", "'"$after"'"])]')" "[2, True]" "runs with a tag"
expect 200 "/api/v1/runs?search=v2.0:rc"
check_eq "$(field 'a["total"]')" 1 "runs found by a tag"
change "$after" '{"remove": ["nightly"]}'
check_eq "$(field 'a["tags"]')" "['v2.0:rc_1']" "tags after another change"
for body in '{}' '{"add": "x"}' '{"add": [1]}' '{"add": ["<b>"]}' '{"add": ["a b"]}' '{"add": [""]}' '[]' 'x' \
	'{"add": ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"]}'; do
	change "$after" "$body"
	check_eq "$status" 400 "status of $body"
done
check_eq "$("$sluice" tag runs/writer-07.sluice)" v2.0:rc_1 "tags after refused changes"
change 000000000000 '{"add": ["x"]}'
check_eq "$status" 404 "status of tags for a run that does not exist"
METHOD=POST expect 403 "/api/v1/runs/$after/tags" "Content-Type: application/json" "Content-Length: 0"
