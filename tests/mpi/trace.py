# SPDX-License-Identifier: BSD-3-Clause
"""A trace to be looked at by checks in Python: check_trace of libmpi.sh runs them with all names of this module.

`calls` holds the activities in the order of their start. Fields of `sluice print --json` are attributes, None where
an activity has none; cause, relation and relation2 are calls. The first thing that is wrong ends the check."""
import json
import os
import sys
from collections import Counter, defaultdict


class Call(dict):
    __getattr__ = dict.get

    def causes(self):
        """The calls around this one, the nearest first."""
        call = self.cause
        while call:
            yield call
            call = call.cause

    def cause_in(self, layer):
        """The nearest call around this one in that layer, or None."""
        return next((call for call in self.causes() if call.layer == layer), None)

    def origin(self):
        """By relations to the call that made the handle first: what a duplicate was made of, and so on."""
        call = self
        while call.relation:
            call = call.relation
        return call

    def __str__(self):
        fields = ("id", "rank", "function", "result", "error", "size", "offset", "file", "name", "collective")
        return " ".join("%s=%s" % (f, self[f]) for f in fields if f in self)


def must(good, what, *about):
    if not good:
        sys.exit("\n".join([str(what), *map(str, about)]))


def same(found, expected, what):
    must(found == expected, "%s: %s, expected %s" % (what, found, expected))


def load(path):
    with open(path) as f:
        trace = json.load(f)
    must(trace["complete"], "the trace is not complete: %s" % trace["losses"])
    calls = [Call(activity) for activity in trace["activities"]]
    by_id = {call.id: call for call in calls}
    same(len(by_id), len(calls), "ids that are there once")
    for call in calls:
        for key in ("cause", "relation", "relation2"):
            if key in call:
                must(call[key] in by_id, "%s %s is not there" % (key, call[key]), call)
                call[key] = by_id[call[key]]
    return calls


def base(call):
    return os.path.basename(call.file or "")


calls = load(sys.argv[1])
arguments = sys.argv[2:]
ranks = sorted({call.rank for call in calls if call.rank is not None})
