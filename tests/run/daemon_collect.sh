#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# sluiced records the processes that the policy of the site names, with the same trace as `sluice run`; goes on when its
# worker is killed; and brings the runs into the database exactly once, which may be absent for a while.
# Papers: SIOX-6, SIOX-64.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
# The database is reached through a link, which can be replaced in one step: a daemon that found no file would make one.
database=$work/link/site.db
mkdir "$work/databases"
ln -s databases "$work/link"
: >"$work/nowhere"

# link_to NAME: lets the path of the database lead there
link_to() {
	ln -s "$1" "$work/link.new"
	mv -T "$work/link.new" "$work/link"
}

# calls_of TRACE: name, calls and bytes of all functions
calls_of() {
	"$sluice" report --json "$1" >"$work/report.json" 2>"$work/err" || fail "no report of $1: $(cat "$work/err")"
	python3 -c 'import json, sys
for f in sorted(json.load(open(sys.argv[1]))["functions"], key=lambda f: (f["layer"], f["function"])):
    print(f["layer"], f["function"], f["calls"], f["errors"], f["bytes_read"], f["bytes_written"])' "$work/report.json"
}

# rules_are COUNT: the policy that the daemon has published has so many rules
rules_are() {
	[ "$(status '["rules"]')" = "$1" ]
}

marks_are() {
	[ "$(ls "$work/state/traces/$(id -u)" | grep -c '\.sent$')" = "$1" ]
}

under_site() {
	setsid env LD_PRELOAD="$BUILD/libsluice.so" SLUICE_SITE="$work/run" "$@"
}

chmod 755 "$work"
printf '[policy]\nrule = mode=trace program=patterns\n' >"$work/policy"
mkdir one
(cd one && "$sluice" run -q -o "$work/one.sluice" -- "$prog/patterns" small_writes file >/dev/null 2>&1) || true
calls_of "$work/one.sluice" >one.txt
[ -s one.txt ] || fail "sluice run has recorded nothing"

start_daemon SLUICE_SITE_DATABASE="$database" SLUICE_SITE_METRICS="$work/run/metrics"
wait_for "the policy" rules_are 1

# cpu_ticks PID: the processor time of a process
cpu_ticks() {
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"
}
worker=$(worker_of "$daemon")
# After its start, which takes longer on a slow machine, there is a second without much work.
for _ in $(seq 60); do
	before=$(cpu_ticks "$worker")
	sleep 1
	used=$(($(cpu_ticks "$worker") - before))
	[ "$used" -ge $(($(getconf CLK_TCK) / 5)) ] || break
done
[ "$used" -lt $(($(getconf CLK_TCK) / 5)) ] || fail "a daemon without work has used $used ticks in a second"

mkdir two
(cd two && under_site SLURM_JOB_ID=4711 SLURM_JOB_PARTITION=debug "$prog/patterns" small_writes file >/dev/null 2>&1) || true
wait_for "trace" traces_are 1
calls_of "$work/state/traces/$(id -u)"/*.sluice >two.txt
diff one.txt two.txt >diff || fail "the daemon's trace differs from that of sluice run: $(cat diff)"
check_eq "$(stat -c %a "$(ls "$work/state/traces/$(id -u)"/*.sluice)")" 600 "mode of the trace"
check_eq "$(status '["hellos"]')" 1 "spools that were handed over"
wait_for "run in the database" row_is "SELECT count(*) FROM run" 1
wait_for "job in the database" row_is "SELECT count(*) FROM run WHERE job = '4711'" 1

# The metrics have the same calls.
python3 - "$work/run/metrics" >metrics <<'PYTHON'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
print(b"".join(iter(lambda: s.recv(65536), b"")).decode())
PYTHON
writes=$(awk '$2 == "write" { n += $3 } END { print n }' one.txt)
check_eq "$(awk '/^sluice_io_operations_total.*operation="write"/ { n += $NF } END { print n }' metrics)" "$writes" \
	"writes in the metrics"
check_eq "$(awk '$1 == "sluice_daemon_database_up" { print $2 }' metrics)" 1 "the database in the metrics"

# A program that the policy does not name is not recorded.
under_site "$prog/plain" >/dev/null 2>&1 || true
check_eq "$(status '["hellos"]')" 1 "spools after a program that is not to be recorded"

# kill -9 of the worker in the middle of a run: nothing is missing, and nothing is there twice.
mkdir three
cat >twice.sh <<'SCRIPT'
"$1" small_writes file
touch ready
while [ ! -e go ]; do sleep 0.05; done
"$1" small_writes file
SCRIPT
printf '[policy]\nrule = mode=trace program=patterns\nrule = mode=trace program=sh\n' >"$work/policy"
kill -HUP "$daemon"
wait_for "the new policy" rules_are 2
(cd three && under_site SLURM_JOB_ID=4712 sh "$work/twice.sh" "$prog/patterns" >/dev/null 2>&1) &
runner=$!
wait_for "first half" test -e three/ready
old=$(worker_of "$daemon")
kill -9 "$old"
for _ in $(seq $polls); do
	worker=$(worker_of "$daemon" || true)
	[ -n "$worker" ] && [ "$worker" != "$old" ] && "$sluiced" status >/dev/null 2>&1 && break
	sleep 0.05
done
touch three/go
wait $runner || true
wait_for "trace of the run that was interrupted" traces_are 2
trace=$(ls -t "$work/state/traces/$(id -u)"/*.sluice | head -n 1)
calls_of "$trace" >three.txt
expected=$(awk '$2 == "pwrite" || $2 == "write" { n += $3 } END { print 2 * n }' one.txt)
check_eq "$(awk '$2 == "pwrite" || $2 == "write" { n += $3 } END { print n }' three.txt)" "$expected" "writes of both halves"
check_eq "$(json_get "$work/report.json" '["complete"]')" True "completeness of the trace"
wait_for "second run in the database" row_is "SELECT count(*) FROM run" 2

# Without the database, rows wait on disk, and survive the death of the daemon.
link_to nowhere
mkdir four
(cd four && under_site SLURM_JOB_ID=4713 "$prog/patterns" small_writes file >/dev/null 2>&1) || true
wait_for "third trace" traces_are 3
wait_for "mark of the third trace" marks_are 3
kill -9 "$(worker_of "$daemon")"
link_to databases
wait_for "third run in the database" row_is "SELECT count(*) FROM run" 3
wait_for "empty queue" frames_are 0
check_eq "$(status '["queue"]["lost"]')" 0 "lost frames"
