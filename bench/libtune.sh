# SPDX-License-Identifier: BSD-3-Clause
# Helpers of the benchmarks that tune real programs; to be sourced after libbench.sh. They use sluice, ranks and work, and
# set mpi, allow, command and file.

# at WHERE: sets mpi, allow and the MPI-IO module of Open MPI
at() {
	unset OMPI_MCA_io
	case $1 in
	mpich) mpi=mpich allow=layout ;;
	ompio) mpi=openmpi allow=safe ;;
	romio) mpi=openmpi allow=layout; export OMPI_MCA_io=romio321 ;;
	serial) mpi=serial allow=layout ;;
	*) echo "bench: unknown place \"$1\"; expected mpich, ompio, romio or serial" >&2; exit 2 ;;
	esac
}

# parallel PROGRAM ARGUMENT...: sets command to the program of build/mpi with its launcher
parallel() {
	local name=$1
	shift
	command=("mpiexec.$mpi" -n "$ranks" "$BUILD/mpi/$mpi/$name" "$@")
}

# is_built: succeeds if the parallel command can be run
is_built() {
	[ -x "${command[3]}" ] && [ -n "$(type -P "${command[0]}")" ]
}

# search NAME WORD...: one tuning; writes the report to NAME.report and the best parameters, if any, to NAME.json
search() {
	local name=$1
	shift
	rm -f "$name".*
	"$sluice" tune --json --no-ablation --allow $allow -o "$name" "$@" -- "${command[@]}" >"$name.report" 2>"$name.err" ||
		{ echo "bench: $(tail -3 "$name.err")" >&2; rm -f "$name.report"; return 1; }
}

# once FILE [PARAMETERS]: runs the program and appends the I/O time that it prints, in seconds, to FILE
once() {
	local parameters=()
	[ -z "${2:-}" ] || parameters=(--params "$2")
	rm -f "$file"
	"$sluice" run --quiet --mode off "${parameters[@]}" -- "${command[@]}" >out 2>err ||
		{ echo "bench: $(cat err)" >&2; return 1; }
	sed -n 's/.* seconds=\([0-9.]*\).*/\1/p' out >>"$1"
}
