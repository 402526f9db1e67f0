#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tuning on this machine: strided collective writes of 64 bytes and 300 small datasets, with MPICH, with OMPIO of Open MPI
# (safe parameters only) and with its ROMIO. The default space of `sluice tune` is searched exhaustively and with
# `sluice tune --runs 40`. Then the I/O time of the program is measured in interleaved runs: without parameters, with
# those of the exhaustive search and with those of the short search. The short search must reach 80 % of the speedup of
# the exhaustive one, with the same data in the file. Finally, the overhead of injection is measured: VPIC-IO without
# parameters and with its default values injected.
# BUILD names the build tree, TUNE_DIR the directory for files, TUNE_ROUNDS the number of runs of each variant, TUNE_PAIRS
# the number of pairs of VPIC-IO, TUNE_SCALE its scale, TUNE_CASES the cases "WHERE/KERNEL" to tune. For a case "WHERE",
# only the overhead of injection is measured.
set -eu
BUILD=${BUILD:-build}
. "$(dirname "$0")/../tests/mpi/libmpi.sh"
. "$(dirname "$0")/libbench.sh"
. "$(dirname "$0")/libtune.sh"
rounds=${TUNE_ROUNDS:-11} pairs=${TUNE_PAIRS:-21} scale=${TUNE_SCALE:-1} ranks=4 runs=40
cases=${TUNE_CASES:-mpich/strided mpich/small ompio/strided ompio/small romio/strided romio/small}
bar_share=80 bar_cost=1
# A smaller speedup may be noise.
least_gain=1.2
sluice=$BUILD/sluice
workspace "" "${TUNE_DIR:-/dev/shm}"
# The overhead of recording is not measured here.
export SLUICE_OVERHEAD_BUDGET=0 SLUICE_TUNE_APPLY=off

# program KERNEL: sets command and file
program() {
	case $1 in
	strided)
		file=$work/strided.dat
		parallel levels -l collective-noncontiguous -b 64 -n 32768 -d write -k -f "$file" ;;
	small)
		file=$work/small.h5
		parallel small_io -f "$file" ;;
	*) echo "tune: TUNE_CASES: unknown kernel \"$1\"; expected strided or small" >&2; exit 2 ;;
	esac
}

# winner NAME: the file with the confirmed parameters of a search; nothing if it confirmed none
winner() {
	[ ! -s "$1.json" ] || echo "$1.json"
}

# leader NAME: a file with the best parameters that a search has seen, confirmed or not
leader() {
	python3 - "$1.report" >"$1.leader.json" <<'PYTHON'
import json, sys
best = json.load(open(sys.argv[1]))["best"].get("parameters") or {}
print(json.dumps({"schema": "sluice.params/1", "parameters": [{"name": k, "value": v} for k, v in best.items()]}))
PYTHON
	echo "$1.leader.json"
}

# same A B: succeeds if two files hold the same data, independent of its layout
same() {
	case $1 in
	*.h5) h5diff "$1" "$2" >/dev/null ;;
	*) cmp -s "$1" "$2" ;;
	esac
}

# tuned WHERE KERNEL: compares the short search with the exhaustive one
tuned() {
	local where=$1 kernel=$2 data=same best short gain_all gain_short share
	at "$where"
	program "$kernel"
	is_built || { say "$where/$kernel: skipped, not built"; return; }
	search all --search exhaustive --runs 100000 --repeat 2 --pairs 5 || { miss "$where/$kernel: the exhaustive search failed"; return; }
	search short --runs $runs --pairs 5 || { miss "$where/$kernel: the short search failed"; return; }
	best=$(leader all) short=$(winner short)
	rm -f ./*.seconds
	for _ in $(seq "$rounds"); do
		once none.seconds
		cp "$file" "reference.${file##*.}"
		once all.seconds "$best"
		once short.seconds "$short"
		same "$file" "reference.${file##*.}" || data=DIFFERENT
	done
	gain_all=$(ratio "$(median none.seconds)" "$(median all.seconds)")
	gain_short=$(ratio "$(median none.seconds)" "$(median short.seconds)")
	# With noise, the exhaustive search may find less than the short one.
	share=$(awk -v a="$gain_all" -v s="$gain_short" 'BEGIN { printf "%.0f\n", 100 * s / (a > 1 ? a : 1) }')
	printf '%-14s  %6s points  %8.1f ms  exhaustive %6.2f x  %d runs %6.2f x  %4d %%  %s\n' "$where/$kernel" \
		"$(told all.report 'd["points"]')" "$(awk -v s="$(median none.seconds)" 'BEGIN { print s * 1000 }')" \
		"$gain_all" $runs "$gain_short" "$share" "$data"
	say "    exhaustive: $(told all.report '" ".join(k + "=" + v for k, v in (d["best"].get("parameters") or {}).items()) or "nothing"')"
	say "    $runs runs$([ -n "$short" ] || echo ", not confirmed"): $(told short.report '" ".join(k + "=" + v for k, v in (d["best"].get("parameters") or {}).items()) or "nothing"')"
	key "${where}_${kernel}_gain" "$gain_short"
	key "${where}_${kernel}_best" "$gain_all"
	key "${where}_${kernel}_share" "$share"
	[ $data = same ] || miss "$where/$kernel: the data differs"
	if ! less "$gain_all" $least_gain && less "$share" $bar_share; then
		miss "$where/$kernel: $share % of the best gain, threshold $bar_share %"
	fi
}

# seconds CLOCK COMMAND...: the wall time or the total CPU time of a command
seconds() {
	local clock=$1 TIMEFORMAT='%R %U %S'
	shift
	{ time "$@" >out 2>err; } 2>took || { echo "tune: $(cat err)" >&2; return 1; }
	awk -v clock="$clock" '{ print clock == "wall" ? $1 : $2 + $3 }' took
}

# cost WHERE RANKS CLOCK: measures pairs of VPIC-IO runs in alternating order
cost() {
	local where=$1 n=$2 clock=$3 i bare ours
	at "$where"
	command=("mpiexec.$mpi" -n "$n" "$BUILD/mpi/$mpi/vpic_io" --scale "$scale" --steps $((ranks / n)) -f "$work/vpic.h5")
	is_built || return 0
	rm -f ./*.pairs
	for i in $(seq "$pairs"); do
		[ $((i % 2)) = 0 ] || bare=$(seconds "$clock" "${command[@]}")
		ours=$(seconds "$clock" "$sluice" run --quiet --mode off --params neutral.json -- "${command[@]}")
		[ $((i % 2)) = 1 ] || bare=$(seconds "$clock" "${command[@]}")
		echo "$bare" >>bare.pairs
		ratio "$ours" "$bare" >>ratio.pairs
	done
	sort -g ratio.pairs | awk -v what="$where, $n ranks, $clock" -v bare="$(median bare.pairs)" -v bar=$bar_cost \
		'{ v[NR] = 100 * ($1 - 1) }
		END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
			printf "%-22s  VPIC-IO %8.1f ms  injection %+6.2f %% (quartiles %+.2f to %+.2f, threshold %s %%)\n", what,
				bare * 1000, m, v[int((NR + 3) / 4)], v[int((3 * NR + 1) / 4)], bar
			print m >"cost"; exit m > bar }' || miss "$where, $n ranks, $clock: the overhead of injection is $(cat cost) %, threshold $bar_cost %"
	key "${where}_${n}_${clock}_percent" "$(cat cost)"
}

[ -n "$(mpi_list)" ] || { echo "tune: skipped: no MPI is installed" >&2; exit 0; }
say "$ranks ranks; medians of $rounds; the speedup is that of the I/O time that the program prints"
for case in $cases; do
	case $case in
	*/*) tuned "${case%/*}" "${case#*/}" ;;
	esac
done
# These are the defaults, so only the overhead of injection can be seen.
cat >neutral.json <<'JSON'
{"schema": "sluice.params/1", "parameters": [
 {"name": "alignment", "value": "1,1"},
 {"name": "cb_buffer_size", "value": 16777216},
 {"name": "romio_cb_write", "value": "automatic"}]}
JSON
say
say "$pairs pairs of complete VPIC-IO runs, --scale $scale; the CPU time of one rank depends less on other processes"
for where in $(printf '%s\n' $cases | cut -d/ -f1 | sort -u); do
	[ "$where" != romio ] || continue
	cost "$where" $ranks wall
	cost "$where" 1 cpu
done
finish tune
