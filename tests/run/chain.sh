#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls of a client lead to calls of its server, across TCP connections: each of 10,000 writes over 8 connections to
# exactly its calls. If records are missing, calls are not matched, but never matched wrongly.
# Papers: SIOX-11.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libserve.sh"
here=$SOURCE/tests/run

# record_both HOW: records a server of this kind and its client by two runs, and joins their traces
record_both() {
	local server
	rm -f port ./*.sluice
	timeout "$limit" "$sluice" run -o server.sluice -- "$prog/fileserver" serve "$1" data port 8 &
	server=$!
	wait_for "port of the server" test -e port
	timeout "$limit" "$sluice" run -o client.sluice -- "$prog/fileserver" write log port 8 10000
	wait $server
	"$sluice" trace merge --join -o both.sluice client.sluice server.sluice >/dev/null
}

# judge TRACE: what chain.py says of it
judge() {
	"$sluice" print --json "$1" >print.json 2>/dev/null
	python3 "$here/chain.py" print.json
}

# Different runs are joined only on request, and only if they ran at the same time.
record_both threads
check_rc 1 "$sluice" trace merge -o other.sluice client.sluice server.sluice
check_words "$(cat err)" uuids --force
"$sluice" report --json both.sluice >report.json
check_eq "$(json_get report.json '["run"]["command"]')" "$prog/fileserver serve threads data port 8 & $prog/fileserver write log port 8 10000" \
	"the command of both runs"

# Every write leads to exactly its calls, in both kinds of servers.
check_eq "$(judge both.sluice)" "requests=10000 exact=10000 unmatched=0 wrong=0" "server with threads"
check_eq "$(json_get print.json '["connections"]["connections"]')" 8 connections
check_eq "$(json_get print.json '["connections"]["matched"]')" 50000 "matched calls"

# The tree shows the hop: the calls of the server are below that of the client, and the reply below them.
sent=$(python3 -c 'import json
print(next(c["id"] for c in json.load(open("print.json"))["activities"] if len(c.get("remote_calls", [])) == 2))')
"$sluice" print --tree --call "$sent" both.sluice >tree 2>tree.err
check_eq "$(cut -c43- tree | sed 's/(.*//')" "write
  recv
  recv
    pwrite
    send
      recv" "tree of one write"
check_eq "$(grep -c "<- $sent" tree)" 2 "receives of the write"
check_eq "$(cat tree.err)" "" "warnings of a trace with all calls"
check_rc 2 "$sluice" print --tree --call 17 both.sluice
check_rc 2 "$sluice" print --call "$sent" both.sluice

# The page of an activity gets the same: the receives are children of the write, the pwrite is one of the second receive,
# and the write is the ancestor of the pwrite.
mkdir -p "$SLUICE_TRACE_DIR"
cp both.sluice "$SLUICE_TRACE_DIR"
"$sluice" ls --json >ls.json
run=$(json_get ls.json '["runs"][0]["id"]')
serve --socket "$work/socket"
# activity KEY: asks for an activity of the joined trace
activity() {
	expect_described "runs/$run/activities/$1"
}
# The part of the run that has the activity must have been indexed.
is_indexed() {
	get "/api/v1/runs/$run/window"
	[ "$(json_get answer '["covered"]')" = 1 ]
}
wait_for "complete index" is_indexed
id=${sent#ID}
thread=0
[[ $id == *.* ]] && thread=${id%.*} && id=${id##*.}
key=0.$((thread << 40 | id))
activity "$key"
check_eq "$(json_get answer '["children"].__len__()')" 2 "children of the write"
check_eq "$(json_get answer '["children"][0]["program"].split("/")[-1], d["children"][0]["host"] == d["cid_pid_nid"]')" \
	"('fileserver', True)" "program and host of the receive"
check_eq "$(json_get answer '["remote_calls"]')" "$(json_get answer '["children"].__class__(r["key"] for r in d["children"])')" \
	"remote calls of the write"
activity "$(json_get answer '["children"][1]["key"]')"
check_eq "$(json_get answer '["remote_calls"]')" "['$key']" "remote call of the receive"
check_eq "$(json_get answer '["children"].__class__(r["function"] for r in d["children"])')" "['pwrite', 'send']" "served calls"
activity "$(json_get answer '["children"][0]["key"]')"
check_eq "$(json_get answer '["ancestors"].__class__(r["function"] for r in d["ancestors"])')" "['write', 'recv']" \
	"ancestors of the pwrite"
stop_server

# Alone, neither trace has anything to match, and print says nothing of connections.
"$sluice" print --json server.sluice >alone.json
check_eq "$(json_get alone.json '.get("connections")')" None "connections of the server alone"

# A call that is missing makes later calls uncertain. They are not matched, and none is matched wrongly.
"$sluice" trace convert -f text both.sluice both.txt >/dev/null
calls=$(awk '/^[0-9-]/ { n++ } END { print n }' both.txt)
# without PATTERN NTH: the trace without every NTH call whose line matches, as long as there is one
without() {
	awk -F '\t' -v pattern="$1" -v nth="$2" '/^[0-9-]/ && $0 ~ pattern && ++n % nth == 0 { next } { print }' both.txt >less.txt
	judge less.txt
}
for missing in "recv 9000" "write 7000" "send 4000" "pwrite 9999" "connect 5" "accept 7" "recv 3" \
	"[0-9] $((calls / 2))" "[0-9] 1001" "[0-9] 17"; do
	result=$(without "$(printf '\t')${missing% *}|${missing% *}$(printf '\t')" "${missing#* }")
	case $result in
	*" unmatched=0 "* | *" wrong="[1-9]*) fail "without every ${missing#* }th ${missing% *}: $result" ;;
	esac
	"$sluice" print --tree less.txt 2>less.err >/dev/null
	check_line less.err calls TCP not matched
done
# The half before the call is still matched.
awk -v half=$((calls / 2)) '/^[0-9-]/ && ++n == half { next } { print }' both.txt >less.txt
case $(judge less.txt) in
*exact=[1-9][0-9][0-9][0-9]\ *) ;;
*) fail "nothing is matched before a missing call: $(judge less.txt)" ;;
esac

record_both events
check_eq "$(judge both.sluice)" "requests=10000 exact=10000 unmatched=0 wrong=0" "server with events"

# Both in one run: no merging is needed.
rm -f port
timeout "$limit" "$sluice" run -o one.sluice -- bash -c "
	$prog/fileserver serve threads data port 2 &
	until [ -e port ]; do sleep 0.05; done
	$prog/fileserver write log port 2 200
	wait"
check_eq "$(judge one.sluice)" "requests=200 exact=200 unmatched=0 wrong=0" "one run"
