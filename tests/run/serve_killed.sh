#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice serve` that is killed at any time leaves only its socket, which the next server replaces. The socket of a server
# that is alive is never replaced or removed by another one.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
state() {
	cat "$work"/served*.err
}
mkdir runs
check_rc 0 "$sluice" run -q -o "$work/runs/one.sluice" -- "$prog/patterns" small_writes file
one=$("$sluice" ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["id"])')
files() {
	find "$work/home" "$work/runs" -type f -exec sha256sum {} + | sort
}

# Requests, also those that index the run, are in progress when the server is killed.
cat >load.py <<'END'
import http.client, socket, sys
while True:
    try:
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(sys.argv[1])
        for path in ("runs", f"runs/{sys.argv[2]}", f"runs/{sys.argv[2]}/window", f"runs/{sys.argv[2]}/heatmap"):
            connection.request("GET", "/api/v1/" + path)
            connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        sys.exit()
END
files >before
for delay in 0 0.01 0.05 0.2 0.5; do
	serve --socket "$work/socket"
	loads=()
	for i in 1 2 3; do
		python3 load.py "$work/socket" "$one" &
		loads+=($!)
	done
	sleep $delay
	kill -KILL "$server"
	wait "$server" 2>/dev/null || true
	wait "${loads[@]}"
	[ -S socket ] || fail "no socket is left, so there is nothing to replace"
	files >after
	cmp before after || fail "files differ after the server was killed"
done
serve --socket "$work/socket"
expect 200 "/api/v1/runs/$one"
check_eq "$(stat -c %a socket)" 600 "mode of the socket"

# A server that has no time for new clients keeps its socket: nobody else replaces it.
kill -STOP "$server"
python3 - "$work/socket" <<'END' || fail "the server accepts clients while it is stopped"
import socket, sys
clients = []
try:
    for i in range(10000):
        s = socket.socket(socket.AF_UNIX)
        s.setblocking(False)
        s.connect(sys.argv[1])
        clients.append(s)
except BlockingIOError:
    sys.exit(0)
sys.exit(1)
END
check_rc 1 "$sluice" serve --socket "$work/socket"
check_words "$(cat err)" "another server"
kill -CONT "$server"
expect 200 /api/v1/about

# A server whose socket was removed by hand does not remove that of its successor.
first=$server
rm socket
serve --socket "$work/socket"
kill "$first"
wait "$first" || true
expect 200 /api/v1/about

# Of servers that start together beside a dead socket, one wins and the others say so.
for round in 1 2 3 4 5; do
	kill -KILL "$server"
	wait "$server" 2>/dev/null || true
	servers=()
	# What the winner of the round before has printed must not be taken for an answer of this round.
	rm -f served?
	for i in 1 2 3 4; do
		"$sluice" serve --socket "$work/socket" >served$i 2>served$i.err &
		servers+=($!)
	done
	winner= losers=0
	for i in 1 2 3 4; do
		pid=${servers[i - 1]}
		over() {
			[ -s served$i ] || ! kill -0 "$pid" 2>/dev/null
		}
		wait_for "end of server $i" over
		if kill -0 "$pid" 2>/dev/null; then
			[ -z "$winner" ] || fail "two servers have the socket"
			winner=$pid
		else
			check_words "$(cat served$i.err)" "another server"
			losers=$((losers + 1))
		fi
	done
	check_eq "$losers" 3 "servers that gave way"
	server=$winner
	expect 200 /api/v1/about
done
