#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# However a parallel job ends, and whether `sluice run` is outside or inside of mpiexec: the job does not hang, exit
# code and output are those of the launcher, and one trace holds every record that the ranks have committed.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

# What the program itself has written; launchers add their own remarks.
program_output() {
	grep "^rank" out | sort || true
}

tested=
for mpi in mpich openmpi; do
	[ -n "$(mpi_program $mpi job)" ] || continue
	tested=yes
	for how in good fails abort killed nofinalize; do
		job bare $mpi $how
		bare=$code
		program_output >out.bare
		for order in outside inside; do
			case_is "$mpi, sluice run $order, $how"
			job $order $mpi $how
			case $order-$how in
			# Whether mpiexec tells of ranks that it has killed itself is a matter of luck with MPICH.
			*-nofinalize) ;;
			# A rank's signal is an exit code of its `sluice run`, as everywhere.
			inside-killed) [ $code != 0 ] || wrong "exit code is 0" ;;
			*) [ $code = $bare ] || wrong "exit code is $code, without us it is $bare: $(cat err)" ;;
			esac
			check_eq "$(program_output)" "$(cat out.bare)" "$this: output"
			case $order-$how in
			*-good | outside-fails) trace_now ;;
			# Of ranks that fail Open MPI kills the others, and with them who would wait for the trace.
			*) trace_wait ;;
			esac
			trace_check
		done
	done
done
[ -n "$tested" ] || skip "there is no MPI"
