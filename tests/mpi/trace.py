# SPDX-License-Identifier: BSD-3-Clause
"""Access to a trace for checks in Python: check_trace of libmpi.sh runs them with all names of this module.

`calls` is the list of activities, sorted by start. Fields of `sluice print --json` are attributes, None if an activity
lacks them; cause, relation and relation2 are calls. The first failure ends the check."""
import json
import os
import sys
from collections import Counter, defaultdict


class Call(dict):
    __getattr__ = dict.get

    def causes(self):
        """The enclosing calls, innermost first."""
        call = self.cause
        while call:
            yield call
            call = call.cause

    def cause_in(self, layer):
        """The innermost enclosing call of that layer, or None."""
        return next((call for call in self.causes() if call.layer == layer), None)

    def origin(self):
        """The call that made the handle, following the relations of duplicates."""
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
    same(len(by_id), len(calls), "number of distinct ids")
    for call in calls:
        for key in ("cause", "relation", "relation2"):
            if key in call:
                must(call[key] in by_id, "%s %s does not exist" % (key, call[key]), call)
                call[key] = by_id[call[key]]
    return calls


def base(call):
    return os.path.basename(call.file or "")


calls = load(sys.argv[1])
arguments = sys.argv[2:]
ranks = sorted({call.rank for call in calls if call.rank is not None})
