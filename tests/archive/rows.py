#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the rows that models are learned from: costs.csv for `sluice model fit`, probes.txt for `sluice forecast`."""
import math
import random

random.seed(7)
M = 1 << 20


def costs():
    yield "platform,operation,placement,nodes,cores,senders,receivers,writers,bytes,round,repetition,seconds\n"

    def row(op, n, s, r, w, b, seconds):
        for i in range(2):
            placed = "topology" if op[0] == "s" else ""
            yield "testbed,%s,%s,%d,16,%d,%d,%r,%d,%d,%d,%.9g\n" % (
                op, placed, n, s, r, w, b, i, i, seconds * (1 + 0.01 * random.gauss(0, 1)))

    for n in 8, 16, 32:
        for k in range(2, 19, 4):
            yield from row("ar", n, 0, 0, 0, 1 << k, 1e-5 + 1e-9 * (1 << k))
            yield from row("aa", n, 0, 0, 0, 1 << k, 2e-6 * (1 << k))
        for s in n, 4 * n, 16 * n:
            for r in n // 4, n, 4 * n:
                for b in 1024, M, 32 * M:
                    yield from row("aav", n, s, r, 0, b, 1e-4 + 1e-9 * b * s / r / 16)
        for w in 0.25, 1, 4:
            for b in 8, 16, 32:
                yield from row("s_lock", n, 0, 0, w, b * M, 0.1 + 0.8 * w + 0.01 * b * w)
                yield from row("s_nl_full", n, 0, 0, w, b * M, 0.2 + 0.02 * b * w ** 0.7)
                yield from row("s_nl_partial", n, 0, 0, w / 2, b * M, 0.2 + 0.02 * b * (w / 2) ** 0.7)


def probes():
    start, step, count, state = 1520700000, 60, 400, [0, 0]
    for i in range(count):
        yield "Timestamp: %d\nSystem: little\n" % (start + i * step)
        for t in range(2):
            if random.random() < 1 / 30:
                state[t] ^= 1
        if i % 20 == 0:
            yield ("All running jobs:\nJob Id: 1\n    Job_Name = x\n    Job_Owner = u1@h\n    job_state = R\n"
                   "    queue = batch\n    Resource_List.nodect = 8\n    Resource_List.walltime = 02:00:00\n"
                   "    resources_used.mem = 1024kb\n    resources_used.vmem = 2048kb\n"
                   "    resources_used.walltime = 00:10:00\n")
        yield "Performance:\nOSS id 1MB 1GB\n"
        for t in range(2):
            probe = math.exp(math.log(.016 if state[t] else .008) + .25 * random.gauss(0, 1))
            truth = math.exp(math.log(2.7 if state[t] else 1.85) + .06 * random.gauss(0, 1))
            yield "oss-%s %.6gs %s\n" % ("ab"[t], probe, "%.6gs" % truth if i % 4 == 3 else "-")


with open("costs.csv", "w") as out:
    out.writelines(costs())
with open("probes.txt", "w") as out:
    out.writelines(probes())
