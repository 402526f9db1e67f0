#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Real tunings on this machine: strided collective writes of 64 bytes and 300 small datasets, under MPICH, Open MPI's
# OMPIO (parameters that are safe there) and its ROMIO. The space that `sluice tune` suggests is searched completely,
# and by `sluice tune --runs 40`. Then the program's own I/O time is taken in turn without parameters, with those of the
# complete search and with those of the short one: the short one must reach 80 % of the other's gain, with the same
# data in the file. Last, what injection costs that changes nothing: VPIC-IO bare and with its defaults injected.
# BUILD names the build tree, TUNE_DIR where files are written, TUNE_ROUNDS how often the three are run, TUNE_PAIRS how
# often VPIC-IO is, TUNE_SCALE how large it is, TUNE_CASES which "WHERE/KERNEL" are tuned; of a "WHERE" alone only the
# cost of injection is taken.
set -eu
BUILD=${BUILD:-build}
. "$(dirname "$0")/../tests/mpi/libmpi.sh"
. "$(dirname "$0")/libbench.sh"
rounds=${TUNE_ROUNDS:-11} pairs=${TUNE_PAIRS:-21} scale=${TUNE_SCALE:-1} ranks=4 runs=40
cases=${TUNE_CASES:-mpich/strided mpich/small ompio/strided ompio/small romio/strided romio/small}
bar_share=80 bar_cost=1
# Below that a gain is what the noise of the machine may be.
least_gain=1.2
sluice=$BUILD/sluice
work=$(mktemp -d "${TUNE_DIR:-/dev/shm}/sluice-bench.XXXXXX")
trap 'cd /; rm -rf "$work"' EXIT
cd "$work"
# Nothing of the user's settings; what recording costs is not the question.
for variable in $(compgen -e SLUICE_ || true); do
	unset "$variable"
done
export LC_ALL=C HOME=$work SLUICE_ETC=/dev/null XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work SLUICE_OVERHEAD_BUDGET=0
export SLUICE_TUNE_APPLY=off SLUICE_TRACE_DIR=$work/runs SLUICE_STORE_PATH=$work/store.db

# ratio A B: A / B, or 0
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f\n", (b > 0 ? a / b : 0) }'
}

# at WHERE: sets mpi, allow and the module that does MPI-IO
at() {
	unset OMPI_MCA_io
	case $1 in
	mpich) mpi=mpich allow=layout ;;
	ompio) mpi=openmpi allow=safe ;;
	romio) mpi=openmpi allow=layout; export OMPI_MCA_io=romio321 ;;
	*) echo "tune: there is no \"$1\" of TUNE_CASES: mpich, ompio, romio" >&2; exit 2 ;;
	esac
}

# program KERNEL: sets command and file
program() {
	case $1 in
	strided)
		file=$work/strided.dat
		command=("$BUILD/mpi/$mpi/levels" -l collective-noncontiguous -b 64 -n 32768 -d write -k -f "$file") ;;
	small)
		file=$work/small.h5
		command=("$BUILD/mpi/$mpi/small_io" -f "$file") ;;
	*) echo "tune: there is no \"$1\" of TUNE_CASES: strided, small" >&2; exit 2 ;;
	esac
	command=("mpiexec.$mpi" -n "$ranks" "${command[@]}")
}

# search NAME WORD...: one tuning; NAME.report is what it tells, NAME.json the winner, if there is one
search() {
	local name=$1
	shift
	rm -f "$name".*
	"$sluice" tune --json --no-ablation --allow $allow -o "$name" "$@" -- "${command[@]}" >"$name.report" 2>"$name.err" ||
		{ echo "tune: $(tail -3 "$name.err")" >&2; return 1; }
}

# told FILE EXPRESSION: of a report
told() {
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2], {"d": d}))' "$1" "$2"
}

# once FILE [PARAMETERS]: I/O time that the program tells, in seconds, added to the file
once() {
	local parameters=()
	[ -z "${2:-}" ] || parameters=(--params "$2")
	rm -f "$file"
	"$sluice" run --quiet --mode off "${parameters[@]}" -- "${command[@]}" >out 2>err ||
		{ echo "tune: $(cat err)" >&2; return 1; }
	sed -n 's/.* seconds=\([0-9.]*\).*/\1/p' out >>"$1"
}

# winner NAME: the parameters that a search has proved; nothing where there are none
winner() {
	[ ! -s "$1.json" ] || echo "$1.json"
}

# leader NAME: the best that it has seen, proved or not: what there is to be found
leader() {
	python3 - "$1.report" >"$1.leader.json" <<'PYTHON'
import json, sys
best = json.load(open(sys.argv[1]))["best"].get("parameters") or {}
print(json.dumps({"schema": "sluice.params/1", "parameters": [{"name": k, "value": v} for k, v in best.items()]}))
PYTHON
	echo "$1.leader.json"
}

# same A B: the data of two files, wherever it lies in them
same() {
	case $1 in
	*.h5) h5diff "$1" "$2" >/dev/null ;;
	*) cmp -s "$1" "$2" ;;
	esac
}

# tuned WHERE KERNEL
tuned() {
	local where=$1 kernel=$2 data=same best short gain_all gain_short share
	at "$where"
	program "$kernel"
	[ -x "${command[3]}" ] && command -v "mpiexec.$mpi" >/dev/null || { say "$where/$kernel: not built"; return; }
	search all --search exhaustive --runs 100000 --repeat 2 --pairs 5 || { miss "$where/$kernel: no complete search"; return; }
	search short --runs $runs --pairs 5 || { miss "$where/$kernel: no short search"; return; }
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
	# A complete search of noisy times may lead to less than a short one has found.
	share=$(awk -v a="$gain_all" -v s="$gain_short" 'BEGIN { printf "%.0f\n", 100 * s / (a > 1 ? a : 1) }')
	printf '%-14s  %6s points  %8.1f ms  complete %6.2f x  %d runs %6.2f x  %4d %%  %s\n' "$where/$kernel" \
		"$(told all.report 'd["points"]')" "$(awk -v s="$(median none.seconds)" 'BEGIN { print s * 1000 }')" \
		"$gain_all" $runs "$gain_short" "$share" "$data"
	say "    complete: $(told all.report '" ".join(k + "=" + v for k, v in (d["best"].get("parameters") or {}).items()) or "nothing"')"
	say "    $runs runs$([ -n "$short" ] || echo ", not proved"): $(told short.report '" ".join(k + "=" + v for k, v in (d["best"].get("parameters") or {}).items()) or "nothing"')"
	key "${where}_${kernel}_gain" "$gain_short"
	key "${where}_${kernel}_best" "$gain_all"
	key "${where}_${kernel}_share" "$share"
	[ $data = same ] || miss "$where/$kernel: the data is another one"
	if ! less "$gain_all" $least_gain && less "$share" $bar_share; then
		miss "$where/$kernel: $share % of the best gain, bar $bar_share %"
	fi
}

# seconds CLOCK COMMAND...: how long it takes, or how much CPU time all of it
seconds() {
	local clock=$1 TIMEFORMAT='%R %U %S'
	shift
	{ time "$@" >out 2>err; } 2>took || { echo "tune: $(cat err)" >&2; return 1; }
	awk -v clock="$clock" '{ print clock == "wall" ? $1 : $2 + $3 }' took
}

# cost WHERE RANKS CLOCK: pairs of VPIC-IO, each now one way first and now the other
cost() {
	local where=$1 n=$2 clock=$3 i bare ours
	at "$where"
	[ -x "$BUILD/mpi/$mpi/vpic_io" ] && command -v "mpiexec.$mpi" >/dev/null || return 0
	command=("mpiexec.$mpi" -n "$n" "$BUILD/mpi/$mpi/vpic_io" --scale "$scale" --steps $((ranks / n)) -f "$work/vpic.h5")
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
			printf "%-22s  VPIC-IO %8.1f ms  injection %+6.2f %% (quartiles %+.2f to %+.2f, bar %s %%)\n", what,
				bare * 1000, m, v[int((NR + 3) / 4)], v[int((3 * NR + 1) / 4)], bar
			print m >"cost"; exit m > bar }' || miss "$where, $n ranks, $clock: injection costs $(cat cost) %, bar $bar_cost %"
	key "${where}_${n}_${clock}_percent" "$(cat cost)"
}

[ -n "$(mpi_list)" ] || { echo "tune: there is no MPI" >&2; exit 0; }
say "$ranks ranks; medians of $rounds; the gain is that of the I/O time which the program tells"
for case in $cases; do
	case $case in
	*/*) tuned "${case%/*}" "${case#*/}" ;;
	esac
done
# What counts anyway: only that it is injected can be seen.
cat >neutral.json <<'JSON'
{"schema": "sluice.params/1", "parameters": [
 {"name": "alignment", "value": "1,1"},
 {"name": "cb_buffer_size", "value": 16777216},
 {"name": "romio_cb_write", "value": "automatic"}]}
JSON
say
say "pairs of whole runs of VPIC-IO, $pairs each, --scale $scale; the CPU time of one rank is less at the mercy of others"
for where in $(printf '%s\n' $cases | cut -d/ -f1 | sort -u); do
	[ "$where" != romio ] || continue
	cost "$where" $ranks wall
	cost "$where" 1 cpu
done
printf '%s' "${missed:-}"
say "bench tune:$keys failed=$failed"
[ $failed = 0 ]
