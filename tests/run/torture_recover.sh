#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Torture: the processes of `sluice run` are killed. The program continues. The launcher completes the trace if only the
# recorder was killed, the recorder if only the launcher was killed, and `sluice trace recover` if both were.
# Papers: SIOX-68.
. "$(dirname "$0")/libtorture.sh"

# start [PAUSE_MS]: runs `signals stream` under sluice run in the background; sets pid, and recorder to that of its
# recorder. The program ends when captured/stop exists. With pauses the trace remains small; then it returns when the
# trace contains statistics.
start() {
	rm -rf captured trace
	mkdir captured
	(cd captured && exec setsid "$sluice" run ${run_options-} -o "$work/trace" -- "$prog/signals" stream $((limit * 1000)) "$@") >out 2>err &
	pid=$!
	for try in $(seq $polls); do
		sleep 0.05
		rm -f early.txt
		[ -s captured/count ] || continue
		[ $# -gt 0 ] && [ -z "${run_options-}" ] || break
		"$sluice" trace convert trace early.txt 2>early.err && grep -q '^#sample' early.txt && break
	done
	[ -s captured/count ] || wrong "the program does not write"
	recorder=$(recorder_of $pid)
}

# advanced NUMBER: waits until the program has written more than NUMBER times
advanced() {
	for try in $(seq $polls); do
		[ "$(cat captured/count)" -le "$1" ] || return 0
		sleep 0.05
	done
	wrong "the program stopped at $1 when the collector died"
}

# finished: ends the program, unless it was killed
finished() {
	touch captured/stop
	for try in $(seq $polls); do
		pgrep -f "^$prog/signals stream" >/dev/null || return 0
		sleep 0.05
	done
	wrong "the program did not end"
}

# calls: prints the number of pwrites in the report
calls() {
	python3 -c 'import json
print(sum(f["calls"] for f in json.load(open("report.json"))["functions"] if f["function"] == "pwrite"))'
}

for pause in "" 2; do
	case_begin "launcher and recorder are killed while the program writes ${pause:+slowly}"
	start $pause
	# Before the kill: afterwards, the program may fill the spool at any time.
	at_kill=$(cat captured/count)
	kill -KILL $pid $recorder
	wait $pid 2>/dev/null || true
	advanced "$(cat captured/count)"
	finished
	end=$(cat captured/count)
	[ -n "$(ls "$spools")" ] || wrong "there is nothing to recover from"
	# Without an argument, recover searches for runs and may find those of others, too.
	"$sluice" trace recover --json >out 2>err || wrong "recover failed: $(cat err)"
	check_json out sluice.recover/1
	grep -q "\"$work/trace\"" out || wrong "the run was not found: $(cat out)"
	spools_gone
	trace_read
	# The program reports its count with one more call per hundred.
	n=$(($(calls) * 100 / 101))
	[ $((n + $(lost))) -ge "$end" ] || wrong "the program wrote $end times; recorded $n, lost $(lost)"
	[ "$n" -ge "$at_kill" ] || wrong "$at_kill writes before the collector died, only $n are there"
	# The node statistics of the dead collector are kept.
	"$sluice" trace convert trace recovered.txt 2>err || wrong "the trace cannot be converted: $(cat err)"
	[ -z "$pause" ] || grep -q "^#sample" recovered.txt || wrong "no statistics are left"
	[ -z "$pause" ] || check_rows 0 'function == "pwrite" and not relation'
	check_eq "$(json_get report.json '["complete"]')" False "complete"
	[ -z "$pause" ] || python3 rows.py "$work" sound 100000000 >sound || wrong "$(cat sound)"
	"$sluice" trace recover --json >out 2>err || true
	! grep -q "\"$work/trace\"" out || wrong "the run was recovered twice"
done

# check_count: recorded and lost calls are all calls of the program; it reports its count with one more call per hundred
check_count() {
	local end n
	end=$(cat captured/count)
	n=$(($(calls) * 100 / 101))
	[ $((n + $(lost))) -ge "$end" ] || wrong "the program wrote $end times; recorded $n, lost $(lost)"
}

case_begin "the recorder is killed: the launcher recovers the trace and returns the exit code"
start 2
kill -KILL $recorder
advanced "$(cat captured/count)"
finished
rc=0
wait $pid || rc=$?
check_eq $rc 15 "exit code"
check_words "$(cat err)" recorder "signal 9" recovered "$work/trace"
spools_gone
trace_read
check_count

case_begin "the recorder is killed: a trace in another format is converted"
run_options="--format text" start 2
kill -SEGV $recorder
advanced "$(cat captured/count)"
finished
rc=0
wait $pid || rc=$?
check_eq $rc 15 "exit code"
check_eq "$(ls -d trace*)" trace "files of the trace"
check_has "$(head -c 20 trace)" sluice "text format"
spools_gone

case_begin "the launcher is killed: the recorder completes the trace"
start 2
kill -KILL $pid
wait $pid 2>/dev/null || true
finished
for try in $(seq $polls); do
	[ -n "$(ls "$spools")" ] || break
	sleep 0.05
done
spools_gone
trace_read
check_eq "$(json_get report.json '["complete"]')" True "complete"
check_eq "$(lost)" 0 "lost"
check_rows "$(cat captured/count)" 'function == "pwrite" and file == "file"'

case_begin "a stopped recorder does not stop the program"
start 2
kill -STOP $recorder
advanced "$(cat captured/count)"
finished
rc=0
wait $pid || rc=$?
check_eq $rc 15 "exit code"
spools_gone
trace_read
check_count

case_begin "collector and program are killed at the same time"
start
kill -KILL -- -$pid
wait $pid 2>/dev/null || true
at_kill=$(cat captured/count)
finished
check_rc 0 "$sluice" trace recover "$spools"/sluice-*
spools_gone
trace_read
# The program may have died after a write and before its record was complete.
n=$((($(calls) + 1) * 100 / 101))
# The program may have died before it reported the last hundred.
[ "$n" -ge "$at_kill" ] && [ "$n" -le $((at_kill + 200)) ] || wrong "the program wrote $at_kill times, $n are there"
check_eq "$(lost)" 0 "lost"

case_begin "a run in progress is not recovered"
start 2
"$sluice" trace recover --json >out 2>err || true
! grep -q "\"$work/trace\"" out || wrong "a living run was recovered"
check_rc 1 "$sluice" trace recover "$spools"/sluice-*
check_has "$(cat err)" "$spools/sluice-" "message"
finished
wait $pid || rc=$?
check_eq "${rc:-0}" 15 "exit code"
spools_gone
trace_read
check_eq "$(json_get report.json '["complete"]')" True "complete"
check_rows "$(cat captured/count)" 'function == "pwrite" and file == "file"'
