#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A site with several schedulers: one snapshot has the jobs of all of them, which keep their numbers apart by the name of
# the scheduler. The outputs of squeue and qstat were recorded. run/probe_jobs has a real Slurm beside a recorded one.
# Papers: WAN-8.
. "$(dirname "$0")/libtest.sh"
: "${SOURCE:?names the source tree}"
samples=$SOURCE/tests/fuzz/corpus/jobs
mkdir target

# site LINE...: a site with these schedulers
site() {
	printf '%s\n' "[site]" "name = here" "[schedulers]" "$@" >site.ini
}
# probe SYSTEM WHAT COMMAND...: the probe runs until the command succeeds; its messages are in probe.err
probe() {
	local pid rc=0
	"$sluice" forecast probe --site ./site.ini --system "$1" --sizes 4K --every 200ms --reference-every 0 --jobs-every 1m \
		a="$work/target" >probe.out 2>probe.err &
	pid=$!
	wait_for "${@:2}"
	kill -TERM $pid
	wait $pid || rc=$?
	check_eq $rc 143 "exit code of a probe that is terminated, after $(cat probe.err): exit code"
}
has_jobs() {
	"$sluice" forecast export --system "$1" 2>/dev/null | grep -q '^Job Id: '
}
warned() {
	grep -qw "$1" probe.err
}
# jobs_of SYSTEM: the numbers of the jobs in its rows
jobs_of() {
	check_rc 0 "$sluice" forecast export --system "$1"
	grep -A 9999 '^All running jobs:' out | sed -n 's/^Job Id: //p' | sort -u
}

site "one = slurm-text cat $samples/squeue-text"
probe first "jobs" has_jobs first
jobs_of first >one
site "two = pbs cat $samples/qstat-openpbs"
probe second "jobs" has_jobs second
jobs_of second >two
[ -s one ] && [ -s two ] || fail "no jobs: $(cat probe.err)"
check_eq "$(grep -cv '^one\.' one || :)" 0 "jobs without the name of their scheduler"

# Together they have the jobs of both, and a copy of the first has jobs of its own.
site "one = slurm-text cat $samples/squeue-text" "two = pbs cat $samples/qstat-openpbs" \
	"copy = slurm-text cat $samples/squeue-text"
probe all "jobs" has_jobs all
check_eq "$(jobs_of all)" "$(sed 's/^one/copy/' one | sort -u - one two)" "jobs of all schedulers"

# If one does not answer, there is no snapshot, and the warning names it.
site "one = slurm-text cat $samples/squeue-text" "gone = pbs cat $work/nothing"
probe less "warning" warned gone
check_words "$(cat probe.err)" gone jobs
! has_jobs less || fail "a snapshot lacks the jobs of one scheduler"

# What a probe prints names the schedulers.
site "one = slurm-text cat $samples/squeue-text" "two = pbs cat $samples/qstat-openpbs"
check_rc 0 "$sluice" forecast probe --site ./site.ini --system listed --sizes 4K --duration 1s --json a="$work/target"
check_eq "$(json_get out '["schedulers"]')" "[{'name': 'one', 'reader': 'slurm-text'}, {'name': 'two', 'reader': 'pbs'}]" "schedulers"
check_eq "$(json_get out '["jobs_reader"]')" None "reader of jobs"

site "one = bjobs"
check_rc 1 "$sluice" forecast probe --site ./site.ini --system wrong --duration 1s a="$work/target"
check_has "$(cat err)" "[schedulers] one"
