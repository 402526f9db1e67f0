#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluiced starts by hand and by socket activation, survives the death of its worker, and refuses to start twice.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
frames=$prog/frames
socket=$SLUICE_SITE_SOCKET

# wait_for_worker OLD: waits for a worker that answers and is not OLD; sets $worker
wait_for_worker() {
	for _ in $(seq $polls); do
		worker=$(worker_of "$daemon" || true)
		[ -n "$worker" ] && [ "$worker" != "$1" ] && "$sluiced" status --json >"$work/status" 2>/dev/null && return
		sleep 0.05
	done
	fail "no new worker was started: $(cat "$work/daemon.log")"
}

start_daemon
worker=$(worker_of "$daemon")
"$frames" "$socket" sums 7 >/dev/null
check_eq "$(status '["sums"]["messages"]')" 7 "messages"

# A second daemon does not take the socket away.
check_rc 1 "$sluiced"
check_words "$(cat "$work/err")" another daemon
check_eq "$(status '["sums"]["messages"]')" 7 "messages after a second daemon has failed"

# kill -9 of the worker: clients connect as before, and the keeper says what happened.
for _ in 1 2 3; do
	old=$worker
	kill -9 "$old"
	wait_for_worker "$old"
	"$frames" "$socket" sums 5 >answer
	check_eq "$(cat answer)" closed "answer to a client after the worker was killed"
	check_eq "$(status '["sums"]["messages"]')" 5 "messages of the new worker"
done
check_words "$(cat "$work/daemon.log")" signal 9

# kill -9 of the keeper ends the worker as well, so that another daemon can start.
kill -9 "$daemon"
wait "$daemon" 2>/dev/null || true
for _ in $(seq $polls); do
	kill -0 "$worker" 2>/dev/null || break
	sleep 0.05
done
kill -0 "$worker" 2>/dev/null && fail "the worker outlives the keeper"
start_daemon
kill -INT "$daemon"
wait "$daemon" || fail "the exit code after SIGINT is $?"
[ ! -e "$socket" ] || fail "the socket was left behind"

# Socket activation: the service manager has opened the socket, and learns when the daemon is ready.
cat >activate.py <<'PYTHON'
import os, socket, subprocess, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(64)
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind(sys.argv[2])
notify.settimeout(float(sys.argv[4]))
pid = os.fork()
if pid == 0:
    os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", NOTIFY_SOCKET=sys.argv[2],
                      SLUICE_SITE_SOCKET=sys.argv[1])
    os.execv(sys.argv[3], [sys.argv[3]])
print(notify.recv(100).decode(), flush=True)
answer = subprocess.run([sys.argv[3], "status", "--json"], env=dict(os.environ, SLUICE_SITE_SOCKET=sys.argv[1]))
os.kill(pid, 15)
print(notify.recv(100).decode(), flush=True)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) or answer.returncode)
PYTHON
python3 activate.py "$work/activated" "$work/notify" "$sluiced" "$limit" >out || fail "socket activation failed: $(cat out)"
check_eq "$(sed -n 1p out)" READY=1 "first notification"
check_has "$(cat out)" '"schema": "sluice.daemon/1"' "status over the passed socket"
check_has "$(cat out)" STOPPING=1 "notifications"
[ -e "$work/activated" ] || fail "the daemon removed a socket that it did not create"

# Errors name the remedy.
check_rc 3 "$sluiced" status
check_words "$(cat "$work/err")" no daemon "$socket"
touch "$work/run/file"
check_rc 1 env SLUICE_SITE_SOCKET="$work/run/file" "$sluiced"
check_words "$(cat "$work/err")" "not a socket" remove
