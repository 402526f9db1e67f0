#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where the site sets tune.apply to apply, a batch job on two hosts gets the layout that a tuning has found for it, on all of
# them, and says so once. A program that sets the hint itself keeps it. A job with other arguments only gets a suggestion.
. "$(dirname "$0")/libcluster.sh"
use_bed cephfs slurm
program=$BUILD/mpi/mpich/hinted
[ -x "$program" ] || skip libmpich-dev
command -v readelf >/dev/null || skip binutils
export SLUICE_TUNE_PLATFORM=testbed SLUICE_STORE_PATH=$work/store.db
data=$SLUICE_TESTBED/cephfs/apply
at_exit 'on head rm -rf "$data"'
printf '[tune]\napply = apply\n' >etc.conf

# entry ARGUMENTS: what a tuning of the program with these arguments has found
entry() {
	cat <<END_OF_ENTRY
{"program": "hinted", "fingerprint": "build:$(readelf -n "$program" | sed -n 's/.*Build ID: //p')", "arguments": "$1",
 "platform": "testbed", "filesystem": "ceph", "ranks": 4, "size_class": 8, "objective": "io", "before": 2, "after": 1,
 "gain": 2, "gain_low": 1.5, "gain_high": 3, "found_ns": 1700000000000000000,
 "parameters": [{"name": "striping_factor", "value": "4"}, {"name": "striping_unit", "value": "1048576"}]}
END_OF_ENTRY
}
echo "{\"schema\": \"sluice.kb/1\", \"entries\": [$(entry 0), $(entry "0 striping_factor=2")]}" >entries.json
check_rc 0 "$sluice" kb import entries.json

# job ARGUMENT...: a batch job of four ranks on two hosts; its messages are in err
job() {
	on head rm -rf "$data"
	on head mkdir "$data"
	cat >job.sh <<END_OF_JOB
#!/bin/sh
cd "$data" && LD_PRELOAD=$BUILD/testbed/mpich_finalize.so exec srun --mpi=pmi2 "$sluice" run -- "$program" $*
END_OF_JOB
	check_rc 0 on head sbatch --wait -N 2 -n 4 --ntasks-per-node=2 -o "$work/job.out" -e "$work/job.err" job.sh
	cp job.err err
}

# check_stripes COUNT FILE...
check_stripes() {
	local file
	for file in "${@:2}"; do
		check_eq "$(layout_of "$data/$file")" "stripe_unit=1048576 stripe_count=$1 object_size=1073741824" "layout of $file"
	done
}

job 0
check_stripes 4 world.dat half0.dat half1.dat self.dat.0 self.dat.3 kind.x0
check_eq "$(grep -c "applied entry 1" err)" 1 "entries that were applied: $(cat err)"
check_eq "$(grep -c "with the parameters of entry 1" err)" 1 "comparisons: $(cat err)"

job 0 striping_factor=2
check_stripes 1 world.dat half0.dat self.dat.3
check_words "$(cat err)" striping_factor "not applied" "program sets it"

job 1
check_stripes 1 world.dat half0.dat self.dat.3
check_words "$(cat err)" "no parameters" "found striping_factor=4" "different"
