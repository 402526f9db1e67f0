# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests that run parallel programs; to be sourced after libtorture.sh. The programs are those of
# build/mpi/<mpi>/ (kernels/ and tests/mpi/), and their ranks share this machine, which may have two cores.
mpi_source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# By the environment, so that a test may call mpiexec as a user would, with whatever around it.
# Open MPI refuses to run as root, which is what containers do, and to have more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# Ranks wait for each other without keeping a core busy, and are not bound to one that others keep busy. MPICH has
# no such setting: kernels/yield.c is linked into its programs.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
# Of a job that fails, what is left is killed at once and not seconds later.
export OMPI_MCA_odls_base_sigkill_timeout=0
# Complaints about networks that are not there, and about containers that forbid reading other processes' memory.
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none

# The MPIs that there are programs and a launcher for, one word each.
mpi_list() {
	local mpi
	for mpi in mpich openmpi; do
		if [ -d "$BUILD/mpi/$mpi" ] && command -v "mpiexec.$mpi" >/dev/null; then
			echo "$mpi"
		fi
	done
}

# mpi_has MPI PROGRAM: whether the program was built for that MPI ("serial" for none)
mpi_has() {
	[ -x "$BUILD/mpi/$1/$2" ]
}

# mpi_run MPI N COMMAND...: N ranks of any command, ended after MPI_LIMIT seconds. A program of build/mpi may be
# given by its name alone.
mpi_run() {
	local mpi=$1 ranks=$2 command=$3
	shift 3
	mpi_has "$mpi" "$command" && command=$BUILD/mpi/$mpi/$command
	timeout -k 5 "${MPI_LIMIT:-600}" "mpiexec.$mpi" -n "$ranks" "$command" "$@"
}

# mpi_order ORDER MPI N PROGRAM ARGUMENT...: N ranks as the array `command`: bare, with `sluice run` outside of
# mpiexec, or inside around each rank. The trace is $work/trace.
mpi_order() {
	local order=$1 mpi=$2 ranks=$3 program=$4
	shift 4
	mpi_has "$mpi" "$program" && program=$BUILD/mpi/$mpi/$program
	case $order in
	bare) command=("mpiexec.$mpi" -n "$ranks" "$program" "$@") ;;
	outside) command=("$sluice" run -o "$work/trace" -- "mpiexec.$mpi" -n "$ranks" "$program" "$@") ;;
	inside) command=("mpiexec.$mpi" -n "$ranks" "$sluice" run -o "$work/trace" -- "$program" "$@") ;;
	esac
}

# shown FILE: what ranks have printed, without the order in which they did, and without measured times
shown() {
	sed -E "s/\\b(\\w*seconds|\\w+_s)=[0-9.]+/\\1=?/g; s/\\[\\[[0-9]+,1],[0-9]+/[[?,1],?/g; s/^\\[[^ :]+:[0-9]+]/[?]/; s/PID [0-9]+/PID ?/g" "$1" | sort
}

# check_trace [ARGUMENT...]: the Python on standard input, with what trace.py knows of $work/trace, finds nothing
# wrong. Arguments are strings in `arguments`.
check_trace() {
	"$sluice" print --json "$work/trace" >"$work/trace.json" || fail "the trace cannot be read"
	{
		echo 'from trace import *'
		cat
	} >"$work/check.py"
	PYTHONPATH=$mpi_source "$python" -B "$work/check.py" "$work/trace.json" "$@" >"$work/wrong" 2>&1 ||
		fail "$case: $(head -20 "$work/wrong")"
}

# mpi_captured MPI N PROGRAM ARGUMENT...: a case of its own that must succeed; for tests that source libtorture.sh
mpi_captured() {
	local command
	case_begin "$*"
	mpi_order outside "$@"
	observed "${command[@]}"
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -3 captured.err): exit code"
}

# The MPI that this machine's mpi4py is bound to; nothing where there is none. It is Debian's python3 that has it.
mpi_of_python() {
	/usr/bin/python3 -c 'from mpi4py import MPI
print("openmpi" if MPI.Get_library_version().startswith("Open MPI") else "mpich")' 2>/dev/null
}
