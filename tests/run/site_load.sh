#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Who loads the storage now includes jobs whose calls are only counted (mode=counters), with their file system, while they
# run: each byte counts once.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
database=$work/site.db
export SLUICE_SITE_DATABASE=$database SLUICE_HEALTH_INTERVAL=200ms SLUICE_STATS_PROVIDERS=memory SLUICE_SITE_NODE=n1 SLUICE_SITE_METRICS=$work/metrics
block=65536
chmod 755 "$work"
printf '[policy]\nrule = mode=counters program=writes\n' >"$work/policy"

# load EXPRESSION: of the loads that `sluice site watch` shows
load() {
	"$sluice" site watch --once --json >"$work/watch" 2>/dev/null || return 1
	python3 -c 'import json, sys
loads = [l for l in json.load(open(sys.argv[1]))["loads"] if l["job"] == "4711"]
print(eval(sys.argv[2]))' "$work/watch" "$1"
}

load_is() {
	[ "$(load "$1")" = True ]
}

# metered: the bytes that the job has written so far, as the metrics of the daemon say
metered() {
	python3 - "$work/metrics" <<'PYTHON'
import re, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
found = re.findall(r'^sluice_job_bytes_total\{job_id="4711",[^}]*operation="write"\} (\S+)', text, re.M)
print(int(sum(map(float, found))))
PYTHON
}

metered_more_than() {
	[ "$(metered)" -gt "$1" ]
}

# The job is stopped; a call that was stopped before it was counted may be missing.
metered_all() {
	local now
	now=$(metered)
	[ $((now / block)) -ge $((written / block - 1)) ] && [ $((now / block)) -le $((written / block)) ]
}

state() {
	cat "$work/watch" "$work/daemon.log"
	"$sluiced" status
}

: >job
start_daemon
wait_for "policy" test -e "$work/run/policy"
setsid env LD_PRELOAD="$BUILD/libsluice.so" SLUICE_SITE="$work/run" SLURM_JOB_ID=4711 \
	"$prog/writes" steady $block 1000 "$work/stop" >job 2>&1 &
job=$!
at_exit "stop_process $job"
at_exit "kill -CONT $job 2>/dev/null || true"
wait_for "job" grep -q ready job
# More bytes than an open or two, of writes of 64 KiB each.
wait_for "load of a job that is only counted" load_is '(sum(l["bytes_written"] for l in loads) > 65536 and
	all(l["bytes_read"] < l["bytes_written"] for l in loads))'
wait_for "file system of the load" row_is "SELECT count(*) > 0 FROM node_load WHERE job = '4711' AND bytes_written > 65536 AND
	(target LIKE 'n1:/%' OR target LIKE '/%')" 1
# After some readings, what was read before must not count again.
for _ in 1 2 3; do
	wait_for "further load" metered_more_than "$(metered)"
done
kill -STOP $job
is_stopped() {
	grep -q '^State:.T' "/proc/$job/status"
}
wait_for "stop of the job" is_stopped
written=$(awk '$1 == "wchar:" { print $2 }' "/proc/$job/io")
wait_for "load of all that the job has written ($written bytes)" metered_all
kill -CONT $job
touch stop
wait_for "run" row_is "SELECT count(*) FROM run WHERE job = '4711'" 1
wait_for "counted calls" row_is "SELECT count(*) > 0 FROM run_counter WHERE class_group = 'write' AND bytes > 65536" 1
