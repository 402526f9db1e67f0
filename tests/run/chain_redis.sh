#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A real server and its client: each SET of redis-cli leads to the write of redis-server to its append-only file, to its
# fdatasync, and to the reply. Both run under `sluice run` and know nothing of it.
# Papers: SIOX-11.
. "$(dirname "$0")/libtest.sh"
command -v redis-server >/dev/null && command -v redis-cli >/dev/null || skip redis-server

# start_server: on a port that was free; another process may have taken it since
start_server() {
	local try
	for try in 1 2 3 4 5; do
		port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
		timeout "$limit" "$sluice" run -o server.sluice -- redis-server --bind 127.0.0.1 --port "$port" --dir "$work" \
			--appendonly yes --appendfsync always --save "" --daemonize no --logfile "$work/log" &
		server=$!
		while kill -0 $server 2>/dev/null; do
			[ "$(redis-cli -p "$port" ping 2>/dev/null)" = PONG ] && return
			sleep 0.05
		done
	done
	fail "redis-server does not start: $(cat log)"
}
start_server
at_exit 'kill $server 2>/dev/null || true'
# Each value has another length, so that the bytes tell which command a call belongs to.
for i in $(seq 200); do
	printf 'SET key%03d %0*d\n' "$i" "$((i + 10))" 0
done >commands
timeout "$limit" "$sluice" run -o client.sluice -- redis-cli -p "$port" <commands >replies
check_eq "$(grep -c OK replies)" 200 "replies"
redis-cli -p "$port" shutdown nosave || true
wait $server || true
"$sluice" trace merge --join -o both.sluice client.sluice server.sluice >/dev/null
"$sluice" print --json both.sluice >print.json 2>print.err
check_line print.err calls TCP not matched other end
python3 - print.json <<'PYTHON'
import collections, json, sys
trace = json.load(open(sys.argv[1]))
calls = {c["id"]: c for c in trace["activities"]}
served = collections.defaultdict(list)
for c in trace["activities"]:
    if "request" in c:
        served[c["request"]].append(c)
sets = 0
for sent in trace["activities"]:
    received = [calls[i] for i in sent.get("remote_calls", []) if sent["class"] == "write"]
    # "*3 $3 SET $6 keyNNN $LENGTH VALUE", as it is sent and as it is in the file
    if not received or calls[received[0]["id"]]["process"] == sent["process"] or "request" in sent:
        continue
    done = [c for r in received for c in served[r["id"]]]
    files = [c for c in done if c["class"] == "write" and ".aof" in c.get("file", "")]
    if not files:
        continue
    sets += 1
    # The first command selects the database as well: "*2 $6 SELECT $1 0".
    expected = sent["result"] + (23 if sets == 1 else 0)
    assert [c["result"] for c in files] == [expected], (sent, done)
    assert any(c["class"] == "sync" and ".aof" in c.get("file", "") for c in done), (sent, done)
    replies = [c for c in done if c["class"] == "write" and c.get("remote_calls")]
    assert len(replies) == 1 and replies[0]["result"] == len("+OK\r\n"), (sent, done)
    assert calls[replies[0]["remote_calls"][0]]["process"] == sent["process"], replies
assert sets == 200, f"{sets} of 200 commands lead to a write of the server"
assert trace["connections"]["connections"] == 1, trace["connections"]
PYTHON
