# SPDX-License-Identifier: BSD-3-Clause
# Independent transfers of a program become collective only where all ranks make the same transfers: in a tuning whose
# first run shows it, in a run that a tuning has proven it for, or if the user insists. Every other program is refused
# with the reason, and one that hangs nevertheless is a failed trial. To be sourced by a test that sets $program to one of
# tests/mpi/lockstep*.c, and defines: collective_writes, which prints how many transfers of `trace` were collective writes;
# permission, which may set $without_rc: how a tuning ends that has to do without these transfers.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_STORE_PATH=$work/store.db TMPDIR=$work
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "transfer", "values": [null, "collective"]}]}' >space.json
limit=600
without_rc=0

# job MODE FILE: sets the array `job` to a command with three ranks of $program
job() {
	job=("mpiexec.$mpi" -n 3 "$BUILD/mpi/$mpi/$program" "$@")
}

# tuned RC MODE [OPTION...]: tunes the program with little effort
tuned() {
	local rc=$1
	job "$2" "$2.dat"
	shift 2
	check_rc "$rc" timeout -k 5 "$limit" "$sluice" tune --repeat 1 --pairs 4 --no-ablation "$@" -- "${job[@]}"
}

# ran OPTION... -- COMMAND...: runs the program, which checks its data
ran() {
	check_rc 0 timeout -k 5 "$limit" "$sluice" "$@"
}

# refused_without_permission: the program gets collective transfers only with permission; sets `job`
refused_without_permission() {
	job even even.dat
	ran run --params transfer=collective -o trace -- "${job[@]}"
	check_words "$(cat err)" transfer=collective "not applied" hangs "sluice tune" params.allow
	check_eq "$(collective_writes)" 0 "$mpi: collective writes without permission"
}

# transfer_is_honored: the record of `trace` says so, at least of the file that ranks share
transfer_is_honored() {
	"$sluice" report --json trace >report
	python3 - <<'END' || fail "$mpi: the parameter is not reported as applied"
import json
rows = [r for r in json.load(open("report"))["parameters"] if r["name"] == "transfer" and r["file"].endswith("/even.dat")]
assert [(r["requested"], r["honoured"]) for r in rows] == [("collective", "yes")], rows
END
}

# refused MODE WORD...: the space is refused, and a tuning without a space says why it leaves this value out
refused() {
	local mode=$1
	shift
	tuned 1 "$mode" --space space.json
	check_words "$(cat err)" transfer=collective hang "$mode.dat" "--allow" "$@"
	[ ! -e "$mode.dat" ] || fail "$mpi: the file of a trial is left"
}

# A tuning of a program in lockstep tries it, and compares the data.
lockstep() {
	# Where ranks share cores, collective transfers take much longer.
	tuned 0 even --space space.json --timeout-factor 1000 --json
	check_eq "$(json_get out '["complete"]')" True "$mpi: complete"
	check_eq "$(json_get out '["points_tried"]')" 1 "$mpi: points tried"
	check_eq "$(json_get out '["data"]')" identical "$mpi: data"
	check_rc 0 "$sluice" kb tunings "$(json_get out '["id"]')" --json
	check_eq "$(json_get out '["runs"][2]["parameters"]')" transfer=collective "$mpi: parameters"
	check_eq "$(json_get out '["runs"][2]["state"]')" good "$mpi: state"
	[ ! -e even.dat ] || fail "$mpi: the file of a trial is left"
}

# Without --space, it is tried if the first run allows it; else the tuning says why not.
suggested() {
	tuned 0 even --runs 3 --search exhaustive --json
	check_rc 0 "$sluice" kb tunings "$(json_get out '["id"]')" --json
	check_has "$(cat out)" transfer "$mpi: space"
	tuned "$without_rc" uneven --runs 3 --json
	check_words "$(cat err)" transfer=collective "not tried" "rank 0 makes 25" "rank 1 makes 24"
}

# What was proven for a command is applied to exactly this command.
proven() {
	python3 - <<'END'
import os, sqlite3
db = sqlite3.connect(os.environ["SLUICE_STORE_PATH"])
parameters = '{"schema": "sluice.params/1", "parameters": [{"name": "transfer", "value": "collective"}]}'
# The entry of the tuning above, whose gain depends on the machine.
assert db.execute("""UPDATE knowledge SET parameters = ?, before = 2.3, after = 1, gain = 2.3, gain_low = 2,
	gain_high = 3 WHERE arguments LIKE '%even even.dat%'""", (parameters,)).rowcount == 1
db.commit()
END
	job even even.dat
	for options in "--tune=apply" "--params transfer=collective"; do
		# shellcheck disable=SC2086
		ran run $options -o trace -- "${job[@]}"
		check_eq "$(collective_writes)" 72 "$mpi $options: collective writes"
	done
	ran --set params.allow=safe run --params transfer=collective -o trace -- "${job[@]}"
	check_eq "$(collective_writes)" 0 "$mpi: collective writes although only safe values are allowed"
	job even other.dat
	for options in "--tune=apply" "--params transfer=collective"; do
		# shellcheck disable=SC2086
		ran run $options -o trace -- "${job[@]}"
		check_eq "$(collective_writes)" 0 "$mpi $options: collective writes of another command"
	done
	rm -f even.dat other.dat
}

# is_gone COMMAND: no process runs the command
is_gone() {
	! pgrep -f "$1" >/dev/null
}

# The first run is in lockstep, all others are not: the trial hangs, is aborted, and leaves nothing behind. If ranks seem
# to take turns in the first run, as they may on a loaded machine, the tuning makes further ones before it decides, and
# refuses. Then the test begins again.
hanging() {
	local attempt
	for attempt in $(seq 10); do
		rm -f phase
		(tuned 0 later --space space.json --restore 'echo >>phase' --json) 2>refusal && break
		grep -q "rank 0 makes 25 transfers, and rank 1 makes 24" refusal && ((attempt < 10)) || fail "$mpi: $(cat refusal)"
	done
	check_eq "$(json_get out '["proof"]["holds"]')" False "$mpi: proof"
	check_rc 0 "$sluice" kb tunings "$(json_get out '["id"]')" --json
	check_eq "$(json_get out '["runs"][2]["parameters"]')" transfer=collective "$mpi: parameters"
	check_eq "$(json_get out '["runs"][2]["state"]')" slow "$mpi: state"
	check_words "$(json_get out '["runs"][2]["reason"]')" aborted
	[ ! -e later.dat ] || fail "$mpi: the file of a trial is left"
	# A process that was killed may take a moment to end.
	wait_for "end of the processes of $mpi" is_gone "$BUILD/mpi/$mpi/$program later later.dat"
}

# check_all: everything above, with each MPI library that has the program
check_all() {
	local found=
	for mpi in $(mpi_list); do
		mpi_has "$mpi" "$program" || continue
		found=1
		permission
		refused some "rank 0 makes 48" "rank 1 makes 0"
		refused uneven "rank 0 makes 25" "rank 1 makes 24"
		refused turns "never begins" waited
		refused order "different"
		lockstep
		proven
		suggested
		hanging
		rm -rf store.db*
	done
	[ -n "$found" ] || skip libhdf5-mpich-dev
}
