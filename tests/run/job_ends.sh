#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A parallel job can end in many ways, with `sluice run` outside or inside of mpiexec. The job never hangs, exit code
# and output are those of the launcher, and one trace holds every record that the ranks have committed.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

# Only the output of the program is compared; launchers add their own messages.
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
			# MPICH's mpiexec reports the ranks that it has killed itself only sometimes.
			*-nofinalize) ;;
			# The signal of a rank becomes the exit code of its `sluice run`, as usual.
			inside-killed) [ $code != 0 ] || wrong "exit code is 0" ;;
			# mpiexec of MPICH 4.2 sometimes ends with 0 after a rank was killed (3 of 25 runs without Sluice).
			outside-killed)
				[ $code = $bare ] || [ $mpi$code = mpich0 ] || [ $mpi$bare = mpich0 ] ||
					wrong "exit code is $code, without us it is $bare: $(cat err)"
				;;
			*) [ $code = $bare ] || wrong "exit code is $code, without us it is $bare: $(cat err)" ;;
			esac
			check_eq "$(program_output)" "$(cat out.bare)" "$this: output"
			case $order-$how in
			*-good | outside-fails) trace_now ;;
			# If a rank fails, Open MPI kills the others, including the one that would wait for the trace.
			*) trace_wait ;;
			esac
			trace_check
		done
	done
done
[ -n "$tested" ] || skip libmpich-dev
