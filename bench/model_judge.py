#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates held-out accesses of the hybrid model; part of bench/model.sh.

    model_judge.py judge CHECK OUT          output of `sluice model calibrate --check --json`; result as JSON in OUT
    model_judge.py modelled EVALUATION      thresholds of a simulated machine, from `lab evaluate --json`

An instance is an access in one direction; its rows are the settings that were measured, always the library's default,
and in most cases independent, collective and recommended ones. A plain setting is one that a user without a model would
try: the default, or a hint that enables or disables collective buffering.
"""
import json
import math
import statistics
import sys
from collections import defaultdict


def kendall(a, b):
    """Kendall's tau-b; NAN if all values of one side are equal."""
    agree = ties_a = ties_b = 0
    pairs = len(a) * (len(a) - 1) // 2
    for i in range(len(a)):
        for j in range(i):
            x, y = (a[i] > a[j]) - (a[i] < a[j]), (b[i] > b[j]) - (b[i] < b[j])
            agree += x * y
            ties_a += x == 0
            ties_b += y == 0
    below = math.sqrt((pairs - ties_a) * (pairs - ties_b))
    return agree / below if below else math.nan


def instances_of(check):
    of = defaultdict(list)
    for row in check["of"]:
        of[row["group"], row["direction"]].append(row)
    return of


def regret(rows, chosen, among):
    return chosen["measured"] / min(r["measured"] for r in rows if among(r)) - 1


def evaluate(rows):
    recommended = next(r for r in rows if r["recommended"])
    default = next(r for r in rows if r["default"])
    return {"rows": rows, "kendall": kendall([r["measured"] for r in rows], [r["predicted"] for r in rows]),
            "plain_regret": regret(rows, recommended, lambda r: r["plain"]),
            "default_regret": regret(rows, default, lambda r: r["plain"]),
            "regret": regret(rows, recommended, lambda r: True),
            "gain": default["measured"] / recommended["measured"]}


def print_instance(of):
    first = of["rows"][0]
    piece = f", pieces of {first['block']} B" if first["block"] else ""
    print(f"{first['ranks']} ranks {first['direction']} {first['size'] >> 10} KiB each{piece}: Kendall {of['kendall']:.2f}")
    print("   predicted            interval   measured  transfer    settings")
    for r in of["rows"]:
        marks = [m for m in ("default", "recommended") if r[m]]
        inside = " " if not r["calibrated"] or r["low"] <= r["measured"] <= r["high"] else "!"
        print(f"  {1e3 * r['predicted']:7.2f} ms {1e3 * r['low']:7.2f} to {1e3 * r['high']:7.2f} {1e3 * r['measured']:7.2f} ms{inside}"
              f" {r['transfer']:11s} {' '.join(f'{k}={v}' for k, v in r['settings'].items())}"
              f"{' (' + ', '.join(marks) + ')' if marks else ''}")


def judge(path, out):
    with open(path) as f:
        check = json.load(f)
    instances = [evaluate(rows) for _, rows in sorted(instances_of(check).items())]
    if not instances:
        sys.exit("model: there are no held-out runs")
    for of in instances:
        print_instance(of)
    claimed = [r for r in check["of"] if r["calibrated"]]
    inside = [r["low"] <= r["measured"] <= r["high"] for r in claimed]
    taus = [i["kendall"] for i in instances if not math.isnan(i["kendall"])]
    result = {"runs": len(check["of"]), "instances": len(instances), "load": check["load"],
              "kendall": kendall([r["measured"] for r in check["of"]], [r["predicted"] for r in check["of"]]),
              "kendall_median": statistics.median(taus),
              "plain_regret_median": statistics.median(i["plain_regret"] for i in instances),
              "plain_regret_mean": statistics.mean(i["plain_regret"] for i in instances),
              "plain_regret_most": max(i["plain_regret"] for i in instances),
              "default_regret_median": statistics.median(i["default_regret"] for i in instances),
              "default_regret_most": max(i["default_regret"] for i in instances),
              "regret_median": statistics.median(i["regret"] for i in instances),
              "gain_mean": statistics.geometric_mean([i["gain"] for i in instances]),
              "ratio_median": statistics.median(r["predicted"] / r["measured"] for r in check["of"]),
              "inside": statistics.mean(inside) if inside else 0}
    with open(out, "w") as f:
        json.dump(dict(result, of=instances), f, indent=1)


# Means and quantiles of speedups that differ by less than this from those without noise count as unchanged.
UNCHANGED = 0.05


def noise_change(rows, method, names):
    """The largest change of a mean or quantile up to sigma 0.5."""
    of = {r["sigma"]: r for r in rows if r["method"] == method}
    return max(abs(r[n] / of[0][n] - 1) for sigma, r in of.items() if sigma <= 0.5 for n in names)


def modelled_bars(sheets, rounds):
    """Rows for the hybrid model with one rule of rounds: figure, value, whether it passes, threshold."""
    of = {r["method"]: r for r in sheets["figure9"]}
    name = f"hybrid ({rounds})"
    hybrid, keep = of[name], of[name + " or default"]
    change = noise_change(sheets["figure11"], name, ["mean", "q05", "q25", "q50", "q75", "q95"])
    return [(f"{name} is worse than the default on", hybrid["worse"], hybrid["worse"] <= 2, "at most 2 of 33"),
            ("... of these beyond the noise of ten runs", hybrid["worse_surely"], True, "none"),
            ("... with the rule to keep the default on", keep["worse"], keep["worse"] == 0, "0 of 33"),
            ("gains more than 1.5x on", hybrid["most"], hybrid["most"] >= 6, "at least 6"),
            ("mean gain, % of the best", hybrid["optimal_percent"], hybrid["optimal_percent"] >= 95, "at least 95"),
            ("... with the rule, % of the best", keep["optimal_percent"], True, "none"),
            ("noise up to 0.5 changes mean or quantiles by %", 100 * change, change <= UNCHANGED,
             f"at most {100 * UNCHANGED:.0f}")]


def modelled(path):
    """Prints a line per threshold; lines of missed ones begin with "missed". The published rule is printed as well."""
    with open(path) as f:
        sheets = {s["name"]: s["rows"] for s in json.load(f)["sheets"]}
    means = [r["mean"] for r in sheets["figure10"] if r["method"].startswith("ml, ")]
    bars = modelled_bars(sheets, "domains")
    bars += [(what, value, True, threshold) for what, value, _, threshold in modelled_bars(sheets, "published")]
    bars += [("mean speedup of ml with 99, 66, 33 runs", " > ".join(f"{m:.3f}" for m in means),
              all(a > b for a, b in zip(means, means[1:])), "falls")]
    for what, value, is_good, threshold in bars:
        shown = value if isinstance(value, str) else f"{value:.4g}"
        print(f"{'' if is_good else 'missed: '}{what}: {shown} (threshold {threshold})")


def main(words):
    if words[:1] == ["judge"] and len(words) == 3:
        judge(words[1], words[2])
    elif words[:1] == ["modelled"] and len(words) == 2:
        modelled(words[1])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
