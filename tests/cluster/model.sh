#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The hybrid model on two hosts with CephFS. The counts of each rank equal the calls of the real library, and the storage
# calls that access each object of a striped file equal those that were predicted, with 1, 2 and 4 stripes. Then `sluice model
# measure`, `fit`, `calibrate`, `predict` and `recommend`, whose ranks srun starts, with striping among the settings.
# Papers: HYB-2, HYB-36.
. "$(dirname "$0")/libcluster.sh"
. "$SOURCE/tests/mpi/libmpi.sh"
# Ranks on several hosts do not reach each other over the loopback device.
unset OMPI_MCA_btl_tcp_if_include
use_bed cephfs slurm
folder=$SLUICE_TESTBED/cephfs/counts
at_exit 'on head rm -rf "$folder"'
on head mkdir "$folder"
export SLUICE_STORE_PATH=$work/store.db

# launcher MPI: sets srun, the library that it preloads, and the lists that its ROMIO sends (internals.c)
launcher() {
	case $1 in
	mpich) pmi=pmi2 lists=1 preload=$BUILD/testbed/mpich_finalize.so ;;
	openmpi) pmi=pmix lists=2 preload= ;;
	esac
	srun=(srun "--mpi=$pmi" -N 2 --ntasks-per-node=2)
}

# usable MPI: whether its programs can run under srun
usable() {
	mpi_has "$1" elemental || return 1
	[ "$1" = mpich ] || { on head srun --mpi=list 2>&1 | grep -qw pmix && romio_heeds; }
}

usable mpich || skip libmpich-dev
# ---- counts ----
# As in tests/run/model_counts.sh, but with sizes beyond the smallest unit, 64 KiB: many rounds and one, even and uneven
# shares, one aggregator per host and all ranks, pieces, windows of data sieving, and independent accesses.
cat >few <<'END'
write contiguous 300000 0 0 0 2 65536 enable
write contiguous 150000 0 0 0 0 0 enable
write contiguous 300000 0 0 0 0 0 automatic
write strided 200000 10000 30000 77 3 131072 automatic
read contiguous 131072 0 0 65536 3 65536 enable
END
cat few - >all <<'END'
write contiguous 400000 0 0 123 4 100000 enable
write contiguous 262144 0 0 0 1 1048576 enable
write strided 131072 65536 65536 0 4 131072 automatic
write strided 131072 8192 16384 0 0 0 disable
write strided 131072 32768 40000 11 0 0 pieces
read strided 262144 16384 16384 0 2 65536 automatic
END

# compare MPI CASES STRIPES: compares the counts of the cases, with units of 64 KiB, as layouts and as hints
compare() {
	local mpi=$1 cases=$2 stripes=$3 found
	check_rc 0 on head env SLUICE_CAPTURE_MESSAGES=on OMPI_MCA_io="$(romio)" ${preload:+LD_PRELOAD="$preload"} \
		sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$sluice" run -p "striping_factor=$stripes striping_unit=65536" \
		-o "$work/trace" -- "${srun[@]}" -n 4 "$BUILD/mpi/$mpi/collective" "$work/$cases"
	"$sluice" report trace >shown
	check_has "$(grep "^ *striping_factor " shown)" "$stripes " "$mpi: stripes: $(cat shown)"
	check_has "$(grep "^ *striping_factor " shown)" "the file system" "$mpi: stripes: $(cat shown)"
	found=$("$prog/internals" trace "$cases" 4 "$lists" 2 "$stripes" 65536) || fail "$mpi, $stripes stripes: $(tail -20 <<<"$found")"
	check_eq "$found" "equal $(wc -l <"$cases") of $(wc -l <"$cases")" "$mpi: $stripes stripes"
	compared=$((compared + $(wc -l <"$cases")))
}

compared=0
for mpi in openmpi mpich; do
	usable $mpi || { skip_case "lib$mpi-dev" "$mpi under srun" && continue; }
	launcher $mpi
	[ $mpi = mpich ] || { compare openmpi few 4 && continue; }
	for stripes in 1 2 4; do
		compare mpich all $stripes
	done
done
echo "model: counts of $compared accesses are equal"

# An access that begins one unit later differs only in the objects, which is detected: the last trace has 4 stripes.
sed '1s/ 0 0 0 2 / 0 0 65536 2 /' all >other
! "$prog/internals" trace other 4 1 2 4 65536 >found || fail "other objects went unnoticed"
check_words "$(cat found)" "case 1 object 0: written_bytes" "equal $(($(wc -l <all) - 1)) of $(wc -l <all)"
check_eq "$(grep -c rank found || true)" 0 "ranks that differ: $(cat found)"

# ---- the model ----
# model CODE COMMAND ARGUMENT...: runs `sluice model` on head
model() {
	local code=$1
	shift
	check_rc "$code" on head env OMPI_MCA_io="$(romio)" ${preload:+LD_PRELOAD="$preload"} "$sluice" model "$@"
}
for mpi in openmpi mpich; do
	usable $mpi || continue
	launcher $mpi
	model 0 measure --mpi "$mpi" -n 4 --launcher "${srun[*]} -n {ranks}" --dir "$folder" --stripes 1,4 --stripe-units 65536 \
		--writers 2,4 --buffers 256K,1M --pieces none --rounds 2 --repeat 2 --writes-only --max-time 2s --platform "on $mpi" \
		-o "$work/rows.csv"
	# Two nodes; the pieces and targets of rounds depend on the stripes.
	check_eq "$(cut -d, -f3,4 rows.csv | sort -u | tr '\n' ' ')" "2,2 nodes,cores " "$mpi: nodes and ranks per node"
	check_eq "$(awk -F, '$2 == "s_lock" && $8 == 1048576 && $7 == 2 { print $5, $6 }' rows.csv | sort -u | paste -sd ';')" \
		"4 1;64 4" "$mpi: pieces and targets of 4 writers"
	check_eq "$(on head ls -A "$folder")" "" "$mpi: files after the measurement"
	# The same command has nothing left to measure.
	model 0 measure --mpi "$mpi" -n 4 --launcher "${srun[*]} -n {ranks}" --dir "$folder" --stripes 1,4 --stripe-units 65536 \
		--writers 2,4 --buffers 256K,1M --pieces none --rounds 2 --repeat 2 --writes-only --max-time 2s --platform "on $mpi" --json
	check_eq "$(json_get out '["cells_measured"]')" 0 "$mpi: cells that were measured again"
done
model 0 fit --platform "on $mpi" --dir "$folder" --learners linear --candidates 2 --folds 3 -o "$work/bed.model"
model 0 calibrate -m "$work/bed.model" --mpi "$mpi" -n 4 --launcher "${srun[*]} -n {ranks}" --dir "$folder" --accesses 2 \
	--repeat 1 --json
check_eq "$(on head ls -A "$folder")" "" "files after the calibration"
# A job on another number of hosts than was measured is no calibration. Hosts have the same number of ranks.
model 1 calibrate -m "$work/bed.model" --mpi "$mpi" -n 4 --launcher "srun --mpi=$pmi -N 1 -O -n {ranks}" --dir "$folder" \
	--accesses 1 --repeat 1
check_words "$(cat err)" "on 1 node" "measured on 2"
model 1 measure comm --mpi "$mpi" -n 4 --launcher "srun --mpi=$pmi -O -N 2 -m arbitrary -w node1,node1,node1,node2 -n {ranks}" \
	--max-time 1s --platform uneven
check_words "$(cat err)" "ranks on one node" ntasks-per-node
# Settings include stripes, and the file of settings sets them.
model 0 predict -m "$work/bed.model" -n 4 -s 1M --param striping_factor=4 --param striping_unit=64K --json
check_eq "$(json_get out '["access"]["nodes"]')" 2 "nodes"
model 0 recommend -m "$work/bed.model" -n 4 -s 1M --top 10000 --json
check_has "$(cat out)" '"striping_factor": "4"'
