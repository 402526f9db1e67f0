# SPDX-License-Identifier: BSD-3-Clause
# usage: darshan.py NAME TRACE.db LOG.db
# Prints a line for each counter of a file that both a trace of Sluice and a log of Darshan have, and whether they agree.
# Both are databases of `sluice trace convert`. Darshan counts neither failed calls, nor reads of streams at the end of
# the file, nor groups of HDF5.
import os
import re
import sqlite3
import sys

# Counters of Darshan, by the class of Sluice's calls; bytes are those of successful transfers.
KINDS = {"opens": "open", "reads": "read", "writes": "write", "seeks": "seek", "stats": "stat", "syncs": "sync"}
BYTES = {"bytes_read": "read", "bytes_written": "write"}
# What a module of Darshan does not count; see docs/reference/darshan.md. It does not see stat() of glibc 2.33 and later.
UNCOUNTED = {("MPI", "stats"), ("MPI", "seeks"), ("HDF5", "stats"), ("HDF5", "seeks"), ("STDIO", "stats")}


def add(counts, path, layer, counter, value):
    """Files whose names differ by numbers are added up."""
    row = counts.setdefault((re.sub(r"\d+", "*", os.path.basename(path)), layer), {})
    row[counter] = row.get(counter, 0) + value


ACTIVITIES = """SELECT f.path, a.layer, c.class, count(*), sum(CASE WHEN c.class IN ('read', 'write') THEN a.result ELSE 0 END)
    FROM activities a JOIN files f ON f.id = a.file JOIN calls c ON c.number = a.call
    WHERE a.error = 0 AND NOT (a.layer = 'STDIO' AND c.class = 'read' AND a.result <= 0)
    AND NOT (a.layer = 'HDF5' AND c.class = 'open' AND c.name NOT LIKE 'H5F%' AND c.name NOT LIKE 'H5D%')
    GROUP BY a.file, a.layer, c.class"""


def add_activities(counts, db, paths=None):
    for path, layer, kind, calls, total in db.execute(ACTIVITIES):
        if paths is not None and (path, layer) not in paths:
            continue
        for counter, wanted in list(KINDS.items()) + list(BYTES.items()):
            if wanted == kind:
                add(counts, path, layer, counter, total if counter in BYTES else calls)


def from_log(path):
    columns = list(KINDS) + list(BYTES)
    sums = ", ".join(f"sum({c})" for c in columns)
    counts, paths = {}, set()
    with sqlite3.connect(path) as db:
        for name, layer, *values in db.execute(
                f"SELECT f.path, u.layer, {sums} FROM usages u JOIN files f ON f.id = u.file GROUP BY u.file, u.layer"):
            paths.add((name, layer))
            for counter, value in zip(columns, values):
                add(counts, name, layer, counter, value)
        add_activities(counts, db)  # accesses that DXT recorded
    return counts, paths


def from_trace(path, paths):
    counts = {}
    with sqlite3.connect(path) as db:
        add_activities(counts, db, paths)
    return counts


def main():
    name, trace, log = sys.argv[1:]
    theirs, paths = from_log(log)
    ours = from_trace(trace, paths)
    for (path, layer), row in sorted(theirs.items()):
        own = ours.get((path, layer))
        if own is None:
            continue
        for counter, value in row.items():
            if (layer, counter) in UNCOUNTED or not (value or own.get(counter)):
                continue
            if counter == "stats" and not value:
                continue
            verdict = "same" if value == own.get(counter, 0) else "DIFFERENT"
            print(f"{name:14} {path[:20]:20} {layer:6} {counter:13} {value:12} {own.get(counter, 0):13} {verdict}")


main()
