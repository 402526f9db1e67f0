#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A client and a server on two hosts: calls are matched across the network, and their messages align the clocks. The
# hosts are namespaces of this machine: each has a name, a network with its own end of a virtual cable, spools, and a
# clock; the clocks are 1000 s apart.
# Papers: SIOX-11.
. "$(dirname "$0")/libtest.sh"
[ "$(id -u)" = 0 ] || skip root
command -v ip >/dev/null || skip iproute2
unshare --net --uts -T --monotonic 1000 --fork true 2>/dev/null || skip namespaces

# start_host NAME AHEAD: a process that keeps the namespaces, and ends with this shell; its pid is in NAME.pid
start_host() {
	setpriv --pdeathsig KILL unshare --net --uts -T --monotonic "$2" --fork --kill-child sh -c '
		hostname "$0" && echo $$ >"$0.new" && mv "$0.new" "$0.pid" && exec sleep infinity' "$1" &
	at_exit "kill -KILL $! 2>/dev/null; wait $! 2>/dev/null || true"
	wait_for "host $1" test -e "$1.pid"
	mkdir "spool-$1"
}

# on HOST COMMAND...: runs the command there
on() {
	local name=$1
	shift
	SLUICE_SPOOL_DIR=$work/spool-$name SLUICE_CAPTURE_CLOCK=monotonic timeout "$limit" \
		nsenter -t "$(cat "$name.pid")" --net --uts --time "$@"
}

start_host client 0
start_host server 1000
ip link add cable netns "$(cat client.pid)" type veth peer name cable netns "$(cat server.pid)" 2>err || skip veth
number=1
for name in client server; do
	on $name ip addr add 192.0.2.$number/24 dev cable
	on $name ip link set cable up
	on $name ip link set lo up
	number=$((number + 1))
done

on server "$sluice" run -o server.sluice -- "$prog/fileserver" serve threads data port 4 192.0.2.2 &
server=$!
wait_for "port of the server" test -e port
on client "$sluice" run -o client.sluice -- "$prog/fileserver" write log port 4 1000 192.0.2.2
wait $server
# join SKEW_NS: joins both traces, and checks them. The server's time of day is wrong by SKEW_NS. Prints by how much the
# client's time of day was corrected more than the server's.
join() {
	rm -f both.sluice both.db
	"$sluice" trace convert --format text server.sluice server.txt >/dev/null
	python3 - "$1" <<'END'
import re, sys
text = open("server.txt", encoding="latin-1").read()
# This is the only fact with a time of day.
moved, n = re.subn(r"\b(1[0-9]{18})\b", lambda m: str(int(m[1]) + int(sys.argv[1])), text, count=1)
assert n == 1
open("server.txt", "w", encoding="latin-1").write(moved)
END
	"$sluice" trace merge --join -o both.sluice client.sluice server.txt >/dev/null
	"$sluice" print --json both.sluice >print.json 2>/dev/null
	"$sluice" trace convert --format sqlite both.sluice both.db >/dev/null
	check_eq "$(python3 "$SOURCE/tests/run/chain.py" print.json)" "requests=1000 exact=1000 unmatched=0 wrong=0" "skew of $1 ns"
	check_eq "$(json_get print.json '["connections"]["connections"]')" 4 connections
	python3 - <<'END'
import json, sqlite3
hosts = {h: (m, o, e) for h, m, o, e in sqlite3.connect("both.db").execute("SELECT host, method, offset_ns, error_ns FROM hosts")}
assert set(hosts) == {"client", "server"} and sorted(m for m, o, e in hosts.values()) == ["messages", "reference"], hosts
calls = {c["id"]: c for c in json.load(open("print.json"))["activities"]}
pairs = [(c, calls[i]) for c in calls.values() if c["class"] == "write" for i in c.get("remote_calls", [])]
assert len(pairs) >= 2000, len(pairs)
early = [(s, r) for s, r in pairs if r["start_ns"] + r["duration_ns"] < s["start_ns"]]
assert not early, (len(early), early[0])
print(hosts["client"][1] - hosts["server"][1])
END
}
correction=$(join 0)
for skew in 200000000 -200000000; do
	# Only the time of day has changed; times are rounded.
	corrected=$(join $skew)
	off=$((corrected - correction - skew))
	[ "${off#-}" -le 10 ] || fail "the correction of a skew of $skew ns is wrong by $off ns"
	sent=$(json_get print.json '["activities"].__class__(c["id"] for c in d["activities"] if len(c.get("remote_calls", [])) == 2)[0]')
	"$sluice" print --tree --call "$sent" both.sluice >tree 2>/dev/null
	check_eq "$(cut -c43- tree | sed 's/(.*//' | tr -d ' ' | tr '\n' ' ')" "write recv recv pwrite send recv " "tree of a write"
done
