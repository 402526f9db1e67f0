# SPDX-License-Identifier: BSD-3-Clause
"""Checks the chains of a trace of tests/prog/fileserver.c, from `sluice print --json`.

The client has written one byte at the offset of each request into a file of its own, by the call before the one that
sent the request. So it is known which pwrite() of the server a request must lead to. Prints the number of requests,
of those that lead to exactly their calls, of those that are not matched, and of those that are wrong.
"""
import collections
import json
import sys

HEAD = 16  # bytes of a request before its data
UNMATCHED = "the reply is not matched"


def read(path):
    trace = json.load(open(path))
    calls = {c["id"]: c for c in trace["activities"]}
    threads = collections.defaultdict(list)
    for c in trace["activities"]:
        threads[c["process"], c["thread"]].append(c)
    for thread in threads.values():
        thread.sort(key=lambda c: int(c["id"].replace(":", ".").removeprefix("ID").split(".")[-1]))
    return trace, calls, threads


def requests(threads):
    """Pairs of a call that sent a request, and its offset."""
    for thread in threads.values():
        for before, call in zip(thread, thread[1:]):
            if before["function"] == "pwrite" and before["result"] == 1 and call["function"] == "write":
                yield call, before["offset"]


def judge(sent, offset, calls, served):
    """None if the request leads to exactly its calls, else what is wrong."""
    received = [calls[i] for i in sent["remote_calls"]]
    if any(r["class"] != "read" for r in received) or sum(r["result"] for r in received) != sent["result"]:
        return "it was not received as a whole"
    done = [c for r in received for c in served[r["id"]]]
    names = sorted(c["function"] for c in done)
    if names != ["pwrite", "send"]:
        return f"the server made the calls {names}"
    done.sort(key=lambda c: c["function"])
    if (done[0]["offset"], done[0]["result"]) != (offset, sent["result"] - HEAD):
        return f"the server wrote {done[0]['result']} bytes at {done[0]['offset']}"
    if done[1]["connection"] != "matched":
        return UNMATCHED
    replies = [calls[i] for i in done[1]["remote_calls"]]
    if sum(r["result"] for r in replies) != 8 or {(r["process"], r["thread"]) for r in replies} != {
            (sent["process"], sent["thread"])}:
        return "the reply went elsewhere"
    return None


def main():
    trace, calls, threads = read(sys.argv[1])
    served = collections.defaultdict(list)
    for c in trace["activities"]:
        if "request" in c:
            served[c["request"]].append(c)
    counts = collections.Counter(requests=0, exact=0, unmatched=0, wrong=0)
    for sent, offset in requests(threads):
        counts["requests"] += 1
        if sent.get("connection", "none") != "matched":
            counts["unmatched"] += 1
            continue
        problem = judge(sent, offset, calls, served)
        counts["unmatched" if problem == UNMATCHED else "wrong" if problem else "exact"] += 1
        if problem and problem != UNMATCHED and counts["wrong"] <= 3:
            print(f"{sent['id']} at offset {offset}: {problem}", file=sys.stderr)
    print(*(f"{name}={count}" for name, count in counts.items()))


main()
