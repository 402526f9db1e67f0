# SPDX-License-Identifier: BSD-3-Clause
"""Runs the jobs of bench/learn with scikit-learn, on the same rows and folds and with the same settings. Times are CPU
times of one thread, except for `targets`, which has wall times. The format of the output is that of learn.c.

usage: learn_reference.py run JOBS                          one line per job and seed
       learn_reference.py targets JOBS COUNT THREADS        all jobs for each of the first COUNT targets
"""
import os
import sys

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["PYTHONWARNINGS"] = "ignore"  # an MLP that stops at its last epoch says so, in every worker
sys.dont_write_bytecode = True

import fnmatch
import time
import warnings

import joblib
import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import (GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier,
                              RandomForestRegressor)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import learn_cases
import learn_data

warnings.filterwarnings("ignore")
ENOUGH_S, REPEATS = 0.2, 20  # quick fits are repeated until they have taken so long; the median counts
ONE_ROW_CALLS = 200


class BoxCox(BaseEstimator, TransformerMixin):
    """The transformation of caret: positive columns with at least three values, a grid of 0.1; powers near 0 mean the
    logarithm, powers near 1 no transformation."""

    def fit(self, x, y=None):
        self.powers = [self.power(x[:, j]) for j in range(x.shape[1])]
        return self

    @staticmethod
    def power(column):
        if column.min() <= 0 or len(np.unique(column)) < 3:
            return None
        grid = np.arange(-20, 21) / 10
        best = grid[np.argmax([stats.boxcox_llf(power, column) for power in grid])]
        return 0.0 if abs(best) < 0.2 else None if abs(best - 1) < 0.2 else best

    def transform(self, x):
        x = x.copy()
        for j, power in enumerate(self.powers):
            if power is not None:
                x[:, j] = stats.boxcox(np.maximum(x[:, j], 1e-12), power)
        return x


def scaled(model):
    return make_pipeline(StandardScaler(), model)


class Shaped:
    def __init__(self, rest):
        self.rest = rest


def shaped(model):
    return Shaped(scaled(model))


def model_of(text, width, seed):
    return eval(text, globals(), {"width": width, "seed": seed})  # our own table of learn_cases.py


def columns(table, features):
    """The list of features as in learn/table/dataset.h: names and globs; a leading dash removes features."""
    chosen = []
    for item in features.split(","):
        found = fnmatch.filter(table.columns, item.lstrip("-"))
        chosen = [c for c in chosen if c not in found] + ([] if item.startswith("-") else found)
    return [c for c in table.columns if c in chosen]


class Data:
    def __init__(self, job):
        table = pd.read_csv(job.file)
        self.x = table[columns(table, job.features)].values.astype(float)
        self.raw = table[job.target].values
        self.classes = len(np.unique(self.raw)) if job.task == "classify" else 0
        self.y = np.log(self.raw) if job.task == "log" else self.raw
        fold = table[job.fold].values.astype(int)
        count = job.first or fold.max() + 1
        self.splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count)]
        self.tested = np.concatenate([test for _, test in self.splits])


def answer(model, data, rows):
    if not data.classes:
        return model.predict(rows)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(rows)
    score = expit(model.decision_function(rows))  # two classes; the same order as the chances would have
    return np.column_stack([1 - score, score])


def cross(job, data, seed):
    """Out-of-fold predictions of all folds, CPU seconds of fit and of predict, and the last model."""
    out = np.full((len(data.y), max(data.classes, 1)), np.nan)
    fit = predict = 0.0
    for train, test in data.splits:
        model = model_of(job.reference, data.x.shape[1], seed)
        rows, truth, tested = data.x[train], data.y[train], data.x[test]
        if isinstance(model, Shaped):
            # Box-Cox is ours in Python, not scikit-learn's, and slow: it is not held against it.
            shape = BoxCox().fit(rows)
            rows, tested, model = shape.transform(rows), shape.transform(tested), model.rest
        start = time.process_time()
        model.fit(rows, truth)
        fitted = time.process_time()
        out[test] = answer(model, data, tested).reshape(len(test), -1)
        fit, predict = fit + fitted - start, predict + time.process_time() - fitted
    return out, fit, predict, model


def one_row_us(model, data):
    took = []
    for i in range(ONE_ROW_CALLS):
        row = data.x[i % len(data.x)].reshape(1, -1)
        start = time.process_time()
        model.predict(row)
        took.append(time.process_time() - start)
    return np.median(took) * 1e6


def quality(job, data, out):
    truth, guess = data.y[data.tested], out[data.tested]
    if data.classes:
        score = guess[:, 1] if data.classes == 2 else guess
        return dict(accuracy=accuracy_score(truth, guess.argmax(1)),
                    auc=roc_auc_score(truth, score, multi_class="ovr", average="macro"))
    real = np.exp(guess[:, 0]) if job.task == "log" else guess[:, 0]
    return dict(rmse=np.sqrt(mean_squared_error(truth, guess)), r2=r2_score(truth, guess),
                median=np.median(np.abs(real / data.raw[data.tested] - 1)))


def report(**values):
    print("\t".join(f"{k}={v:.9g}" if isinstance(v, float) else f"{k}={v}" for k, v in values.items()), flush=True)


def run(path):
    for job in learn_cases.read(path):
        if not job.reference:
            continue
        data = Data(job)
        for seed in range(job.seeds):
            fits, predicts = [], []
            while not fits or (sum(fits) < ENOUGH_S and len(fits) < REPEATS):
                out, fit, predict, model = cross(job, data, seed)
                fits.append(fit)
                predicts.append(predict)
            report(id=job.id, seed=seed, **quality(job, data, out), fit_s=float(np.median(fits)),
                   predict_s=float(np.median(predicts)), one_us=float(one_row_us(model, data)))


def target_piece(model, x, y, train, test):
    start = time.process_time()
    model.fit(x[train], y[train])
    right = (model.predict(x[test]) == y[test]).sum()
    return right, time.process_time() - start


def targets(path, count, threads):
    jobs = list(learn_cases.read(path))
    table = pd.read_csv(jobs[0].file)
    table = table[table.target < count]
    with joblib.Parallel(n_jobs=threads) as parallel:
        # Before the clock starts the pool is there and its libraries are loaded.
        two, few = np.array([[0.0], [1.0]]), np.array([0, 1])
        for _ in range(2):
            parallel(joblib.delayed(target_piece)(GaussianNB(), two, few, few, few) for _ in range(4 * threads))
        start = time.perf_counter()
        pieces = []
        for _, part in table.groupby("target"):
            x = part[columns(part, jobs[0].features)].values.astype(float)
            y, fold = part[jobs[0].target].values, part[jobs[0].fold].values
            pieces += [(job.id, joblib.delayed(target_piece)(model_of(job.reference, x.shape[1], 0), x, y,
                                                             np.flatnonzero(fold != k), np.flatnonzero(fold == k)))
                       for job in jobs for k in range(learn_data.FOLDS)]
        results = parallel(piece for _, piece in pieces)
        wall = time.perf_counter() - start
    for job in jobs:
        mine = [r for (name, _), r in zip(pieces, results) if name == job.id]
        report(id=job.id, targets=count, accuracy=float(sum(r for r, _ in mine) / len(table)),
               cpu_s=float(sum(s for _, s in mine)))
    report(id="all", targets=count, threads=threads, wall_s=wall, cpu_s=float(sum(s for _, s in results)))


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(sys.argv[2])
    elif sys.argv[1] == "targets":
        targets(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
