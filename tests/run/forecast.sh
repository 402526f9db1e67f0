#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice forecast` on three targets with known states: train, now, evaluate and watch; and its messages for missing
# data, old data and damaged models.
. "$(dirname "$0")/libtest.sh"

# Three targets for a day and a half, probes every minute (in windows of 20 minutes), writes every 10 minutes. Target c
# is busy at the very end, a and b are idle. In the following half day ("more"), probes no longer predict anything.
python3 - <<'PYTHON'
import math, random
random.seed(3)
start, step = 1520700000, 60

def blocks(first, last, tells):
    state = [0, 0, 0]
    for i in range(first, last):
        now = start + i * step
        print("Timestamp: %d\nSystem: little" % now, file=out)
        for t in range(3):
            if random.random() < (1 / 40 if state[t] else 1 / 80):
                state[t] ^= 1
            if last - i < 40:
                state[t] = int(t == 2)
        if i % 5 == 0:
            print("All running jobs:", file=out)
            for j in range(2 + 3 * sum(state)):
                print("Job Id: %d\n    Job_Name = x\n    Job_Owner = u%d@h\n    job_state = R\n    queue = batch\n"
                      "    Resource_List.nodect = %d\n    Resource_List.walltime = 02:00:00\n"
                      "    resources_used.mem = 1024kb\n    resources_used.vmem = 2048kb\n"
                      "    resources_used.walltime = 00:10:00" % (j, j, 8 if j < 2 else 4000), file=out)
        print("Performance:\nOSS id 1MB 1GB", file=out)
        for t in range(3):
            shown = state[t] if tells else random.random() < 0.5
            probe = math.exp(math.log(.016 if shown else .008) + .25 * random.gauss(0, 1))
            truth = math.exp(math.log(2.7 if state[t] else 1.85) + (.15 if state[t] else .06) * random.gauss(0, 1))
            print("oss-%s %.6gs %s" % ("abc"[t], probe, "%.6gs" % truth if i % 10 == 9 else "-"), file=out)

with open("rows.txt", "w") as out:
    blocks(0, 2160, True)
with open("more.txt", "w") as out:
    blocks(2160, 3600, False)
PYTHON
end=$((1520700000 + 2159 * 60))
quick=(--method logistic --history 20m --folds 4)

# Invalid options are errors.
check_rc 2 "$sluice" forecast guess
check_has "$(cat err)" guess
check_rc 2 "$sluice" forecast now train
check_rc 2 "$sluice" forecast train --method nope
check_has "$(cat err)" nope
check_rc 2 "$sluice" forecast train --since soon
check_has "$(cat err)" soon
check_rc 2 "$sluice" forecast train --folds 1
check_rc 2 "$sluice" forecast train --days -1

# Missing data: the error says what to do.
check_rc 3 "$sluice" forecast
check_words "$(cat err)" "no model" "$XDG_DATA_HOME/sluice/forecast.model"
check_rc 3 "$sluice" forecast train
check_words "$(cat err)" "no probe data"
check_rc 3 "$sluice" forecast -m nowhere.model
check_has "$(cat err)" "nowhere.model"

check_rc 0 "$sluice" forecast import rows.txt
check_rc 3 "$sluice" forecast train --system other
check_words "$(cat err)" store little
check_rc 3 "$sluice" forecast train --since 2001-01-01 --until 2001-01-02

# train: a system need not be named if the store has only one.
check_rc 0 "$sluice" forecast train "${quick[@]}"
check_has "$(cat err)" "$XDG_DATA_HOME/sluice/forecast.model"
grep -q '^ *1.00 GiB  *3  *3  *648 ' out || fail "no line of 1 GiB: $(cat out)"
check_rc 0 "$sluice" forecast train "${quick[@]}" --json
check_json out sluice.forecast/1
check_eq "$(json_get out '["generation"]')" 2
python3 - <<'PYTHON'
import json
row = json.load(open("out"))["sheets"][0]["rows"][0]
assert row["majority"] + 0.03 < row["blocked_accuracy"] < row["ceiling"], row
assert abs(row["idle_s"] / 1.853 - 1) < 0.03 and abs(row["busy_s"] / 2.73 - 1) < 0.06, row
PYTHON
[ -f "$XDG_DATA_HOME/sluice/forecast.model.previous" ] || fail "the model before is gone"
check_rc 0 "$sluice" forecast train "${quick[@]}" --input rows.txt -o filed.model
check_eq "$(head -c 31 filed.model)" '{"schema": "sluice.forecaster/1'

# now: the most recent probes decide.
check_rc 0 "$sluice" forecast now --until "$end"
grep -q '^oss-c  *1.00 GiB  *busy ' out || fail "oss-c is not busy: $(cat out)"
grep -q '^oss-a  *1.00 GiB  *idle .* logistic  *0 ns$' out || fail "oss-a is not idle: $(cat out)"
check_rc 0 "$sluice" forecast --until $((end + 600)) --json
check_json out sluice.forecast/1
check_eq "$(json_get out '["is_stale"]')" False
check_eq "$(json_get out '["age_s"]')" 600
check_eq "$(json_get out '["forecasts"][2]["target"]')" oss-c
check_eq "$(json_get out '["forecasts"][2]["state"]')" busy
python3 - <<'PYTHON'
import json
for f in json.load(open("out"))["forecasts"]:
    assert f["is_model"] and 0 < f["busy"] < 1, f
    assert abs(f["expected_s"] - (f["busy"] * f["busy_s"] + (1 - f["busy"]) * f["idle_s"])) < 1e-6, f
PYTHON

# Old probes: the forecast uses the shares of states, and a warning says so.
check_rc 3 "$sluice" forecast --until $((end + 3600)) --json
check_eq "$(json_get out '["is_stale"]')" True
check_eq "$(json_get out '["forecasts"][0]["is_model"]')" False
check_words "$(cat err)" "newest probe" "1 h 0 min"
check_rc 3 "$sluice" forecast
check_has "$(cat err)" "no recent probe"

# Damaged files and files of other programs are not read as models.
head -c 2000 filed.model >cut.model
check_rc 1 "$sluice" forecast -m cut.model
check_has "$(cat err)" "sluice forecast train"
echo garbage >garbage.model
check_rc 1 "$sluice" forecast -m garbage.model
check_has "$(cat err)" "garbage.model"

# evaluate: compares methods with baselines, and writes the rows for other programs.
check_rc 0 "$sluice" forecast evaluate --method logistic,hidden,persistence,majority --history 20m -k 4 --days 1 --csv rows.csv --per-target
check_has "$(cat out)" blocked
grep -q '^ *oss-b  *1073741824  *hidden ' out || fail "no line of oss-b: $(cat out)"
check_rc 0 "$sluice" forecast evaluate --method logistic,majority --history 20m -k 4 --days 1 --json
check_json out sluice.forecast/1
python3 - <<'PYTHON'
import csv, json
sheets = {s["name"]: s for s in json.load(open("out"))["sheets"]}
told = {r["method"]: r for r in sheets["methods"]["rows"]}
rows = list(csv.DictReader(open("rows.csv")))
test = [r for r in rows if r["set"] == "test"]
assert len(rows) == 648 and len(test) == 216, (len(rows), len(test))
right = sum((float(r["score_logistic"]) > 0.5) == (r["label"] == "1") for r in test) / len(test)
assert abs(right - told["logistic"]["accuracy"]) < 1e-6, (right, told)
assert told["logistic"]["accuracy"] > told["majority"]["accuracy"], told
assert {r["blocked_fold"] for r in rows} == {"", "0", "1", "2", "3"}
PYTHON
check_rc 2 "$sluice" forecast evaluate --method svm,nope
check_rc 2 "$sluice" forecast evaluate --days 9

# watch: trains a missing model, keeps a good one, and detects a bad one.
watch=(forecast watch --once -m watched.model "${quick[@]}" --drift-window 100)
check_rc 0 "$sluice" "${watch[@]}" --until "$end" --json
check_eq "$(json_get out '["reason"]') $(json_get out '["generation"]')" "missing 1"
check_rc 0 "$sluice" "${watch[@]}" --until $((end + 1800)) --json
check_eq "$(json_get out '["reason"]')" none
check_rc 0 "$sluice" forecast import more.txt
check_rc 0 "$sluice" "${watch[@]}" --until $((end + 80000)) --json
check_json out sluice.forecast/1
check_eq "$(json_get out '["reason"]') $(json_get out '["generation"]')" "drift 2"
[ -f watched.model.previous ] || fail "the model before is gone"
check_rc 2 "$sluice" forecast watch --once --simulate titan

# Without --once, watch continues until it is interrupted.
"$sluice" forecast watch -m watched.model --every 200ms >watched.txt 2>&1 &
watcher=$!
for _ in $(seq $polls); do
	[ "$(wc -l <watched.txt)" -ge 2 ] && break
	sleep 0.1
done
kill -TERM $watcher
rc=0
wait $watcher || rc=$?
check_eq "$rc" 143 "exit code of a watch that was stopped"
[ "$(wc -l <watched.txt)" -ge 2 ] || fail "it did not go on: $(cat watched.txt)"
