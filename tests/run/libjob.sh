# SPDX-License-Identifier: BSD-3-Clause
# Helpers for tests that start parallel jobs; to be sourced after libtest.sh. The job is tests/mpi/job.c.
ranks=4
pieces=500
spools=$work/spools
export SLUICE_SPOOL_DIR=$spools
mkdir -p "$spools"

. "$(dirname "$0")/../mpi/libmpi.sh"

# mpi_program MPI NAME: the path of a program of tests/mpi; prints nothing if it was not built
mpi_program() {
	if mpi_has "$1" "$2" && command -v "mpiexec.$1" >/dev/null; then
		echo "$BUILD/mpi/$1/$2"
	fi
}

# filesystem_here: the file system of the working directory, as the knowledge base calls it
filesystem_here() {
	local type
	type=$(stat -f -c %T .)
	case $type in
	nfs | lustre | gpfs | ceph) echo "$type" ;;
	*) echo local ;;
	esac
}

# job ORDER MPI HOW: runs the job with `sluice run` outside or inside of mpiexec, or bare. Sets $code; the output is in
# the files out and err.
job() {
	local begun=$SECONDS
	set -- "$1" "$2" "$(mpi_program "$2" job)" "$3"
	rm -rf rank-* runs trace waiting
	code=0
	[ "$4" != nofinalize ] || local -x OMPI_MCA_orte_allowed_exit_without_sync=0
	case $1 in
	bare) set -- "mpiexec.$2" -n $ranks "$3" "$4" ;;
	outside) set -- "$sluice" run -o trace -- "mpiexec.$2" -n $ranks "$3" "$4" ;;
	inside) set -- "mpiexec.$2" -n $ranks "$sluice" run -o trace -- "$3" "$4" ;;
	esac
	timeout -k 5 "$limit" "$@" >out 2>err </dev/null || code=$?
	[ $((SECONDS - begun)) -lt "$limit" ] || wrong "the job hangs: $(cat err)"
}

# case_is TEXT: names the case, for messages
case_is() {
	this=$*
}

wrong() {
	fail "$this: $*"
}

# trace_wait: waits until the trace is complete
trace_wait() {
	local try
	for try in $(seq $polls); do
		[ -f trace ] && [ -z "$(ls "$spools")" ] && return 0
		sleep 0.05
	done
	wrong "there is no trace; spools: $(ls "$spools" "$spools"/* 2>&1)"
}

# trace_check: the trace is complete and has all writes of every rank
trace_check() {
	local rank n missing
	"$sluice" report --json trace >report.json 2>report.err || wrong "no report: $(cat report.err)"
	check_eq "$(json_get report.json '["complete"]')" True "$this: complete"
	for rank in $(seq 0 $((ranks - 1))); do
		n=$("$sluice" print --rank "$rank" --file "rank-$rank" trace | grep -c 'pwrite\(64\)\?(') || true
		[ "$n" -ge $pieces ] || wrong "rank $rank: the trace has $n of $pieces writes"
		# A rank may be killed between the end of a call and its record.
		missing=$(($(pieces_of "$rank") - n))
		[ $missing = 0 ] || [ $missing = 1 ] || wrong "rank $rank: $missing of its writes are missing"
	done
	n=$(ls -d -- *.sluice trace.parts runs 2>/dev/null) || true
	[ -z "$n" ] || wrong "more than one trace was written: $n"
}

# pieces_of RANK: the number of pieces that the rank has written, from the size of its file
pieces_of() {
	echo $(($(stat -c %s "rank-$1") / 4))
}

# trace_now: when mpiexec has returned, the trace exists and the spools are removed
trace_now() {
	[ -f trace ] || wrong "there is no trace after mpiexec has returned: $(cat err)"
	[ -z "$(ls "$spools")" ] || wrong "spools are left: $(ls "$spools")"
}
