#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The hybrid model of collective I/O, in four parts:
#   modelled   `sluice lab evaluate` on a simulated Vesta, with both laws of contention
#   speed      `sluice model recommend` among 10,000 configurations
#   counts     the call counts of the model compared with those of the real library (tests/run/model_counts.sh)
#   real       this machine: `sluice model measure`, `fit` and `calibrate`, then held-out accesses of the real library,
#              with its default settings, independent, collective and recommended ones, interleaved
# BUILD names the build tree, MODEL_PARTS the parts to run, MODEL_DIR a directory of the file system for the real part (by
# default /dev/shm, and TMPDIR or /var/tmp), MODEL_RANKS the numbers of ranks, MODEL_BUFFERS the measured buffers,
# MODEL_ACCESSES the accesses per number of ranks, MODEL_REPEAT their repetitions, MODEL_BUDGET the time limit of each
# measurement. MODEL_QUICK=1 runs a small version. MODEL_KEEP names a directory for rows, models and runs; when it is used
# again, existing results are not measured again.
set -eu
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tests/mpi/libmpi.sh"
. "$here/libbench.sh"
quick=${MODEL_QUICK:-}
parts=${MODEL_PARTS:-modelled speed counts real}
ranks=${MODEL_RANKS:-$([ -n "$quick" ] && echo 2,4 || echo 2,4,8)}
buffers=${MODEL_BUFFERS:-262144,1048576,4194304,16777216}
accesses=${MODEL_ACCESSES:-$([ -n "$quick" ] && echo 8 || echo 24)}
repeat=${MODEL_REPEAT:-$([ -n "$quick" ] && echo 3 || echo 5)}
budget=${MODEL_BUDGET:-$([ -n "$quick" ] && echo 20s || echo 100s)}
bar_inside_low=85 bar_inside_high=95 bar_runs=40 bar_answer_ms=50 bar_counts=60
sluice=$BUILD/sluice
workspace "${MODEL_KEEP:-}" "${TMPDIR:-/tmp}"

# percent FILE NAME: a share in FILE, as a percentage
percent() {
	told "$1" "'%.1f' % (100 * d['$2'])"
}

# law NAME: evaluates the models on the simulated Vesta with one law of contention
law() {
	local name=$1 line
	say "simulated Vesta, contention \"$name\""
	if [ ! -e "evaluate.$name.json" ]; then
		"$sluice" lab evaluate --machine vesta --contention "$name" --json >"evaluate.$name.part" ||
			{ miss "$name: sluice lab evaluate failed"; return; }
		mv "evaluate.$name.part" "evaluate.$name.json"
	fi
	python3 "$here/model_judge.py" modelled "evaluate.$name.json" >"evaluate.$name.bars" ||
		{ miss "$name: the evaluation failed"; return; }
	while read -r line; do
		say "  ${line#missed: }"
		case $line in
		missed:*) miss "simulated Vesta, $name: ${line#missed: }" ;;
		esac
	done <"evaluate.$name.bars"
	say
}

part_modelled() {
	law queue
	law share
}

# Asks a model that consists of support vector machines, the slowest method, for the best of 100 x 100 settings.
part_speed() {
	local begin answer
	"$sluice" model measure all --mpi mpich --ranks 2 --dir "$work" --max-time 10s --writes-only --platform speed \
		>/dev/null 2>&1 &&
		"$sluice" model fit --platform speed --learners svm --candidates 2 --folds 3 -o svm.model \
			>/dev/null 2>&1 || { miss "speed: cannot fit the model"; return; }
	python3 -c 'import json
print(json.dumps({"schema": "sluice.space/1", "dimensions": [
    {"name": "cb_nodes", "values": list(range(1, 101)), "default": 64},
    {"name": "cb_buffer_size", "values": [i << 20 for i in range(1, 101)], "default": 16 << 20}]}))' >space.json
	rm -f answers walls
	for _ in $(seq 11); do
		begin=$(date +%s%N)
		"$sluice" model recommend --model svm.model --nodes 256 --ranks 4096 --size 24M --pattern strided --block 4K \
			--space space.json --json \
			>answer.json || { miss "speed: sluice model recommend failed"; return; }
		echo $((($(date +%s%N) - begin) / 1000)) >>walls
		told answer.json '"%.3f" % (1e3 * d["seconds"])' >>answers
	done
	[ "$(told answer.json 'd["candidates"]')" -ge 10000 ] || miss "speed: there were not 10000 configurations"
	answer=$(median answers)
	say "the best of $(told answer.json 'd["candidates"]') configurations in $answer ms (threshold $bar_answer_ms ms)," \
		"the whole command in $(awk -v us="$(median walls)" 'BEGIN { print us / 1000 }') ms; medians of 11"
	say
	key answer_ms "$answer"
	less $bar_answer_ms "$answer" && miss "speed: $answer ms, threshold $bar_answer_ms ms"
	return 0
}

# ---- counts ----

part_counts() {
	local line
	SLUICE_LONG=1 BUILD=$BUILD bash "$here/../tests/run/model_counts.sh" >counts.out 2>counts.err ||
		{ tail -3 counts.err >&2; miss "counts: they are not equal, or were not compared"; return; }
	line=$(sed -n 's/^model_counts: mpich: equal //p' counts.out)
	say "call counts compared with the real library: $(grep '^model_counts: ' counts.out | cut -d' ' -f2- | paste -sd';')"
	say
	key counts "${line// /_}"
	[ -n "$line" ] && [ "${line% of *}" = "${line#* of }" ] && [ "${line% of *}" -ge $bar_counts ] ||
		miss "counts: ${line:-none} are equal, threshold: all of at least $bar_counts"
}

# measured NAME PLACE: measures a file system, fits its model and calibrates it. Communication is measured once for all
# file systems.
measured() {
	local name=$1 place=$2
	if [ ! -e comm.csv ]; then
		"$sluice" model measure comm --mpi mpich --ranks "$ranks" --max-time "$budget" --platform comm \
			--buffers "$buffers" -o comm.part >&2 || return
		mv comm.part comm.csv
	fi
	[ ! -e "$name.model" ] || return 0
	# The files of the runs fit in the page cache, so the measurement uses the page cache as well.
	"$sluice" model measure storage --mpi mpich --ranks "$ranks" --max-time "$budget" --platform "$name" --dir "$place" \
		--buffers "65536,$buffers" --cache use --rounds 12 --repeat 9 >&2 || return
	"$sluice" model data import comm.csv --platform "$name" >/dev/null || return
	(cd "$place" && "$sluice" model fit --platform "$name" -o "$work/$name.model.part") >&2 || return
	"$sluice" model calibrate -m "$name.model.part" --mpi mpich --ranks "$ranks" --dir "$place" --accesses "$accesses" \
		--repeat "$repeat" --seed 1 || return
	mv "$name.model.part" "$name.model"
}

# held_out NAME PLACE: accesses of another seed, which neither the costs nor the calibration have seen
held_out() {
	local name=$1 place=$2
	[ ! -e "$name.check" ] || return 0
	"$sluice" model calibrate -m "$name.model" --mpi mpich --ranks "$ranks" --dir "$place" --accesses "$accesses" \
		--repeat "$repeat" --seed 2 --check --json >"$name.part" || return
	mv "$name.part" "$name.check"
}

# real NAME PLACE: measures, fits, calibrates and evaluates a model of the file system of PLACE
real() {
	local name=$1 place=$2 inside regret
	say "$name, $place ($(stat -f -c %T "$place")): ranks $ranks, medians of $repeat runs in shuffled order," \
		"load $(cut -d' ' -f1 /proc/loadavg)"
	measured "$name" "$place" && held_out "$name" "$place" || { miss "$name: the measurement failed"; return; }
	python3 "$here/model_judge.py" judge "$name.check" "$name.json" || { miss "$name: the evaluation failed"; return; }
	inside=$(percent "$name.json" inside) regret=$(percent "$name.json" plain_regret_median)
	say "$(told "$name.json" 'd["runs"]') held-out settings of $(told "$name.json" 'd["instances"]') accesses:" \
		"$inside % inside the 90 % prediction intervals (threshold $bar_inside_low to $bar_inside_high %);" \
		"median of predicted / measured $(told "$name.json" '"%.2f" % d["ratio_median"]');" \
		"Kendall $(told "$name.json" '"%.2f" % d["kendall"]') overall," \
		"$(told "$name.json" '"%.2f" % d["kendall_median"]') for the median access"
	say "recommended settings compared with the best of default, independent and collective: median $regret % longer" \
		"(threshold 0 %), mean $(percent "$name.json" plain_regret_mean) %," \
		"maximum $(percent "$name.json" plain_regret_most) %;" \
		"of the default alone: median $(percent "$name.json" default_regret_median) %," \
		"maximum $(percent "$name.json" default_regret_most) %;" \
		"geometric mean of the speedup over the default $(told "$name.json" '"%.2f" % d["gain_mean"]')"
	key "${name}_runs" "$(told "$name.json" 'd["runs"]')"
	key "${name}_inside_percent" "$inside"
	key "${name}_regret_percent" "$regret"
	key "${name}_kendall_median" "$(told "$name.json" '"%.3f" % d["kendall_median"]')"
	less "$(told "$name.json" 'd["runs"]')" $bar_runs && miss "$name: fewer than $bar_runs held-out runs"
	{ less "$inside" $bar_inside_low || less $bar_inside_high "$inside"; } &&
		miss "$name: $inside % inside, threshold $bar_inside_low to $bar_inside_high %"
	less 0 "$regret" && miss "$name: recommended settings take $regret % longer than the best plain ones in the median"
	say
}

part_real() {
	mpi_has mpich collective_io && mpi_has mpich elemental && command -v mpiexec.mpich >/dev/null ||
		{ echo "model: real is skipped: MPICH is not installed" >&2; return; }
	if [ -n "${MODEL_DIR:-}" ]; then
		real here "$MODEL_DIR"
		return
	fi
	real memory /dev/shm
	real disk "${TMPDIR:-/var/tmp}"
}

for part in $parts; do
	"part_$part"
done
finish model
