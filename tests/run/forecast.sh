#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice forecast` on three targets with known states: train, now, evaluate and watch; and its messages for missing
# data, old data and damaged models.
# Papers: WAN-2.
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
# By default each target and size gets the method that is best on later blocks of time, or shares.
check_rc 0 "$sluice" forecast train --history 20m -k 3 -o auto.model
check_has "$(cat out)" "method auto"
grep -q "methods, by targets and sizes: \|no method was better on later data" out || fail "no word on the chosen methods: $(cat out)"
check_rc 2 "$sluice" forecast train --history 20m -k 0 -o auto.model
check_rc 2 "$sluice" forecast train --method hidden --method-options cost=2
check_rc 0 "$sluice" forecast train --method hidden --history 20m -k 3 -o hidden.model
check_rc 0 "$sluice" forecast evaluate --method auto,hidden,majority --history 20m -k 3 --days 1 --json
python3 -c 'import json
rows = {r["method"]: r for s in json.load(open("out"))["sheets"] if s["name"] == "methods" for r in s["rows"]}
assert rows["auto"]["log_loss"] <= rows["majority"]["log_loss"] + 0.02, rows' || fail "auto is worse than the majority"
check_rc 0 "$sluice" forecast train "${quick[@]}" --input rows.txt -o filed.model
check_eq "$(head -c 31 filed.model)" '{"schema": "sluice.forecaster/5'

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

# describe: the two states that the writes were made from, and the jobs.
check_rc 0 "$sluice" forecast describe
check_words "$(cat out)" "jobs per day" idle busy
check_rc 0 "$sluice" forecast describe --input rows.txt --json
check_json out sluice.forecast/1
python3 - <<'PYTHON' || fail "describe: $(cat out)"
import json
sheets = {s["name"]: s["rows"] for s in json.load(open("out"))["sheets"]}
large = [r for r in sheets["states"] if r["size"] == "1.00 GiB"]
assert [r["state"] for r in large] == ["idle", "busy"], large
assert abs(large[0]["mode_s"] / 1.85 - 1) < 0.03 and abs(large[1]["mode_s"] / 2.64 - 1) < 0.06, large
writes = {r["size"]: r for r in sheets["writes"]}
assert writes["1.00 GiB"]["writes"] == 648 and writes["1.00 MiB"]["writes"] == 6480, writes
jobs = {r["quantity"]: r for r in sheets["jobs"]}
assert jobs["nodes"]["jobs"] == 8 and jobs["nodes"]["minimum"] == 8 and jobs["nodes"]["maximum"] == 4000, jobs
PYTHON

# evaluate: compares methods with baselines, and writes the rows for other programs.
check_rc 0 "$sluice" forecast evaluate --method logistic,hidden,persistence,majority --history 20m -k 4 --days 1 --csv rows.csv --per-target
check_has "$(cat out)" blocked
# The probes of the round before a write are a minute old; with the paper's rule, the newest probe is of the same round.
check_words "$(cat out)" "0 of 216 writes" "60 s old"
grep -q '^ *oss-b  *1073741824  *hidden ' out || fail "no line of oss-b: $(cat out)"
check_rc 0 "$sluice" forecast evaluate --method majority --same-round --history 20m -k 4 --days 1
check_has "$(cat out)" "0 s old"
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
assert all(0 <= float(r["chance_logistic"]) <= 1 for r in test), test[0]
assert told["logistic"]["accuracy"] > told["majority"]["accuracy"], told
assert {r["blocked_fold"] for r in rows} == {"", "0", "1", "2", "3"}
PYTHON
# Without the probes of the target, which decide here, the forecast is worse; jobs follow the states of all targets.
check_rc 0 "$sluice" forecast evaluate --method logistic --contributions --history 20m -k 4 --days 1 --json
python3 - <<'PYTHON' || fail "contributions: $(cat out)"
import json
sheets = {s["name"]: s["rows"] for s in json.load(open("out"))["sheets"]}
gain = {r["group"]: r["log_loss_gain"] for r in sheets["contributions"]}
assert set(gain) == {"status", "latency"} and gain["latency"] > 0.05 and gain["latency"] > gain["status"], gain
PYTHON
check_rc 2 "$sluice" forecast evaluate --method hidden --contributions
check_has "$(cat err)" "classifier"
check_rc 2 "$sluice" forecast evaluate --features latency --contributions --history 20m --days 1
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
