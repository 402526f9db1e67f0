# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests of sluiced; to be sourced after libtest.sh.
sluiced=$BUILD/sluiced
export SLUICE_SITE_SOCKET=$work/run/socket SLUICE_SITE_STATE=$work/state
export SLUICE_SITE_SPOOLS=$work/spools SLUICE_SITE_POLICY=$work/policy

# start_daemon [VARIABLE=VALUE]...: starts sluiced and waits until it answers; sets $daemon
start_daemon() {
	local try
	env "$@" "$sluiced" 2>>"$work/daemon.log" &
	daemon=$!
	at_exit "stop_process $daemon"
	for try in $(seq $polls); do
		"$sluiced" status --json >"$work/status" 2>/dev/null && return
		kill -0 "$daemon" 2>/dev/null || fail "sluiced has ended: $(cat "$work/daemon.log")"
		sleep 0.05
	done
	fail "sluiced does not answer"
}

# stop_process PID: ends a process, if it still runs, and waits for it
stop_process() {
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

# status EXPRESSION: status '["memory"]["peak"]'
status() {
	local try
	# The command waits 10 s, which may not suffice on a loaded machine.
	for try in $(seq $((limit / 10))); do
		"$sluiced" status --json >"$work/status" && break
		[ "$try" -lt $((limit / 10)) ] || fail "sluiced does not answer: $(cat "$work/daemon.log")"
	done
	json_get "$work/status" "$1"
}

state() {
	"$sluiced" status
	cat "$work/daemon.log"
}

# traces_are COUNT: the daemon has so many traces of this user
traces_are() {
	[ "$(ls "$work/state/traces/$(id -u)" 2>/dev/null | grep -c '\.sluice$')" = "$1" ]
}

# frames_are COUNT: so many frames wait for the database
frames_are() {
	[ "$(status '["queue"]["frames"]')" = "$1" ]
}

# row QUERY: the first value of the query to the SQLite file $database
row() {
	python3 -c 'import sqlite3, sys
try: print(sqlite3.connect(sys.argv[1], timeout=60).execute(sys.argv[2]).fetchone()[0])
except sqlite3.Error: print("none")' "$database" "$1"
}

# row_is QUERY VALUE
row_is() {
	[ "$(row "$1")" = "$2" ]
}

# worker_of DAEMON: the pid of its worker
worker_of() {
	pgrep -P "$1" -x sluiced-worker
}
