#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice tune` with runs as jobs of a real Slurm: tasks are recorded, their data is compared, and the user's files are as
# before. A tuning that is interrupted or killed cancels its job. The node is this machine.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libslurm.sh"
. "$(dirname "$0")/libpreserve.sh"
slurm_here
slurm_start 1
tune+=(--timeout-factor 1000)

# writes: each task appends to a file of the user and creates one of its own
cat >writes <<'END_OF_PROGRAM'
#!/bin/sh
dd if=/dev/zero of="new.$SLURM_PROCID" bs=4k count=64 status=none
[ "$SLURM_PROCID" = 0 ] && echo line >>data || echo line >>data2
END_OF_PROGRAM
# holds FILE: changes a file, creates FILE outside of Sluice, and waits
cat >holds <<'END_OF_PROGRAM'
#!/bin/sh
echo line >>data
SLUICE_DISABLE=1 touch "$1"
sleep 600
END_OF_PROGRAM
chmod +x writes holds
fresh

# check_files WHAT: the files are those before the tuning, and no job is left
check_files() {
	check_same "$1"
	slurm_wait PENDING,RUNNING,COMPLETING 0
}

# check_tuning WORD...: tunes the command with two tasks
check_tuning() {
	check_rc 0 timeout "$limit" "${tune[@]}" --json "$@"
	check_eq "$(json_get "$work/out" '["data"]')" identical "$*: data"
	check_files "$*"
}
check_tuning -- srun -n 2 "$work/writes"
check_tuning --launcher 'slurm -n 2' -- srun "$work/writes"
check_rc 0 "$sluice" kb tunings 2 --json
python3 - "$work/out" <<'END_OF_SCRIPT' || fail "not all runs were good: $(cat "$work/out")"
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
assert len(runs) >= 4 and all(run["state"] == "good" and run["write_bytes"] == 524298 for run in runs), runs
END_OF_SCRIPT

# A job that Slurm rejects, and a launcher that does not exist.
check_rc 1 "${tune[@]}" --launcher 'slurm --partition=nowhere' -- "$work/writes"
check_words "$(cat "$work/err")" sbatch "invalid partition"
check_rc 1 "${tune[@]}" --launcher pbs -- "$work/writes"
check_words "$(cat "$work/err")" "--launcher pbs" slurm
check_files "a launcher that does not work"

# start_holding: starts a tuning whose job waits
start_holding() {
	rm -f "$work/holding"
	"${tune[@]}" --launcher slurm -- "$work/holds" "$work/holding" >"$work/log" 2>&1 &
	pid=$!
	wait_for_file "$work/holding" $pid
	check_eq "$(cat data | xargs)" "user data line" "the file during the run"
}

# check_end CODE WORD...: the tuning ends with this exit code and words
check_end() {
	local rc=0
	wait $pid || rc=$?
	check_eq $rc "$1" "exit code of the tuning"
	check_words "$(cat "$work/log")" "${@:2}"
	check_files "the end of a job"
}
start_holding
while kill -0 $pid 2>/dev/null; do
	scancel --name=sluice-tune
	sleep 0.5
done
check_end 1 "ended before its command"
start_holding
kill -TERM $pid
check_end 143
start_holding
kill -KILL $pid
wait $pid 2>/dev/null || true
slurm_wait PENDING,RUNNING,COMPLETING 0
"$sluice" kb tunings >"$work/out" 2>"$work/err" || true
check_words "$(cat "$work/err")" restored killed
check_files "kill -9"
