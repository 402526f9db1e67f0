#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the counters of Darshan with Sluice's own trace of the same command, in three ways: each tool in a run of its
# own; the same with Darshan's extended traces (DXT); and both tools in the same run. DARSHAN names the prefix of an
# installed Darshan that was built for Open MPI; if IOR, mdtest or h5bench_write are in its bin directory, they run as
# well. BUILD names the build tree. docs/reference/darshan.md describes the result.
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
export SLUICE_TRACE_DIR=$work/runs XDG_DATA_HOME=$work/home SLUICE_OVERHEAD_BUDGET=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
ways="apart dxt together"
declare -A agreed compared
for way in $ways; do
	agreed[$way]=0 compared[$way]=0
done

# launch NAME COMMAND...: runs four ranks in an empty directory; fails if the command does
launch() {
	local name=$1
	shift
	rm -rf "$data" && mkdir "$data"
	"$@" >"$name.out" 2>&1 || { miss "$name failed: $(tail -n 3 "$name.out")"; return 1; }
}

# judge WAY NAME TRACE LOG: compares the counters of a log with those of a trace
judge() {
	local table
	"$build/sluice" trace convert "$3" "$2.db" 2>/dev/null
	"$build/sluice" trace convert "$4" "$2.darshan.db" 2>/dev/null
	table=$(python3 "$here/darshan.py" "$2" "$2.db" "$2.darshan.db")
	rm "$2.db" "$2.darshan.db"
	say "$(sed "s/^/$(printf %-9s "$1")/" <<<"$table")"
	compared[$1]=$((compared[$1] + $(wc -l <<<"$table")))
	agreed[$1]=$((agreed[$1] + $(grep -c ' same$' <<<"$table" || true)))
}

# compare NAME COMMAND...
compare() {
	local name=$1
	shift
	launch "$name" "$build/sluice" run --quiet -o "$name.sluice" -- mpirun.openmpi -n 4 "$@" || return 0
	launch "$name" env DARSHAN_LOGFILE="$work/$name.darshan" mpirun.openmpi -n 4 \
		env LD_PRELOAD="$library" "$@" || return 0
	judge apart "$name" "$name.sluice" "$name.darshan"
	launch "$name" env DARSHAN_LOGFILE="$work/$name.dxt.darshan" DXT_ENABLE_IO_TRACE=1 mpirun.openmpi -n 4 \
		env LD_PRELOAD="$library" "$@" || return 0
	judge dxt "$name" "$name.sluice" "$name.dxt.darshan"
	launch "$name" env DARSHAN_LOGFILE="$work/$name.both.darshan" "$build/sluice" run --quiet -o "$name.both.sluice" -- \
		mpirun.openmpi -n 4 sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$library" "$@" || return 0
	judge together "$name" "$name.both.sluice" "$name.both.darshan"
}

library=$DARSHAN/lib/libdarshan.so
data=$work/data
kernels=$build/mpi/openmpi
say "way      program        file                 layer  counter            Darshan        Sluice"
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
for way in $ways; do
	key "${way}_agreed" "${agreed[$way]}"
	key "${way}_compared" "${compared[$way]}"
	[ "${compared[$way]}" -gt 0 ] || miss "$way: nothing was compared"
	[ "${agreed[$way]}" = "${compared[$way]}" ] ||
		miss "$way: $((compared[$way] - agreed[$way])) of ${compared[$way]} counters differ"
done
finish darshan
