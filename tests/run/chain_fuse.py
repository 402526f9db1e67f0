# SPDX-License-Identifier: BSD-3-Clause
"""Checks the chains of clients and a server of tests/prog/fuseserver.c, from `sluice print --json`.

    chain_fuse.py PRINT.JSON MOUNT DIRECTORY

A write of a client, to a file below MOUNT, has to lead to reads of the server from /dev/fuse. What the server calls for
them has to be the writes of the same bytes at the same offsets of the file with the same name in DIRECTORY, and replies
that lead back to the client. So it is known, without looking at any request, which call belongs to which. The same holds
for reads that lead to requests. Prints the number of writes of clients, of those that lead to exactly their calls, of
those that are not matched, of reads that do, and of what is wrong. Then, whether all calls of the server that work on a
file of a client are led to.
"""
import collections
import json
import os
import sys


def main():
    path, mount, directory = sys.argv[1:]
    trace = json.load(open(path))
    calls = {c["id"]: c for c in trace["activities"]}
    served = collections.defaultdict(list)
    counts = collections.Counter(writes=0, exact=0, unmatched=0, reads=0, wrong=0)
    for c in trace["activities"]:
        if "request" in c:
            served[c["request"]].append(c)

    def moved(call, root):
        """The bytes that a call has moved to or from a file below root."""
        name = os.path.relpath(call["file"], root) if call.get("file", "").startswith(root + "/") else None
        return name, call["class"], call.get("offset", -1), call.get("result", -1)

    def judge(call):
        """None if the call leads to exactly its calls, else what is wrong."""
        name, kind, offset, size = moved(call, mount)
        done = 0
        for received in (calls[i] for i in call["remote_calls"]):
            if received["class"] != "read" or received["remote_calls"] != [call["id"]]:
                return f"it leads to {received}"
            data = [moved(c, directory) for c in served[received["id"]]]
            data = [m for m in data if m[1] == kind and m[0]]
            replies = [c for c in served[received["id"]] if "connection" in c and c["class"] in ("write", "copy")]
            if not data and replies:  # a question for attributes
                continue
            if len(data) != 1 or data[0][0] != name or (kind == "write" and data[0][2] != offset + done):
                return f"the server made {data} for it, not {name} at {offset + done}"
            if [c["remote_calls"] for c in replies] != [[call["id"]]]:
                return f"replies {replies}"
            done += data[0][3]
        if kind == "write" and done != size:
            return f"the server wrote {done} of {size} bytes"
        return None

    for call in trace["activities"]:
        if call["class"] not in ("read", "write") or not moved(call, mount)[0] or call.get("result", 0) <= 0:
            continue
        matched = bool(call.get("remote_calls"))
        counts["writes"] += call["class"] == "write"
        if not matched:
            counts["unmatched"] += call["class"] == "write"
            continue
        problem = judge(call)
        counts["wrong" if problem else "exact" if call["class"] == "write" else "reads"] += 1
        if problem and counts["wrong"] <= 3:
            print(f"{call['id']}: {problem}", file=sys.stderr)
    print(*(f"{name}={count}" for name, count in counts.items()))
    lonely = [c for c in trace["activities"] if moved(c, directory)[0] and c["class"] in ("read", "write") and "request" not in c]
    print(f"without_request={len(lonely)}")


main()
