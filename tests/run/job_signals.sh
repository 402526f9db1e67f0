#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job that is interrupted, terminated from outside, or loses one of its `sluice run` ends as it would without
# Sluice, and the trace is complete.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

# job_begin ORDER MPI HOW: starts the job as a process group of its own, like a terminal; $pid is its first process
job_begin() {
	local program
	program=$(mpi_program "$2" job)
	rm -rf rank-* runs trace waiting orphan
	case $1 in
	outside) set -- "$sluice" run -o trace -- "mpiexec.$2" -n $ranks "$program" "$3" ;;
	inside) set -- "mpiexec.$2" -n $ranks "$sluice" run -o trace -- "$program" "$3" ;;
	esac
	# The shell ignores SIGINT for what it starts in the background; a terminal does not.
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.setpgid(0, 0)
os.execvp(sys.argv[1], sys.argv[1:])' "$@" >out 2>err </dev/null &
	pid=$!
}

# job_wait_for FILE
job_wait_for() {
	local try
	for try in $(seq $polls); do
		[ ! -e "$1" ] || return 0
		sleep 0.05
	done
	wrong "the job did not start: $(cat err)"
}

# job_end: waits for the end of the job, with a time limit. The exit code is that of the launcher, which is random with
# MPICH.
job_end() {
	local try
	for try in $(seq $polls); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	! kill -0 "$pid" 2>/dev/null || { kill -KILL -- "-$pid"; wrong "the job hangs: $(cat err)"; }
	wait "$pid" || true
}

tested=
for mpi in mpich openmpi; do
	[ -n "$(mpi_program $mpi job)" ] || continue
	tested=yes
	for order in outside inside; do
		for signal in INT TERM; do
			case_is "$mpi, sluice run $order, SIG$signal"
			job_begin $order $mpi wait
			job_wait_for waiting
			# A terminal sends SIGINT to the whole group; other senders signal only the first process.
			[ $signal = INT ] && to=-$pid || to=$pid
			kill -$signal -- "$to"
			job_end
			trace_wait
			trace_check
		done
	done

	case_is "$mpi, a rank's sluice run is killed"
	job_begin inside $mpi orphaned
	job_wait_for orphan
	# Open MPI 4 ends the job, version 5 when the program has ended that still runs. Hydra notices nothing.
	if [ $mpi = openmpi ]; then
		kill -KILL "$(cat orphan)" 2>/dev/null || true
	else
		kill -TERM "$pid"
	fi
	job_end
	kill -KILL "$(cat orphan)" 2>/dev/null || true
	trace_wait
	trace_check
done
[ -n "$tested" ] || skip libmpich-dev
