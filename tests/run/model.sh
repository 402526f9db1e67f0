#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice model on rows of benchmarks that a formula generates: fit, describe, predict and recommend; also its warnings
# outside the benchmarked range, and its errors about missing operations and damaged models.
# Papers: HYB-2, HYB-12, HYB-58, HYB-AC-18.
. "$(dirname "$0")/libtest.sh"

# A Lustre machine with known costs. Locks cost more with more writers, so many aggregators pay off only in long
# accesses. A second file has much noise, a third one lacks Alltoallv.
mkdir machines
export SLUICE_MACHINES=$work/machines
cat >machines/testbed.ini <<END
[machine]
name = testbed
title = Testbed (Lustre)
romio = lustre
[nodes]
cores = 16
[storage]
block = 4K
[defaults]
cb_buffer_size = 16M
node_aggregators = 16
striping_factor = 16
striping_unit = 16M
END
python3 - <<'PYTHON'
import random
random.seed(7)
head = "platform,operation,placement,nodes,cores,senders,receivers,writers,bytes,round,repetition,seconds\n"
M = 1 << 20

def rows(platform, noise, skip=()):
    def row(op, n, s, r, w, b, seconds, repetitions=3):
        for i in range(repetitions):
            if op not in skip:
                placed = "topology" if op[0] == "s" else ""
                yield "%s,%s,%s,%d,16,%d,%d,%r,%d,%d,%d,%.9g\n" % (platform, op, placed, n, s, r, w, b, i, i,
                    seconds * max(0.05, 1 + noise * random.gauss(0, 1)))
    for n in 8, 16, 32:
        for k in range(2, 19, 2):
            yield from row("ar", n, 0, 0, 0, 1 << k, 1e-5 + 1e-9 * (1 << k))
            yield from row("aa", n, 0, 0, 0, 1 << k, 2e-6 * (1 << k))
        for s in n, 4 * n, 16 * n:
            for r in n // 4, n, 4 * n:
                for b in 4, 8, 1024, M, 8 * M, 16 * M, 32 * M:
                    yield from row("aav", n, s, r, 0, b, 1e-4 + 1e-9 * b * s / r / 16, 1)
        for w in 0.25, 1, 4:
            for b in 8, 16, 32:
                yield from row("s_lock", n, 0, 0, w, b * M, 0.1 + 0.8 * w + 0.01 * b * w)
                yield from row("s_nl_full", n, 0, 0, w, b * M, 0.2 + 0.02 * b * w ** 0.7)
                for part in 0.1, 0.5, 0.9:
                    yield from row("s_nl_partial", n, 0, 0, w * part, b * M, 0.2 + 0.02 * b * (w * part) ** 0.7)

open("testbed.csv", "w").write(head + "".join(rows("testbed", 0.01)))
open("noisy.csv", "w").write(head + "".join(rows("testbed", 0.6)))
open("lacking.csv", "w").write(head + "".join(rows("testbed", 0.01, ("aav",))))
open("two.csv", "w").write(head + "".join(list(rows("testbed", 0.01))[:40]) + "".join(list(rows("mira", 0.01))[:40]))
open("broken.csv", "w").write(head + "testbed,ar,,128,16,0,0,0,4,0,0,soon\n")
PYTHON
quick=(--learners linear,neighbours --candidates 3)

# Invalid options are errors.
check_rc 2 "$sluice" model
check_rc 2 "$sluice" model guess
check_has "$(cat err)" guess
check_rc 2 "$sluice" model fit --rows testbed.csv --learners nope
check_has "$(cat err)" nope
check_rc 2 "$sluice" model fit --rows testbed.csv --folds 1

# Missing data: the error says what to do.
check_rc 3 "$sluice" model fit
check_has "$(cat err)" "sluice model measure"
check_rc 3 "$sluice" model recommend -n 256 -s 16M
check_words "$(cat err)" "no model"
check_rc 3 "$sluice" model show nowhere.model
check_rc 1 "$sluice" model fit --rows broken.csv
check_has "$(cat err)" "broken.csv:2"
check_rc 1 "$sluice" model fit --rows two.csv
check_has "$(cat err)" "--platform"

# fit: the model is written to the default place, and the machine is named after the platform.
check_rc 0 "$sluice" model fit --rows testbed.csv "${quick[@]}"
check_has "$(cat err)" "$XDG_DATA_HOME/sluice/hybrid.model"
grep -q '^aav  *Alltoallv  *189  *189 ' out || fail "no line of aav: $(cat out)"
grep -q '^s_nl_full  *full write  *81  *27 ' out || fail "no line of s_nl_full: $(cat out)"
check_rc 0 "$sluice" model fit --rows testbed.csv "${quick[@]}" -o again.model --json
check_json out sluice.model/1
check_eq "$(json_get out '["operations"][0]["operation"]')" ar
check_eq "$(head -c 27 again.model)" '{"schema": "sluice.hybrid/2'
check_rc 0 "$sluice" model show
check_has "$(cat out)" "Testbed (Lustre)"
check_rc 0 "$sluice" model show again.model --all
check_has "$(cat out)" "boxcox,center,scale,pca"

# predict: prints the terms and their sum.
check_rc 0 "$sluice" model predict -n 256 -s 15872K --param striping_factor=16
check_words "$(cat out)" "256 ranks on 16 nodes" "15.5 MiB each" "3.88 GiB" striping_factor=16
check_words "$(cat out)" "16 aggregators" "15 full rounds" incomplete
# Without measured accesses nothing is claimed about the accuracy.
check_words "$(cat out)" "not calibrated"
! grep -q '90 %' out || fail "a model that is not calibrated claims a coverage"
check_words "$(cat err)" "not calibrated" "sluice model calibrate"
check_rc 0 "$sluice" model predict -n 256 -s 15872K --param striping_factor=16 --json
check_json out sluice.model/1
python3 - <<'PYTHON' || fail "the prediction is not right: $(cat out)"
import json
d = json.load(open("out"))
w, b = 1, 16
truth = 0.1 + 0.8 * w + 0.01 * b * w + 14 * (0.2 + 0.02 * b * w ** 0.7) + 0.2 + 0.02 * b * 0.5 ** 0.7
assert abs(sum(t["seconds"] for t in d["terms"]) / d["seconds"] - 1) < 1e-9
assert d["low"] < d["seconds"] < d["high"]
assert d["calibrated"] is False and d["coverage"] is None and d["measured_coverage"] is None
assert abs(d["seconds"] / truth - 1) < 0.25, (d["seconds"], truth)
assert sum(t["count"] for t in d["terms"]) == 40
PYTHON
check_rc 0 "$sluice" model predict -n 16384 -s 16M
check_words "$(cat out)" outside range
check_rc 2 "$sluice" model predict -n 256
check_words "$(cat err)" --ranks --size
check_rc 2 "$sluice" model predict -n 258 -N 16 -s 1M
check_has "$(cat err)" "16 nodes"
check_rc 2 "$sluice" model predict -n 256 -s 1M --param cb_nodes
check_rc 2 "$sluice" model predict -n 256 -s 1M --param aggregators=3
check_has "$(cat err)" "aggregators"
check_rc 3 "$sluice" model predict -n 256 -s 1M --read
check_has "$(cat err)" "Allgather (ag)"

# The testbed has no measurements of pieces.
check_rc 3 "$sluice" model predict -n 256 -s 1M --pattern strided --block 4K
check_words "$(cat err)" "x_piece" "sluice model measure"

# Models of Blue Gene machines belong to the lab.
check_rc 1 "$sluice" model fit --rows testbed.csv --machine vesta "${quick[@]}"
check_has "$(cat err)" "sluice lab"

# recommend: long accesses gain by fewer or more aggregators, and the prediction equals that of predict.
check_rc 0 "$sluice" model recommend -n 512 -s 256M --param striping_factor=8 --param striping_unit=8M -o best.hints
check_words "$(cat out)" "Predicted speedup" "not calibrated"
check_words "$(cat out)" "sluice run --params best.hints"
check_rc 0 "$sluice" kb params check best.hints
check_rc 0 "$sluice" model recommend -n 512 -s 256M --param striping_factor=8 --param striping_unit=8M --json
check_json out sluice.model/1
python3 - "$sluice" <<'PYTHON' || fail "the recommendation is not that of predict: $(cat out)"
import json, subprocess, sys
d = json.load(open("out"))
assert not d["keep"] and d["gain_low"] > 1 and d["gain_low"] <= d["gain"] <= d["gain_high"], d
argv = [sys.argv[1], "model", "predict", "--json", "-n", "512", "-s", "256M"]
for name, value in d["settings"].items():
    argv += ["--param", "%s=%s" % (name, value)]
p = json.loads(subprocess.check_output(argv))
assert abs(p["seconds"] / d["predicted"] - 1) < 1e-9
assert d["best"][0]["predicted"] <= d["best"][1]["predicted"] <= d["best"][4]["predicted"]
assert abs(d["best"][0]["predicted"] / d["predicted"] - 1) < 1e-9
PYTHON

# A space can be given by the user. Parameters that the model does not know are not changed, and are reported.
cat >space.json <<'JSON'
{"schema": "sluice.space/1", "dimensions": [
 {"name": "striping_factor", "values": [4, 16, 64], "default": 16},
 {"name": "striping_unit", "values": ["8M", "16M", "32M"], "default": "16M"},
 {"name": "alignment", "values": [null, "4096,4096"]}]}
JSON
check_rc 0 "$sluice" model recommend -n 512 -s 256M --space space.json
check_has "$(cat out)" "of 9:"
check_words "$(cat out)" "not know" alignment
check_rc 1 "$sluice" model recommend -n 512 -s 256M --space testbed.csv

# No change is recommended if the settings are optimal or noise hides the difference.
check_rc 0 "$sluice" model recommend -n 512 -s 256M --space space.json --json
best=($(python3 -c 'import json
for p in json.load(open("out"))["settings"].items(): print("--param %s=%s" % p)'))
check_rc 0 "$sluice" model recommend -n 512 -s 256M --space space.json "${best[@]}" -o none.hints
check_words "$(cat out)" "No change"
check_has "$(cat err)" none.hints
[ ! -e none.hints ] || fail "settings that are not recommended were written"
check_rc 0 "$sluice" model fit --rows noisy.csv "${quick[@]}" -o noisy.model
check_rc 0 "$sluice" model recommend -m noisy.model -n 256 -s 16M --space space.json --param striping_factor=64
check_words "$(cat out)" "No change"

# An operation that was not benchmarked is an error.
check_rc 0 "$sluice" model fit --rows lacking.csv "${quick[@]}" -o lacking.model
check_rc 3 "$sluice" model predict -m lacking.model -n 256 -s 16M
check_has "$(cat err)" "Alltoallv (aav)"
check_rc 3 "$sluice" model recommend -m lacking.model -n 256 -s 16M

# Damaged models, other files and models of later versions are errors.
head -c 5000 again.model >short.model
check_rc 1 "$sluice" model predict -m short.model -n 256 -s 16M
check_has "$(cat err)" short.model
check_rc 1 "$sluice" model predict -m testbed.csv -n 256 -s 16M
check_has "$(cat err)" testbed.csv
sed '1s,sluice.hybrid/2,sluice.hybrid/9,' again.model >later.model
check_rc 1 "$sluice" model predict -m later.model -n 256 -s 16M
check_has "$(cat err)" later.model
