# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests that run parallel programs; to be sourced after libtorture.sh. The programs are those of kernels/ and
# tests/mpi/, in build/mpi/<mpi>/. Their ranks share this machine, which may have only two cores.
mpi_source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Settings are passed by the environment, so that a test can call mpiexec like a user. By default, Open MPI refuses to
# run as root, as in containers, and to start more ranks than cores.
# The launcher of Open MPI 5 has settings of its own, PRTE_MCA.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# Ranks that wait yield their core, and are not bound to a core. MPICH has no such setting, so kernels/yield.c is linked
# into its programs.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
# The remaining ranks of a failed job are killed at once, not after some seconds.
export OMPI_MCA_odls_base_sigkill_timeout=0 PRTE_MCA_odls_base_sigkill_timeout=0
# On a loaded machine, Open MPI 4 may notice that a rank has ended before it has read that the rank called MPI_Finalize,
# and let the job fail. Tests of ranks that do not call it set this to 0.
export OMPI_MCA_orte_allowed_exit_without_sync=1
# Jobs of a user have a common directory, which Open MPI 4 removes at the end of one even if another is about to use it.
# So each of the tests, which run beside each other, has its own.
if declare -F at_exit >/dev/null; then
	OMPI_MCA_orte_tmpdir_base=$(mktemp -d /tmp/ompi.XXXXXX)
	export OMPI_MCA_orte_tmpdir_base
	at_exit 'rm -rf "$OMPI_MCA_orte_tmpdir_base"'
fi
# Suppress warnings about missing networks, and about containers that forbid reading the memory of other processes.
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_btl_sm_single_copy_mechanism=none OMPI_MCA_smsc=^cma OMPI_MCA_btl_tcp_if_include=lo

# mpi_since MPI VERSION: does this MPI have at least that version?
mpi_since() {
	local version
	version=$("mpiexec.$1" --version 2>/dev/null |
		sed -nE 's/^mpiexec.*\) ([0-9.]+).*|^ *Version: *([0-9.]+).*/\1\2/p' | head -n 1)
	[ "$(printf '%s\n' "$2" "$version" | sort -V | head -n 1)" = "$2" ]
}

# mpi_mixes MPI: can its launcher start different commands as one job? That of Open MPI 5.0.7 crashes. That of MPICH always
# can; on a loaded machine it has failed once, for which no test should be left out.
mpi_mixes() {
	[ "$1" = mpich ] || "mpiexec.$1" -n 1 true : -n 1 true >/dev/null 2>&1
}

# romio_heeds: does Open MPI's ROMIO accept hints? That of Open MPI 5.0 ignores those of MPI_File_open.
romio_heeds() {
	! mpi_since openmpi 5
}

# romio: the name of Open MPI's component with ROMIO, which contains its version
romio() {
	{ ompi_info --parsable 2>/dev/null || true; } | sed -n 's/^mca:io:\(romio[0-9]*\):version:.*/\1/p' | head -n 1
}

# mpi_list: the MPIs that have programs and a launcher, one word each; the cases of the others are skipped
mpi_list() {
	local mpi
	for mpi in mpich openmpi; do
		if [ -d "$BUILD/mpi/$mpi" ] && command -v "mpiexec.$mpi" >/dev/null; then
			echo "$mpi"
		else
			skip_case "lib$mpi-dev"
		fi
	done
}

# mpi_has MPI PROGRAM: succeeds if the program was built for that MPI ("serial": without MPI)
mpi_has() {
	[ -x "$BUILD/mpi/$1/$2" ]
}

# mpi_run MPI N COMMAND...: runs N ranks of a command, for at most MPI_LIMIT seconds. A program of build/mpi can be
# given by its name.
mpi_run() {
	local mpi=$1 ranks=$2 command=$3
	shift 3
	mpi_has "$mpi" "$command" && command=$BUILD/mpi/$mpi/$command
	timeout -k 5 "${MPI_LIMIT:-600}" "mpiexec.$mpi" -n "$ranks" "$command" "$@"
}

# mpi_order ORDER MPI N PROGRAM ARGUMENT...: sets the array `command` to a command with N ranks. ORDER is bare (without
# Sluice), outside (`sluice run` around mpiexec) or inside (around each rank). The trace is $work/trace.
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

# shown FILE: the output of ranks, sorted and without measured times, and without messages that libevent and PMIx print
# now and then when mpiexec of Open MPI ends a failed job (github.com/open-mpi/ompi/issues/5520)
shown() {
	sed -E "/^\\[warn\\] Epoll .* on fd [0-9]+ failed/d; /PMIX ERROR: PMIX_ERR_UNREACH/d; s/\\b(\\w*seconds|\\w+_s)=[0-9.]+/\\1=?/g; s/\\[\\[[0-9]+,1],[0-9]+/[[?,1],?/g; s/^\\[[^ :]+:[0-9]+]/[?]/; s/PID [0-9]+/PID ?/g; s/\\[prterun-[^]]+]/[prterun-?]/g" "$1" | sort
}

# check_trace [ARGUMENT...]: runs the Python code on standard input, which checks $work/trace with trace.py. Arguments are
# strings in `arguments`.
check_trace() {
	"$sluice" print --json "$work/trace" >"$work/trace.json" || fail "the trace cannot be read"
	{
		echo 'from trace import *'
		cat
	} >"$work/check.py"
	PYTHONPATH=$mpi_source python3 -B "$work/check.py" "$work/trace.json" "$@" >"$work/wrong" 2>&1 ||
		fail "$case: $(head -20 "$work/wrong")"
}

# mpi_captured MPI N PROGRAM ARGUMENT...: begins a case and runs it with capture; it must succeed. For tests that source
# libtorture.sh.
mpi_captured() {
	local command
	case_begin "$*"
	mpi_order outside "$@"
	observed "${command[@]}"
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
}

# mpi_of_python: the MPI that mpi4py of Debian's Python uses; prints nothing without mpi4py
mpi_of_python() {
	/usr/bin/python3 -c 'from mpi4py import MPI
print("openmpi" if MPI.Get_library_version().startswith("Open MPI") else "mpich")' 2>/dev/null
}
