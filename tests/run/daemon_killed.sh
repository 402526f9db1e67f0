#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The worker of the daemon is killed just before or just after the trace of a run gets its name: the database still gets
# the run once, with its job, and only sums if the policy says so.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
database=$work/site.db
kept=$work/state/traces/$(id -u)
export KILLED_BY=$work/order SLUICE_SITE_DATABASE=$database SLUICE_SITE_SAMPLE=1

state() {
	echo "$case"
	ls -la "$kept"
	cat "$work/daemon.log"
}

# check_run JOB CALLS: the run of the job arrives once, with or without calls; the worker was killed meanwhile
check_run() {
	wait_for "run of job $1" row_is "SELECT count(*) FROM run WHERE job = '$1' AND job_partition = 'debug'" 1
	[ ! -e "$KILLED_BY" ] || fail "$case: the worker was not killed"
	wait_for "end of the queue" row_is "SELECT count(*) FROM run" "$((number))"
	wait_for "calls ($2)" row_is "SELECT count(*) > 0 FROM activity WHERE run = (SELECT id FROM run WHERE job = '$1')" "$2"
}

chmod 755 "$work"
number=0
for mode in trace counters; do
	printf '[policy]\nrule = mode=%s program=patterns\n' $mode >"$work/policy"
	start_daemon LD_PRELOAD="$prog/killed.so"
	wait_for "policy" test -e "$work/run/policy"
	for moment in before after; do
		if [ $mode = trace ]; then
			case="a run that was handed over, killed $moment"
			number=$((number + 1))
			echo $moment >"$KILLED_BY"
			SLURM_JOB_ID=$number SLURM_JOB_PARTITION=debug LD_PRELOAD=$BUILD/libsluice.so SLUICE_SITE=$work/run \
				"$prog/patterns" small_writes file >/dev/null 2>&1 || true
			check_run $number 1
		fi
		case="a run of sluice run, mode $mode, killed $moment"
		number=$((number + 1))
		echo $moment >"$KILLED_BY"
		SLURM_JOB_ID=$number SLURM_JOB_PARTITION=debug \
			"$sluice" run -q -o "$work/own.sluice" -- "$prog/patterns" small_writes file >/dev/null 2>&1 || true
		check_run $number $([ $mode = trace ] && echo 1 || echo 0)
		rm -f "$work/own.sluice"
	done
	stop_process "$daemon"
done
