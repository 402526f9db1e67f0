#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Job arrays of Slurm: each task of the array has a trace of its own, whose name has the id that Slurm shows, whether it runs
# as one process, as ranks on one node or on two.
. "$(dirname "$0")/libcluster.sh"
. "$(dirname "$0")/libsteps.sh"
use_bed slurm

cat >job.sh <<'END'
#!/bin/sh
id=$SLURM_ARRAY_TASK_ID
"$sluice" run -- ./task $((100 * id)) "batch-$id" &&
	srun -N 1 -n 1 "$sluice" run -- ./task $((100 * id + 1)) "single-$id" &&
	srun -N 1 -n 2 "$sluice" run -- sh -c './task $((100 * $1 + 2)) "node-$1-$SLURM_PROCID"' sh $id &&
	srun -N 2 -n 2 "$sluice" run -- sh -c './task $((100 * $1 + 3)) "nodes-$1-$SLURM_PROCID"' sh $id
END
export sluice
array=$(on head sbatch --parsable --wait --array=1-3 -N 2 --ntasks-per-node=2 -o 'out.%a' job.sh) || fail "the job failed: $(cat out.*)"
array=${array%%;*}
check_eq "$(count_traces)" 12 "number of traces"

# check_one PATTERN LINES NAME...: one trace matches, and has the calls that wrote these files
check_one() {
	local traces name
	traces=$(find runs -maxdepth 1 -name "$1.sluice")
	check_eq "$(wc -l <<<"$traces")" 1 "number of traces of $1"
	for name in "${@:3}"; do
		check_eq "$(wc -l <"data.$name")" "$2" "lines of $name"
		check_eq "$(missing_lines "$traces" "$name")" 0 "missing calls of $name"
	done
}

for id in 1 2 3; do
	check_one "*-task-${array}_$id-*" $((100 * id)) "batch-$id"
	check_one "*-task-${array}_$id.0-*" $((100 * id + 1)) "single-$id"
	check_one "*-sh-${array}_$id.1-*" $((100 * id + 2)) "node-$id-0" "node-$id-1"
	check_one "job-${array}_$id.2-sh" $((100 * id + 3)) "nodes-$id-0" "nodes-$id-1"
done
