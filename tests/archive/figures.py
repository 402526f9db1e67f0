#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""figures.py REPORT.json: prints what a report says about a run, without times, one figure per line, so that the reports
of two versions of Sluice can be compared."""
import json
import sys

COUNTS = ("calls", "errors", "bytes_read", "bytes_written")


def counts(row):
    return " ".join(str(row[key]) for key in COUNTS)


def figures(report):
    run = report["run"]
    for key in ("uuid", "command", "host", "user", "started_ns", "duration_ns", "exit_status", "processes", "activities"):
        if key in run:
            yield "run %s %s" % (key, run[key])
    for layer in report["layers"]:
        yield "layer %s %s" % (layer["layer"], counts(layer))
    # Calls that were only counted have a group instead of a function.
    for function in report["functions"]:
        yield "function %s %s %s" % (function["layer"], function.get("function", function.get("group")), counts(function))
    for file in report["files"]:
        yield "file %s %s" % (file["file"], counts(file))


print("\n".join(sorted(figures(json.load(open(sys.argv[1]))))))
