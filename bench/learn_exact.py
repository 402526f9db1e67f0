# SPDX-License-Identifier: BSD-3-Clause
"""Compares results that must agree to many digits: Box-Cox powers against scipy and caret, principal components and linear regression
against scikit-learn, mixtures against the parameters of the samples. learn.sh has written the results of Sluice to
files in WORK; this program prints one line `name, value, threshold, note` per figure for learn_table.py.

usage: learn_exact.py SHARED WORK"""
import os
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
sys.dont_write_bytecode = True

import numpy as np
import pandas as pd
from scipy import optimize, stats
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

import learn_cases
from learn_data import MIXTURES
from learn_reference import columns

POWER_BAR, EXACT_BAR = 0.02, 1e-8
MEAN_BAR, WEIGHT_BAR = 0.02, 0.03  # WAN-AC-5


def figure(name, value, bar, note):
    print(f"{name}\t{value:.6g}\t{bar if bar is not None else '-'}\t{note}")


def sets(shared, work):
    """The data sets that learn.sh has prepared, by the name in their file names."""
    for data in learn_cases.EXACT:
        root = shared if data.root == "SHARED" else work
        table = pd.read_csv(os.path.join(root, data.file))
        yield data, table, table[columns(table, data.features)]


def powers(work, data, inputs):
    ours = pd.read_csv(os.path.join(work, f"powers_{data.name}.tsv"), sep="\t", names=["column", "likely", "caret"])
    worst = checked = 0
    for row in ours.itertuples():
        values = inputs[row.column].values.astype(float)
        if np.isnan(row.likely) or values.min() <= 0:
            # Left alone by both sides or by neither.
            worst = worst if (values.min() <= 0 or len(np.unique(values)) < 3) == np.isnan(row.likely) else np.inf
            continue
        reference = optimize.minimize_scalar(lambda power: -stats.boxcox_llf(power, values), bounds=(-2, 2),
                                             method="bounded", options=dict(xatol=1e-6)).x
        worst, checked = max(worst, abs(reference - row.likely)), checked + 1
    figure(f"{data.name}: Box-Cox power, scipy", worst, POWER_BAR, f"largest difference of {checked} columns")
    path = os.path.join(work, f"caret_{data.name}.tsv")
    if not os.path.exists(path):
        print("bench learn: no R with caret: its Box-Cox is not compared", file=sys.stderr)
        return
    caret = pd.read_csv(path, sep="\t", names=["column", "power"]).set_index("column").power
    both = pd.DataFrame({"ours": ours.set_index("column").caret, "caret": caret})
    gap = (both.ours - both.caret).abs()
    gap[both.ours.isna() & both.caret.isna()] = 0
    figure(f"{data.name}: Box-Cox power, caret", gap.fillna(np.inf).max(), POWER_BAR,
           f"largest difference of {both.caret.notna().sum()} columns")


def components(work, data, inputs):
    ours = np.loadtxt(os.path.join(work, f"components_{data.name}.tsv"), ndmin=2)
    x = inputs.values.astype(float)
    deviation = x.std(0, ddof=1)
    x = (x - x.mean(0)) / np.where(deviation > 0, deviation, 1)
    model = PCA(svd_solver="full").fit(x)
    variance = model.explained_variance_
    count = int((variance > 1e-9 * variance[0]).sum())
    reference, gap, begin = model.transform(x), 0, 0
    while begin < count:
        # The sign of a component is free, and where several have the same variance, so is their rotation.
        end = begin + 1
        while end < count and variance[end] > (1 - 1e-6) * variance[begin]:
            end += 1
        mine, theirs = ours[:, begin:end], reference[:, begin:end]
        left, _, right = np.linalg.svd(mine.T @ theirs)
        gap, begin = max(gap, np.abs(mine @ left @ right - theirs).max()), end
    figure(f"{data.name}: principal components", gap, EXACT_BAR,
           f"largest difference, {count} components of {x.shape[1]} columns")


def linear(work, data, table, inputs):
    ours = np.loadtxt(os.path.join(work, f"linear_{data.name}.tsv"))
    x, y = inputs.values.astype(float), table[data.target].values.astype(float)
    reference = LinearRegression().fit(x, y).predict(x)
    figure(f"{data.name}: linear regression", np.abs(ours - reference).max() / np.abs(reference).max(), EXACT_BAR,
           "largest difference of predictions over the largest prediction")


def mixtures(shared, work):
    sys.path.insert(0, os.path.join(shared, "reference"))
    import ml_common
    names = ["column", "weight", "idle", "busy", "took", "ceiling", "lognormal", "normal", "gamma", "weibull"]
    ours = pd.read_csv(os.path.join(work, "mixtures.tsv"), sep="\t", names=names)
    draws = pd.read_csv(os.path.join(work, "mixtures.csv"))
    took = []
    for name in draws:
        start = time.process_time()
        ml_common.em_lognormal2(draws[name].values)
        took.append(time.process_time() - start)
    for name, (idle, mode, deviation) in MIXTURES.items():
        mine = ours[ours.column.str.startswith(name)]
        means = np.array(mode) * np.exp(np.array(deviation) ** 2 / 2)
        gap = max(np.abs(mine.idle / means[0] - 1).max(), np.abs(mine.busy / means[1] - 1).max())
        figure(f"{name}-like mixture: state means", gap, MEAN_BAR, f"largest relative error of {len(mine)} seeds")
        figure(f"{name}-like mixture: weight", np.abs(mine.weight - idle).max(), WEIGHT_BAR, "largest error")
    others = ours[["normal", "gamma", "weibull"]].max(axis=1)
    figure("other families beat log-normal", float((ours.lognormal <= others).sum()), 0, f"of {len(ours)} mixtures")
    figure("EM, CPU ms", ours.took.median() * 1e3, None,
           f"20,000 values, all starts; NumPy, one start: {np.median(took) * 1e3:.1f}")


def main(shared, work):
    for data, table, inputs in sets(shared, work):
        powers(work, data, inputs)
        components(work, data, inputs)
        if data.task != "classify":
            linear(work, data, table, inputs)
    mixtures(shared, work)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
