#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `srun sluice run` and `sluice run -- srun` on two hosts, with a parallel program on CephFS: one merged trace with all ranks,
# both hosts and aligned clocks, for each MPI.
. "$(dirname "$0")/libcluster.sh"
use_bed cephfs slurm
folder=$SLUICE_TESTBED/cephfs/slurm
at_exit 'on head rm -rf "$folder"'

cat >check.py <<'END'
import meet, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
meet.check(db, "node1", "node2")
hosts = {h: (m, o, e) for h, m, o, e in db.execute("SELECT host, method, offset_ns, error_ns FROM hosts")}
assert sorted(m for m, o, e in hosts.values()) == ["collective calls", "reference"], hosts
# The hosts share the clock of the machine.
assert all(abs(o) <= e + 5e6 for m, o, e in hosts.values() if m != "reference"), hosts
writes = db.execute("SELECT count(*) FROM activities a JOIN calls k ON k.number = a.call WHERE k.name = 'MPI_File_write_at_all'")
assert writes.fetchone()[0] == 4 * 5 * 4
END

# record ORDER MPI PMI [PRELOAD]: the program of one MPI, with `sluice run` inside or outside of srun
record() {
	local at=$folder/$1-$2 program=$BUILD/mpi/$2/meet
	local srun=(srun --mpi="$3" -N 2 -n 4 --ntasks-per-node=2) run=("$sluice" run --) command
	[ -x "$program" ] || { skip_case "lib$2-dev" "$2" && return; }
	case $1 in
	inside) command=("${srun[@]}" "${run[@]}") ;;
	outside) command=("${run[@]}" "${srun[@]}") ;;
	esac
	on head mkdir -p "$at"
	# shellcheck disable=SC2016 # the shell on the host expands it
	on head env SLUICE_TRACE_DIR="$at/traces" ${4:+LD_PRELOAD="$4"} sh -c 'cd "$1" && shift && exec "$@"' sh "$at" \
		"${command[@]}" "$program" >out 2>err || fail "$1 $2: exit code $?: $(cat err)"
	check_eq "$(on head sh -c "ls -A '$at/traces' | wc -l")" 1 "$1 $2: files in trace.dir"
	on head sh -c "'$sluice' report --json '$at'/traces/*.sluice" >report.json
	check_eq "$(json_get report.json '["complete"]')" True "$1 $2: complete"
	on head sh -c "'$sluice' trace convert --format sqlite '$at'/traces/*.sluice '$work/$1-$2.db'"
	PYTHONPATH=$SOURCE/tests/mpi python3 -B check.py "$1-$2.db" || fail "$1 $2: the trace lacks something"
}

for order in inside outside; do
	record $order mpich pmi2 "$BUILD/testbed/mpich_finalize.so"
	if on head srun --mpi=list 2>&1 | grep -qw pmix; then
		record $order openmpi pmix
	else
		skip_case pmix "Open MPI under srun"
	fi
done
