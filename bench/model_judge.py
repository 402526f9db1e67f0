#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares held-out runs of collective_io with the predictions of the hybrid model; part of bench/model.sh.

    model_judge.py cases RANKS SIZES BUFFERS             lines for collective_io --cases
    model_judge.py judge SLUICE MODEL OUT RESULTS...     predictions, ranks and regrets, as JSON in OUT
    model_judge.py modelled EVALUATION                   thresholds of a simulated machine, from `lab evaluate --json`

RESULTS is the output of collective_io; RESULTS.cases is its input. An instance is a number of ranks and a size; its
configurations are the numbers of aggregators and the buffer sizes. The measured time of a configuration is the median
of transfer_s, the time of the collective call, which is what the model predicts.
"""
import json
import math
import re
import statistics
import subprocess
import sys
from collections import defaultdict


def cases(ranks, sizes, buffers):
    aggregators = [a for a in (1, 2, 4, 8, 16, 32) if a < ranks] + [ranks]
    for size in sizes:
        for count in aggregators:
            for buffer in buffers:
                # The list of hosts is what clamps cb_nodes.
                print(f"{size} romio_cb_write=enable cb_config_list=*:{ranks} cb_nodes={count} cb_buffer_size={buffer}")


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


def measured(paths):
    """{(ranks, size): {hints: [seconds]}}"""
    runs = defaultdict(lambda: defaultdict(list))
    for path in paths:
        with open(path + ".cases") as f:
            hints = [tuple(line.split()[1:]) for line in f]
        with open(path) as f:
            for line in f:
                of = dict(re.findall(r"(\w+)=([\w.]+)", line))
                if "case" in of and "transfer_s" in of:
                    runs[int(of["ranks"]), int(of["size"])][hints[int(of["case"]) - 1]].append(float(of["transfer_s"]))
    return runs


def predicted(sluice, model, ranks, size, hints):
    command = [sluice, "model", "predict", "--json", "--model", model, "--ranks", str(ranks), "--size", str(size)]
    for hint in hints:
        command += ["--param", hint]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told["seconds"], told["low"], told["high"]


def word(hints, name):
    return next(h.split("=", 1)[1] for h in hints if h.startswith(name + "="))


def judge(sluice, model, out, paths):
    instances, all_measured, all_predicted, inside = [], [], [], 0
    for (ranks, size), by_hints in sorted(measured(paths).items()):
        rows = []
        for hints, seconds in by_hints.items():
            guess, low, high = predicted(sluice, model, ranks, size, hints)
            rows.append({"aggregators": int(word(hints, "cb_nodes")), "buffer": int(word(hints, "cb_buffer_size")),
                         "runs": len(seconds), "measured": statistics.median(seconds), "predicted": guess,
                         "low": low, "high": high})
        rows.sort(key=lambda r: (r["aggregators"], r["buffer"]))
        best = min(rows, key=lambda r: r["measured"])
        chosen = min(rows, key=lambda r: r["predicted"])
        # What counts without hints: one aggregator of a node, and 16 MiB.
        default = next((r for r in rows if r["aggregators"] == 1 and r["buffer"] == 16 << 20), rows[0])
        tau = kendall([r["measured"] for r in rows], [r["predicted"] for r in rows])
        instances.append({"ranks": ranks, "size": size, "rows": rows, "kendall": tau,
                          "regret": chosen["measured"] / best["measured"] - 1,
                          "default_regret": default["measured"] / best["measured"] - 1,
                          "gain": default["measured"] / chosen["measured"],
                          "gain_best": default["measured"] / best["measured"]})
        all_measured += [r["measured"] for r in rows]
        all_predicted += [r["predicted"] for r in rows]
        inside += sum(r["low"] <= r["measured"] <= r["high"] for r in rows)
        print(f"{ranks} ranks, {size >> 10} KiB each: {len(rows)} configurations, Kendall {tau:.2f}")
        print("  aggregators   buffer   predicted        90 % interval   measured  predicted/measured")
        for r in rows:
            mark = ("  best" if r is best else "") + ("  chosen" if r is chosen else "")
            print(f"  {r['aggregators']:11d} {r['buffer'] >> 10:5d} KiB {1e3 * r['predicted']:8.2f} ms"
                  f" {1e3 * r['low']:8.2f} to {1e3 * r['high']:8.2f} {1e3 * r['measured']:7.2f} ms"
                  f" {r['predicted'] / r['measured']:19.2f}{mark}")
    if not instances:
        sys.exit("model: there are no held-out runs")
    regrets = [i["regret"] for i in instances]
    ratios = [p / m for p, m in zip(all_predicted, all_measured)]
    result = {"runs": len(all_measured), "instances": len(instances),
              "kendall": kendall(all_measured, all_predicted),
              "kendall_median": statistics.median(i["kendall"] for i in instances),
              "regret_median": statistics.median(regrets), "regret_mean": statistics.mean(regrets),
              "regret_most": max(regrets),
              "default_regret_median": statistics.median(i["default_regret"] for i in instances),
              "gain_mean": statistics.mean(i["gain"] for i in instances),
              "gain_best_mean": statistics.mean(i["gain_best"] for i in instances),
              "ratio_median": statistics.median(ratios), "inside": inside / len(all_measured)}
    print("instance                  Kendall   regret   regret of default   speedup over default   best speedup")
    for i in instances:
        print(f"{i['ranks']:2d} ranks, {i['size'] >> 10:6d} KiB     {i['kendall']:6.2f}  {100 * i['regret']:5.1f} %"
              f"             {100 * i['default_regret']:5.1f} %                {i['gain']:.2f}            {i['gain_best']:.2f}")
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
    bars += [(what, value, True, bar) for what, value, _, threshold in modelled_bars(sheets, "published")]
    bars += [("mean speedup of ml with 99, 66, 33 runs", " > ".join(f"{m:.3f}" for m in means),
              all(a > b for a, b in zip(means, means[1:])), "falls")]
    for what, value, is_good, threshold in bars:
        shown = value if isinstance(value, str) else f"{value:.4g}"
        print(f"{'' if is_good else 'missed: '}{what}: {shown} (threshold {bar})")


def main(words):
    if words[:1] == ["cases"] and len(words) == 4:
        cases(int(words[1]), words[2].split(), words[3].split())
    elif words[:1] == ["judge"] and len(words) > 4:
        judge(words[1], words[2], words[3], words[4:])
    elif words[:1] == ["modelled"] and len(words) == 2:
        modelled(words[1])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
