# SPDX-License-Identifier: BSD-3-Clause
"""The tables of bench/learn: figures of Sluice and of the reference, their thresholds, the missed ones, and the
closing line. learn.sh has put the lines of both sides into files of WORK; what was not run has no table. Exit code 1
when a bar was missed or a figure of ours is not there.

usage: learn_table.py WORK PARTS"""
import os
import re
import statistics
import sys

sys.dont_write_bytecode = True
import learn_cases

QUALITY_BAR = -0.01  # at most so far below the reference
ONE_ROW_BAR_US = 10
BEST_GROUPED_BAR = 0.13
ALL_TARGETS = 288
# Label, number of targets, number of threads, and required speedup.
CROSSES = (("SVM-RBF alone", 1, 1, 1), ("SVM-RBF alone", 1, 2, 1), ("six classifiers", 1, 1, None),
           ("six classifiers", 1, 2, None), ("six classifiers", ALL_TARGETS, 2, None))
missed, keys = [], []


def lines(*path):
    """Lines key=value by id; several lines of one id (seeds) keep their order."""
    found = {}
    path = os.path.join(*path)
    if os.path.exists(path):
        with open(path) as text:
            for row in text:
                values = dict(w.split("=", 1) for w in row.rstrip("\n").split("\t"))
                name = values.pop("id")
                found.setdefault(name, []).append({k: float(v) for k, v in values.items()})
    return found


def mean(results, key):
    return statistics.fmean(r[key] for r in results) if results else None


def median(results, key):
    return statistics.median(r[key] for r in results) if results and key in results[0] else None


def text(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def seconds(value):
    return "-" if value is None else f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def judge(what, holds):
    if not holds:
        missed.append(what)
    return "ok" if holds else "MISSED"


def show(title, head, rows):
    """Prints a table; the first column is left-aligned, the others are right-aligned."""
    if not rows:
        return
    widths = [max(len(str(r[i])) for r in [head] + rows) for i in range(len(head))]
    print(title)
    print()
    for row in [head] + rows:
        cells = [str(c).rjust(w) if i else str(c).ljust(w) for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
    print()


def key(*words):
    """A name for the closing line: letters, digits and single underscores."""
    return re.sub("[^a-z0-9]+", "_", "_".join(words).lower()).strip("_")


class Case:
    """One method on one set of folds: the results of both sides for all seeds."""

    def __init__(self, job_id, method, ours, reference, also):
        self.id, self.method = job_id, method
        self.ours, self.reference, self.also = ours.get(job_id), reference.get(job_id), also.get(job_id)

    def quality(self, measures):
        """Cells for Sluice, the reference and the threshold."""
        cells, worst = [], None
        figures = learn_cases.FIGURES.get(self.id, {})
        for measure in measures:
            mine = mean(self.ours, measure)
            theirs = mean(self.reference, measure) if self.reference else figures.get(measure)
            cells += [text(mine, 4), text(theirs, 4)]
            if mine is not None and theirs is not None and measure in ("accuracy", "auc", "r2"):
                worst = mine - theirs if worst is None else min(worst, mine - theirs)
        if worst is None:
            return cells + ["-", ""]
        return cells + [f"{worst:+.4f}", judge(f"{self.id}: quality {worst:+.4f}, threshold {QUALITY_BAR}",
                                               worst >= QUALITY_BAR)]

    def took(self, results):
        return median(results, "fit_s")

    def whole(self):
        """The speedup of fitting and predicting together, over all folds."""
        both = [(median(r, "fit_s"), median(r, "predict_s")) for r in (self.ours, self.reference)]
        if any(fit is None or predict is None for fit, predict in both):
            return "-"
        return f"{sum(both[1]) / sum(both[0]):.1f}x"

    def speed(self):
        mine, theirs, threshold = self.took(self.ours), self.took(self.reference), self.method.speed
        if mine is None or theirs is None:
            return [seconds(mine), seconds(theirs), "-", "", "", "-"]
        ratio = theirs / mine
        keys.append((key(self.id, "speed"), f"{ratio:.2f}"))
        return [seconds(mine), seconds(theirs), f"{ratio:.1f}x", f">= {bar}x" if bar else "",
                judge(f"{self.id}: {ratio:.2f} times as fast as the reference, threshold {bar}", ratio >= bar) if bar else "", self.whole()]

    def one_row(self, bar):
        mine, theirs = median(self.ours, "one_us"), median(self.reference, "one_us")
        cells = [text(mine, 2), text(theirs, 0)]
        if not bar or mine is None:
            return cells + [""]
        return cells + [judge(f"{self.id}: one row takes {mine:.2f} us, threshold {bar}", mine < bar)]


def cases(data, kind, sides):
    for method in learn_cases.methods(data.task):
        if not data.only or method.label in data.only:
            case = Case(learn_cases.job_id(data, kind, method), method, *sides)
            if case.ours is None:
                missed.append(f"{case.id}: no figure of Sluice")
            yield case


def classify(data, kind, sides):
    rows = [[c.method.label] + c.quality(["accuracy", "auc"]) + c.speed() + c.one_row(ONE_ROW_BAR_US)
            for c in cases(data, kind, sides)]
    show(f"{data.name} {kind}".strip() + ": classes",
         ["method", "accuracy", "theirs", "AUC", "theirs", "gap", "", "fit s", "theirs", "faster", "bar", "",
          "asked too", "row us", "theirs", f"< {ONE_ROW_BAR_US}"], rows)


def regress(data, kind, sides):
    rows = []
    for c in cases(data, kind, sides):
        rows.append([c.method.label] + c.quality(["rmse", "r2", "median"]) + c.speed() + c.one_row(None)[:2])
        if c.also:
            rows.append(["  e1071 in R", "", text(mean(c.also, "rmse"), 4), "", text(mean(c.also, "r2"), 4), "",
                         text(mean(c.also, "median"), 4), "", "", "", seconds(c.took(c.also)),
                         f"{c.took(c.also) / c.took(c.ours):.1f}x" if c.ours else "-", "", "", "", "", ""])
    logs = "; RMSE and R2 of logarithms" if data.task == "log" else ""
    show(f"{data.name}: numbers{logs}; median relative error",
         ["method", "RMSE", "theirs", "R2", "theirs", "median", "theirs", "gap", "", "fit s", "theirs", "faster",
          "bar", "", "asked too", "row us", "theirs"], rows)


def best_grouped(sides):
    data = learn_cases.SETS["grouped"][0]
    ids = {m.label: learn_cases.job_id(data, "", m) for m in learn_cases.REGRESS}
    found = {label: mean(sides[0][name], "median") for label, name in ids.items() if name in sides[0]}
    if not found:
        return
    best = min(found, key=found.get)
    print(f"forge, unseen configurations: best is {best} with {found[best]:.1%} median error (threshold <= "
          f"{BEST_GROUPED_BAR:.0%}): {judge(f'forge grouped: {found[best]:.1%}', found[best] <= BEST_GROUPED_BAR)}; "
          f"k-NN {found.get('k-NN 5', float('nan')):.1%}")
    print()
    keys.append(("forge_grouped_best_percent", f"{found[best] * 100:.1f}"))


def exact(work):
    rows = []
    path = os.path.join(work, "exact.tsv")
    if os.path.exists(path):
        with open(path) as found:
            for row in found:
                name, value, bar, note = row.rstrip("\n").split("\t")
                holds = judge(f"{name}: {value}, threshold {bar}", float(value) <= float(bar)) if bar != "-" else ""
                rows.append([name, value, f"<= {bar}" if bar != "-" else "", holds, note])
    if not rows:
        missed.append("exactness: no figures")
    width = max((len(r[4]) for r in rows), default=0)
    show("exactness", ["figure", "ours", "bar", "", "what".ljust(width)], [r[:4] + [r[4].ljust(width)] for r in rows])


def targets(work):
    """Wall time of the six classifiers x 8 folds; file names contain the side and the numbers of targets and threads."""
    rows = []
    for what, count, threads, threshold in CROSSES:
        name = "svm" if what.startswith("SVM") else "six"
        ours = lines(work, f"{name}_ours_{count}_{threads}.tsv").get("all")
        theirs = lines(work, f"{name}_reference_{count}_{threads}.tsv").get("all")
        if not ours:
            continue
        mine, note = ours[0]["wall_s"], ""
        if ours[0]["targets"] != count:
            note = f"Sluice measured on {ours[0]['targets']:.0f}, extrapolated; "
            mine *= count / ours[0]["targets"]
        wall = theirs[0]["wall_s"] if theirs else None
        if theirs and theirs[0]["targets"] != count:
            note += f"reference measured on {theirs[0]['targets']:.0f}, extrapolated"
            wall *= count / theirs[0]["targets"]
        ratio = wall / mine if wall else None
        label = f"{what}, {count} target{'s' if count > 1 else ''}, {threads} thread{'s' if threads > 1 else ''}"
        rows.append([label, seconds(mine), seconds(wall), f"{ratio:.1f}x" if ratio else "-",
                     f">= {bar}x" if bar else "",
                     judge(f"{label}: {ratio:.2f} times as fast as the reference, threshold {bar}", ratio >= bar) if bar and ratio else "",
                     note])
        keys.append((key(name, str(count), "targets", str(threads), "wall_s"), f"{mine:.2f}"))
    if len(rows) < len(CROSSES):
        missed.append("targets: figures of ours are missing")
    width = max((len(r[6]) for r in rows), default=0)
    show("8-fold cross-validation, wall time", ["what", "wall s", "theirs", "faster", "bar", "", "".ljust(width)],
         [r[:6] + [r[6].ljust(width)] for r in rows])


def targets_methods(work):
    ours = lines(work, f"six_ours_{ALL_TARGETS}_2.tsv")
    theirs = lines(work, f"six_reference_{ALL_TARGETS}_2.tsv")
    rows = []
    for name, found in ours.items():
        if name == "all":
            continue
        mine, other = found[0], theirs.get(name, [None])[0]
        # Accuracy is only the same question where the targets are the same.
        same = other["accuracy"] if other and other["targets"] == mine["targets"] else None
        rows.append([name.split("/")[-1], text(mine["accuracy"], 4), text(same, 4),
                     seconds(mine["cpu_s"] / mine["targets"]), seconds(other and other["cpu_s"] / other["targets"]),
                     f"{other['cpu_s'] / other['targets'] / (mine['cpu_s'] / mine['targets']):.1f}x" if other else "-"])
    counts = [f"{side['all'][0]['targets']:.0f}" if side else "no" for side in (ours, theirs)]
    show(f"per target: Sluice over {counts[0]} targets, reference over {counts[1]}",
         ["method", "accuracy", "theirs", "CPU s", "theirs", "faster"], rows)


def program(work, name):
    """Prints the output of a separate benchmark or test; learn.sh has stored it with its exit code."""
    code = os.path.join(work, f"{name}.code")
    if not os.path.exists(code):
        missed.append(f"{name}: the program was not built")
        return
    with open(os.path.join(work, f"{name}.txt")) as said, open(code) as number:
        print(f"{name}: {judge(f'{name}: see its output', number.read().strip() == '0')}")
        print(said.read())


def main(work, parts):
    sides = [lines(work, name) for name in ("ours.tsv", "reference.tsv", "r.tsv")]
    for part in [p for p in ("classify", "regress", "grouped") if p in parts]:
        for data in learn_cases.SETS[part]:
            for _, kind in data.folds:
                (classify if data.task == "classify" else regress)(data, kind, sides)
    if "grouped" in parts:
        best_grouped(sides)
    if "exact" in parts:
        exact(work)
    if "targets" in parts:
        targets(work)
        targets_methods(work)
    for name in [p for p in ("series", "memory") if p in parts]:
        program(work, name)
    for what in missed:
        print(f"missed: {what}")
    print("bench learn: " + " ".join(f"{k}={v}" for k, v in keys) + f" failed={len(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2].split(",")))
