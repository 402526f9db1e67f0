# SPDX-License-Identifier: BSD-3-Clause
"""Creates data sets for bench/learn: generated classes and numbers, the set "forge" with folds that keep repeated
measurements of a configuration together, samples of known mixtures, and one table of many storage targets.

usage: learn_data.py sets SHARED WORK | targets SHARED WORK COUNT"""
import multiprocessing
import os
import sys

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification, make_friedman1

sys.dont_write_bytecode = True
FOLDS = 8
# Weight of the idle component, modes, deviations; 20,000 samples each.
MIXTURES = {"titan": (0.70, (1.85, 2.7), (0.06, 0.20)), "cori": (0.65, (3.2, 4.0), (0.04, 0.10))}
DRAWS, MIXTURE_SEEDS = 20000, 3


def folds(rng, rows, count=FOLDS):
    return rng.permutation(np.arange(rows) % count)


def save(work, name, x, **columns):
    table = pd.DataFrame(x, columns=[f"x{i}" for i in range(x.shape[1])])
    table.assign(**columns).to_csv(os.path.join(work, name), index=False)


def sets(shared, work):
    rng = np.random.default_rng(5)
    x, y = make_classification(2000, 12, n_informative=6, n_redundant=3, n_classes=3, flip_y=0.05, random_state=5)
    save(work, "classes.csv", x, label=y, fold=folds(rng, len(y)))
    x, y = make_friedman1(1500, 10, noise=1.0, random_state=5)
    save(work, "friedman.csv", x, y=y, fold=folds(rng, len(y)))
    forge = pd.read_csv(os.path.join(shared, "data/regress/reg_forge.csv"))
    group = forge.groupby([c for c in forge.columns if c not in ("bw", "fold")]).ngroup()
    forge["fold"] = folds(rng, group.max() + 1, 10)[group]
    forge.to_csv(os.path.join(work, "forge_grouped.csv"), index=False)
    draws = {}
    for name, (idle, mode, deviation) in MIXTURES.items():
        for seed in range(MIXTURE_SEEDS):
            rng = np.random.default_rng(seed)
            busy = (rng.random(DRAWS) >= idle).astype(int)
            draws[f"{name}{seed}"] = np.exp(np.log(mode)[busy] + np.array(deviation)[busy] * rng.standard_normal(DRAWS))
    pd.DataFrame(draws).to_csv(os.path.join(work, "mixtures.csv"), index=False)


def target_rows(number):
    """Rows of one target in the form of the reference scripts: EM labels, one step ahead, every 5 minutes."""
    import ml_common
    x, y = ml_common.dataset(trace, number, step=10)[:2]
    fold = folds(np.random.default_rng(number), len(y))
    return np.column_stack([np.full(len(y), number), x, y, fold])


def targets(shared, work, count):
    import contextlib
    global trace
    sys.path.insert(0, os.path.join(shared, "reference"))
    import gen_trace
    import ml_common
    with contextlib.redirect_stdout(sys.stderr):
        gen_trace.gen("titan", work)
    archive = np.load(os.path.join(work, "titan.npz"))
    trace = {name: archive[name] for name in archive.files}
    with multiprocessing.Pool() as pool:
        rows = np.vstack(pool.map(target_rows, range(count), chunksize=1))
    names = ["target"] + ml_common.COLS + ["label", "fold"]
    pd.DataFrame(rows, columns=names).to_csv(os.path.join(work, "targets.csv"), index=False, float_format="%.7g")


if __name__ == "__main__":
    if sys.argv[1] == "sets":
        sets(sys.argv[2], sys.argv[3])
    else:
        targets(sys.argv[2], sys.argv[3], int(sys.argv[4]))
