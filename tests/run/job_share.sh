#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# All `sluice run` of one launcher share one collector. Each keeps the output, input and exit code of its program, and
# the program runs even if sharing fails.
# Papers: SIOX-AC-7.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

# as RANK SIZE [LOCALS] -- COMMAND...: sets the variables that a launcher would set
as() {
	local rank=$1 size=$2 locals=${3:-$2}
	shift 4
	env PMI_RANK="$rank" PMI_SIZE="$size" MPI_LOCALNRANKS="$locals" SLUICE_JOB="${job_name:-test-$$}" "$@"
}

case_is "four programs without MPI share one trace"
for rank in 0 1 2 3; do
	echo "input $rank" | as $rank 4 4 -- "$sluice" run -o trace -- sh -c "cat; echo said >&2; sleep 0.3; exit $rank" \
		>"out.$rank" 2>"err.$rank" &
	pids[rank]=$!
done
for rank in 0 1 2 3; do
	code=0
	wait ${pids[rank]} || code=$?
	check_eq $code $rank "$this: exit code of $rank"
	check_eq "$(cat out.$rank)" "input $rank" "$this: output of $rank"
	check_eq "$(cat err.$rank)" "said" "$this: messages of $rank"
done
trace_now
mkdir seen
cp trace seen/seen.sluice
"$sluice" ls --json seen >ls.json
check_eq "$(json_get ls.json '["runs"][0]["exit_status"]')" 1 "$this: exit status"
check_eq "$(json_get ls.json '["runs"][0]["complete"]')" True "$this: complete"
# Each rank is a shell with child processes.
check_eq "$(json_get ls.json '["runs"][0]["processes"]')" 12 "$this: processes"

case_is "the last rank prints one summary"
rm -f trace
for rank in 0 1 2; do
	as $rank 3 3 -- "$sluice" run --summary -o trace -- sleep 0.3 2>"err.$rank" &
done
wait
check_eq "$(cat err.0 err.1 err.2 | grep -c '^  more ')" 1 "$this: summaries"

case_is "without -o there is one run in trace.dir"
for rank in 0 1; do
	as $rank 2 2 -- "$sluice" run -- sleep 0.2 &
done
wait
check_eq "$(ls runs | wc -l)" 1 "$this: runs"
"$sluice" ls >ls.out
check_has "$(cat ls.out)" "complete" "$this"
rm -rf runs

case_is "the trace can have another format"
for rank in 0 1; do
	as $rank 2 2 -- "$sluice" run -f text -o trace.txt -- cat /dev/null &
done
wait
check_has "$(head -c 200 trace.txt)" "sluice" "$this"
check_eq "$(ls | grep -c partial || true)" 0 "$this: leftovers"

case_is "a missing program is an error of its rank only"
for rank in 0 1; do
	check_rc 127 as $rank 2 2 -- "$sluice" run -o trace -- nonsense-program
done
[ -z "$(ls "$spools")" ] || wrong "spools are left: $(ls "$spools")"

case_is "ranks do not wait for a rank that never joins"
rm -f trace
as 0 2 2 -- timeout "$limit" "$sluice" run -o trace -- true || wrong "exit code $?"
trace_wait

# collectors: prints the collectors of this test; other tests have other spools.
collectors() {
	local pid
	for pid in $(pgrep -f "^$sluice run -o trace"); do
		# The watcher of a collector has the same command line.
		if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = sluice-collect ] &&
			{ tr '\0' '\n' <"/proc/$pid/environ"; } 2>/dev/null | grep -qxF "SLUICE_SPOOL_DIR=$spools"; then
			echo "$pid"
		fi
	done
}
# The collector of the previous case may not have ended yet.
for try in $(seq $polls); do
	[ -n "$(collectors)" ] || break
	sleep 0.05
done

case_is "the collector is killed: recover completes the trace, and the name is free again"
rm -f trace
for rank in 0 1; do
	as $rank 2 2 -- "$sluice" run -o trace -- sh -c "cat /etc/passwd >/dev/null; : >running.$rank
		while [ ! -e killed ]; do sleep 0.05; done; cat /etc/passwd >/dev/null" 2>"err.$rank" &
	pids[rank]=$!
done
for try in $(seq $polls); do
	[ ! -e running.0 ] || [ ! -e running.1 ] || break
	sleep 0.05
done
kill -KILL "$(collectors)"
: >killed
for rank in 0 1; do
	code=0
	wait ${pids[rank]} || code=$?
	check_eq $code 0 "$this: exit code of $rank"
done
for rank in 0 1; do
	as $rank 2 2 -- "$sluice" run -o other -- true &
done
wait
[ -f other ] || wrong "the job's name was not free"
check_rc 0 "$sluice" trace recover "$spools"/sluice-*
check_eq "$("$sluice" print trace --file /etc/passwd 2>/dev/null | grep -c open)" 4 "$this: opens"

case_is "sharing fails: each rank has its own collector, and the last one merges the parts"
job_name=blocked-$$
as 0 2 2 -- "$sluice" run -o trace -- sh -c 'while [ ! -e joined ]; do sleep 0.05; done' &
for try in $(seq $polls); do
	blocked=$(echo "$spools"/sluice-*-job-*)
	[ ! -e "$blocked" ] || break
	sleep 0.05
done
as 1 2 2 -- "$sluice" run -o trace -- sh -c ': >joined'
wait
rm trace
# Anybody could have created this directory, so it is not trusted.
mkdir -m 755 "$blocked"
for rank in 0 1; do
	as $rank 2 2 -- "$sluice" run -o trace -- sh -c "cat /etc/hostname; exit $rank" >"out.$rank" || check_eq $? $rank "$this: exit code"
	check_eq "$(cat out.$rank)" "$(cat /etc/hostname)" "$this: output"
done
rmdir "$blocked"
trace_now
[ ! -e trace.parts ] || wrong "parts are left: $(ls trace.parts)"
check_eq "$("$sluice" print trace --file /etc/hostname | grep -c open)" 2 "$this: opens"

case_is "inside a run, a rank is only executed"
rm -rf trace inner
"$sluice" run -o trace -- env PMI_RANK=0 PMI_SIZE=2 MPI_LOCALNRANKS=2 SLUICE_JOB=nested "$sluice" run -o inner -- cat /etc/hostname >out
check_eq "$(cat out)" "$(cat /etc/hostname)" "$this: output"
[ ! -e inner ] || wrong "there is a second trace"
[ "$("$sluice" print trace --file /etc/hostname | grep -c open)" -ge 1 ] || wrong "the program was not recorded"
