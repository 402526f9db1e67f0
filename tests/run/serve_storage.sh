#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice serve` about storage targets, the node and models: what the API answers is what the commands print, also for
# hostile names, missing data and damaged models.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
. "$(dirname "$0")/libstorage.sh"
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip python3-jsonschema
state() {
	cat "$work/served.err"
}
encode() {
	python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1], safe=""))' "$1"
}

# Without data, answers say which command makes some.
mkdir runs
serve --socket "$work/socket"
expect_described targets forecast load node models
expect 200 /api/v1/targets
check_words "$(json_get answer '["problem"]')" "no probe data" "sluice forecast probe"
expect 200 /api/v1/forecast
check_words "$(json_get answer '["problem"]')" "no model" "sluice forecast train"
expect 404 "/api/v1/targets/history?target=a"
expect 200 /api/v1/models
check_eq "$(json_get answer '["models"]')" "[]"
expect 404 /api/v1/models/hybrid.model
stop_server

make_probes
make_models
make_runs
make_site
printf 'not a model' >"$XDG_DATA_HOME/sluice/other.model"
head -c 3000 "$XDG_DATA_HOME/sluice/hybrid.model" >"$XDG_DATA_HOME/sluice/cut.model"
serve --socket "$work/socket"

# Every answer is what the description says.
evil=$(encode "$hostile_name")
slow=$("$sluice" ls --json >ls.json && python3 -c 'import json
print(*[r["id"] for r in json.load(open("ls.json"))["runs"] if r["path"].endswith("/slow.sluice")])')
expect_described about targets "targets?system=here" "targets/history?target=oss-c" "targets/history?target=oss-c&bytes=1073741824&bins=20" \
	"targets/history?target=$evil" "targets/history?system=here&target=a&bins=3" forecast load "load?target=/home" node "node?system=here&bins=7" \
	"runs/$slow/statistics" "runs/$slow/statistics?from_ns=0&to_ns=1000000000&bins=5&host=nowhere" models models/hybrid.model \
	"models/hybrid.model/recommend?ranks=512&size=256M&top=3&params=striping_factor%3D8%20striping_unit%3D8M"

# Targets: the newest data of each, and states that were learned.
expect 200 /api/v1/targets
check_eq "$(json_get answer '["system"]')" lab "system of the settings"
check_eq "$(json_get answer '["targets"][4]["name"]')" "$hostile_name"
check_eq "$(json_get answer '["targets"][2]["sizes"][1]["newest"]["outcome"]')" done
expect 200 "/api/v1/targets?system=here"
python3 - "$sluice" <<'END' || fail "probes of real directories: $(cat answer)"
import json, subprocess, sys
answer = json.load(open("answer"))
assert sorted(t["name"] for t in answer["targets"]) == ["a", "b"] and not answer["modelled"]
# The same writes as 'sluice forecast export'.
rows = [l.split() for l in subprocess.check_output([sys.argv[1], "forecast", "export", "--system", "here"], text=True).splitlines() if l[:2] in ("a ", "b ")]
for t in answer["targets"]:
    for i, size in enumerate(t["sizes"]):
        assert size["writes"] == sum(r[0] == t["name"] and r[1 + i] != "-" for r in rows), (t, i)
END
expect 200 "/api/v1/targets/history?target=oss-c&bins=144"
python3 - <<'END' || fail "history of oss-c: $(head -c 2000 answer)"
import json
answer = json.load(open("answer"))
states = answer["states"]
assert states["bytes"] == 1 << 30 and 1.7 < states["idle_s"] < 2 and 2.4 < states["busy_s"] < 3.1, states
# In its last half hour the target is busy, and both the writes and the forecasts say so.
last = [b for b in states["busy"][-3:] if b is not None]
assert last and min(last) > 0.5 and states["forecast"][-1] > 0.5, states
assert answer["mean_s"][-1] > 0.01 and sum(answer["writes"]) > 1000
assert all(l <= m <= h for l, m, h in zip(answer["least_s"], answer["mean_s"], answer["most_s"]) if m is not None)
END
expect 404 "/api/v1/targets/history?target=oss-c&bytes=5"
expect 404 "/api/v1/targets?system=nowhere"
expect 400 "/api/v1/targets?from_ns=soon"

# The forecast is that of the command, which also says which models are useless.
until=$(date +%s)
expect 200 "/api/v1/forecast?until=$until"
check_rc 0 "$sluice" forecast --until "$until" --json
cmp answer out || fail "the forecast is not that of 'sluice forecast'"
python3 - <<'END' || fail "forecasts: $(cat answer)"
import json
answer = json.load(open("answer"))
by = {f["target"]: f for f in answer["forecasts"]}
assert by["oss-c"]["state"] == "busy" and by["oss-a"]["state"] == "idle" and by["oss-a"]["is_useful"], by
assert not by["oss-d"]["is_useful"] and "not shown to be better" in answer["caution"], answer
END
check_rc 0 "$sluice" forecast --until "$until"
check_words "$(cat out)" "not shown to be better" "more frequent state"

# Load by job: from the database of the site, ranked; and the job queue.
expect 200 /api/v1/load
check_eq "$(json_get answer '["loads"][0]["user"]') $(json_get answer '["loads"][0]["job"]')" "ann 4711"
check_eq "$(json_get answer '["loads"][1]["job"]')" "$hostile_name"
[ "$(json_get answer '["job_count"]')" -ge 2 ] || fail "no jobs: $(cat answer)"
expect 200 "/api/v1/load?target=/home"
check_eq "$(json_get answer '["loads"].__len__()')" 1 "users of one file system"

# Statistics of a run and of the node.
expect 200 "/api/v1/runs/$slow/statistics?bins=50"
python3 - <<'END' || fail "statistics: $(head -c 3000 answer)"
import json
answer = json.load(open("answer"))
by = {s["name"]: s for s in answer["statistics"]}
for name in "cpu/user", "memory/used", "utilization/cpu":
    known = [v for v in by[name]["values"] if v is not None]
    assert len(by[name]["values"]) == 50 and known, name
    assert by[name]["least"] - 1e-6 <= min(known) and max(known) <= by[name]["most"] + 1e-6, by[name]
assert any(a["name"] == "process bad" for a in answer["anomalies"]), answer["anomalies"]
grade = [g for g in answer["grades"] if g["call"] == "POSIX pwrite"][0]
assert grade["very_slow"] > 100 and grade["median_ns"] > 0 and grade["very_slow_ns"] > grade["median_ns"], grade
END
expect 404 "/api/v1/runs/fffff/statistics"
expect 200 /api/v1/node
check_eq "$(json_get answer '["anomalies"][0]["cause"]')" "likely job"
check_has "$(cat answer)" '"call": "pwrite"'
[ "$(json_get answer '["samples"]')" -gt 1000 ] || fail "no load of the prober"

# Models: listed with what is known of them, and nothing but models of that directory.
expect 200 /api/v1/models
python3 - <<'END' || fail "models: $(cat answer)"
import json
by = {m["name"]: m for m in json.load(open("answer"))["models"]}
assert by["hybrid.model"]["modelled"] and by["hybrid.model"]["is_default"] and not by["hybrid.model"]["is_calibrated"], by
assert by["cut.model"]["error"] and "other.model" not in by, by
if "here.model" in by:
    assert by["here.model"]["is_calibrated"] and not by["here.model"]["modelled"], by
END
for name in other.model ..%2Fstore.db store.db %2e%2e nothing; do
	expect 404 "/api/v1/models/$name"
done
expect 500 /api/v1/models/cut.model
access="ranks=512&size=256M&params=striping_factor%3D8%20striping_unit%3D8M"
expect 200 "/api/v1/models/hybrid.model/recommend?$access&top=5"
check_rc 0 "$sluice" model recommend -n 512 -s 256M --param striping_factor=8 --param striping_unit=8M --json
python3 - <<'END' || fail "the recommendation is not that of 'sluice model recommend': $(cat answer)"
import json
answer, printed = json.load(open("answer")), json.load(open("out"))
assert answer.pop("modelled") is True and "512 ranks" in answer.pop("text")
for one in answer, printed:
    assert one.pop("seconds") > 0
assert answer == printed, (answer, printed)
assert all(b["low"] < b["predicted"] < b["high"] for b in answer["best"])
END
for bad in "size=1M" "ranks=0&size=1M" "ranks=512&size=much" "ranks=258&nodes=16&size=1M" "ranks=4&size=1M&params=cb_nodes" \
	"ranks=4&size=1M&params=none%3D1" "ranks=4&size=1M&pattern=strided" "ranks=4&size=1M&coverage=2" "ranks=4&size=1M&top=1000" \
	"ranks=16777216&size=9223372036854775807"; do
	expect 400 "/api/v1/models/hybrid.model/recommend?$bad"
done
expect 422 "/api/v1/models/hybrid.model/recommend?ranks=256&size=1M&direction=read"
check_has "$(cat answer)" "Allgather"
if [ -e "$XDG_DATA_HOME/sluice/here.model" ]; then
	expect_described models/here.model "models/here.model?coverage=0.5" \
		"models/here.model/recommend?ranks=2&size=512K&pattern=strided&block=4K&direction=read"
	expect 200 /api/v1/models/here.model
	python3 - <<'END' || fail "a calibrated model: $(head -c 3000 answer)"
import json
answer = json.load(open("answer"))
held = [p for p in answer["pairs"] if p[2] == "held out"]
assert len(held) == answer["calibration"]["held_out"] > 0 and answer["calibration"]["factor"] > 1
inside = sum(1 / answer["calibration"]["factor"] <= p[1] / p[0] <= answer["calibration"]["factor"] for p in held) / len(held)
assert abs(inside - answer["calibration"]["measured_coverage"]) < 1e-6, (inside, answer["calibration"])
END
fi
