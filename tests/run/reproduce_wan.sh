#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluice lab reproduce wan --quick: all figures have their methods, sizes, rules and metrics, plots are XML, and shares
# are between 0 and 1. docs/reference/simulated/systems.md has the numbers of a full run.
# Papers: WAN-14, WAN-15, WAN-29 to WAN-34.
. "$(dirname "$0")/libtest.sh"

check_rc 0 "$sluice" lab reproduce wan --quick --max-targets 3 --plots figures --json
mv out first
check_json first sluice.reproduce/1
for name in 4-titan 4-tail-cori 5-titan 6-cori 7-titan 7-cori 8-titan 9-1-titan 10-3-cori 11-titan 12-titan \
	12-slowest-titan; do
	python3 -c 'import sys, xml.etree.ElementTree as t
root = t.parse(sys.argv[1]).getroot()
assert root.tag.endswith("svg"), root.tag
assert len(root) > 20, len(root)' "figures/wan-figure$name.svg" || fail "wan-figure$name.svg is not a picture"
done

python3 - first <<'PYTHON'
import json, sys

document = json.load(open(sys.argv[1]))
sheets = {s["name"]: s["rows"] for s in document["sheets"]}
assert [s["name"] for s in document["sheets"]] == [
    "figure4", "figure5", "table1", "figure6", "figure7a", "figure7b", "folds", "figure8", "figure9_10",
    "figure11", "figure12", "figure12_run"], list(sheets)
row = lambda sheet, name: next(r for r in sheets[sheet] if r["number"] == name)
# The numbers of the paper, and two modes of the generated system close to them.
for system, modes in (("titan", (1.85, 2.7)), ("cori", (3.2, 4.0))):
    for name, mode in zip(("first mode, s", "second mode, s"), modes):
        r = row("figure4", name)
        assert r[system + "_paper"] == mode and abs(r[system] / mode - 1) < 0.15, r
    assert row("figure5", "second mode, s")[system] > row("figure5", "first mode, s")[system]
    assert 0.4 < row("figure4", "share below limit")[system] < 0.9
assert row("table1", "jobs per day")["titan_paper"] == 820 and row("table1", "nodes, maximum")["cori_paper"] == 5468
# Ten methods and the ceiling. A method that does not know the write times cannot be far above it.
methods = ["svm", "forest", "boosting", "perceptron", "bayes", "tree", "logistic", "hidden", "persistence",
           "majority", "(ceiling)"]
for name in ("figure7a", "figure7b"):
    rows = sheets[name]
    assert [r["method"] for r in rows] == methods * 3
    assert [r["size"] for r in rows] == [s for s in ("64 MB", "256 MB", "1 GB") for _ in methods]
    for r in rows:
        assert 0 <= r["least"] <= r["q25"] <= r["q50"] <= r["q75"] <= r["most"] <= 1, r
    for at in (0, 11, 22):
        assert max(r["mean"] for r in rows[at:at + 10]) < rows[at + 10]["mean"] + 0.05
assert [r["method"] for r in sheets["figure9_10"]] == methods[:-1]
assert [(r["days"], r["size"]) for r in sheets["figure11"]][::3] == [("2/0.5", "64 MB"), ("1.5/1", "64 MB"),
                                                                    ("1/1.5", "64 MB")]
eighth = {r["number"]: r["ours"] for r in sheets["figure8"]}
assert eighth["writes predicted as idle"] + eighth["writes predicted as busy"] == 4 * 144, eighth
# Every rule with every kind of knowledge. Known states gain more than random labels.
gains = {(r["rule"], r["source"]): r for r in sheets["figure12"]}
for rule in ("classes", "expected", "hedged"):
    assert gains[rule, "true states"]["slower_group"] > gains[rule, "random labels"]["slower_group"], rule
    for r in gains.values():
        assert r["low"] <= r["slower_group"] <= r["high"] and {"late", "slowest"} <= set(r), r
assert len(sheets["figure12_run"]) == 100 and all(r["equal"] > 0 for r in sheets["figure12_run"])
PYTHON

check_rc 2 "$sluice" lab reproduce wann
check_rc 2 "$sluice" lab reproduce wan --max-targets 2
check_has "$(cat err)" "at least 3"
