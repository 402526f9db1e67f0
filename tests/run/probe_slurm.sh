#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A probe job under a real Slurm: srun starts one rank per node, rank 0 queries squeue, and measurements are saved
# when the job is terminated.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libslurm.sh"
slurm_here
slurm_start 2
mkdir a b
cat >job.sh <<EOF
#!/bin/bash
#SBATCH -N 2 -n 2 -o $work/job.out
srun $sluice forecast probe a=$work/a b=$work/b --per-rank --every 200ms --reference-every 0 --sizes 64K \\
	--spool-dir $work/rows --json
EOF
sbatch job.sh >out

# rows PATTERN: prints the current number of rows
rows() {
	cat rows/*.blocks 2>/dev/null | grep -cE "$1" || true
}
for ((i = 0; i < polls; i++)); do
	[ "$(rows '^a [0-9]')" -ge 2 ] && [ "$(rows '^b [0-9]')" -ge 2 ] && [ "$(rows '^Job Id: 1')" -ge 1 ] && break
	sleep 0.05
done
scancel -s TERM 1
slurm_wait R,CG 0
check_eq "$(grep -c '"schema": "sluice.probe/1"' job.out)" 2 "ranks that ended in good order: $(cat job.out): ranks"
check_eq "$(grep -o '"system": "test"' job.out | wc -l)" 2 "ranks that know the cluster's name"
# It asks once per period of the wall clock; a new period may begin during the run.
check_eq "$(grep -oE '"jobs_asked": [1-9]' job.out | wc -l)" 1 "ranks that ask for jobs"
check_eq "$(ls -A a b)" "$(printf 'a:\n\nb:')" "files left behind"
export SLUICE_STORE_PATH=$work/store.db
check_rc 0 "$sluice" forecast import rows/*.blocks
check_rc 0 "$sluice" forecast export --system test
check_eq "$(grep -cE '^[ab] .*[0-9]s' out)" "$(($(rows '^a [0-9]') + $(rows '^b [0-9]')))" "rows of both ranks"
check_has "$(cat out)" "queue = batch"
