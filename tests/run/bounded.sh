#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The resources of the collector and the watcher are bounded: address space, descriptors and memory, with many processes
# and many files. What exceeds a limit is counted and shown.
. "$(dirname "$0")/libtorture.sh"

# pwrites: prints the number of calls of pwrite in the report
pwrites() {
	"$python" -c 'import json
print(sum(f["calls"] for f in json.load(open("report.json"))["functions"] if f["function"] == "pwrite"))'
}

# memory PID: prints the resident memory of a process in KiB, with the spools that it maps; 0 if it is gone
memory() {
	awk '/^VmRSS/ { n += $2 } END { print n + 0 }' "/proc/$1/status" 2>/dev/null || echo 0
}

# descendants PID: prints the descendants of a process, and the process itself
descendants() {
	local child
	echo "$1"
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		descendants "$child"
	done
}

# stop_recorder PID: stops the collector of that run for three seconds, so that spools pile up
stop_recorder() {
	local process
	sleep 1
	for process in $(descendants "$1"); do
		[ "$(cat "/proc/$process/comm" 2>/dev/null)" != sluice-recorder ] || {
			kill -STOP "$process" && sleep 3
			kill -CONT "$process"
		}
	done
}

# measure COMMAND...: runs the command under `sluice run`; sets sluice_kib and watcher_kib to the largest memory of
# processes of Sluice. The program has done its work and stays when they are seen for the last time. If is_stopped is set,
# the collector is stopped for a while.
measure() {
	local pid process n is_done looks=0
	sluice_kib=0 watcher_kib=0
	rm -f trace
	: >hold
	: >out
	DAMAGE_HOLD=$work/hold "$sluice" run -o "$work/trace" -- "$@" >out 2>err &
	pid=$!
	[ -z "$is_stopped" ] || stop_recorder $pid &
	while kill -0 $pid 2>/dev/null; do
		is_done=$(cat out)
		for process in $(descendants $pid); do
			case $(cat "/proc/$process/comm" 2>/dev/null) in
			sluice-watcher)
				n=$(memory "$process")
				[ "$n" -le "$watcher_kib" ] || watcher_kib=$n
				;;
			sluice*)
				n=$(memory "$process")
				[ "$n" -le "$sluice_kib" ] || sluice_kib=$n
				;;
			esac
		done
		[ -z "$is_done" ] || looks=$((looks + 1))
		if [ -n "$is_done" ] && [ "$watcher_kib" -gt 0 ] || [ $looks -gt $polls ]; then
			rm -f hold
		fi
		sleep 0.05
	done
	wait $pid || code=$?
	[ "$code" = 7 ] || wrong "exit code $code: $(cat err)"
	[ "$sluice_kib" -gt 0 ] && [ "$watcher_kib" -gt 0 ] || wrong "no process of Sluice was seen"
	[ "$sluice_kib" -lt $((128 * 1024)) ] || wrong "the collector used $sluice_kib KiB"
	[ "$watcher_kib" -lt $((64 * 1024)) ] || wrong "the watcher used $watcher_kib KiB"
	echo "$case: collector $sluice_kib KiB, watcher $watcher_kib KiB"
}

is_stopped=
case_begin "64 processes with 1 GB of address space"
(ulimit -v 1000000 && exec "$sluice" run -o "$work/trace" -- "$prog/damage" together 64 100) >out 2>err || code=$?
check_eq "$code" 7 "exit code"
check_has "$(cat out)" "children 64, failed 0"
trace_read
check_eq "$(json_get report.json '["run"]["processes"]')" 65 processes
check_eq "$(pwrites)" 6400 calls

case_begin "64 processes with few descriptors"
(ulimit -n 40 && exec "$sluice" run -o "$work/trace" -- "$prog/damage" together 64 100) >out 2>err || code=$?
check_eq "$code" 7 "exit code"
trace_read
check_eq "$(pwrites)" 6400 calls

case_begin "a million files"
measure "$prog/damage" names 1000000
check_words "$(cat err)" warning "other files" names
"$sluice" report --json "$work/trace" >report.json 2>/dev/null
check_eq "$(json_get report.json '["run"]["processes"]')" 1 processes
grep -q '"names beyond the limit"' report.json || wrong "the report does not tell of the names"

case_begin "10,000 processes"
is_stopped=1
measure "$prog/damage" children 10000
check_eq "$(cat out)" "children 10000, failed 0" output
"$sluice" report --json "$work/trace" >report.json 2>/dev/null
check_eq "$(json_get report.json '["run"]["processes"]')" 10001 processes
spools_gone
