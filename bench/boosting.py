#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Part of bench/boosting.sh: writes the tables, fits scikit-learn's HistGradientBoosting, computes errors.

  boosting.py data DIRECTORY ROWS SEED   writes train.csv and test.csv: ten inputs and a number y
  boosting.py fit DIRECTORY KIND         prints CPU seconds of reading and of fitting, and the error on test.csv;
                                         KIND is default or same (trees of depth 3 without early stopping)
  boosting.py error PREDICTIONS          prints the error of 'sluice lab learn predict'
"""
import sys
import time

import numpy
import pandas

INPUTS = [f"x{i}" for i in range(10)]


def table(rows, seed):
    """Friedman's function of five of ten inputs, with noise of deviation 1."""
    random = numpy.random.default_rng(seed)
    x = random.random((rows, 10))
    y = (
        10 * numpy.sin(numpy.pi * x[:, 0] * x[:, 1])
        + 20 * (x[:, 2] - 0.5) ** 2
        + 10 * x[:, 3]
        + 5 * x[:, 4]
        + random.standard_normal(rows)
    )
    frame = pandas.DataFrame(x, columns=INPUTS)
    frame["y"] = y
    return frame


def error(truth, guess):
    return float(numpy.sqrt(numpy.mean((truth - guess) ** 2)))


def fit(directory, kind):
    from sklearn.ensemble import HistGradientBoostingRegressor

    options = {"max_depth": 3, "early_stopping": False, "min_samples_leaf": 1} if kind == "same" else {}
    start = time.process_time()
    train = pandas.read_csv(f"{directory}/train.csv")
    read = time.process_time()
    model = HistGradientBoostingRegressor(random_state=1, **options)
    model.fit(train[INPUTS], train["y"])
    done = time.process_time()
    test = pandas.read_csv(f"{directory}/test.csv")
    print(f"{read - start:.3f} {done - read:.3f} {error(test['y'], model.predict(test[INPUTS])):.4f}")


def main():
    if sys.argv[1] == "data":
        rows, seed = int(sys.argv[3]), int(sys.argv[4])
        table(rows, seed).to_csv(f"{sys.argv[2]}/train.csv", index=False, float_format="%.6g")
        table(rows // 4, seed + 1).to_csv(f"{sys.argv[2]}/test.csv", index=False, float_format="%.6g")
    elif sys.argv[1] == "fit":
        fit(sys.argv[2], sys.argv[3])
    else:
        frame = pandas.read_csv(sys.argv[2])
        print(f"{error(frame['y'], frame['prediction']):.4f}")


main()
