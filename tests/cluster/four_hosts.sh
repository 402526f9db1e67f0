#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Four hosts: one trace with aligned clocks for each MPI. Then a host is lost while a job runs: the calls of the others are
# complete, those that its collector had written are kept, and the report names it.
. "$(dirname "$0")/libcluster.sh"
. "$(dirname "$0")/libsteps.sh"
own_bed
check_rc 0 "$testbed/up" --hosts 4 slurm
need=$(missing_of slurm)
[ -z "$need" ] || skip "$need" "part slurm of the test bed"
state() {
	cat "$work/err"
	ls -R "$work/runs"
}

# record MPI PMI [PRELOAD]
record() {
	local program=$BUILD/mpi/$1/meet
	[ -x "$program" ] || { skip_case "lib$1-dev" "$1" && return; }
	rm -rf runs shared
	check_rc 0 on head env ${3:+LD_PRELOAD="$3"} "$sluice" run -- srun --mpi="$2" -N 4 -n 8 --ntasks-per-node=2 "$program"
	check_eq "$(count_traces)" 1 "$1: files in trace.dir"
	"$sluice" trace convert --format sqlite runs/*.sluice "$1.db"
	PYTHONPATH=$SOURCE/tests/mpi python3 -B - "$1.db" <<'END' || fail "$1: the trace lacks something"
import meet, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
meet.check(db, "node1", "node2", "node3", "node4")
hosts = db.execute("SELECT method, offset_ns, error_ns FROM hosts").fetchall()
assert sorted(m for m, o, e in hosts) == ["collective calls"] * 3 + ["reference"], hosts
# The hosts share the clock of the machine.
assert all(abs(o) <= e + 5e6 for m, o, e in hosts if m != "reference"), hosts
END
}
record mpich pmi2 "$BUILD/testbed/mpich_finalize.so"
if on head srun --mpi=list 2>&1 | grep -qw pmix; then
	record openmpi pmix
else
	skip_case pmix "Open MPI under srun"
fi

# has_calls NODE: its collector has written calls to its part of the trace
has_calls() {
	"$sluice" print --file data.2 runs/*.parts/*-"$1"-*.sluice 2>/dev/null | grep -q ' write('
}

# All processes of node3 end at once, and so does its network.
begin_case
on head srun --no-kill -N 4 -n 4 --ntasks-per-node=1 "$sluice" run -- ./task 0 >out 2>err &
step=$!
wait_for "tasks" tasks_run 4
wait_for "calls of node3" has_calls node3
kill -KILL "$(pgrep -P "$(cat "$SLUICE_TESTBED/host/node3/pid")")"
: >stop
complete_parts() {
	[ "$(find runs -name '*-ranks.sluice' | wc -l)" = "$1" ]
}
wait_for "parts of the other nodes" complete_parts 3
# Slurm would find out after SlurmdTimeout.
on head scontrol update NodeName=node3 State=DOWN Reason=lost
wait $step || true

check_rc 0 "$sluice" ls
check_line out unmerged
check_rc 0 "$sluice" trace merge runs/*.parts
check_rc 0 "$sluice" report
check_words "$(cat err)" node3 missing
check_rc 0 "$sluice" report --json runs/*.sluice
check_eq "$(json_get out '["losses"]["interrupted_hosts"]')" "['node3']" "interrupted hosts"
check_eq "$(json_get out '["complete"]')" False "complete"
check_eq "$(json_get out '["run"]["processes"]')" 4 "processes"
for name in 0 1 3; do
	check_eq "$(missing_lines runs/*.sluice $name)" 0 "missing calls of task $name"
done
lines=$(wc -l <data.2)
missing=$(missing_lines runs/*.sluice 2)
((missing >= 0 && missing < lines)) || fail "$missing of $lines calls of node3 are missing"
echo "$missing of $lines calls of the lost node are missing"
