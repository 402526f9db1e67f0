#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Grafana dashboard of packaging/ uses only metrics and labels that exist: METRIC_LIST in src/metrics/metrics.h.
# docs/reference/metrics.md lists each of them.
set -eu

python3 - "${SOURCE:?}" <<'PYTHON'
import json, re, sys

source = sys.argv[1]
text = open(source + "/src/metrics/metrics.h").read().replace("\\\n", " ")
rows = re.findall(r'X\(\w+,\s*"(\w+)",\s*(COUNTER|GAUGE|HISTOGRAM),\s*"([\w ]*)",', text)
assert len(rows) > 10, "METRIC_LIST cannot be read"
metrics = {}
for name, kind, labels in rows:
    labels = set(labels.split())
    name = "sluice_" + name
    if kind == "HISTOGRAM":
        for suffix in ("_bucket", "_sum", "_count"):
            metrics[name + suffix] = labels | {"le"}
    else:
        metrics[name] = labels
# Prometheus adds these to every series.
everywhere = {"instance"}

problems = []
dashboard = json.load(open(source + "/packaging/grafana/sluice.json"))
queries = [(p["title"], t["expr"]) for p in dashboard["panels"] for t in p["targets"]]
queries += [(v["name"], v["query"]["query"]) for v in dashboard["templating"]["list"] if v["type"] == "query"]
if not queries:
    problems.append("the dashboard has no query")
for where, query in queries:
    used = re.findall(r"\bsluice_\w+", query)
    if not used:
        problems.append("%s: no metric of Sluice: %s" % (where, query))
    for name in used:
        if name not in metrics:
            problems.append("%s: unknown metric %s" % (where, name))
    known = everywhere.union(*[metrics.get(name, set()) for name in used]) if used else set()
    labels = set(re.findall(r"(\w+)\s*(?:=~|!=|!~|=)\s*\"", query))
    for group in re.findall(r"\bby \(([^)]*)\)", query):
        labels |= {label.strip() for label in group.split(",")}
    for label in labels - known:
        problems.append("%s: no metric of the query has the label %s" % (where, label))
page = open(source + "/docs/reference/metrics.md").read()
for name, kind, labels in rows:
    if "`sluice_%s`" % name not in page:
        problems.append("docs/reference/metrics.md does not describe sluice_%s" % name)
for problem in problems:
    print(problem)
sys.exit(bool(problems))
PYTHON
