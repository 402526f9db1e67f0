# SPDX-License-Identifier: BSD-3-Clause
# usage: darshan.py NAME TRACE.db LOG.db
# Prints a line for each counter of a file that both a trace of Sluice and a log of Darshan have, and whether they agree.
# Both are databases of `sluice trace convert`. Failed calls are left out, because Darshan does not count them.
import os
import sqlite3
import sys

# Counters of Darshan, by the class of Sluice's calls; bytes are those of successful transfers.
KINDS = {"opens": "open", "reads": "read", "writes": "write", "seeks": "seek", "stats": "stat", "syncs": "sync"}
BYTES = {"bytes_read": "read", "bytes_written": "write"}
# What a module of Darshan does not count, or counts in another way; see docs/reference/darshan.md.
UNCOUNTED = {("MPI", "stats"), ("MPI", "seeks"), ("HDF5", "stats"), ("HDF5", "seeks"), ("STDIO", "stats")}


def from_log(path):
    columns = list(KINDS) + list(BYTES)
    sums = ", ".join(f"sum({c})" for c in columns)
    counts = {}
    with sqlite3.connect(path) as db:
        for name, layer, *values in db.execute(
                f"SELECT f.path, u.layer, {sums} FROM usages u JOIN files f ON f.id = u.file GROUP BY u.file, u.layer"):
            counts[name, layer] = dict(zip(columns, values))
        # Accesses that DXT recorded are activities.
        for name, layer, kind, calls, total in db.execute(ACTIVITIES):
            row = counts.setdefault((name, layer), dict.fromkeys(columns, 0))
            row[kind + "s"] += calls
            row["bytes_read" if kind == "read" else "bytes_written"] += total
    return counts


ACTIVITIES = """SELECT f.path, a.layer, c.class, count(*), sum(CASE WHEN a.result > 0 THEN a.result ELSE 0 END)
    FROM activities a JOIN files f ON f.id = a.file JOIN calls c ON c.number = a.call
    WHERE a.error = 0 GROUP BY a.file, a.layer, c.class"""


def from_trace(path):
    counts = {}
    with sqlite3.connect(path) as db:
        for name, layer, kind, calls, total in db.execute(ACTIVITIES):
            row = counts.setdefault((name, layer), {})
            for counter, wanted in list(KINDS.items()) + list(BYTES.items()):
                if wanted == kind:
                    row[counter] = total if counter in BYTES else calls
    return counts


def main():
    name, trace, log = sys.argv[1:]
    ours, theirs = from_trace(trace), from_log(log)
    for (path, layer), row in sorted(theirs.items()):
        own = ours.get((path, layer))
        if own is None:
            continue
        for counter, value in row.items():
            if (layer, counter) in UNCOUNTED or not (value or own.get(counter)):
                continue
            verdict = "same" if value == own.get(counter, 0) else "DIFFERENT"
            print(f"{name:13} {os.path.basename(path)[:17]:17} {layer:8} {counter:13} {value:12} "
                  f"{own.get(counter, 0):13} {verdict}")


main()
