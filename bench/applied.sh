#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `sluice run --tune=apply` is worth in daily use. Each program (strided collective writes of 64 bytes, 300 small HDF5
# datasets, and contiguous writes, where nothing can be gained; with MPICH and with Open MPI) is tuned once, with one set
# of arguments and 2 ranks. Then it runs with --tune=apply: half of the runs exactly as it was tuned, the others with other
# arguments or another number of ranks, for which nothing may be applied. Each of these runs is paired with one of the same
# command with --tune=off; the order alternates. Measured is the wall time of the whole command, with recording and with
# the comparison after the run. The sum must not be larger than without tuning, and no program may lose more than 5 %.
# Finally an entry with harmful parameters is planted to see after how many runs it is demoted; this has no bar.
# BUILD names the build tree, APPLIED_DIR the directory for files, APPLIED_RUNS the number of runs with --tune=apply,
# APPLIED_CASES the programs "MPI/NAME", APPLIED_TUNE the options of `sluice tune`.
set -eu
BUILD=${BUILD:-build}
. "$(dirname "$0")/../tests/mpi/libmpi.sh"
. "$(dirname "$0")/libbench.sh"
runs=${APPLIED_RUNS:-200}
cases=${APPLIED_CASES:-mpich/strided mpich/small mpich/plain openmpi/strided openmpi/small openmpi/plain}
tune=${APPLIED_TUNE:---runs 30 --no-ablation}
bar_total=1 bar_program=1.05
sluice=$BUILD/sluice
workspace "" "${APPLIED_DIR:-/dev/shm}"

# choose CASE VARIANT: sets command. The variant 0 is tuned; 1 has other arguments, 2 and 3 have other numbers of ranks.
choose() {
	local mpi=${1%/*} name=${1#*/} ranks=2 arguments
	case $name/$2 in
	strided/1) arguments="levels -l collective-noncontiguous -b 4K -n 1024 -d write -k -f strided.dat" ;;
	strided/*) arguments="levels -l collective-noncontiguous -b 64 -n 16384 -d write -k -f strided.dat" ;;
	small/1) arguments="small_io -n 100 -v 4096 -f small.h5" ;;
	small/*) arguments="small_io -f small.h5" ;;
	plain/1) arguments="levels -l independent-contiguous -b 1M -n 32 -d write -k -f plain.dat" ;;
	plain/*) arguments="levels -l independent-contiguous -b 4M -n 16 -d write -k -f plain.dat" ;;
	*) echo "applied: APPLIED_CASES: unknown program \"$name\"; expected strided, small or plain" >&2; exit 2 ;;
	esac
	case $2 in
	2) ranks=1 ;;
	3) ranks=4 ;;
	esac
	# shellcheck disable=SC2206
	command=("mpiexec.$mpi" -n $ranks $BUILD/mpi/$mpi/$arguments)
}

# is_built CASE
is_built() {
	choose "$1" 0
	[ -x "${command[3]}" ] && [ -n "$(type -P "${command[0]}")" ]
}

# once FILE APPLY: runs the command and appends its wall time in seconds to FILE; the messages are in err
once() {
	local TIMEFORMAT=%R
	rm -f -- *.dat *.h5
	{ time "$sluice" run --tune="$2" -- "${command[@]}" >out 2>err; } 2>took || { echo "applied: $(cat err)" >&2; exit 1; }
	cat took >>"$1"
	rm -rf "$work/runs"
}

# sum FILE...: the sum of the numbers in the files
sum() {
	cat /dev/null "$@" | awk '{ s += $1 } END { printf "%.3f\n", s }'
}

# count WORDS FILE: the number of lines with these words
count() {
	grep -c -- "$1" "$2" || true
}

built=()
for case in $cases; do
	if is_built "$case"; then
		built+=("$case")
	else
		say "$case: skipped, not built"
	fi
done
[ ${#built[@]} -gt 0 ] || { echo "applied: skipped: no program is built" >&2; exit 0; }

say "$runs runs with --tune=apply, as many without; wall time; 2 of 4 variants are as tuned"
for case in "${built[@]}"; do
	choose "$case" 0
	# shellcheck disable=SC2086
	"$sluice" tune $tune -- "${command[@]}" >tuned 2>err || [ $? = 3 ] || { echo "applied: $case: $(tail -3 err)" >&2; exit 1; }
	say "$case: $(cat tuned err | sed -n 1p)"
done

# The variants in turn; every second run is as it was tuned.
variants=(0 1 0 2 0 1 0 3)
for i in $(seq 0 $((runs - 1))); do
	case=${built[i % ${#built[@]}]}
	turn=$((i / ${#built[@]}))
	variant=${variants[turn % ${#variants[@]}]}
	name=${case/\//-}
	choose "$case" "$variant"
	[ $((turn % 2)) = 0 ] || once "$name.$variant.off" off
	once "$name.$variant.apply" apply
	sed "s/^/variant $variant: /" err >>"$name.said"
	[ $((turn % 2)) = 1 ] || once "$name.$variant.off" off
done

say
printf '%-18s %5s %8s %8s %8s %8s %8s %8s\n' program runs applied controls default tuned ratio demoted
for case in "${built[@]}"; do
	name=${case/\//-}
	off=$(sum "$name".*.off) apply=$(sum "$name".*.apply)
	r=$(ratio "$apply" "$off")
	printf '%-18s %5d %8d %8d %7.2fs %7.2fs %8s %8d\n' "$case" "$(cat "$name".*.apply | wc -l)" "$(count "applied entry" "$name.said")" \
		"$(count "control run" "$name.said")" "$off" "$apply" "$r" "$(count "is demoted" "$name.said")"
	# Only exactly the run that was tuned may get parameters.
	! grep "applied entry" "$name.said" | grep -qv "^variant 0:" || miss "$case: parameters were applied to another run"
	! less $bar_program "$r" || miss "$case: $r times the time of the default, threshold $bar_program"
	key "${name/-/_}_ratio" "$r"
done
total=$(ratio "$(sum ./*.apply)" "$(sum ./*.off)")
say "total: $total times the time of the default"
key total_ratio "$total"
! less $bar_total "$total" || miss "the total is $total times that of the default, threshold $bar_total"

# plant: replaces the parameters of a fresh entry by harmful ones: many small collective buffers, and reading before writing
plant() {
	choose "${built[0]}" 0
	rm -f store.db
	"$sluice" tune --runs 6 --pairs 4 --no-ablation --space nothing.json -- "${command[@]}" >out 2>err || return 0
	python3 - store.db <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("""UPDATE knowledge SET gain = 2, gain_low = 1.5, gain_high = 3, parameters =
	'{"schema": "sluice.params/1", "parameters": [{"name": "romio_cb_write", "value": "enable"},
	{"name": "cb_buffer_size", "value": "4096"}, {"name": "romio_ds_write", "value": "enable"}]}'""")
db.commit()
PYTHON
	for i in $(seq 20); do
		once planted.apply apply
		if grep -q "is demoted" err; then
			say "an entry whose parameters became harmful was demoted after $i runs"
			key planted_runs "$i"
			return
		fi
	done
	say "an entry whose parameters became harmful was not demoted in 20 runs: $(tail -1 err)"
}
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "cb_buffer_size", "values": [null, "16M"]}]}' >nothing.json
case ${built[0]} in
mpich/strided) plant ;;
esac

finish applied
