#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Forecast and placement. docs/reference/benchmarks.md describes the method. Parts:
#   learn       simulated Titan and Cori: every classifier compared with scikit-learn on the same rows and folds; baselines
#   real        one year of I/O benchmarks on Cori (tokio-abc): states predicted from what is known when a run starts
#   traces      a year of runs on Cori and Mira: the last quarter predicted by `sluice forecast`, persistence, scikit-learn
#   placement   simulated Titan: 100 repetitions of 100 steps, all rules and metrics
#   adaptive    ten simulated systems with other seeds: files placed one by one, compared with the fluid limit
#   svm         support vector machines of 288 targets x 3 sizes compared with scikit-learn; microseconds per forecast
#   probe       the overhead of `sluice forecast probe` at the interval of the paper, measured by itself and from outside
#   generator   rows per second of the simulated systems
#   experiment  six throttled loop devices, a load that moves, probes, a model, and a program with and without placement
# BUILD names the build tree, FORECAST_PARTS the parts to run, SHARED the folder that contains data/, FORECAST_KEEP a
# directory for all intermediate files. FORECAST_QUICK=1 runs a small version; FORECAST_FULL=1 lets scikit-learn train
# all targets. Only the experiment requires root; without root it is skipped.
set -u
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/libbench.sh"
. "$here/libbed.sh"
parts=${FORECAST_PARTS:-generator learn real traces placement adaptive svm probe experiment}
case " $parts " in
*" experiment "*) bed_can 2>/dev/null && bed_enter "$here/forecast.sh" ;;
esac
quick=${FORECAST_QUICK:-} full=${FORECAST_FULL:-}
SHARED=${SHARED:-$here/../../shared}
sluice=$BUILD/sluice
# Debian installs scikit-learn for its own Python.
python=/usr/bin/python3
if [ -n "${FORECAST_KEEP:-}" ]; then
	mkdir -p "$FORECAST_KEEP"
	work=$(cd "$FORECAST_KEEP" && pwd)
else
	work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-bench.XXXXXX")
fi
work_remove() {
	cd /
	[ -n "${FORECAST_KEEP:-}" ] || rm -rf "$work"
}
trap work_remove EXIT
trap 'exit 130' INT TERM
cd "$work"
isolate "$work"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
. "$here/libexperiment.sh"

# word NAME FILE: the value of NAME=VALUE in the first line that has it
word() {
	grep -om1 "\b$1=[^ ]*" "$2" | cut -d= -f2
}

# has_reference: succeeds if scikit-learn is installed
has_reference() {
	$python -c 'import sklearn' 2>/dev/null || { echo "forecast: $python has no scikit-learn; the comparison is skipped" >&2; return 1; }
}

part_generator() {
	local system
	for system in titan cori; do
		"$bench" generate $system >generate.$system || { miss "generator: $system failed"; continue; }
		say "  $(cat generate.$system)"
		key "${system}_rows_per_s" "$(word per_s generate.$system)"
		less "$(word per_s generate.$system)" 1000000 && miss "generator: $system: less than a million rows per second"
	done
}

# system NAME TARGETS DAYS EVERY_S TAG: evaluated by Sluice, then by scikit-learn on the same rows
system() {
	mkdir -p "rows.$5"
	"$bench" judge "$1" "$2" "$3" "$4" "rows.$5" >"judge.$5" || { miss "learn: the evaluation of $5 failed"; return; }
	has_reference || return
	say "  reference writes every $4 s"
	$python "$here/forecast_judge.py" learn "learn.$5" "$1" "judge.$5" "rows.$5" "$5" && bars "learn.$5" ||
		miss "learn: the comparison of $5 failed"
	say
}

# The campaign on Cori has only two days, so it is evaluated with rows every 30 s, too.
part_learn() {
	local titan=$([ -n "$quick" ] && echo 2 || echo 6) cori=$([ -n "$quick" ] && echo 2 || echo 4)
	system titan "$titan" 8 300 titan
	system cori "$cori" 1 300 cori
	system cori "$cori" 1 30 cori30
	[ -e judge.titan ] && "$bench" judge titan "$titan" 4 300 - >judge.titan4 &&
		$python "$here/forecast_judge.py" days learn.days judge.titan judge.titan4 && bars learn.days ||
		miss "learn: the evaluation of 4 days failed"
}

part_real() {
	[ -d "$SHARED/data/tokio-abc" ] ||
		{ echo "forecast: real is skipped: $SHARED/data/tokio-abc does not exist; set SHARED" >&2; return; }
	"$BUILD/bench/bench_forecast_real" "$SHARED/data" >real.out || { miss "real: the evaluation failed"; return; }
	grep -v '^key ' real.out | sed 's/^/  /'
	$python "$here/forecast_judge.py" real real.bars real.out && bars real.bars || miss "real: the evaluation failed"
}

# traces_evaluate SYSTEM ROWS [OPTION]...: the history covers a series of runs; the age of a probe is that of the real run.
traces_evaluate() {
	"$sluice" forecast evaluate --input "traces.$1" --system "$1" --method auto,hidden,persistence,majority --days 274 \
		--states target --features recent,state,share --history 2h --csv "$2" "${@:3}"
}

# Of the 34 kinds of runs on Cori, 8 are used, chosen evenly, as before; then the others.
part_traces() {
	local system
	[ -d "$SHARED/data/tokio-abc" ] ||
		{ echo "forecast: traces is skipped: $SHARED/data/tokio-abc does not exist; set SHARED" >&2; return; }
	has_reference || return
	for system in mira cori; do
		$python "$here/forecast_traces.py" convert "$SHARED"/data/tokio-abc/$system-*.csv.gz traces.$system >traces.runs &&
			traces_evaluate $system traces.$system.csv --max-targets 8 >traces.$system.out ||
			{ miss "traces: the evaluation of $system failed"; continue; }
		say "  $system: $(cat traces.runs)"
		$python "$here/forecast_traces.py" compare traces.bars $system traces.$system.csv && bars traces.bars ||
			miss "traces: the comparison of $system failed"
		say
	done
	traces_evaluate cori traces.all.csv >traces.all.out &&
		$python "$here/forecast_traces.py" compare traces.bars others traces.all.csv traces.cori.csv && bars traces.bars ||
		miss "traces: the comparison of the other kinds failed"
}

part_placement() {
	"$bench" steps titan "$([ -n "$quick" ] && echo 24 || echo 288)" 8 svm 1 0 >steps.titan ||
		{ miss "placement: the simulation failed"; return; }
	$python "$here/forecast_judge.py" steps steps.bars steps.titan && bars steps.bars || miss "placement: the evaluation failed"
}

# The seeds were used for nothing else. ADAPTIVE_SEEDS and ADAPTIVE_SYSTEM choose others.
part_adaptive() {
	local system=${ADAPTIVE_SYSTEM:-titan} seed targets days
	case $system in cori) targets=248 days=1 ;; *) targets=288 days=8 ;; esac
	for seed in ${ADAPTIVE_SEEDS:-$([ -n "$quick" ] && echo 2001 2002 || seq 2001 2010)}; do
		"$bench" steps "$system" $targets $days logistic "$seed" 40 >"adaptive.$seed" ||
			{ miss "adaptive: the simulation of seed $seed failed"; return; }
	done
	$python "$here/forecast_judge.py" adaptive adaptive.bars "$system" && bars adaptive.bars || miss "adaptive: the evaluation failed"
}

# CPU times of one thread are compared; the wall time of Sluice is that of all cores.
part_svm() {
	local targets=$([ -n "$quick" ] && echo 6 || echo 288) some=$([ -n "$full" ] && echo 288 || echo 6) theirs
	"$bench" train titan "$targets" svm 0 >train.svm || { miss "svm: training failed"; return; }
	say "  Sluice: $(cat train.svm)"
	# Forecasts of models of 8 days, as in the paper and in `sluice forecast watch`.
	"$bench" train titan "$targets" svm 8 >train.days || { miss "svm: training failed"; return; }
	say "  8 days: $(cat train.days)"
	key svm_wall_s "$(word wall_s train.svm)"
	key svm_cpu_s "$(word cpu_s train.svm)"
	key ask_us "$(word ask_us train.days)"
	key ask_10_days_us "$(word ask_us train.svm)"
	less 10 "$(word ask_us train.days)" && miss "svm: $(word ask_us train.days) us per forecast, threshold 10 us"
	has_reference || return 0
	mkdir -p rows.all
	"$bench" rows titan "$some" rows.all >/dev/null || { miss "svm: cannot write the rows for scikit-learn"; return; }
	theirs=$($python "$here/forecast_judge.py" fit rows.all titan "$some") || { miss "svm: the comparison failed"; return; }
	theirs=$(awk -v one="$theirs" -v n="$(word models train.svm)" 'BEGIN { printf "%.1f", one * n }')
	say "  CPU seconds for $(word models train.svm) models: scikit-learn $theirs (extrapolated from $some targets" \
		"with 1 GB writes), Sluice $(word cpu_s train.svm)"
	key svm_reference_cpu_s "$theirs"
	less "$theirs" "$(word cpu_s train.svm)" && miss "svm: slower than scikit-learn"
	return 0
}

# Probes four directories at the interval of the paper; the kernel's accounting of the processes is compared.
part_probe() {
	local seconds=$([ -n "$quick" ] && echo 65 || echo 330) i operands=() sizes
	sizes=$([ -n "$quick" ] && echo 1M,64M || echo 1M,64M,256M,1G)
	for i in 1 2 3 4; do
		mkdir -p "probed/d$i"
		operands+=("d$i=$work/probed/d$i")
	done
	$python "$here/forecast_judge.py" outside outside.txt "$sluice" forecast probe --system cost --every 30s --reference-every 5m \
		--sizes "$sizes" --duration "${seconds}s" --jobs-every 5m --json "${operands[@]}" >probe.json 2>probe.err ||
		{ tail -2 probe.err >&2; miss "probe: sluice forecast probe failed"; return; }
	$python "$here/forecast_judge.py" probe probe.bars probe.json outside.txt && bars probe.bars ||
		miss "probe: the evaluation failed"
}

part_experiment() {
	bed_can || { echo "forecast: the experiment is skipped" >&2; key experiment skipped; return; }
	experiment_judged gain
}

bench=$BUILD/bench/bench_forecast
for part in $parts; do
	say "$part:"
	"part_$part"
	say
done
finish forecast
