#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A hostile client of sluiced (wrong versions, huge lengths, garbage, slow senders, thousands of connections) is refused.
# It cannot crash the daemon, exceed its memory limit, or keep other clients waiting.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
frames=$prog/frames
socket=$SLUICE_SITE_SOCKET
megabyte=$((1 << 20))

# start TIMEOUT: starts a daemon that gives clients so much time to complete a message
start() {
	sent=0
	start_daemon SLUICE_SITE_MEMORY=64M SLUICE_SITE_TIMEOUT="$1" SLUICE_SITE_CLIENTS=3000 SLUICE_SITE_USER_CLIENTS=500
	worker=$(worker_of "$daemon")
	[ -n "$worker" ] || fail "there is no worker"
}

# stop: the daemon ends as it should, and with the worker that it began with
stop() {
	check_eq "$(worker_of "$daemon")" "$worker" "the worker, which must not have been replaced"
	[ ! -s "$work/daemon.log" ] || fail "the daemon complains: $(cat "$work/daemon.log")"
	kill "$daemon"
	wait "$daemon" || fail "the exit code of the daemon is $?"
	[ ! -e "$socket" ] || fail "the socket was left behind"
}

# clients_are COUNT: the daemon has so many connections, with that of this question
clients_are() {
	[ "$(status '["clients"]')" = "$1" ]
}

start 2s
check_eq "$(stat -c %a "$socket")" 666 "mode of the socket"

# good AFTER: an honest client is served
good() {
	timeout "$limit" "$frames" "$socket" sums 10 >answer || fail "an honest client has to wait: $1"
	check_eq "$(cat answer)" closed "answer to an honest client"
	sent=$((sent + 10))
	check_eq "$(status '["sums"]["messages"]')" $sent "honest messages that the daemon counted"
}

# refused COUNTER WORD KIND [NUMBER]: the client is told why, and the refusal is counted
refused() {
	local counter=$1 word=$2 before
	shift 2
	before=$(status "[\"refused\"][\"$counter\"]")
	"$frames" "$socket" "$@" >answer
	check_words "$(cat answer)" REFUSED "$word"
	check_eq "$(status "[\"refused\"][\"$counter\"]")" $((before + 1)) "refusals because of $counter"
	good "$*"
}

good "nobody is hostile yet"
check_eq "$(status '["sums"]["calls"]')" 150 "calls that the daemon counted"
refused version version version
refused version version version 0
refused version version version 65535
refused type type type
refused type type type 65535
refused type type type 64
refused length long huge
refused length long huge 65537
refused damaged damaged damaged
refused content invalid content 0
refused content invalid content 1
refused slow time slow 5
refused descriptors descriptors descriptors 60

# Garbage is refused at its first bytes; the client may learn that by a reset only.
"$frames" "$socket" garbage 1 >answer
grep -q -E 'REFUSED|closed' answer || fail "garbage was accepted: $(cat answer)"
check_eq "$(status '["refused"]["garbage"]')" 1 "refusals because of garbage"
good garbage
"$frames" "$socket" deaf >answer
check_eq "$(cat answer)" closed "answer to a client that does not read"
check_eq "$(status '["refused"]["reader"]')" 1 "refusals because of a client that does not read"
good deaf

# Descriptors that nobody asked for are closed.
files=$(ls "/proc/$worker/fd" | wc -l)
for _ in 1 2 3 4 5 6 7 8; do
	"$frames" "$socket" descriptors 4 >answer
	sent=$((sent + 1))
done
good descriptors
# The connection of a client that has its answer is closed later.
descriptors_are_closed() {
	[ "$(ls "/proc/$worker/fd" | wc -l)" -le "$files" ]
}
wait_for "end of descriptors that the worker does not need" descriptors_are_closed
stop

# An honest client is served while another one is still sending a message.
start 10m
"$frames" "$socket" slow 1 >answer.slow &
slow=$!
wait_for "connection of the slow client" clients_are 2
good "a slow client is sending"
[ ! -s answer.slow ] || fail "an honest client had to wait for a slow one: $(cat answer.slow)"
stop_process $slow

# Incomplete frames of 64 KiB: 1000 of them do not fit into 16 MiB, a quarter of the limit.
"$frames" "$socket" memory 1000 256 >answer
kept=$(sed -n 's/^kept //p' answer)
[ "$kept" -gt 0 ] && [ "$kept" -le 256 ] || fail "the daemon kept $kept of 1000 incomplete frames"
[ "$(status '["refused"]["memory"]')" -gt 0 ] || fail "no client was refused because of memory"
[ "$(status '["memory"]["peak"]')" -le $((16 * megabyte)) ] || fail "the daemon exceeded its memory limit"
good memory
memory_is_released() {
	[ "$(status '["memory"]["used"]')" -lt $megabyte ]
}
wait_for "release of the memory of clients that are gone" memory_is_released

# 10,000 connections: of one user at first, who gets a share, and of root, up to the total.
[ "$(ulimit -Hn)" -ge 11000 ] || { skip_case open-files "10,000 connections"; exit 0; }
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$work" "$work/run"
	cp "$frames" "$work/run/frames"
	mkfifo hold
	setpriv --reuid 65534 --regid 65534 --clear-groups "$work/run/frames" "$socket" connections 10000 500 <hold >held &
	hostile=$!
	exec {hold}>hold
	for _ in $(seq $polls); do
		[ ! -s held ] || break
		good "10,000 connections of another user"
	done
	check_eq "$(cat held)" "kept 500" "connections of one user"
	good "10,000 connections of another user are open"
	exec {hold}>&-
	wait $hostile
else
	skip_case root "connections of another user"
fi
# Those of the other user are counted until the daemon has closed them.
wait_for "end of earlier connections" clients_are 1
"$frames" "$socket" connections 10000 3000 </dev/null >held
kept=$(sed -n 's/^kept //p' held)
[ "$kept" -gt 2900 ] && [ "$kept" -le 3000 ] || fail "the daemon kept $kept connections, its limit is 3000"
for _ in $(seq $polls); do
	"$sluiced" status >/dev/null 2>&1 && break
	sleep 0.05
done
good "10,000 connections were closed"
resident=$(status '["memory"]["resident"]')
[ "$resident" -lt $((64 * megabyte)) ] || fail "the daemon uses $resident bytes"
stop
