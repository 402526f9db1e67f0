#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# usage: web_api.py ADDRESS PID RUN OTHER OUTPUT
# Asks the server of bench/web.sh at ADDRESS (with its token), process PID, about RUN, the file of a trace: until the index
# is complete, then with windows of several lengths, then each other route. OTHER is a run to compare it with. Prints a table
# and writes OUTPUT, lines "key value". Times are in milliseconds; the CPU time is that of the whole server.
import http.client
import json
import random
import sys
import time
import urllib.parse

SHARES = (100, 50, 10, 1, 0.1)  # length of windows, percent of the run
POSITIONS = 8
REPEATS = 3
PLOTS = ("bandwidth.svg", "causes.svg", "heatmap.svg", "offsets.svg", "ranks.svg", "sizes.svg", "bandwidth.csv")

address, pid, name, other, output = sys.argv[1:6]
split = urllib.parse.urlsplit(address)
token = urllib.parse.parse_qs(split.query)["token"][0]
connection = http.client.HTTPConnection(split.netloc, timeout=600)
process_clock = (~int(pid)) << 3 | 2  # the CPU time of another process; see clock_getcpuclockid(3)
figures = {}


def ask(path):
    """Returns (wall ms, CPU ms, answer)."""
    cpu, wall = time.clock_gettime(process_clock), time.perf_counter()
    connection.request("GET", "/api/v1/" + path, headers={"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    body = response.read()
    wall = time.perf_counter() - wall
    cpu = time.clock_gettime(process_clock) - cpu
    if response.status != 200:
        sys.exit(f"{path}: status {response.status}: {body[:300]}")
    return 1000 * wall, 1000 * cpu, body


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def memory(field):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith(field + ":"))


def show(what, walls, cpus):
    print(f"  {what:<38} wall {median(walls):8.1f} max {max(walls):8.1f}   CPU {median(cpus):8.1f} max {max(cpus):8.1f} ms")


def find_run(file):
    for row in json.loads(ask("runs?limit=1000")[2])["runs"]:
        if row["name"] == file:
            return row
    sys.exit(f"{file}: not listed")


def wait_index():
    """The first answer, and the time until the index covers the run."""
    start, cpu = time.perf_counter(), time.clock_gettime(process_clock)
    first = None
    while True:
        wall, _, body = ask(f"{run}/window?bins=400")
        first = first or wall
        if json.loads(body)["covered"] >= 1:
            break
        time.sleep(0.02)
    figures["first_answer_ms"] = first
    figures["index_s"] = time.perf_counter() - start
    figures["index_cpu_s"] = time.clock_gettime(process_clock) - cpu
    print(f"  first answer {first:.1f} ms; index complete after {figures['index_s']:.2f} s, "
          f"CPU {figures['index_cpu_s']:.2f} s; memory {memory('VmRSS')} MiB")
    return json.loads(body)


def measure_windows(whole):
    """Each chart of the page for windows at random places, and for the same windows again."""
    chooser = random.Random(1)
    first, length = whole["from_ns"], whole["to_ns"] - whole["from_ns"]
    file = urllib.parse.quote(whole["files"][0]["file"], safe="")
    routes = {"window": "bins=400", "heatmap": "bins=200&rows=256", "causes": "", "activities": "limit=100",
              "offsets": f"limit=20000&level=storage&file={file}"}
    worst = {"new": (0, 0), "repeated": (0, 0)}
    for share in SHARES:
        spans = []
        for _ in range(1 if share == 100 else POSITIONS):
            start = first + int(chooser.random() * (1 - share / 100) * length)
            spans.append((start, start + int(share / 100 * length)))
        for route, query in routes.items():
            for state in ("new", "repeated"):
                # The first chart of a page is the one that meets a new edge.
                chooser.shuffle(spans)
                times = [ask(f"{run}/{route}?from_ns={a}&to_ns={b}&{query}")[:2] for a, b in spans]
                walls, cpus = zip(*times)
                if route == "window" or state == "repeated":
                    show(f"{route} of {share} %, {state}", walls, cpus)
                worst[state] = (max(worst[state][0], *walls), max(worst[state][1], *cpus))
    for state, (wall, cpu) in worst.items():
        figures[f"{state}_max_ms"], figures[f"{state}_max_cpu_ms"] = wall, cpu


def measure_edges(whole):
    """Windows that no request has asked for before: what moving costs if no chapter is in memory."""
    chooser = random.Random(2)
    first, length = whole["from_ns"], whole["to_ns"] - whole["from_ns"]
    walls, cpus = [], []
    for _ in range(40):
        start = first + int(chooser.random() * 0.7 * length)
        wall, cpu, _ = ask(f"{run}/window?bins=400&from_ns={start}&to_ns={start + int((0.1 + 0.2 * chooser.random()) * length)}")
        walls.append(wall)
        cpus.append(cpu)
    show("window, both edges new", walls, cpus)
    figures["edge_ms"], figures["edge_max_ms"] = median(walls), max(walls)
    figures["edge_cpu_ms"], figures["edge_max_cpu_ms"] = median(cpus), max(cpus)


def measure_long(whole):
    """Activities that are at least as long as so many percent of all are not."""
    lengths = sorted(row["duration_ns"] for row in json.loads(ask(f"{run}/activities?limit=1000&level=all")[2])["activities"])
    all_walls, all_cpus = [], []
    for what, least in (("0.1 %", int(1.05 * lengths[-1])), ("few", lengths[-2]), ("half", lengths[len(lengths) // 2])):
        path = f"{run}/activities?limit=100&level=all&min_ns={least}"
        times = [ask(f"{path}&offset={100 * i}")[:2] for i in range(REPEATS)]
        walls, cpus = zip(*times)
        show(f"activities with min_ns, {what}", walls, cpus)
        all_walls += walls
        all_cpus += cpus
    figures["min_ns_max_ms"], figures["min_ns_max_cpu_ms"] = max(all_walls), max(all_cpus)


def measure_routes():
    found = json.loads(ask(f"{run}/activities?limit=1000&level=all&offset=1000")[2])["activities"]
    keys = [row["key"] for row in found if row["layer"] == "POSIX"][:REPEATS]
    figures["report_first_ms"] = ask(run)[0]
    print(f"  report, first                          wall {figures['report_first_ms']:8.1f} ms")
    routes = {"report, again": [run] * REPEATS, "about": ["about"] * REPEATS, "settings": ["settings"] * REPEATS,
              "runs": ["runs"] * REPEATS, "one activity": [f"{run}/activities/{key}" for key in keys],
              "activities, last page": [f"{run}/activities?limit=100&level=all&offset={row['activities'] - 100 - i}" for i in range(REPEATS)],
              "window of one rank": [f"{run}/window?bins=400&member={i}" for i in range(REPEATS)],
              "compare, first": [f"compare?base={row['id']}&with={find_run(other)['id']}"]}
    routes["compare, again"] = routes["compare, first"] * REPEATS
    for plot in PLOTS if row["ranks"] else [plot for plot in PLOTS if not plot.startswith("ranks")]:
        routes[plot] = [f"{run}/plots/{plot}"]
    for what, paths in routes.items():
        walls, cpus = zip(*(ask(path)[:2] for path in paths))
        show(what, walls, cpus)
        figures[what.replace(", ", "_").replace(" ", "_").replace(".", "_") + "_ms"] = median(walls)


row = find_run(name)
run = f"runs/{row['id']}"
whole = wait_index()
measure_edges(whole)
measure_windows(whole)
measure_long(whole)
measure_routes()
figures["memory_mib"] = memory("VmHWM")
with open(output, "w") as out:
    for key, value in figures.items():
        print(key, f"{value:.3f}" if isinstance(value, float) else value, file=out)
