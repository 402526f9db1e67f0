#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The cost of injecting parameters into VPIC-IO, in CPU time of all processes, with 1, 2 and 4 ranks. The injected values are
# the defaults, so only the interception can be seen. It depends on the machine and its load, so it is reported.
# PAPER_PAIRS is the number of pairs of runs for each number of ranks.
# Papers: H5T-10.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libpapers.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
mpi_has mpich vpic_io && command -v mpiexec.mpich >/dev/null || skip libhdf5-mpich-dev
cat >neutral.json <<'JSON'
{"schema": "sluice.params/1", "parameters": [
 {"name": "alignment", "value": "1,1"},
 {"name": "cb_buffer_size", "value": 16777216},
 {"name": "romio_cb_write", "value": "automatic"}]}
JSON

# seconds COMMAND...: CPU seconds of the command and of all its processes
seconds() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.4f" % (u.ru_utime + u.ru_stime))' "$@"
}

# The same bytes with each number of ranks.
for ranks in 1 2 4; do
	command=(mpiexec.mpich -n $ranks "$BUILD/mpi/mpich/vpic_io" --scale 0.5 --steps $((4 / ranks)) -f vpic.h5)
	for pair in $(seq "${PAPER_PAIRS:-15}"); do
		[ $((pair % 2)) = 0 ] || bare=$(seconds "${command[@]}")
		with=$(seconds "$sluice" run -q --mode off --params neutral.json -- "${command[@]}")
		[ $((pair % 2)) = 1 ] || bare=$(seconds "${command[@]}")
		echo "$bare $with"
	done >pairs
	percent=$(awk '{ print 100 * ($2 / $1 - 1) }' pairs | sort -g |
		awk '{ v[NR] = $1 } END { printf "%.2f", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }')
	echo "$ranks ranks: injection costs $percent % of $(awk '{ s += $1 } END { printf "%.2f", s / NR }' pairs) s of CPU time"
	eval "percent_$ranks=$percent"
done
paper_report H5T-AC-4 "$percent_1 < 1 && $percent_2 < 1 && $percent_4 < 1 && $percent_4 <= $percent_1 + 0.5" \
	"$percent_1, $percent_2 and $percent_4 % of the CPU time with 1, 2 and 4 ranks (medians of ${PAPER_PAIRS:-15} pairs)"
