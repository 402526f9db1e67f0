#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The acceptance checks of the paper on forecasts, on generated traces of Titan and Cori of full length, with the bounds of
# the paper. Takes minutes.
# Papers: WAN-27, WAN-31.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libpapers.sh"
[ -x "$BUILD/bench/bench_forecast" ] || fail "the benchmarks were not built: cmake --build BUILD --target benches"

check_rc 0 "$sluice" lab reproduce wan --json
mv out wan.json
# The training and answering times of six classifiers on eight days of one target.
"$BUILD/bench/bench_forecast" judge titan 1 8 300 - >times || fail "bench_forecast failed"

python3 - wan.json times >facts <<'PYTHON'
import json, re, sys

sheets = {s["name"]: s["rows"] for s in json.load(open(sys.argv[1]))["sheets"]}
paper = ("svm", "forest", "boosting", "perceptron", "bayes", "tree")  # the classifiers of the paper

def say(name, value):
    print("%s=%s" % (name, value if isinstance(value, int) else "%.4f" % value))

def large(sheet):
    return {r["method"]: r for r in sheets[sheet] if r["size"] == "1 GB"}

titan, cori = large("figure7a"), large("figure7b")
say("titan_svm", 100 * titan["svm"]["mean"])
say("titan_above", 100 * titan["svm"]["above"])
auc = sorted(paper, key=lambda m: -titan[m]["auc"])
print("titan_top=%s" % auc[0])
say("titan_auc", titan[auc[0]]["auc"])
say("cori_above", 100 * cori["svm"]["above"])
say("cori_svm", 100 * cori["svm"]["mean"])
say("cori_boosting", 100 * cori["boosting"]["mean"])
for days, r in zip(("8", "6", "4"), [r for r in sheets["figure11"] if r["size"] == "1 GB"]):
    assert r["days"].startswith(days), r
    say("days_" + days, 100 * r["mean"])
eighth = {r["number"]: r["ours"] for r in sheets["figure8"]}
say("idle_below", 100 * eighth["share of idle below 2.1 s"])
say("recall", 100 * eighth["share of slower writes predicted as busy"])
best = max((r for r in sheets["figure12"] if r["source"] == "forecast"), key=lambda r: r["slowest"])
classes = next(r for r in sheets["figure12"] if r["rule"] == "classes" and r["source"] == "forecast")
say("group", classes["slower_group"])
say("slowest", classes["slowest"])
say("best_slowest", best["slowest"])
fit = ask = 0
for line in open(sys.argv[2]):
    row = dict(re.findall(r"(\w+)=(\S+)", line))
    if row["method"] in paper:
        fit, ask = max(fit, float(row["fit_s"])), max(ask, float(row["ask_us"]))
say("fit", fit)
say("ask", ask)
PYTHON
. ./facts
cat facts

paper_holds WAN-AC-8 "$titan_svm >= 75 && $titan_above > 50 && (\"$titan_top\" == \"svm\" || \"$titan_top\" == \"forest\")" \
	"SVM $titan_svm %, above 70 % on $titan_above % of 12 targets; top AUC $titan_top ($titan_auc)"
paper_missed WAN-AC-9 "$cori_above > 50 && $cori_boosting >= 78 && $cori_boosting <= 82" \
	"SVM $cori_svm %, above 90 % on $cori_above % of the targets; boosting $cori_boosting %"
paper_missed WAN-AC-10 "$days_4 >= $days_8 - 4 && $days_4 >= 74 && $days_6 >= 74" "$days_8 -> $days_6 -> $days_4 %"
paper_missed WAN-AC-11 "$idle_below > 50 && $recall >= 95" \
	"$idle_below % of predicted idle below 2.1 s; $recall % of the slowest twentieth predicted busy"
paper_missed WAN-AC-12 "$slowest > 9" \
	"$slowest % by the slowest target (WAN-38), best rule $best_slowest %; $group % by the slower group"
paper_report WAN-AC-13 "$fit < 30 && $ask < 10000" "training at most $fit s, answer at most $ask us, of six classifiers"
