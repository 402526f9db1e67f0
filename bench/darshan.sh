#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the counters of Darshan with Sluice's own trace of the same command. DARSHAN names the prefix of an installed Darshan that was built for Open MPI; if IOR, mdtest or h5bench_write
# are in its bin directory, they run as well. BUILD names the build tree. docs/reference/darshan.md describes the result.
set -eu
build=$(realpath "${BUILD:-build}")
here=$(realpath "$(dirname "$0")")
. "$here/libbench.sh"
if ! [ -e "${DARSHAN:-}/lib/libdarshan.so" ]; then
	say "bench darshan: skipped; set DARSHAN to the prefix of an installed Darshan"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export SLUICE_TRACE_DIR=$work/runs XDG_DATA_HOME=$work/data SLUICE_OVERHEAD_BUDGET=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
agreed=0 compared=0

# compare NAME COMMAND...: runs the command on four ranks, first with Darshan, then with Sluice, and compares
compare() {
	local name=$1 log=$work/$1.darshan table
	shift
	rm -rf "$data" && mkdir "$data"
	DARSHAN_LOGFILE=$log mpirun.openmpi -n 4 env LD_PRELOAD="$DARSHAN/lib/libdarshan.so" "$@" >"$name.out" 2>&1 ||
		{ miss "$name failed: $(tail -n 3 "$name.out")"; return 0; }
	rm -rf "$data" && mkdir "$data"
	"$build/sluice" run --quiet -o "$name.sluice" -- mpirun.openmpi -n 4 "$@" >"$name.out" 2>&1 ||
		{ miss "$name failed: $(tail -n 3 "$name.out")"; return 0; }
	"$build/sluice" trace convert "$name.sluice" "$name.db" 2>/dev/null
	"$build/sluice" trace convert "$log" "$name.darshan.db" 2>/dev/null
	table=$(python3 "$here/darshan.py" "$name" "$name.db" "$name.darshan.db")
	say "$table"
	compared=$((compared + $(wc -l <<<"$table")))
	agreed=$((agreed + $(grep -c ' same$' <<<"$table" || true)))
}

data=$work/data
kernels=$build/mpi/openmpi
say "program        file                 layer  counter            Darshan        Sluice"
compare small_io "$kernels/small_io" --count 20 --verify --file "$data/small.h5"
compare vpic_io "$kernels/vpic_io" --verify --file "$data/vpic.h5"
for interface in POSIX MPIIO HDF5; do
	[ -x "$DARSHAN/bin/ior" ] || break
	compare "ior_$interface" "$DARSHAN/bin/ior" -a $interface -b 1m -t 64k -s 2 -C -e -o "$data/ior.$interface"
done
if [ -x "$DARSHAN/bin/ior" ]; then
	compare ior_collective "$DARSHAN/bin/ior" -a MPIIO -c -b 1m -t 64k -o "$data/ior.collective"
	compare ior_random "$DARSHAN/bin/ior" -a POSIX -z -F -b 1m -t 4k -o "$data/ior.random"
fi
[ ! -x "$DARSHAN/bin/mdtest" ] || compare mdtest "$DARSHAN/bin/mdtest" -n 20 -w 3901 -e 3901 -d "$data/mdtest"
if [ -x "$DARSHAN/bin/h5bench_write" ]; then
	printf '%s\n' MEM_PATTERN=CONTIG FILE_PATTERN=CONTIG TIMESTEPS=2 DELAYED_CLOSE_TIMESTEPS=1 \
		EMULATED_COMPUTE_TIME_PER_TIMESTEP='0 s' NUM_DIMS=1 DIM_1=65536 DIM_2=1 DIM_3=1 COLLECTIVE_DATA=YES \
		>h5bench.cfg
	compare h5bench "$DARSHAN/bin/h5bench_write" "$work/h5bench.cfg" "$data/h5bench.h5"
fi
key agreed "$agreed"
key compared "$compared"
[ "$agreed" = "$compared" ] || miss "$((compared - agreed)) of $compared counters differ"
printf '%s' "$missed"
say "bench darshan:$keys"
[ "$failed" = 0 ]
