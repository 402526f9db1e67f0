#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the daemon costs and needs. First, 128 client processes make 10,000 calls per second each (bench/clients.c), as one
# run and as 128 runs: no call may be lost, and the daemon must stay below 256 MiB. Second, the CPU time of a call that the
# daemon collects is compared with that under `sluice run`, in short alternating runs.
# BUILD names the build tree. CLIENTS, RATE and SECONDS_EACH change the load, REPEATS the number of alternating runs.
set -eu
BUILD=$(cd "${BUILD:-build}" && pwd)
. "$(dirname "$0")/libbench.sh"
clients=${CLIENTS:-128} rate=${RATE:-10000} seconds=${SECONDS_EACH:-10} repeats=${REPEATS:-41}
memory_bar=256 # MiB
cpu_bar=1.05   # added CPU time per call, relative to `sluice run`
workspace "" "${TMPDIR:-/tmp}"
files=$(mktemp -d "${FILES_DIR:-/dev/shm}/sluice-bench.XXXXXX")
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true; cd /; rm -rf "$work" "$files"' EXIT
chmod 755 "$work"
export SLUICE_SITE_SOCKET=$work/run/socket SLUICE_SITE_STATE=$work/state SLUICE_SITE_SPOOLS=$files/spools
export SLUICE_SITE_POLICY=$work/policy
printf '[policy]\nlimit = 1G\nrule = mode=trace program=bench_clients\nrule = mode=trace program=bench_load\n' >"$work/policy"

start_daemon() {
	"$BUILD/sluiced" 2>>daemon.log &
	daemon=$!
	for _ in $(seq 600); do
		[ -e run/policy ] && "$BUILD/sluiced" status >/dev/null 2>&1 && return
		sleep 0.1
	done
	echo "sluiced does not answer: $(cat daemon.log)" >&2
	exit 1
}

stop_daemon() {
	kill "$daemon"
	wait "$daemon" || miss "sluiced exited with code $?: $(cat daemon.log)"
	daemon=
}

# wait_traces: waits until all runs are complete
wait_traces() {
	for _ in $(seq 3000); do
		[ -n "$(find state/traces -name '*.sluice' -print -quit)" ] && ! ls "$files/spools" | grep -q '\.spool$' &&
			[ -z "$(find state/traces -name '*.ledger' -print -quit)" ] && return
		sleep 0.1
	done
	miss "the daemon does not complete its traces: $("$BUILD/sluiced" status 2>&1)"
}

# worker_field FIELD: a size of /proc/PID/status in MiB
worker_field() {
	awk -v field="$1:" '$1 == field { print int(($2 + 1023) / 1024) }' "/proc/$(pgrep -P "$daemon" -x sluiced-worker)/status"
}

worker_cpu() {
	awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$(pgrep -P "$daemon" -x sluiced-worker)/stat"
}

# load_daemon one|many: the load of all clients, and what the daemon has of it
load_daemon() {
	local calls=0 elapsed=1 cpu=0 recorded=0 lost=0 peak trace
	rm -rf state/traces
	start_daemon
	read -r calls elapsed cpu < <(setsid -w env LD_PRELOAD="$BUILD/libsluice.so" SLUICE_SITE="$work/run" \
		"$BUILD/bench/bench_clients" "$clients" "$rate" "$seconds" "$1" "$files") || true
	wait_traces
	peak=$(worker_field VmHWM)
	for trace in state/traces/*/*.sluice; do
		"$BUILD/sluice" report --json "$trace" >report.json 2>/dev/null || { miss "no report of $trace" && continue; }
		read -r more gone < <(python3 -c 'import json
d = json.load(open("report.json"))
print(sum(f["calls"] for f in d["functions"] if f["function"].startswith("pwrite")), d["losses"]["activities"])')
		recorded=$((recorded + more)) lost=$((lost + gone))
	done
	say "$1: $(ls state/traces/*/*.sluice | wc -l) runs, $calls calls in $elapsed s ($(awk -v n="$calls" -v s="$elapsed" \
		'BEGIN { printf "%.0f", n / s }') per second): $recorded recorded, $lost counted as lost; daemon: at most" \
		"$peak MiB, $(worker_cpu) s of CPU time; clients: $cpu s"
	[ $((recorded + lost)) = "$calls" ] || miss "$1: $((calls - recorded - lost)) of $calls calls are missing and not counted"
	[ "$lost" = 0 ] || miss "$1: $lost of $calls calls were lost"
	! less "$elapsed" "$seconds" || miss "$1: the clock is wrong"
	less "$elapsed" "$(awk -v s="$seconds" 'BEGIN { print s * 1.1 }')" ||
		miss "$1: the machine cannot make $rate calls per second in $clients processes: $elapsed s instead of $seconds s"
	less "$peak" $memory_bar || miss "$1: the daemon used $peak MiB, the bar is $memory_bar MiB"
	key "clients_$1_memory_mib" "$peak"
	key "clients_$1_lost" "$lost"
	key "clients_$1_calls_per_s" "$(awk -v n="$calls" -v s="$elapsed" 'BEGIN { printf "%.0f", n / s }')"
	stop_daemon
}

# cpu_of CALL COMMAND...: CPU time of a call in ns, with a spool that has grown already
cpu_of() {
	local call=$1
	shift
	"$@" "$BUILD/bench/bench_load" calls "$call" 1 200000 "$files" plain | awk '$1 == "warm_ps" { print $2 / 1000 }'
}

# compare_cpu CALL: the three variants alternate; each is a process of its own
compare_cpu() {
	local bare run daemon_ns ratio
	: >bare.ns
	: >run.ns
	: >daemon.ns
	for _ in $(seq "$repeats"); do
		cpu_of "$1" env >>bare.ns
		cpu_of "$1" "$BUILD/sluice" run -q -o "$work/run.sluice" -- >>run.ns 2>/dev/null
		cpu_of "$1" setsid -w env LD_PRELOAD="$BUILD/libsluice.so" SLUICE_SITE="$work/run" >>daemon.ns
		rm -f run.sluice
	done
	bare=$(median bare.ns) run=$(median run.ns) daemon_ns=$(median daemon.ns)
	ratio=$(awk -v b="$bare" -v r="$run" -v d="$daemon_ns" 'BEGIN { printf "%.3f", (d - b) / (r - b) }')
	say "CPU time per $1, median of $repeats: $bare ns without Sluice, $run ns under sluice run, $daemon_ns ns with the" \
		"daemon; added: $ratio of sluice run"
	[ "$(wc -l <daemon.ns)" = "$repeats" ] && [ "$(wc -l <run.ns)" = "$repeats" ] || miss "some runs have failed"
	key "cpu_ratio_$1" "$ratio"
	! less $cpu_bar "$ratio" || miss "added CPU time per $1: $ratio of sluice run, the bar is $cpu_bar"
}

compare_all() {
	local traces
	rm -rf state/traces
	start_daemon
	compare_cpu fwrite0
	compare_cpu pwrite1
	wait_traces
	# `sluice run` submits its traces to the daemon, too.
	traces=$(find state/traces -name '*.sluice' | wc -l)
	[ "$traces" = $((4 * repeats)) ] || miss "the daemon has $traces traces of $((4 * repeats)) runs"
	stop_daemon
}

load_daemon one
load_daemon many
compare_all
finish clients
