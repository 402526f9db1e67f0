#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Are the winners of `sluice tune` the best ones, and always the same? Each program has a space of about 12 points. All of
# them are measured in interleaved rounds in random order (exhaustive search), and the program is tuned with five seeds.
# The programs: strided collective writes of 64 bytes and of 4 KiB, 300 small HDF5 datasets, an h5py program whose chunk
# cache thrashes, and columns written with NetCDF and PnetCDF; with MPICH, with OMPIO of Open MPI (safe parameters only)
# and with its ROMIO, as far as the libraries are installed. Every winner must reach 95 % of the speed of the best point,
# and all five must be the same.
# BUILD names the build tree, WINNERS_DIR the directory for files, WINNERS_CASES the cases "WHERE/PROGRAM", WINNERS_ROUNDS
# the rounds of the exhaustive search, WINNERS_SEEDS the seeds, WINNERS_RUNS the runs of a search. WINNERS_KEEP names a
# directory for the results; the same command then continues an interrupted benchmark.
set -eu
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tests/mpi/libmpi.sh"
. "$here/libbench.sh"
. "$here/libtune.sh"
rounds=${WINNERS_ROUNDS:-20} seeds=${WINNERS_SEEDS:-1 2 3 4 5} runs=${WINNERS_RUNS:-30} ranks=2
cases=${WINNERS_CASES:-mpich/strided64 mpich/strided4k mpich/small ompio/strided64 ompio/strided4k ompio/small romio/strided64
	romio/strided4k romio/small serial/h5py ompio/netcdf ompio/pnetcdf romio/netcdf romio/pnetcdf}
bar_share=95
sluice=$BUILD/sluice
# Debian installs h5py for its own Python.
python=/usr/bin/python3
workspace "${WINNERS_KEEP:-}" "${WINNERS_DIR:-/dev/shm}"
export SLUICE_OVERHEAD_BUDGET=0 SLUICE_TUNE_APPLY=off
files=$(mktemp -d "${WINNERS_DIR:-/dev/shm}/sluice-bench.XXXXXX")
trap 'cd /; rm -rf "$files"; [ -n "${WINNERS_KEEP:-}" ] || rm -rf "$work"' EXIT

# space NAME: the dimensions of a space, with the conditions that a suggested space has
space() {
	case $1 in
	romio)
		echo '{"name": "romio_cb_write", "values": [null, "enable", "disable"]},
		{"name": "romio_ds_write", "values": [null, "disable"]},
		{"name": "cb_buffer_size", "values": [null, "4M"], "when": {"romio_cb_write": [null, "enable"]}}' ;;
	ompio)
		echo '{"name": "collective_buffering", "values": [null, "false"]},
		{"name": "cb_buffer_size", "values": [null, "64K", "1M", "4M", "16M", "64M"], "when": {"collective_buffering": [null]}}' ;;
	hdf5)
		echo '{"name": "transfer", "values": [null, "independent"]},
		{"name": "alignment", "values": [null, "4096,4096", "65536,1048576"]},
		{"name": "coll_metadata_write", "values": [null, "on"]}' ;;
	hdf5-safe)
		echo '{"name": "transfer", "values": [null, "independent"]},
		{"name": "cb_buffer_size", "values": [null, "1M", "64M"], "when": {"transfer": [null]}},
		{"name": "coll_metadata_write", "values": [null, "on"]}' ;;
	cache)
		echo '{"name": "rdcc_nbytes", "values": [null, "4M", "16M", "64M"]},
		{"name": "mdc_initial_size", "values": [null, "4M", "16M"]}' ;;
	esac
}

# write_h5py FILE: rows are written into chunks that are columns, more than the default chunk cache holds
write_h5py() {
	cat >"$1" <<'END'
import sys, time, h5py
begin = time.monotonic()
with h5py.File(sys.argv[1], "w") as f:
    data = f.create_dataset("data", (64, 128 * 256), chunks=(64, 256), dtype="f8")
    for i in range(64):
        data[i, :] = i
print("h5py seconds=%.6f" % (time.monotonic() - begin))
END
}

# program WHERE NAME: sets command, file and space.json; fails if it cannot be run
program() {
	local kind=$1
	at "$1"
	[ "$kind" != mpich ] || kind=romio
	file=$files/$2.dat
	case $2 in
	strided64) parallel levels -l collective-noncontiguous -b 64 -n 131072 -d write -k -f "$file" ;;
	strided4k) parallel levels -l collective-noncontiguous -b 4K -n 8192 -d write -k -f "$file" ;;
	small) parallel small_io -f "$file" ;;
	netcdf) parallel winners_netcdf "$file" ;;
	pnetcdf) parallel winners_pnetcdf "$file" ;;
	h5py)
		write_h5py rows.py
		command=($python "$PWD/rows.py" "$file")
		kind=cache ;;
	*) echo "winners: WINNERS_CASES: unknown program \"$2\"" >&2; exit 2 ;;
	esac
	case $2 in
	small | netcdf) [ "$kind" = ompio ] && kind=hdf5-safe || kind=hdf5 ;;
	esac
	echo "{\"schema\": \"sluice.space/1\", \"dimensions\": [$(space $kind)]}" >space.json
	case $1 in
	serial) $python -c 'import h5py' 2>/dev/null ;;
	*) is_built ;;
	esac
}

# exhaustive: measures all points until there are enough rounds; a line of "rounds" has the times of one round
exhaustive() {
	local points round point
	points=$(python3 "$here/winners_points.py" points space.json)
	touch rounds
	for round in $(seq $(($(wc -l <rounds) + 1)) "$rounds"); do
		rm -f times.*
		for point in $(seq 0 $((points - 1)) | shuf --random-source=<(yes "$round")); do
			once "times.$point" "point-$point.json" || return 1
		done
		for point in $(seq 0 $((points - 1))); do
			cat "times.$point"
		done | paste -sd ' ' >>rounds
	done
}

# winners: tunes with all seeds that have no report yet
winners() {
	local seed
	for seed in $seeds; do
		[ ! -s "seed-$seed.report" ] || continue
		search current --seed "$seed" --space space.json --runs "$runs" || return 1
		mv current.report "seed-$seed.report"
	done
}

# judge CASE: one line and the winners
judge() {
	local reports=() seed least mean same gain_best gain_common
	for seed in $seeds; do
		reports+=("seed-$seed.report")
	done
	python3 "$here/winners_points.py" judge rounds "${reports[@]}" >judged || return 1
	read -r least mean same gain_best gain_common <judged
	printf '%-16s  best %6.2f x  usual winner %6.2f x  share %3d %% (least), %3d %% (mean)  same %d of %d\n' "$1" "$gain_best" \
		"$gain_common" "$least" "$mean" "$same" ${#reports[@]}
	sed 1d judged
	key "${1/\//_}_share" "$least"
	key "${1/\//_}_same" "$same"
	! less "$least" $bar_share || miss "$1: a winner has $least % of the speed of the best point, threshold $bar_share %"
	[ "$same" = ${#reports[@]} ] || miss "$1: $same of ${#reports[@]} seeds have the same winner"
}

say "$ranks ranks; $rounds rounds of all points; speedups are those of the I/O time that the program prints"
for case in $cases; do
	mkdir -p "$work/${case/\//-}"
	cd "$work/${case/\//-}"
	if ! program "${case%/*}" "${case#*/}"; then
		say "$case: skipped, not built"
	elif ! exhaustive || ! winners || ! judge "$case"; then
		miss "$case: a run failed"
	fi
done
finish winners
