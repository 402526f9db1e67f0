#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The evaluations of bench/forecast.sh and bench/placement.sh. Each prints its results as text, and writes lines "key NAME VALUE" and
"missed: TEXT" to the file BARS.

    forecast_judge.py learn BARS SYSTEM RESULTS DIR NAME   compares `bench_forecast judge` with scikit-learn on the same rows
    forecast_judge.py days BARS RESULTS RESULTS       compares 8 training days with 4
    forecast_judge.py fit DIR SYSTEM TARGETS          mean seconds of the SVM of scikit-learn per target
    forecast_judge.py steps BARS RESULTS              `bench_forecast steps`: gains by rule, source and metric
    forecast_judge.py adaptive BARS SYSTEM            the same for adaptive.SEED of several seeds
    forecast_judge.py real BARS OUTPUT                keys of bench_forecast_real
    forecast_judge.py outside FILE COMMAND...         runs the command; writes the kernel's accounting to FILE
    forecast_judge.py probe BARS STATISTICS FILE      compares `sluice forecast probe --json` with FILE
    forecast_judge.py gain BARS DIR DEVICES           evaluates the steps of the experiment
    forecast_judge.py feedback BARS DIR DEVICES       the same with the bars of the adaptive rule
"""
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import time
from bisect import bisect_right
from collections import defaultdict

CLOSE = 0.01  # largest difference from the accuracy and AUC of scikit-learn, mean over targets


class Bars:
    def __init__(self, path):
        self.file = open(path, "w")

    def key(self, name, value):
        print(f"key {name} {value}", file=self.file)

    def bar(self, is_good, text):
        print(f"  {'ok:     ' if is_good else 'MISSED: '}{text}")
        if not is_good:
            print(f"missed: {text}", file=self.file)


def lines(path):
    """The words key=value of each line; values are numbers if possible."""
    def value(text):
        try:
            return float(text)
        except ValueError:
            return text
    with open(path) as f:
        return [{k: value(v) for k, v in re.findall(r"(\w+)=(\S+)", line)} for line in f]



def reference_methods():
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    def scaled(model):
        return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), model)

    def plain(model):
        return make_pipeline(SimpleImputer(strategy="median"), model)

    return {"tree": lambda seed=0: plain(DecisionTreeClassifier(random_state=seed)),
            "bayes": lambda: scaled(GaussianNB()),
            "boosting": lambda: plain(GradientBoostingClassifier(random_state=0)),
            "svm": lambda: scaled(SVC(C=1, gamma="scale", cache_size=200)),
            "forest": lambda: plain(RandomForestClassifier(50, random_state=0)),
            "perceptron": lambda: scaled(MLPClassifier((100,), random_state=0)),
            "logistic": lambda: scaled(LogisticRegression(max_iter=500))}


def read_rows(path):
    import numpy as np
    with open(path) as f:
        names = f.readline().strip().split(",")
    data = np.loadtxt(path, delimiter=",", skiprows=1)
    width = names.index("label")
    column = {n: data[:, i] for i, n in enumerate(names)}
    return data[:, :width], column["label"], column["shuffled"].astype(int), column["blocked"].astype(int)


def scores(model, x):
    return model.decision_function(x) if hasattr(model, "decision_function") else model.predict_proba(x)[:, 1]


def reference_judge(make, x, y, fold):
    """Out-of-fold accuracy and AUC; rows of fold -1 are not used."""
    import numpy as np
    from sklearn.metrics import accuracy_score, roc_auc_score
    rows = np.flatnonzero(fold >= 0)
    guess, score = np.zeros(len(y)), np.zeros(len(y))
    for k in range(fold.max() + 1):
        train, test = np.flatnonzero((fold >= 0) & (fold != k)), np.flatnonzero(fold == k)
        model = make().fit(x[train], y[train])
        guess[test], score[test] = model.predict(x[test]), scores(model, x[test])
    return accuracy_score(y[rows], guess[rows]), roc_auc_score(y[rows], score[rows])


def reference_test(make, x, y, fold):
    import numpy as np
    from sklearn.metrics import accuracy_score, roc_auc_score
    train, test = np.flatnonzero(fold >= 0), np.flatnonzero(fold < 0)
    model = make().fit(x[train], y[train])
    return accuracy_score(y[test], model.predict(x[test])), roc_auc_score(y[test], scores(model, x[test]))


MEASURES = ["shuffled", "shuffled_auc", "blocked", "blocked_auc", "accuracy", "auc"]


def learn(bars, system, results, directory, name_of):
    import warnings
    warnings.filterwarnings("ignore")
    bars = Bars(bars)
    ours = defaultdict(dict)
    for row in lines(results):
        ours[row["method"]][int(row["target"])] = row
    targets = sorted(ours["svm"])
    theirs = defaultdict(lambda: defaultdict(list))
    methods = reference_methods()
    for target in targets:
        x, y, shuffled, blocked = read_rows(f"{directory}/{system}.{target}.csv")
        for name, method in methods.items():
            # A single tree depends on how ties between splits are broken: the mean of several.
            for make in [lambda seed=seed: method(seed) for seed in range(5)] if name == "tree" else [method]:
                for at, (one, two) in zip((0, 2, 4), (reference_judge(make, x, y, shuffled),
                                                      reference_judge(make, x, y, blocked),
                                                      reference_test(make, x, y, shuffled))):
                    theirs[name][MEASURES[at]].append(one)
                    theirs[name][MEASURES[at + 1]].append(two)

    def mean(method, measure):
        return statistics.mean(row[measure] for row in ours[method].values())

    svm = ours["svm"]
    print(f"  {system}, {len(targets)} targets, 1 GB: {svm[targets[0]]['train']:.0f} training rows and"
          f" {svm[targets[0]]['test']:.0f} test rows each; Sluice / scikit-learn, means over targets")
    print("  method       shuffled acc    shuffled AUC    blocked acc     blocked AUC     days after      AUC"
          "             true state")
    for name in methods:
        cells = [f"{mean(name, m):.3f} / {statistics.mean(theirs[name][m]):.3f}" for m in MEASURES]
        print(f"  {name:11s}  " + "   ".join(cells) + f"   {mean(name, 'latent'):.3f}")
    for name in ("hidden", "persistence", "majority"):
        print(f"  {name:11s}  {mean(name, 'blocked'):.3f} blocked, {mean(name, 'accuracy'):.3f} days after,"
              f" AUC {mean(name, 'auc'):.3f}, true state {mean(name, 'latent'):.3f}")
    print(f"  ceiling {mean('svm', 'ceiling'):.3f}; labels that equal the true state {mean('svm', 'label_truth'):.3f}")
    for name in methods:
        for kind, at in (("shuffled folds", 0), ("blocked folds", 2)):
            one, two = (mean(name, MEASURES[at + i]) - statistics.mean(theirs[name][MEASURES[at + i]]) for i in (0, 1))
            bars.bar(abs(one) <= CLOSE and abs(two) <= CLOSE,
                     f"{name_of}, {name}, {kind}: accuracy {one:+.4f}, AUC {two:+.4f} relative to scikit-learn"
                     f" (threshold {CLOSE} on either side)")
    bound, word = (0.9, "90 %") if system == "cori" else (0.7, "70 %")
    above = sum(row["accuracy"] > bound for row in svm.values())
    bars.bar(2 * above > len(targets), f"{name_of}: SVM above {word} on {above} of {len(targets)} targets (threshold: more than half)")
    bars.key(f"{name_of}_svm", f"{mean('svm', 'accuracy'):.3f}")
    bars.key(f"{name_of}_svm_latent", f"{mean('svm', 'latent'):.3f}")
    bars.key(f"{name_of}_ceiling", f"{mean('svm', 'ceiling'):.3f}")
    bars.key(f"{name_of}_above", f"{above}/{len(targets)}")


def days(bars, eight, four):
    bars = Bars(bars)
    for name, path in (("8", eight), ("4", four)):
        of = [r for r in lines(path) if r["method"] == "svm"]
        mean = statistics.mean(r["accuracy"] for r in of)
        above = sum(r["accuracy"] > 0.7 for r in of)
        bars.bar(mean >= 0.75, f"titan, SVM, 1 GB, {name} training days: {100 * mean:.1f} % on the following days, mean of"
                 f" {len(of)} targets (paper: 75 %), above 70 % on {above}")
        bars.key(f"titan_days{name}", f"{mean:.3f}")


def fit(directory, system, targets):
    total = 0.0
    for target in range(int(targets)):
        x, y, _, _ = read_rows(f"{directory}/{system}.{target}.csv")
        model = reference_methods()["svm"]()
        start = time.process_time()
        model.fit(x, y)
        total += time.process_time() - start
    print(f"{total / int(targets):.4f}")


def steps(bars, path):
    bars = Bars(bars)
    head, *rows = lines(path)
    names = list(dict.fromkeys(r["metric"] for r in rows))
    of = {(r["rule"], r["source"], r["metric"]): r for r in rows}
    print(f"  {head['targets']:.0f} targets, {head['points']:.0f} points; forecasts equal the true state in"
          f" {100 * head['accuracy']:.1f} % and the label in {100 * head['label_accuracy']:.1f} %")
    print("  gain over equal shares, interval of 95 % of the repetitions, share of steps with a gain")
    print(f"  {'rule':9s} {'source':14s} " + "".join(f"{n:>34s}" for n in names))
    for rule, source in dict.fromkeys((r["rule"], r["source"]) for r in rows):
        cells = [of[rule, source, n] for n in names]
        print(f"  {rule:9s} {source:14s} " + "".join(
            f"{100 * c['mean']:+10.1f} % ({100 * c['low']:+5.1f} {100 * c['high']:+5.1f}) {100 * c['won']:3.0f} %"
            for c in cells))
    group, slowest, source = names[0], names[-1], rows[0]["source"]

    def gain(rule, metric):
        return 100 * of[rule, source, metric]["mean"]

    bars.bar(gain("classes", group) > 9, f"placement: the paper's rule gains {gain('classes', group):.1f} % in the paper's"
             f" metric (threshold above 9 %)")
    bars.bar(gain("expected", group) > gain("classes", group),
             f"placement: shares by expected times gain {gain('expected', group):.1f} % in the same metric (threshold above"
             f" {gain('classes', group):.1f} %)")
    bars.bar(gain("hedged", slowest) >= 0, f"placement: hedged placement gains {gain('hedged', slowest):.1f} % on the slowest"
             f" target (threshold 0 %)")
    for rule in ("classes", "expected", "hedged"):
        bars.key(f"place_{rule}", "/".join(f"{gain(rule, n):.1f}" for n in names))



def adaptive(bars, system):
    """Gains on the slowest target; intervals of 95 % over seeds, by Student's t."""
    bars = Bars(bars)
    wanted = {("adaptive", "forecast"): "adaptive", ("adaptive", "random_labels"): "random", ("expected", "measured_times"): "limit",
              ("expected", "forecast"): "expected", ("hedged", "forecast"): "hedged", ("classes", "forecast"): "classes"}
    gains = defaultdict(list)
    seeds = sorted(name for name in os.listdir(".") if re.fullmatch(r"adaptive\.\d+", name))
    for name in seeds:
        for row in lines(name):
            column = wanted.get((row.get("rule"), row.get("source")))
            if column and row["metric"] == "slowest_target":
                gains[column].append(100 * row["mean"])
    gains["share of the limit"] = [100 * a / b for a, b in zip(gains["adaptive"], gains["limit"])]
    factor = {2: 12.7, 10: 2.262}.get(len(seeds), 2.3)
    for column, values in gains.items():
        half = factor * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
        print(f"  {column:18s} {statistics.mean(values):7.1f} % +- {half:.1f} (smallest {min(values):.1f})")
        bars.key(f"{system}_{column.replace(' ', '_')}", f"{statistics.mean(values):.1f}+-{half:.1f}")
    share, worst = statistics.mean(gains["share of the limit"]), min(gains["random"])
    bars.bar(share >= 50, f"adaptive: {share:.1f} % of the fluid limit's gain on the slowest target, {len(seeds)} seeds (threshold 50 %)")
    bars.bar(worst >= -1, f"adaptive: with random forecasts, at least {worst:.1f} % over equal shares (threshold -1 %)")


def real(bars, path):
    bars = Bars(bars)
    of = {}
    with open(path) as f:
        for line in f:
            if line.startswith("key "):
                _, name, value = line.split()
                of[name] = [float(v) for v in value.split("/")]
                bars.key(name, value)
    start, hours = of["real_likelier_start"], of["real_likelier_hours"]
    print(f"  with node hours of concurrent jobs, which depend on the run time: {hours[0]:.1f} % ({hours[1]:.1f} % blocked)")
    bars.bar(start[0] >= 90, f"real: {start[0]:.1f} % of the states predicted from earlier runs and data known at the start"
             f" ({start[1]:.1f} % blocked in time; threshold 90 %)")



def io_counts():
    with open("/proc/self/io") as f:
        return {k: int(v) for k, v in (line.split(": ") for line in f)}


def outside(path, *command):
    """The kernel accounts bytes and CPU time of children to the parent that has waited for them."""
    before, start = io_counts(), time.monotonic()
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    seconds, after = time.monotonic() - start, io_counts()
    with open(path, "w") as f:
        print(f"seconds={seconds:.3f} cpu_s={usage.ru_utime + usage.ru_stime:.4f}"
              f" write_bytes={after['write_bytes'] - before['write_bytes']}", file=f)
    sys.exit(os.waitstatus_to_exitcode(status))


def probe(bars, statistics_path, outside_path):
    bars = Bars(bars)
    with open(statistics_path) as f:
        told = json.load(f)
    seen = lines(outside_path)[0]
    own, kernel = 100 * told["cpu_share"], 100 * seen["cpu_s"] / seen["seconds"]
    wrote = sum(t["bytes"] for t in told["targets"])
    print(f"  {len(told['targets'])} targets, {told['rounds']} rounds in {told['seconds']:.1f} s: {wrote / 1e6:.1f} MB written,"
          f" CPU {told['cpu_seconds']:.3f} s by its own statistics, {seen['cpu_s']:.3f} s by the kernel;"
          f" bytes written to storage by the kernel {seen['write_bytes'] / 1e6:.1f} MB")
    bars.bar(own < 0.5 and kernel < 0.5, f"probe: {own:.3f} % of one core by its own statistics, {kernel:.3f} % by the"
             f" kernel (threshold below 0.5 %)")
    # The kernel also counts writes to the store and its journal.
    bars.bar(wrote <= seen["write_bytes"] <= 1.05 * wrote + 16e6,
             f"probe: {wrote} bytes by its statistics, {seen['write_bytes']:.0f} by the kernel, including the store")
    bars.key("probe_cpu_percent", f"{own:.3f}/{kernel:.3f}")
    bars.key("probe_bytes", f"{wrote}/{seen['write_bytes']:.0f}")


BOOTSTRAPS = 4000


def load_states(path):
    """The log of the load as lists per target: times, and whether a mover is at the target from then on."""
    events = defaultdict(list)
    at = {}
    with open(path) as f:
        for line in f:
            when, mover, target = float(line.split()[0]), *map(int, line.split()[1:])
            if at.get(mover, -1) >= 0:
                events[at[mover]].append((when, False))
            if target >= 0:
                events[target].append((when, True))
            at[mover] = target
    return events


def is_loaded(events, target, when):
    times = [e[0] for e in events[target]]
    i = bisect_right(times, when)
    return events[target][i - 1][1] if i else False


def read_steps(path):
    """Blocks of {rule: (time, seconds, bytes, {folder: files}, decision_ms)}; an incomplete last block is dropped."""
    blocks, block = [], {}
    with open(path) as f:
        for line in f:
            words = line.split()
            if words == ["end"]:
                blocks.append(block)
                block = {}
                continue
            rule, when, decision, seconds, size = words[0], int(words[1]) / 1e9, *map(float, words[2:5])
            block[rule] = (when, seconds, size, dict(w.split("=") for w in words[5:]), decision)
    return blocks


def throughput(blocks, rule):
    return sum(b[rule][2] for b in blocks) / sum(b[rule][1] for b in blocks)


def interval(blocks, rule):
    """Bootstrap interval of the gain over equal shares; whole blocks are drawn."""
    draw = random.Random(1)
    gains = sorted(throughput(again, rule) / throughput(again, "equal") - 1
                   for again in ([draw.choice(blocks) for _ in blocks] for _ in range(BOOTSTRAPS)))
    return gains[int(0.025 * BOOTSTRAPS)], gains[int(0.975 * BOOTSTRAPS)]


def forecasts_judge(directory, events):
    """The share of forecasts that agree with the position of the load."""
    right = total = 0
    if not os.path.exists(f"{directory}/forecasts"):
        return math.nan
    with open(f"{directory}/forecasts") as f:
        for line in f:
            _, when, text = line.split(" ", 2)
            for answer in json.loads(text)["forecasts"]:
                said = answer["busy"] > 0.5
                right += said == is_loaded(events, int(answer["target"][1:]) - 1, int(when) / 1e9)
                total += 1
    return right / total if total else math.nan


def gain_of(blocks, rule):
    return throughput(blocks, rule) / throughput(blocks, "equal") - 1


def compare_rules(bars, directory, folders):
    """Prints the steps of each rule beside those with equal shares; returns the blocks and the rules."""
    blocks = read_steps(f"{directory}/steps")
    events = load_states(f"{directory}/load.log")
    target_of = dict(w.split("=") for w in folders.split())
    rules = sorted(blocks[0], key=["equal", "classes", "expected", "hedged", "adaptive"].index)
    right = forecasts_judge(directory, events)
    print(f"  {len(blocks)} steps of each rule in random order; "
          + ("there is no forecast" if math.isnan(right) else f"forecasts agree with the load in {100 * right:.1f} %"))
    print("  rule        MiB/s   median s   mean s   slowest s   gain, 95 % interval       files on loaded / free targets"
          "   whole ms")
    for rule in rules:
        seconds = [b[rule][1] for b in blocks]
        loaded, free = [], []
        for b in blocks:
            for folder, name in target_of.items():
                files = int(b[rule][3].get(folder, 0))
                (loaded if is_loaded(events, int(name[1:]) - 1, b[rule][0]) else free).append(files)
        told = ""
        if rule != "equal":
            low, high = interval(blocks, rule)
            ratio = gain_of(blocks, rule)
            told = f"{100 * ratio:+6.1f} % ({100 * low:+.1f} to {100 * high:+.1f})"
            bars.key(f"gain_{rule}", f"{100 * ratio:.1f}({100 * low:.1f}..{100 * high:.1f})")
        print(f"  {rule:9s} {throughput(blocks, rule) / (1 << 20):7.1f}   {statistics.median(seconds):8.3f}"
              f" {statistics.mean(seconds):8.3f}   {max(seconds):9.3f}   {told:24s} {statistics.mean(loaded or [0]):12.1f} /"
              f" {statistics.mean(free or [0]):.1f}   {statistics.median(b[rule][4] for b in blocks):20.0f}")
    elsewhere = sum(int(n) for b in blocks for r in rules for d, n in b[r][3].items() if d not in target_of)
    bars.bar(elsewhere == 0, f"experiment: {elsewhere} files are on none of the targets (threshold 0)")
    return blocks, rules


def gain(bars, directory, folders):
    bars = Bars(bars)
    blocks, rules = compare_rules(bars, directory, folders)
    best = max((r for r in rules if r != "equal"), key=lambda r: throughput(blocks, r))
    for rule in ("hedged", best) if best != "hedged" else ("hedged",):
        if rule not in rules:
            continue
        low, _ = interval(blocks, rule)
        ratio = gain_of(blocks, rule)
        bars.bar(ratio > 0.05 and low > 0, f"experiment: {rule} placement gains {100 * ratio:.1f} % of throughput, at least"
                 f" {100 * low:.1f} % (threshold above 5 %, interval above 0)")


def feedback(bars, directory, folders, least, least_low):
    """The thresholds are the gain and the lower end of its interval, in percent. A step ends when its slowest target has finished, so its time is that of the slowest target."""
    bars = Bars(bars)
    blocks, _ = compare_rules(bars, directory, folders)
    low, _ = interval(blocks, "adaptive")
    ratio = gain_of(blocks, "adaptive")
    late = {rule: sorted(b[rule][1] for b in blocks)[int(0.95 * (len(blocks) - 1))] for rule in ("equal", "adaptive")}
    faster = statistics.mean(b["adaptive"][1] < b["equal"][1] for b in blocks)
    bars.key("blocks", len(blocks))
    bars.key("faster_percent", f"{100 * faster:.0f}")
    bars.key("late_s", f"{late['equal']:.2f}/{late['adaptive']:.2f}")
    print(f"  adaptive placement is faster in {100 * faster:.0f} % of the blocks")
    bars.bar(100 * ratio >= float(least) and 100 * low > float(least_low),
             f"placement: adaptive placement gains {100 * ratio:.1f} % of throughput, at least {100 * low:.1f} %"
             f" (threshold {least} %, interval above {least_low} %)")
    bars.bar(late["adaptive"] <= late["equal"], f"placement: in 95 % of the steps the slowest target has finished after"
             f" {late['adaptive']:.2f} s, with equal shares after {late['equal']:.2f} s (threshold: no later)")


def main(words):
    verbs = {"learn": (learn, 5), "days": (days, 3), "fit": (fit, 3), "steps": (steps, 2), "adaptive": (adaptive, 2), "real": (real, 2),
             "probe": (probe, 3), "gain": (gain, 3), "feedback": (feedback, 5)}
    if words[:1] == ["outside"] and len(words) > 2:
        outside(*words[1:])
    if not words or words[0] not in verbs or len(words) - 1 != verbs[words[0]][1]:
        sys.exit(__doc__)
    verbs[words[0]][0](*words[1:])


main(sys.argv[1:])
