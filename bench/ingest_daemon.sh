#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Part 1 of the benchmark ingest: 8 clients send messages of 1 KiB to sluiced. The daemon must have counted exactly what
# they sent. ingest.sh sources this file and calls ingest_daemon in its work directory; `make bench NAME=ingest_daemon`
# runs this part alone. BUILD names the build tree. MESSAGES is the number of messages of each client in a round, ROUNDS the
# number of rounds.
daemon_clients=8
daemon_bar=2000000 # messages per second

# daemon_round NUMBER: sends the messages, checks what was counted, and adds the rate to the file rates
daemon_round() {
	local seconds=1 counted=0 sent=1 calls=0 sent_calls=1 rate
	read -r seconds counted sent calls sent_calls < <("$BUILD/bench/bench_ingest_messages" "$SLUICE_SITE_SOCKET" \
		$daemon_clients "${MESSAGES:-500000}") || true
	[ "$counted" = "$sent" ] && [ "$calls" = "$sent_calls" ] ||
		miss "round $1: the daemon counted $counted messages and $calls calls, but $sent and $sent_calls were sent"
	rate=$(awk -v n="$counted" -v s="$seconds" 'BEGIN { printf "%.0f\n", n / s }')
	say "round $1: $counted messages of 1 KiB in $seconds s: $rate messages/s"
	echo "$rate" >>rates
}

# ingest_daemon: messages per second from the clients to the daemon
ingest_daemon() {
	local daemon round rate memory
	export SLUICE_SITE_SOCKET=$PWD/daemon/socket SLUICE_SITE_STATE=$PWD/daemon/state
	export SLUICE_SITE_SPOOLS=$PWD/daemon/spools
	"$BUILD/sluiced" 2>daemon.log &
	daemon=$!
	for _ in $(seq 300); do
		"$BUILD/sluiced" status >/dev/null 2>&1 && break
		sleep 0.1
	done
	: >rates
	for round in $(seq "${ROUNDS:-5}"); do
		daemon_round "$round"
	done
	"$BUILD/sluiced" status --json >status.json
	memory=$(($(told status.json 'd["memory"]["resident"]') >> 20))
	kill "$daemon"
	wait "$daemon" || miss "sluiced exited with code $?: $(cat daemon.log)"
	rate=$(median rates)
	say "messages: $daemon_clients clients, median $rate/s, $(sort -g rates | head -n 1) to $(sort -g rates | tail -n 1);" \
		"the daemon uses $memory MiB"
	key messages_per_s "$rate"
	key messages_memory_mib $memory
	! less "$rate" $daemon_bar || miss "messages: $rate/s, the bar is $daemon_bar/s"
	unset SLUICE_SITE_SOCKET SLUICE_SITE_STATE SLUICE_SITE_SPOOLS
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	set -eu
	BUILD=$(cd "${BUILD:-build}" && pwd)
	. "$(dirname "$0")/libbench.sh"
	workspace "" "${TMPDIR:-/tmp}"
	ingest_daemon
	finish ingest_daemon
fi
