# SPDX-License-Identifier: BSD-3-Clause
"""Checks the chains of a client of PostgreSQL and its server, from `sluice print --json`.

    chain_postgres.py inserts TRACE STATEMENTS ANSWERS    psql; prints the id of the first INSERT
    chain_postgres.py bench TRACE CLIENTS                 pgbench

What psql must lead to is known from the server itself: after each statement, it has told the position in its log up to
which it had written. A message of the protocol has one byte of type, four of length, and the text with its zero byte.
"""
import collections
import json
import re
import sys

SEGMENT = 16 << 20
PAGE = 8192  # the server writes whole pages of its log
ASK = "SELECT pg_current_wal_flush_lsn();"
trace = json.load(open(sys.argv[2]))
calls = {c["id"]: c for c in trace["activities"]}
served = collections.defaultdict(list)
for call in trace["activities"]:
    if "request" in call:
        served[call["request"]].append(call)


def is_log(call):
    return call["class"] == "write" and "/pg_wal/" in call.get("file", "")


def done_for(sent):
    """The receives of what these calls have sent, and the calls that the server made for them."""
    received = [calls[i] for i in dict.fromkeys(i for s in sent for i in s["remote_calls"])]
    assert received and all(r["class"] == "read" for r in received), (sent, received)
    return received, [c for r in received for c in served[r["id"]]]


def covers(call, position):
    """Has the call written the byte of the log before this position?"""
    segment, offset = divmod(position - 1, SEGMENT)
    per_log = (1 << 32) // SEGMENT
    name = f"00000001{segment // per_log:08X}{segment % per_log:08X}"
    return call["file"].endswith("/pg_wal/" + name) and call["offset"] <= offset < call["offset"] + call["result"]


def check_statement(statement, sent, position, backend):
    """All calls of one statement: one for INSERT, many for COPY."""
    received, done = done_for(sent)
    assert {c["process"] for c in received + done} == {backend}, (statement, done)
    assert sum(r["result"] for r in received) == sum(s["result"] for s in sent), (statement, received)
    log = [c for c in done if is_log(c)]
    assert any(covers(c, position) for c in log), (statement, position, log)
    assert any(c["class"] == "sync" and "/pg_wal/" in c.get("file", "") for c in done), (statement, done)
    replies = [c for c in done if c["class"] == "write" and c.get("connection") == "matched"]
    assert replies, (statement, done)
    for reply in replies:
        assert {calls[i]["process"] for i in reply["remote_calls"]} == {sent[0]["process"]}, (statement, reply)


def client_sends():
    """The calls that sent something to the server, by connection."""
    sends = collections.defaultdict(list)
    for call in trace["activities"]:
        if call["class"] == "write" and "connection" in call and "request" not in call and call["connection"] != "no_peer":
            assert call["connection"] == "matched", call
            sends[call["process"], call["relation"]].append(call)
    return sends


def take_statement(sends, statement):
    """Removes the calls that have sent this statement; a long one is sent by several."""
    taken, missing = [], len(statement) + 6
    while missing > 0:
        taken.append(sends.popleft())
        missing -= taken[-1]["result"]
    assert missing == 0, (statement[:80], taken)
    return taken


def check_inserts(statements, answers):
    positions = [int(high, 16) << 32 | int(low, 16) for high, low in re.findall(r"^(\w+)/(\w+)$", answers, re.M)]
    pages = [(p - 1) // PAGE for p in positions]
    assert len(set(pages)) == len(pages), "the log of two statements ends on one page"
    (sends,) = client_sends().values()
    sends = collections.deque(sorted(sends, key=lambda c: c["start_ns"]))
    lines = statements.split("\n")
    while sends[0]["result"] != len(lines[0]) + 6:  # until the connection is made
        sends.popleft()
    backend = calls[take_statement(sends, lines[0])[0]["remote_calls"][0]]["process"]
    first = sends[0]["id"]
    for statement, position in zip([s for s in lines if s.startswith("INSERT")], positions):
        check_statement(statement, take_statement(sends, statement), position, backend)
        take_statement(sends, ASK)
    # What remains is COPY, its rows, the last question, and the end of the connection.
    copy = list(sends)[:-2]
    assert len(copy) > 10 and sends[-2]["result"] == len(ASK) + 6, copy
    check_statement("COPY", copy, positions[-1], backend)
    assert trace["connections"]["connections"] == 1, trace["connections"]
    print(first)


def check_bench(clients):
    sends = {key: s for key, s in client_sends().items() if len(s) > 20}
    assert len(sends) == clients, {k: len(s) for k, s in sends.items()}
    backends = set()
    for mine in sends.values():
        processes = set()
        for call in mine:
            received, done = done_for([call])
            processes |= {c["process"] for c in received + done}
            for reply in done:
                if reply["class"] == "write" and reply.get("connection") == "matched":
                    assert {calls[i]["relation"] for i in reply["remote_calls"]} == {call["relation"]}, (call, reply)
        assert len(processes) == 1, processes
        backends |= processes
    assert len(backends) == clients, backends
    # Whatever a backend has written to the log, it has written for a call of its client. Several backends may commit by
    # one write.
    log = [c for c in trace["activities"] if is_log(c) and c["process"] in backends]
    assert log and all("request" in c for c in log), log


if sys.argv[1] == "inserts":
    check_inserts(open(sys.argv[3]).read(), open(sys.argv[4]).read())
else:
    check_bench(int(sys.argv[3]))
