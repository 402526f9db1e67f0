#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The points of a small search space, and the judgment of winners, for bench/winners.sh.

  points SPACE              writes point-N.json for each point of the space; point-0.json is the baseline
  judge ROUNDS REPORT...    compares the winners of tunings with the best point of an exhaustive search

A line of ROUNDS has the times of all points in one round, in order. The best point is chosen by the odd rounds and judged
by the even ones, because the best of many noisy medians looks better than it is.
"""
import itertools
import json
import statistics
import sys


def set_of(values):
    return {name: str(value) for name, value in values.items() if value is not None}


def write_points(space):
    dimensions = json.load(open(space))["dimensions"]
    points = []
    for values in itertools.product(*(d["values"] for d in dimensions)):
        values = dict(zip((d["name"] for d in dimensions), values))
        for d in dimensions:
            for other, allowed in d.get("when", {}).items():
                if values[other] not in allowed:
                    values[d["name"]] = None
        if set_of(values) not in points:
            points.append(set_of(values))
    points.sort(key=len)
    for i, point in enumerate(points):
        rows = [{"name": name, "value": value} for name, value in point.items()]
        json.dump({"schema": "sluice.params/1", "parameters": rows}, open(f"point-{i}.json", "w"))
    print(len(points))


def read_point(path):
    return {row["name"]: row["value"] for row in json.load(open(path))["parameters"]}


def medians(rounds):
    return [statistics.median(times) for times in zip(*rounds)]


def winner_of(report):
    d = json.load(open(report))
    return set_of((d["best"].get("parameters") or {}) if d["proof"]["holds"] else {})


def find_point(points, winner):
    """Sizes may be written in another unit: 16M or 16777216."""
    def value(text):
        unit = {"K": 10, "M": 20, "G": 30}.get(text[-1:], 0)
        return str(int(text[:-1]) << unit) if unit and text[:-1].isdigit() else text

    def normal(point):
        return {name: value(text) for name, text in point.items()}
    return next(i for i, point in enumerate(points) if normal(point) == normal(winner))


def text_of(point):
    return " ".join(f"{name}={value}" for name, value in sorted(point.items())) or "nothing"


def judge(rounds_path, reports):
    rounds = [[float(t) for t in line.split()] for line in open(rounds_path)]
    points = [read_point(f"point-{i}.json") for i in range(len(rounds[0]))]
    first, second = medians(rounds[0::2]), medians(rounds[1::2])
    best = min(range(len(points)), key=lambda i: first[i])
    winners = [find_point(points, winner_of(report)) for report in reports]
    shares = [min(1, second[best] / second[w]) for w in winners]
    common = statistics.mode(winners)
    print(f"{100 * min(shares):.0f} {100 * statistics.mean(shares):.0f} {winners.count(common)} "
          f"{second[0] / second[best]:.2f} {second[0] / second[common]:.2f}")
    print(f"    exhaustive: {text_of(points[best])}")
    for w in sorted(set(winners), key=lambda w: -winners.count(w)):
        print(f"    {winners.count(w)} of {len(winners)} tunings: {text_of(points[w])}, {second[0] / second[w]:.2f} x")


if sys.argv[1] == "points":
    write_points(sys.argv[2])
else:
    judge(sys.argv[2], sys.argv[3:])
