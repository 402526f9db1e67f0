#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Who loads the storage now includes jobs whose calls are only counted (mode=counters), with their file system, while they
# run.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
database=$work/site.db
export SLUICE_SITE_DATABASE=$database SLUICE_HEALTH_INTERVAL=200ms SLUICE_STATS_PROVIDERS=memory SLUICE_SITE_NODE=n1
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

state() {
	cat "$work/watch" "$work/daemon.log"
	"$sluiced" status
}

start_daemon
wait_for "policy" test -e "$work/run/policy"
setsid env LD_PRELOAD="$BUILD/libsluice.so" SLUICE_SITE="$work/run" SLURM_JOB_ID=4711 \
	"$prog/writes" steady 65536 1000 "$work/stop" >job 2>&1 &
at_exit "stop_process $!"
wait_for "job" grep -q ready job
# More bytes than an open or two, of writes of 64 KiB each.
wait_for "load of a job that is only counted" load_is 'sum(l["bytes_written"] for l in loads) > 65536'
load_is 'all(l["bytes_read"] < l["bytes_written"] for l in loads)' || fail "the job reads: $(cat "$work/watch")"
wait_for "file system of the load" row_is "SELECT count(*) > 0 FROM node_load WHERE job = '4711' AND bytes_written > 65536 AND
	(target LIKE 'n1:/%' OR target LIKE '/%')" 1
touch stop
wait_for "run" row_is "SELECT count(*) FROM run WHERE job = '4711'" 1
row_is "SELECT count(*) > 0 FROM run_counter WHERE class_group = 'write' AND bytes > 65536" 1 || fail "the calls were not counted"
