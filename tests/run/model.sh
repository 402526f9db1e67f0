#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice model on rows of benchmarks that a formula made: fit, describe, predict and recommend, and what it says where
# it cannot tell, where it must not be trusted, and of models that are damaged.
. "$(dirname "$0")/libtest.sh"

# Vesta with costs that are known. Locks grow with writers, so many aggregators only pay in long accesses. A second
# platform lacks Alltoallv, a third one has single cells.
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
    for n in 128, 256, 512:
        for k in range(2, 19, 2):
            yield from row("ar", n, 0, 0, 0, 1 << k, 1e-5 + 1e-9 * (1 << k))
            yield from row("aa", n, 0, 0, 0, 1 << k, 2e-6 * (1 << k))
        for s in n, 4 * n, 16 * n:
            for r in n // 4, n, 4 * n:
                for b in 4, 8, 1024, M, 8 * M, 16 * M, 32 * M:
                    yield from row("aav", n, s, r, 0, b, 1e-4 + 1e-9 * b * s / r / 16, 1)
        for w in 0.3125, 1.0625, 4.0625:
            for b in 8, 16, 32:
                yield from row("s_lock", n, 0, 0, w, b * M, 0.1 + 0.8 * w + 0.01 * b * w)
                yield from row("s_nl_full", n, 0, 0, w, b * M, 0.2 + 0.02 * b * w ** 0.7)
                for part in 0.1, 0.5, 0.9:
                    yield from row("s_nl_partial", n, 0, 0, w * part, b * M, 0.2 + 0.02 * b * (w * part) ** 0.7)

open("vesta.csv", "w").write(head + "".join(rows("vesta", 0.01)))
open("noisy.csv", "w").write(head + "".join(rows("vesta", 0.6)))
open("lacking.csv", "w").write(head + "".join(rows("vesta", 0.01, ("aav",))))
open("two.csv", "w").write(head + "".join(list(rows("vesta", 0.01))[:40]) + "".join(list(rows("mira", 0.01))[:40]))
open("broken.csv", "w").write(head + "vesta,ar,,128,16,0,0,0,4,0,0,soon\n")
PYTHON
quick=(--learners linear,neighbours --budget 3)

# misuse
check_rc 2 "$sluice" model
check_rc 2 "$sluice" model guess
check_has "$(cat err)" '"guess" is none of fit, describe, '
check_rc 2 "$sluice" model fit --rows vesta.csv --learners nope
check_has "$(cat err)" 'no method "nope" for numbers: there are linear'
check_rc 2 "$sluice" model fit --rows vesta.csv --folds 1

# nothing to go by, and what to do about it
check_rc 3 "$sluice" model fit
check_has "$(cat err)" "yet: run 'sluice bench comm'"
check_rc 3 "$sluice" model recommend -n 2048 -s 16M
check_has "$(cat err)" "there is no model of this machine yet"
check_rc 3 "$sluice" model describe nowhere.model
check_rc 1 "$sluice" model fit --rows broken.csv
check_has "$(cat err)" "broken.csv:2"
check_rc 1 "$sluice" model fit --rows two.csv
check_has "$(cat err)" "has rows of vesta and of mira: choose by --platform"

# fit: to where nobody has to name it; the machine by the name of the platform
check_rc 0 "$sluice" model fit --rows vesta.csv "${quick[@]}"
check_has "$(cat err)" "written to $XDG_DATA_HOME/sluice/hybrid.model"
grep -q '^aav  *Alltoallv  *189  *189 ' out || fail "no line of aav: $(cat out)"
grep -q '^s_nl_full  *full write  *81  *27 ' out || fail "no line of s_nl_full: $(cat out)"
check_rc 0 "$sluice" model fit --rows vesta.csv "${quick[@]}" -o again.model --json
check_json out sluice.model/1
check_eq "$(json_get out '["operations"][0]["operation"]')" ar
check_eq "$(head -c 27 again.model)" '{"schema": "sluice.hybrid/1'
check_rc 0 "$sluice" model describe
check_has "$(cat out)" "Vesta (ALCF, IBM Blue Gene/Q, GPFS)"
check_rc 0 "$sluice" model describe again.model --all
check_has "$(cat out)" "boxcox,centre,scale,pca"

# predict: the terms of the paper, and a sum that is their sum
check_rc 0 "$sluice" model predict -n 2048 -s 16M -p bg_nodes_pset=16
check_has "$(cat out)" "2048 ranks on 128 nodes write 16.0 MiB each (32.0 GiB in all), with bg_nodes_pset=16"
check_has "$(cat out)" "136 aggregators, 15 full rounds and an incomplete one"
check_rc 0 "$sluice" model predict -n 2048 -s 16M -p bg_nodes_pset=16 --json
check_json out sluice.model/1
python3 - <<'PYTHON' || fail "the prediction is not right: $(cat out)"
import json
d = json.load(open("out"))
w, b = 1.0625, 16
truth = 0.1 + 0.8 * w + 0.01 * b * w + 14 * (0.2 + 0.02 * b * w ** 0.7)
assert abs(sum(t["seconds"] for t in d["terms"]) / d["seconds"] - 1) < 1e-9
assert d["low"] < d["seconds"] < d["high"]
assert abs(d["seconds"] / truth - 1) < 0.25, (d["seconds"], truth)
assert sum(t["count"] for t in d["terms"]) == 8 + 3 * 15
PYTHON
check_rc 0 "$sluice" model predict -n 16384 -s 16M
check_has "$(cat out)" "beyond what was benchmarked"
check_rc 2 "$sluice" model predict -n 2048
check_has "$(cat err)" "--ranks and --size"
check_rc 2 "$sluice" model predict -n 2050 -N 128 -s 1M
check_has "$(cat err)" "do not fill"
check_rc 2 "$sluice" model predict -n 2048 -s 1M -p bg_nodes_pset
check_rc 2 "$sluice" model predict -n 2048 -s 1M -p aggregators=3
check_has "$(cat err)" "there is no parameter"
check_rc 1 "$sluice" model predict -n 2048 -s 1M --read
check_has "$(cat err)" "contiguous writes only"

# recommend: long accesses gain by fewer or more aggregators; what is found is what predict says
check_rc 0 "$sluice" model recommend -n 8192 -s 256M -p bg_nodes_pset=4 -p cb_buffer_size=8M -o best.hints
check_has "$(cat out)" "times as fast as now"
check_has "$(cat out)" "To apply it: sluice run --params best.hints"
check_rc 0 "$sluice" kb params check best.hints
check_rc 0 "$sluice" model recommend -n 8192 -s 256M -p bg_nodes_pset=4 -p cb_buffer_size=8M --json
check_json out sluice.model/1
python3 - "$sluice" <<'PYTHON' || fail "the recommendation is not that of predict: $(cat out)"
import json, subprocess, sys
d = json.load(open("out"))
assert not d["keep"] and d["gain_low"] > 1 and d["gain_low"] <= d["gain"] <= d["gain_high"], d
argv = [sys.argv[1], "model", "predict", "--json", "-n", "8192", "-s", "256M"]
for name, value in d["settings"].items():
    argv += ["-p", "%s=%s" % (name, value)]
p = json.loads(subprocess.check_output(argv))
assert abs(p["seconds"] / d["predicted"] - 1) < 1e-9
assert d["best"][0]["predicted"] <= d["best"][1]["predicted"] <= d["best"][4]["predicted"]
assert abs(d["best"][0]["predicted"] / d["predicted"] - 1) < 1e-9
PYTHON

# a space of the user's own; what the model knows nothing of is left alone, and said
cat >space.json <<'JSON'
{"schema": "sluice.space/1", "dimensions": [
 {"name": "bg_nodes_pset", "values": [4, 16, 64], "default": 64},
 {"name": "cb_buffer_size", "values": ["8M", "16M", "32M"], "default": "16M"},
 {"name": "alignment", "values": [null, "4096,4096"]}]}
JSON
check_rc 0 "$sluice" model recommend -n 8192 -s 256M --space space.json
check_has "$(cat out)" "The best of 9:"
check_has "$(cat out)" "The model knows nothing of alignment: left as they are."
check_rc 1 "$sluice" model recommend -n 8192 -s 256M --space vesta.csv

# what is best already is kept; so is what noise does not let us tell apart
check_rc 0 "$sluice" model recommend -n 8192 -s 256M --space space.json --json
best=($(python3 -c 'import json
for p in json.load(open("out"))["settings"].items(): print("-p %s=%s" % p)'))
check_rc 0 "$sluice" model recommend -n 8192 -s 256M --space space.json "${best[@]}" -o none.hints
check_has "$(cat out)" "Keep what you have: nothing is predicted to be faster."
check_has "$(cat err)" "none.hints is not written"
[ ! -e none.hints ] || fail "settings that are not recommended were written"
check_rc 0 "$sluice" model fit --rows noisy.csv "${quick[@]}" -o noisy.model
check_rc 0 "$sluice" model recommend -m noisy.model -n 2048 -s 16M --space space.json
check_has "$(cat out)" "Keep what you have."

# an operation that was not benchmarked
check_rc 0 "$sluice" model fit --rows lacking.csv "${quick[@]}" -o lacking.model
check_rc 3 "$sluice" model predict -m lacking.model -n 2048 -s 16M
check_has "$(cat err)" "needs to know what Alltoallv (aav) costs, which was not benchmarked: sluice bench comm"
check_rc 3 "$sluice" model recommend -m lacking.model -n 2048 -s 16M

# damaged, foreign and later models
head -c 5000 again.model >short.model
check_rc 1 "$sluice" model predict -m short.model -n 2048 -s 16M
check_has "$(cat err)" "short.model is damaged or incomplete (its checksum is wrong)"
check_rc 1 "$sluice" model predict -m vesta.csv -n 2048 -s 16M
check_has "$(cat err)" "vesta.csv is no model of \`sluice model fit\`"
sed '1s,sluice.hybrid/1,sluice.hybrid/9,' again.model >later.model
check_rc 1 "$sluice" model predict -m later.model -n 2048 -s 16M
check_has "$(cat err)" "made by a later version of Sluice"
