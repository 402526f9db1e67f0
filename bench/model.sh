#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The hybrid model of collective I/O, in four parts:
#   modelled   `sluice lab evaluate` on a modelled Vesta, with both laws of contention
#   speed      `sluice model recommend` among 10,000 configurations
#   counts     the model's counts of calls beside those of the real library (tests/run/model_counts.sh)
#   real       this machine: `sluice model measure`, `sluice model fit`, then runs of collective_io that the model has not seen
# BUILD names the build tree, MODEL_PARTS which parts are done, MODEL_DIR a directory of the file system that the real
# part writes to (else two are taken: /dev/shm, and TMPDIR or /var/tmp), MODEL_RANKS, MODEL_SIZES and MODEL_BUFFERS what
# is run there, MODEL_REPEAT how often, MODEL_BUDGET how long each benchmark may take. MODEL_QUICK=1 is for a look.
# MODEL_KEEP names a directory where everything stays: rows, models, runs. Called again with it, what was measured
# already is not measured again.
set -eu
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tests/mpi/libmpi.sh"
. "$here/libbench.sh"
quick=${MODEL_QUICK:-}
parts=${MODEL_PARTS:-modelled speed counts real}
ranks=${MODEL_RANKS:-2 4 8}
# No size is one that anything was benchmarked with; buffers are what there is to choose from.
sizes=${MODEL_SIZES:-1536K 3M 6M 12M}
buffers=${MODEL_BUFFERS:-262144 1048576 4194304 16777216}
repeat=${MODEL_REPEAT:-$([ -n "$quick" ] && echo 3 || echo 15)}
budget=${MODEL_BUDGET:-$([ -n "$quick" ] && echo 20s || echo 100s)}
bar_regret=10 bar_runs=40 bar_answer_ms=50 bar_counts=60
sluice=$BUILD/sluice
if [ -n "${MODEL_KEEP:-}" ]; then
	mkdir -p "$MODEL_KEEP"
	work=$(cd "$MODEL_KEEP" && pwd)
else
	work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-bench.XXXXXX")
	trap 'cd /; rm -rf "$work"' EXIT
fi
cd "$work"
# Nothing of the user's settings.
for variable in $(compgen -e SLUICE_ || true); do
	unset "$variable"
done
export LC_ALL=C HOME=$work SLUICE_ETC=/dev/null XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work
export SLUICE_STORE_PATH=$work/store.db

# told FILE EXPRESSION: of a JSON object d
told() {
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2], {"d": d}))' "$1" "$2"
}

# percent FILE NAME: a share as a percentage
percent() {
	told "$1" "'%.1f' % (100 * d['$2'])"
}

# ---- a modelled machine ----

# law NAME: the contest on Vesta with one law of contention
law() {
	local name=$1 line
	say "modelled Vesta, law \"$name\""
	if [ ! -e "evaluate.$name.json" ]; then
		"$sluice" lab evaluate --machine vesta --contention "$name" --json >"evaluate.$name.part" ||
			{ miss "$name: sluice lab evaluate fails"; return; }
		mv "evaluate.$name.part" "evaluate.$name.json"
	fi
	python3 "$here/model_judge.py" modelled "evaluate.$name.json" >"evaluate.$name.bars" ||
		{ miss "$name: it was not judged"; return; }
	while read -r line; do
		say "  ${line#missed: }"
		case $line in
		missed:*) miss "modelled Vesta, $name: ${line#missed: }" ;;
		esac
	done <"evaluate.$name.bars"
	say
}

part_modelled() {
	law queue
	law share
}

# ---- speed ----

# A model of support vector machines alone, which take longest to ask, is asked for the best of 100 x 100 settings.
part_speed() {
	local begin answer
	"$sluice" lab measure all -o vesta.csv >/dev/null 2>&1 &&
		"$sluice" model fit --rows vesta.csv --machine vesta --learners svm --candidates 2 --folds 3 -o svm.model \
			>/dev/null 2>&1 || { miss "speed: there is no model to ask"; return; }
	python3 -c 'import json
print(json.dumps({"schema": "sluice.space/1", "dimensions": [
    {"name": "bg_nodes_pset", "values": list(range(1, 101)), "default": 64},
    {"name": "cb_buffer_size", "values": [i << 20 for i in range(1, 101)], "default": 16 << 20}]}))' >space.json
	rm -f answers walls
	for _ in $(seq 11); do
		begin=$(date +%s%N)
		"$sluice" model recommend --model svm.model --nodes 256 --ranks 4096 --size 24M --space space.json --json \
			>answer.json || { miss "speed: no answer"; return; }
		echo $((($(date +%s%N) - begin) / 1000)) >>walls
		told answer.json '"%.3f" % (1e3 * d["seconds"])' >>answers
	done
	[ "$(told answer.json 'd["candidates"]')" -ge 10000 ] || miss "speed: there were not 10000 configurations"
	answer=$(median answers)
	say "the best of $(told answer.json 'd["candidates"]') configurations in $answer ms (bar $bar_answer_ms ms)," \
		"the whole command in $(awk -v us="$(median walls)" 'BEGIN { print us / 1000 }') ms; medians of 11"
	say
	key answer_ms "$answer"
	less $bar_answer_ms "$answer" && miss "speed: $answer ms, bar $bar_answer_ms ms"
	return 0
}

# ---- counts ----

part_counts() {
	local line
	SLUICE_LONG=1 BUILD=$BUILD bash "$here/../tests/run/model_counts.sh" >counts.out 2>counts.err ||
		{ tail -3 counts.err >&2; miss "counts: they are not equal, or were not compared"; return; }
	line=$(sed -n 's/^model_counts: mpich: equal //p' counts.out)
	say "counts of calls beside those of the real library: $(grep '^model_counts: ' counts.out | cut -d' ' -f2- | paste -sd';')"
	say
	key counts "${line// /_}"
	[ -n "$line" ] && [ "${line% of *}" = "${line#* of }" ] && [ "${line% of *}" -ge $bar_counts ] ||
		miss "counts: ${line:-none} are equal, bar: all of at least $bar_counts"
}

# ---- this machine ----

# measured NAME PLACE: rows of a place, the model made from them. What all places share is measured once.
measured() {
	local name=$1 place=$2 list
	list=$(echo "$ranks" | tr ' ' ,)
	if [ ! -e comm.csv ]; then
		"$sluice" model measure comm --mpi mpich --ranks "$list" --max-time "$budget" --platform comm \
			--buffers "$(echo "$buffers" | tr ' ' ,)" -o comm.part >&2 || return
		mv comm.part comm.csv
	fi
	[ ! -e "$name.model" ] || return 0
	# Files of the accesses fit the cache, and so do those of the benchmark: the condition is the same.
	"$sluice" model measure storage --mpi mpich --ranks "$list" --max-time "$budget" --platform "$name" --dir "$place" \
		--buffers "65536,$(echo "$buffers" | tr ' ' ,)" --cache use --writes-only --rounds 12 --repeat 9 \
		>&2 || return
	"$sluice" model measure --import comm.csv --platform "$name" >/dev/null || return
	(cd "$place" && "$sluice" model fit --platform "$name" -o "$work/$name.model.part") || return
	mv "$name.model.part" "$name.model"
}

# held_out NAME PLACE: runs that nothing was learnt from
held_out() {
	local name=$1 place=$2 n
	for n in $ranks; do
		[ ! -e "$name.$n" ] || continue
		python3 "$here/model_judge.py" cases "$n" "$sizes" "$buffers" >"$name.$n.cases"
		MPI_LIMIT=${MODEL_LIMIT:-1200} mpi_run mpich "$n" collective_io --cases "$name.$n.cases" --repeat "$repeat" \
			-o "$place/sluice-bench.$$" --remove >"$name.$n.part" ||
			{ rm -f "$place/sluice-bench.$$"; echo "model: $n ranks at $place failed" >&2; return 1; }
		mv "$name.$n.part" "$name.$n"
	done
}

# real NAME PLACE
real() {
	local name=$1 place=$2 n results=()
	say "$name, $place ($(stat -f -c %T "$place")): ranks $ranks, medians of $repeat in shuffled order"
	measured "$name" "$place" && held_out "$name" "$place" || { miss "$name: it was not measured"; return; }
	for n in $ranks; do
		results+=("$name.$n")
	done
	python3 "$here/model_judge.py" judge "$sluice" "$name.model" "$name.json" "${results[@]}" ||
		{ miss "$name: it was not judged"; return; }
	say "$(told "$name.json" 'd["runs"]') held-out configurations of $(told "$name.json" 'd["instances"]') accesses:" \
		"Kendall $(told "$name.json" '"%.2f" % d["kendall"]') over all," \
		"$(told "$name.json" '"%.2f" % d["kendall_median"]') in the median access;" \
		"median regret $(percent "$name.json" regret_median) % (bar $bar_regret %)," \
		"mean $(percent "$name.json" regret_mean) %, most $(percent "$name.json" regret_most) %;" \
		"median regret of the default $(percent "$name.json" default_regret_median) %"
	say "mean gain over the default $(told "$name.json" '"%.2f" % d["gain_mean"]')," \
		"of the best $(told "$name.json" '"%.2f" % d["gain_best_mean"]');" \
		"predicted / measured $(told "$name.json" '"%.2f" % d["ratio_median"]') in the median," \
		"$(percent "$name.json" inside) % of truths inside intervals of 90 %"
	key "${name}_runs" "$(told "$name.json" 'd["runs"]')"
	key "${name}_kendall" "$(told "$name.json" '"%.3f" % d["kendall"]')"
	key "${name}_kendall_median" "$(told "$name.json" '"%.3f" % d["kendall_median"]')"
	key "${name}_regret_percent" "$(percent "$name.json" regret_median)"
	less "$(told "$name.json" 'd["runs"]')" $bar_runs && miss "$name: fewer than $bar_runs held-out runs"
	less $bar_regret "$(percent "$name.json" regret_median)" &&
		miss "$name: median regret $(percent "$name.json" regret_median) %, bar $bar_regret %"
	say
}

part_real() {
	mpi_has mpich collective_io && mpi_has mpich elemental && command -v mpiexec.mpich >/dev/null ||
		{ echo "model: there is no MPICH" >&2; return; }
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
printf '%s' "${missed:-}"
say "bench model:$keys failed=$failed"
[ $failed = 0 ]
