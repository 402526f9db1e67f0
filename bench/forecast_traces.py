#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real traces for bench/forecast.sh: a year of runs of I/O benchmarks (summaries of TOKIO-ABC), without look-ahead.

    forecast_traces.py convert SUMMARIES BLOCKS    writes the runs as probe data for `sluice forecast --input`
    forecast_traces.py compare BARS NAME ROWS [OTHERS]
                                                   compares `sluice forecast evaluate --csv` with scikit-learn on the same rows
                                                   and inputs, without the targets of the rows OTHERS

A target is a kind of run: file system, program, direction, shared file or one per process, processes, and size. A
reference write is a run of this kind, at its start, with its seconds per GiB. A probe of a target is any run on the same
file system, at its end: its time divided by the median of the last 100 earlier runs of its own kind.
"""
import csv
import gzip
import math
import statistics
import sys
import warnings
from collections import defaultdict

FEWEST_RUNS = 150  # of a kind
FEWEST_BEFORE, WINDOW = 5, 100  # earlier runs that a median needs, and the most that it uses
LEAST_CHANCE = 1e-6
FOLDS = 8


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def read_rows(path):
    with gzip.open(path, "rt", newline="") as f:
        rows = csv.reader(f)
        names = next(rows)
        for row in rows:
            yield dict(zip(names, row[len(row) - len(names):]))  # the number of the row may have no name


def read_runs(path):
    """(start, end, file system, kind, seconds per GiB) of each run."""
    runs = []
    for row in read_rows(path):
        rate, processes = number(row["darshan_agg_perf_by_slowest_posix"]), number(row["darshan_nprocs"])
        written, read = number(row["darshan_biggest_write_fs_bytes"]), number(row["darshan_biggest_read_fs_bytes"])
        start, end = number(row["darshan_start_time"]), number(row["darshan_end_time"])
        if not (rate > 0 and start < end and max(written, read) > 0):
            continue
        way = "write" if written > read else "read"
        layout = "shared" if number(row[f"darshan_biggest_{way}_api_files"]) < processes / 2 else "separate"
        storage = row["_file_system"] or "burst"
        kind = "-".join([storage, row["darshan_app"].split("/")[-1], way, layout, f"{processes:.0f}",
                         f"{2 * math.log2(max(written, read)):.0f}"])
        runs.append((int(start), int(end), storage, kind, 1024 / rate))
    return runs


def convert(path, out):
    runs = read_runs(path)
    count = defaultdict(int)
    for run in runs:
        count[run[3]] += 1
    kinds = sorted(k for k in count if count[k] >= FEWEST_RUNS)
    moments = defaultdict(dict)  # time -> {kind: [probe, write]}
    earlier = defaultdict(list)
    for start, end, storage, kind, seconds in sorted(runs, key=lambda run: run[1]):
        before = earlier[kind][-WINDOW:]
        earlier[kind].append(seconds)
        if kind in kinds:
            moments[start].setdefault(kind, ["-", "-"])[1] = f"{seconds:.7f}s"
        if len(before) < FEWEST_BEFORE:
            continue
        for other in kinds:
            if other.startswith(storage + "-"):
                moments[end].setdefault(other, ["-", "-"])[0] = f"{seconds / statistics.median(before):.6f}s"
    with open(out, "w") as f:
        for moment in sorted(moments):
            print(f"Timestamp: {moment}\nPerformance:\nOSS id 1MB 1GB", file=f)
            for kind, cells in sorted(moments[moment].items()):
                print(kind, *cells, file=f)
            print(file=f)
    print(f"{len(runs)} runs, {len(kinds)} kinds")


def reference_methods():
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    def prepared(model):
        return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), model)

    return {"svm": lambda: prepared(SVC()),
            "forest": lambda: prepared(RandomForestClassifier(50, random_state=0)),
            "boosting": lambda: prepared(GradientBoostingClassifier(random_state=0)),
            "bayes": lambda: prepared(GaussianNB()),
            "logistic": lambda: prepared(LogisticRegression(max_iter=500))}


def reference_chances(x, y, tested):
    """The probabilities of busy of each method, as scikit-learn gives them and calibrated on blocks of time."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import KFold
    chances = {}
    for name, make in reference_methods().items():
        model = make().fit(x, y)
        # An SVM has no probabilities of its own, only a decision.
        chances[name] = model.predict_proba(tested)[:, 1] if hasattr(model, "predict_proba") else model.predict(tested)
        try:
            model = CalibratedClassifierCV(make(), method="sigmoid", cv=KFold(FOLDS)).fit(x, y)
        except ValueError:  # a block of time without one of the states
            model = CalibratedClassifierCV(make(), method="sigmoid", cv=FOLDS // 2).fit(x, y)
        chances[name + ", calibrated"] = model.predict_proba(tested)[:, 1]
    return chances


def read_cases(path):
    with open(path, newline="") as f:
        rows = csv.reader(f)
        names = next(rows)
        cases = defaultdict(list)
        for row in rows:
            cases[row[0]].append(row)
    return names, cases


def log_loss(labels, chances):
    return -statistics.mean(math.log(min(max(p if label == 1 else 1 - p, LEAST_CHANCE), 1)) for label, p in zip(labels, chances))


def accuracy(labels, chances):
    return statistics.mean(float((p > 0.5) == (label == 1)) for label, p in zip(labels, chances))


def compare(bars, name, path, others=None):
    import numpy as np
    warnings.filterwarnings("ignore")
    names, cases = read_cases(path)
    if others:
        left_out = read_cases(others)[1]
        cases = {target: rows for target, rows in cases.items() if target not in left_out}
    first = names.index("blocked_fold") + 1
    inputs = [i for i in range(first, len(names)) if not names[i].startswith(("score_", "chance_"))]
    ours = {n.split("_")[1]: i for i, n in enumerate(names) if n.startswith("chance_")}
    labels, chances = [], defaultdict(list)
    for rows in cases.values():
        values = np.array([[number(row[i]) for i in inputs] for row in rows])
        label = np.array([number(row[names.index("label")]) for row in rows])
        is_test = np.array([row[names.index("set")] == "test" for row in rows])
        known = ~np.isnan(values[~is_test]).all(axis=0)
        labels.extend(label[is_test])
        for method, column in ours.items():
            chances["Sluice " + method].extend(number(row[column]) for row, test in zip(rows, is_test) if test)
        for method, found in reference_chances(values[~is_test][:, known], label[~is_test], values[is_test][:, known]).items():
            chances[method].extend(found)
    report(bars, name, len(cases), labels, chances)


def report(bars, name, cases, labels, chances):
    scores = {method: (log_loss(labels, found), accuracy(labels, found)) for method, found in chances.items()}
    print(f"  {name}: {cases} kinds of runs, {len(labels)} runs in the last quarter; log loss and accuracy over all of them")
    for method, (loss, right) in scores.items():
        print(f"  {method:22s} {loss:8.4f} {right:8.4f}")
    auto, last = scores["Sluice auto"], scores["Sluice persistence"]
    theirs = {method: score for method, score in scores.items() if not method.startswith("Sluice")}
    by_loss, by_right = min(theirs, key=lambda m: theirs[m][0]), max(theirs, key=lambda m: theirs[m][1])
    checks = [(auto[0] < last[0], f"log loss {auto[0]:.4f}, persistence {last[0]:.4f} (threshold: lower)"),
              (auto[1] > last[1], f"accuracy {auto[1]:.4f}, persistence {last[1]:.4f} (threshold: higher)"),
              (auto[0] <= theirs[by_loss][0], f"log loss {auto[0]:.4f}, the best of scikit-learn in hindsight ({by_loss})"
               f" {theirs[by_loss][0]:.4f} (threshold: not higher)"),
              (auto[1] >= theirs[by_right][1], f"accuracy {auto[1]:.4f}, the best of scikit-learn in hindsight ({by_right})"
               f" {theirs[by_right][1]:.4f} (threshold: not lower)")]
    with open(bars, "w") as f:
        for is_good, text in checks:
            print(f"  {'ok:     ' if is_good else 'MISSED: '}traces, {name}: {text}")
            if not is_good:
                print(f"missed: traces, {name}: {text}", file=f)
        print(f"key traces_{name}_auto {auto[0]:.4f}/{auto[1]:.4f}", file=f)
        print(f"key traces_{name}_reference {theirs[by_loss][0]:.4f}/{theirs[by_right][1]:.4f}", file=f)
        print(f"key traces_{name}_persistence {last[0]:.4f}/{last[1]:.4f}", file=f)


def main(words):
    verbs = {"convert": (convert, [2]), "compare": (compare, [3, 4])}
    if not words or words[0] not in verbs or len(words) - 1 not in verbs[words[0]][1]:
        sys.exit(__doc__)
    verbs[words[0]][0](*words[1:])


main(sys.argv[1:])
