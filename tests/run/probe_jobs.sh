#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# All readers of job status see the jobs of a real Slurm: squeue in columns and as JSON, scontrol on one line and on
# many, and qstat -f of Slurm.
# Papers: WAN-8.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libslurm.sh"
slurm_here
slurm_start 4

started=$(date +%s)
# The jobs run until the test cancels them.
submit() {
	sbatch --parsable -o /dev/null --wrap 'sleep 3600' "$@" >/dev/null
}
submit -N 1 -J one
submit -N 2 -J $'two | words=3 \n x@site.edu' -t 7
submit -N 3 -J "of-$(id -un)" -p debug -t 25 --mem 50
submit -N 4 -J waits --exclusive
slurm_wait RUNNING 3

# id, queue, nodes, memory, allocated
seen() {
	"$prog/jobs" key "$@" >all || fail "the jobs cannot be read by $*"
	sort -n all | cut -f 1-5
}
expected=$'1\tbatch\t1\t104857600\t600
2\tbatch\t2\t209715200\t420
3\tdebug\t3\t157286400\t1500'
owner=
check_reader() {
	local used
	check_eq "$(seen "$@")" "$expected" "jobs that $* sees"
	owner=${owner:-$(head -n 1 all | cut -f 6)}
	[[ $owner =~ ^[0-9a-f]{16}$ ]] || fail "the owner is \"$owner\""
	check_eq "$(cut -f 6 all | sort -u)" "$owner" "the owner as $* has it"
	# User names are also hidden in job names.
	check_eq "$(grep -c "	of-$owner\$" all)" 1 "names with the owner in it"
	! grep -q 'x@site' all || fail "an address is shown: $(cat all)"
	for used in $(cut -f 7 all); do
		[ "$used" -ge 0 ] && [ "$used" -le $(($(date +%s) - started + 1)) ] || fail "$* has used times $used"
	done
}
check_reader slurm-text
check_reader slurm-json
check_reader scontrol
check_reader scontrol 'scontrol show job'
if command -v qstat >/dev/null && qstat -f 2>/dev/null | grep -q '^Job Id:	'; then
	expected=$(sed -E 's/[0-9]+(\t[0-9]+)$/nan\1/' <<<"$expected") # which tells no memory
	check_reader pbs
elif command -v qstat >/dev/null; then
	skip_case qstat "the jobs of qstat"
else
	skip_case slurm-wlm-torque "the jobs of qstat"
fi

# A job name with a line break becomes one line.
"$prog/jobs" key slurm-json | cut -f 8 | sort >json
"$prog/jobs" key slurm-text | cut -f 8 | sort | diff - json || fail "names differ"

# probe SYSTEM ARGUMENT...: the probe runs until its rows have jobs, however slow the machine is; the rows are in out
has_jobs() {
	"$sluice" forecast export --system "$1" 2>/dev/null | grep -q '^Job Id: '
}
probe() {
	local pid rc=0
	"$sluice" forecast probe --system "$1" --sizes 4K --every 200ms --reference-every 0 --jobs-every 1m "${@:2}" \
		a="$work/target" >probe.out 2>probe.err &
	pid=$!
	wait_for "jobs" has_jobs "$1"
	kill -TERM $pid
	wait $pid || rc=$?
	check_eq $rc 143 "exit code of a probe that is terminated, after $(cat probe.err): exit code"
	check_rc 0 "$sluice" forecast export --system "$1"
}

# The probe records the jobs, and its rows contain no user names.
mkdir target
probe here
# If a minute begins meanwhile, there are two snapshots.
check_eq "$(grep -A 99 '^All running jobs:' out | grep '^Job Id: [123]$' | sort -u | grep -c .)" 3 "jobs in the rows of the probe"
key=$(find "$work" -name '*.owners')
[ -s "$key" ] || fail "the probe has no key"
"$prog/jobs" "$key" slurm-text >all || fail "the key of the probe is invalid"
check_has "$(cat out)" "Job_Owner = $(head -n 1 all | cut -f 6)" "owner in the rows of the probe"
! grep -q "Job_Owner = $(id -un)" out || fail "an owner is named: $(cat out)"

# A site with two schedulers: this Slurm, and another one whose queue was recorded.
squeue --json >recorded.json
printf '%s\n' "[jobs]" "reader = slurm-text" "[schedulers]" "other = slurm-json cat $work/recorded.json" >two.ini
probe two --site ./two.ini
check_eq "$(grep -A 999 '^All running jobs:' out | sed -n 's/^Job Id: //p' | sort -u | tr '\n' ' ')" "1 2 3 other.1 other.2 other.3 " \
	"jobs of two schedulers"

scancel 1 2 3 4
slurm_wait RUNNING 0
check_eq "$(seen slurm-text; seen slurm-json; seen scontrol)" "" "jobs that have ended"
