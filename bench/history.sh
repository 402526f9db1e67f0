#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The benefit of learned hints. The kernel "levels" runs once with the defaults and once with a collective buffer of
# 200 MB and without data sieving; the plug-in history learns from both runs. Then three variants are interleaved: the
# defaults, the hints, and the unmodified program, for which history chooses the hints. History does not learn during
# these runs. All variants enable history; in the first two, it would need a million runs before it chooses any hint.
# It needs one run in the third variant. The median throughput of the third variant must reach 95 % of the better of the first two.
# BUILD names the build tree, HISTORY_ROUNDS is the number of runs of each variant, HISTORY_DIR the directory of the file.
set -eu
BUILD=${BUILD:-build}
. "$(dirname "$0")/../tests/mpi/libmpi.sh"
rounds=${HISTORY_ROUNDS:-7} ranks=4 blocks=256 bytes=102400
hints=(-H cb_buffer_size=200000000 -H romio_ds_read=disable -H romio_ds_write=disable)
# Only ROMIO knows these hints.
export OMPI_MCA_io=romio321
# The overhead of recording is not measured here, so it must not reduce what is recorded.
export SLUICE_OVERHEAD_BUDGET=0
work=$(mktemp -d "${HISTORY_DIR:-${TMPDIR:-/tmp}}/sluice-bench.XXXXXX")
trap 'cd /; rm -rf "$work"' EXIT
cd "$work"
failed=0

# levels MPI STORE LEARN ARGUMENT...: one recorded run of the levels in $what; prints the throughput of all levels, MB/s
levels() {
	local mpi=$1 store=$2 learn=$3
	shift 3
	"$BUILD/sluice" -c plugins.act=history -c store.path="$store" -c plugin.history.learn="$learn" run -q -o trace -- \
		"mpiexec.$mpi" -n $ranks "$BUILD/mpi/$mpi/levels" -n $blocks -b $bytes "${what[@]}" "$@" >out
	awk '{ for (i = 1; i <= NF; i++) { split($i, p, "="); if (p[1] == "bytes") b += p[2]
		if (p[1] == "seconds") s += p[2] } } END { printf "%.1f\n", b / s / 1e6 }' out
}

median() {
	sort -g "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# given: how many opens of the last run got hints
given() {
	"$BUILD/sluice" print trace | awk '/ MPI_File_open\(/ { n++ } / MPI_File_open\(.*hint\/set=/ { h++ }
		END { printf "%d of %d\n", h, n }'
}

# measure MPI NAME [LEVEL]...: compares the variants at the given levels, or at all levels
measure() {
	local mpi=$1 name=$2 what=() level
	shift 2
	for level; do
		what+=(-l "$level")
	done
	rm -f ./*.mbps store.db
	levels "$mpi" "$work/store.db" 1 >/dev/null
	levels "$mpi" "$work/store.db" 1 "${hints[@]}" >/dev/null
	for _ in $(seq "$rounds"); do
		levels "$mpi" "$work/none.db" 1000000 >>defaults.mbps
		levels "$mpi" "$work/none.db" 1000000 "${hints[@]}" >>hints.mbps
		cp store.db now.db
		levels "$mpi" "$work/now.db" 1 >>history.mbps
	done
	awk -v mpi="$mpi, $name" -v d="$(median defaults.mbps)" -v h="$(median hints.mbps)" -v u="$(median history.mbps)" \
		-v given="$(given)" 'BEGIN {
		better = h > d ? h : d
		printf "%-32s  defaults %8.1f  hints %8.1f  history %8.1f MB/s  %6.1f %% of the better one (threshold 95 %%), %s opens with hints: %s\n",
			mpi, d, h, u, 100 * u / better, given, (u >= 0.95 * better ? "good" : "BELOW")
		exit u < 0.95 * better }' || failed=1
}

mpis=$(mpi_list)
[ -n "$mpis" ] || { echo "history: skipped: no MPI is installed" >&2; exit 0; }
echo "four levels of access, $ranks ranks, $blocks blocks of $bytes bytes each; medians of $rounds"
for mpi in $mpis; do
	measure "$mpi" "all levels"
	# Data sieving matters most at this level.
	measure "$mpi" "independent, holes" independent-noncontiguous
done
exit $failed
