#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Three daemons, as nodes n1 to n3, and the reasoner of the system beside a real PostgreSQL. The job of n3 loads a shared
# file system, and those of n1 and n2 become slow: the reasoner names the job, its verdict reaches the nodes, and all of it
# ends with the problem. Anomalies that begin and end while the database is away arrive in order and once.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
. "$(dirname "$0")/../libpg.sh"
pg_start fsync=off || skip postgresql
export SLUICE_SITE_DATABASE=$pg
check_rc 0 "$sluice" site init

# on NODE COMMAND...: runs a command with the settings of a node; with exec=exec, in place of the shell
on() {
	local node=$1
	shift
	${exec-} env SLUICE_SITE_NODE="$node" SLUICE_SITE_SOCKET="$work/$node/run/socket" SLUICE_SITE_STATE="$work/$node/state" \
		SLUICE_SITE_SPOOLS="$work/$node/spools" SLUICE_SITE_METRICS="$work/$node/metrics" \
		SLUICE_SITE_SHARED="$(findmnt -n -o TARGET -T "$work")" SLUICE_HEALTH_INTERVAL=500ms SLUICE_STATS_PROVIDERS=memory "$@"
}

state() {
	pg_psql "SELECT * FROM anomaly; SELECT * FROM node_load"
	tail -n 5 "$work"/n?/log
	cat "$work/watch.err"
}

# rows_are NUMBER CONDITION: so many anomalies fulfil it
rows_are() {
	[ "$(pg_psql "SELECT count(*) FROM anomaly WHERE $2" 2>/dev/null)" = "$1" ]
}

# status_is NODE EXPRESSION VALUE
status_is() {
	on "$1" "$sluiced" status --json >"$work/status" 2>/dev/null || return 1
	[ "$(json_get "$work/status" "$2" 2>/dev/null)" = "$3" ]
}

# job NODE ID BYTES PAUSE_US: a job that writes until the file "stop" exists, and is slow while the file "slow" exists
job() {
	mkdir "$work/job$2"
	(
		cd "$work/job$2"
		exec setsid env LD_PRELOAD="$BUILD/libsluice.so:$prog/slow.so" SLUICE_SITE="$work/$1/run" SLURM_JOB_ID="$2" \
			SLOW_WHILE="$work/$1/slow" SLOW_MS=50 "$prog/writes" steady "$3" "$4" "$work/stop" >out 2>&1
	) &
	at_exit "stop_process $!"
}

printf '[policy]\nrule = mode=trace program=writes\n' >"$work/policy"
chmod 755 "$work"
for node in n1 n2 n3; do
	mkdir -m 755 "$work/$node"
	exec=exec on $node "$sluiced" 2>"$work/$node/log" &
	at_exit "stop_process $!"
done
for node in n1 n2 n3; do
	wait_for "answer of $node" status_is $node '["rules"]' 1
done
"$sluice" site watch --json >watch.out 2>watch.err &
watch=$!
at_exit "stop_process $watch"
job n1 201 4096 1000
job n2 202 4096 1000
job n3 100 262144 5000
for id in 201 202 100; do
	wait_for "load of job $id" grep -q ready "$work/job$id/out"
done

touch n1/slow n2/slow
wait_for "anomaly of n1" rows_are 1 "subject = 'node' AND node = 'n1' AND ended_ns IS NULL"
wait_for "anomaly of n2" rows_are 1 "subject = 'node' AND node = 'n2' AND ended_ns IS NULL"
wait_for "verdict" rows_are 1 "subject = 'system' AND ended_ns IS NULL AND node = '' AND job = '100' AND cause = 'likely job'"
for node in n1 n2; do
	wait_for "verdict on $node" status_is $node '["verdict"]["cause"]' "likely job"
	check_words "$(json_get status '["verdict"]["detail"]')" "job 100" "of the bytes" "nodes that use"
	wait_for "verdict in the journal of $node" grep -q 'reasoner of the site.*job 100' "$work/$node/log"
done
wait_for "verdict in what the reasoner prints" grep -q 'likely job' "$work/watch.out"
python3 - "$work/n1/metrics" >metrics <<'PYTHON'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
print(b"".join(iter(lambda: s.recv(65536), b"")).decode())
PYTHON
check_has "$(cat metrics)" 'sluice_anomaly_active{scope="system",cause="likely job"} 1'
check_has "$(cat metrics)" 'sluice_job_bytes_total{job_id="201"'

# Everything ends when calls are as fast as before.
rm n1/slow n2/slow
wait_for "end of the anomalies" rows_are 0 "ended_ns IS NULL AND node IN ('n1', 'n2', '')"
for node in n1 n2; do
	wait_for "end of the alert on $node" status_is $node '["alert"]' False
	wait_for "end of the verdict on $node" status_is $node '.get("verdict", {}).get("detail", "")' ""
done

# While the database is away, an alert begins and ends; both arrive later, once. The reasoner waits as well.
pg_kill
touch n1/slow
wait_for "alert without the database" status_is n1 '["alert"]' True
rm n1/slow
wait_for "end of the alert without the database" status_is n1 '["alert"]' False
pg_again || fail "PostgreSQL does not start again"
[ "$(grep -c 'alert: .*likely cause' n1/log)" -ge 2 ] || fail "no alert was raised: $(cat n1/log)"
# All of them arrive, also alerts that the load of the machine raises meanwhile.
all_arrived() {
	rows_are "$(grep -c 'alert: .*likely cause' n1/log)" "subject = 'node' AND node = 'n1' AND ended_ns > started_ns"
}
wait_for "anomalies of n1" all_arrived
check_eq "$(pg_psql "SELECT count(*) FROM anomaly a JOIN anomaly b ON a.node = b.node AND a.id < b.id AND a.subject = 'node' AND \
	b.subject = 'node' AND b.started_ns < a.ended_ns WHERE a.node = 'n1'")" 0 "anomalies of a node at the same time"
wait_for "verdicts end" rows_are 0 "subject = 'system' AND ended_ns IS NULL"
kill -0 $watch || fail "the reasoner has ended: $(cat watch.err)"
touch stop
