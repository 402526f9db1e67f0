#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# However a step of Slurm ends, its collectors complete the trace: it has every call of every task. Slurm kills all processes
# of the step that are left.
. "$(dirname "$0")/libcluster.sh"
. "$(dirname "$0")/libsteps.sh"
use_bed slurm

# check_trace CASE MOST: there is one complete trace, in which each task lacks at most that many calls
check_trace() {
	local name missing
	check_eq "$(count_traces)" 1 "$1: files in trace.dir"
	"$sluice" report --json runs/*.sluice >report.json
	check_eq "$(json_get report.json '["complete"]')" True "$1: complete"
	check_eq "$(json_get report.json '["losses"]["activities"]')" 0 "$1: lost calls"
	for name in 0 1 2 3; do
		missing=$(missing_lines runs/*.sluice $name)
		((missing >= 0 && missing <= $2)) || fail "$1: the trace lacks $missing calls of task $name"
	done
}

# trace_is_there: the collectors have completed the trace after the step has ended
trace_is_there() {
	[ "$(count_traces)" = 1 ] && [ -n "$(find runs -maxdepth 1 -type f -name '*.sluice')" ]
}

# The trace is there when srun returns, whichever node ends last.
for round in 1 2 3 4; do
	for order in inside outside; do
		begin_case
		srun=(srun -N 2 -n 4 --ntasks-per-node=2) run=("$sluice" run --)
		case $order in
		inside) command=("${srun[@]}" "${run[@]}") ;;
		outside) command=("${run[@]}" "${srun[@]}") ;;
		esac
		# shellcheck disable=SC2016 # the task expands it
		check_rc 0 on head "${command[@]}" sh -c './task $((300 * (1 + (SLURM_PROCID + '$round') % 4)))'
		check_trace "round $round, $order" 0
	done
done

# end_step HOW TASK...: starts the tasks, and cancels their job when all of them write
end_step() {
	local step
	begin_case
	on head srun -J "$1" -N 2 -n 4 --ntasks-per-node=2 "$sluice" run -- "${@:2}" >out 2>err &
	step=$!
	wait_for "tasks" tasks_run 4
	on head scancel --name="$1" || fail "cannot cancel the job $1"
	wait $step && fail "$1: the job was not canceled"
	wait_for "$1: trace" trace_is_there
	# A task may be killed between the end of a call and its record.
	check_trace "$1" 1
}

end_step canceled ./task 0
# The tasks ignore SIGTERM, so Slurm kills them and `sluice run` by SIGKILL.
end_step killed sh -c 'trap "" TERM && exec ./task 0'
# has_no_spools NODE
has_no_spools() {
	[ -z "$(on "$1" find /dev/shm -path '*/sluice-*/*' -name control)" ]
}
wait_for "removal of the spools of node1" has_no_spools node1
wait_for "removal of the spools of node2" has_no_spools node2
