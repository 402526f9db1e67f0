# SPDX-License-Identifier: BSD-3-Clause
# Compares the tables of a Parquet export, as a query engine reads them, with the text form and the CSV of the trace.
# export_check.py TABLES.json TRACE.txt TRACE.csv   TABLES is one JSON array of rows per line: activities, then the tables
# of TABLES below. Numbers are strings.
import csv
import json
import re
import sys

TABLES = ["run", "processes", "files", "calls", "aggregates", "losses", "hosts", "statistics", "samples", "notes"]
FACTS = {"run": "run", "processes": "process", "files": "file", "calls": "call", "aggregates": "aggregate",
         "losses": "loss", "hosts": "host", "statistics": "statistic", "samples": "sample", "notes": "note"}


def unescape(text):
    """The text form escapes backslashes, an export does not."""
    return text.replace("\\\\", "\\")


def plain(value):
    return "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)


facts = {}
for line in open(sys.argv[2], encoding="utf-8"):
    if line.startswith("#") and "=" in line:
        name, *fields = line[1:].rstrip("\n").split("\t")
        facts.setdefault(name, []).append({k: unescape(v) for k, v in (f.split("=", 1) for f in fields)})
tables = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert len(tables) == 1 + len(TABLES), len(tables)

# A process that was added several times has the values of the last.
latest = {}
for row in facts.get("process", []):
    latest.setdefault(row["process"], {}).update(row)
facts["process"] = list(latest.values())
facts["run"][0].update(facts["end"][0])
for name, rows in zip(TABLES, tables[1:]):
    expected = facts.get(FACTS[name], [])
    assert len(rows) == len(expected), (name, len(rows), len(expected))
    order = (lambda r: (int(r["statistic"]), int(r["time_ns"]))) if name == "samples" else lambda r: 0
    for row, want in zip(sorted(rows, key=order), sorted(expected, key=order)):
        for key, value in want.items():
            assert plain(row[key]) == value, (name, key, row[key], value)

run = tables[1][0]
assert int(run["activities"]) == len(tables[0]), run
ID = re.compile(r"ID(?:(\d+):)?(?:(\d+)\.)?(\d+)$")


def parse_id(text):
    """The process and the number of an id as it is printed."""
    if not text:
        return "", ""
    process, thread, number = ID.match(text).groups()
    return process or "0", str(int(thread or 0) << 40 | int(number))


WAYS = {"read": "r", "write": "w", "copy": "rw"}
expected = list(csv.DictReader(open(sys.argv[3], encoding="utf-8", newline="")))
assert len(expected) == len(tables[0]), (len(expected), len(tables[0]))
for row, want in zip(tables[0], expected):
    got = {key: plain(value) for key, value in row.items()}
    for key in ("start_ns duration_ns process thread layer function class error result size offset handle flags mode file "
                "file2 span variable name hints").split():
        assert got[key] == want[key], (key, got, want)
    assert got["rank"] == (want["rank"] or "-1"), (got, want)
    assert (got["process"], got["id"]) == parse_id(want["id"]), (got, want)
    assert got["parent"] == parse_id(want["cause"])[1], (got, want)
    assert (got["link_process"], got["link"]) == parse_id(want["relation"]), (got, want)
    assert (got["link2_process"], got["link2"]) == parse_id(want["relation2"]), (got, want)
    collective = "%016x" % (int(got["collective"]) % 2**64) if got["collective"] else ""
    assert collective.lstrip("0") == want["collective"].lstrip("0"), (got, want)
    ways = "w" if want["class"] == "start" and "write" in want["function"] else WAYS.get(want["class"], "")
    moved = want["size"] if want["class"] == "start" else str(max(int(want["result"]), 0))
    assert got["bytes_read"] == (moved if "r" in ways else ""), (got, want)
    assert got["bytes_written"] == (moved if "w" in ways else ""), (got, want)
    assert int(got["slice"]) == max(0, min(int(want["start_ns"]) // int(run["slice_ns"]),
                                           (int(run["duration_ns"]) - 1) // int(run["slice_ns"]))), (got, want)
