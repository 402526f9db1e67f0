#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Commands that start tasks through Slurm, under `sluice run`: the tasks are recorded, or a warning says that they are not and
# what to do. They run in any case.
. "$(dirname "$0")/libcluster.sh"
. "$(dirname "$0")/libsteps.sh"
use_bed slurm

# run_case CODE ARGUMENT...: `sluice run` on head
run_case() {
	local code=$1
	shift
	begin_case
	check_rc "$code" on head "$sluice" run "$@"
}

# check_recorded TRACE NAME...: the trace is complete, and so are the calls of these tasks
check_recorded() {
	local name
	"$sluice" report --json "$1" >report.json
	check_eq "$(json_get report.json '["complete"]')" True "$1: complete"
	for name in "${@:2}"; do
		check_eq "$(wc -l <"data.$name")" 50 "lines of task $name"
		check_eq "$(missing_lines "$1" "$name")" 0 "missing calls of task $name"
	done
}

# The options of `sluice run` and the exit code of the tasks are kept.
run_case 3 -o code.sluice -- srun -N 2 -n 2 sh -c './task 50; exit 3'
check_recorded code.sluice 0 1
check_eq "$(grep -c warning err)" 0 "warnings"
run_case 0 --mode counters srun -lN2 -n 2 -- ./task 50
check_eq "$(count_traces)" 1 "traces of counters"
"$sluice" report --json runs/*.sluice >report.json
[ "$(json_get report.json '["losses"]["counted_calls"]')" -ge 100 ] || fail "calls were not counted"
run_case 0 -o salloc.sluice -- env A=1 salloc --quiet -N 2 timeout "$limit" srun -n 2 ./task 50
check_recorded salloc.sluice 0 1

# check_unrecorded WORD...: the tasks have run, and a warning contains the words
check_unrecorded() {
	check_eq "$(wc -l <data.0)" 50 "lines of task 0"
	check_line err warning "$@"
}
printf '0-1 ./task 50\n' >tasks.conf
run_case 0 -- srun -N 2 -n 2 --multi-prog tasks.conf
check_unrecorded "srun OPTION... sluice run"
run_case 0 -- sh -c 'srun -N 2 -n 2 ./task 50; true'
check_unrecorded "srun OPTION... sluice run"
printf '#!/bin/sh\nsrun ./task 50\n' >job.sh
run_case 0 -- sbatch --wait -n 1 -o /dev/null job.sh
check_unrecorded sbatch "srun sluice run"
run_case 0 -- srun --version
check_eq "$(grep -c warning err)" 0 "warnings about srun without a program"

# A node on which the command does not exist.
mkdir bin
cp "$sluice" "$BUILD/libsluice.so" bin/
on node2 mount --bind /dev/null "$work/bin/sluice"
at_exit 'on node2 umount "$work/bin/sluice"'
begin_case
check_rc 0 on head bin/sluice run -- srun -N 2 -n 2 ./task 50
check_line err warning node2 unrecorded
check_eq "$(wc -l <data.1)" 50 "lines of task 1"
