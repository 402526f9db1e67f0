#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Under a real Slurm with the TaskProlog of packaging/, the tasks of a job are recorded without action of the user, as one
# run of the job; users can opt out; and what `sluice run` records is not recorded twice.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
. "$(dirname "$0")/libslurm.sh"
slurm_here
kept=$work/state/traces/$(id -u)
chmod 755 "$work"
printf '[policy]\nrule = mode=trace program=patterns partition=deb*\n' >"$work/policy"
# As it is installed, with the paths of this test.
sed -e "s|@CMAKE_INSTALL_FULL_LIBDIR@/sluice/libsluice.so|$BUILD/libsluice.so|" -e "s|/run/sluice}|$work/run}|" \
	"$SOURCE/packaging/slurm/taskprolog.sh" >"$work/taskprolog"
echo "echo export SLUICE_SITE=$work/run" >>"$work/taskprolog"
chmod 755 "$work/taskprolog"
slurm_start 1 TaskProlog="$work/taskprolog"

# job [OPTION]... COMMAND: runs the command as a job step; prints its output
job() {
	mkdir -p place
	timeout "$limit" srun -D "$work/place" "$@" >out 2>err || fail "srun $*: $(cat out err; tail -n 5 "$slurm"/log/*)"
}

# Without a policy, nothing changes.
job -p debug sh -c 'echo "preload: $LD_PRELOAD"'
check_eq "$(cat out)" "preload: " "environment of a task on a node without a daemon"

start_daemon
job -p debug sh -c 'echo "preload: $LD_PRELOAD"'
check_eq "$(cat out)" "preload: $BUILD/libsluice.so" "environment of a task"
# The run of a job ends two seconds after its last process, so the tasks have to begin together.
job -p debug -n 2 sh -c ': >"up.$SLURM_PROCID"
	while [ ! -e up.0 ] || [ ! -e up.1 ]; do sleep 0.05; done
	exec "$0" small_writes file' "$prog/patterns"
wait_for "trace 1" traces_are 1
trace=$(ls "$kept"/*.sluice)
"$sluice" report --json "$trace" >report.json
check_eq "$(json_get report.json '["run"]["processes"]')" 2 "processes of the job"
check_eq "$(python3 -c 'import json
print(sum(f["calls"] for f in json.load(open("report.json"))["functions"] if f["function"] == "write"))')" 1200 "writes"
check_eq "$(status '["hellos"]')" 2 "spools that were handed over"

# Another partition, and users who opt out.
job -p batch "$prog/patterns" small_writes file
SLUICE_DISABLE=1 job -p debug "$prog/patterns" small_writes file
check_eq "$(status '["hellos"]')" 2 "spools after jobs that are not to be recorded"

# A run that the user records: one trace for the user, and its copy for the site.
job -p debug "$sluice" run -q -o "$work/own.sluice" -- "$prog/patterns" small_writes file
wait_for "trace 2" traces_are 2
cmp own.sluice "$(ls -t "$kept"/*.sluice | head -n 1)" || fail "the copy differs from the trace of the user"
check_eq "$(status '["hellos"]')" 2 "spools after a run of the user"
