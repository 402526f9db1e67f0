#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Forecast and placement. docs/benchmarks.md says how it is measured. Parts:
#   learn       generated Titan and Cori: every classifier beside scikit-learn on the same rows and folds, baselines
#   real        one year of I/O benchmarks on Cori (tokio-abc): states, from what is known when a run starts
#   placement   generated Titan: 100 repetitions of 100 steps (WAN-37), all rules and metrics
#   svm         support vector machines of 288 targets x 3 sizes beside scikit-learn's; microseconds per answer
#   probe       what `sluice forecast probe` costs at the paper's cadence, by its own statistics and from outside
#   generator   rows per second of the generated systems
#   experiment  six throttled loop devices, a load that moves, probes, a model, and a program with and without placement
# BUILD names the build tree, FORECAST_PARTS which parts are done, SHARED the folder with data/, FORECAST_KEEP a directory
# where everything stays. FORECAST_QUICK=1 is for a look, FORECAST_FULL=1 lets scikit-learn train all targets, too.
# The experiment and nothing else needs root; without, it is left out.
set -u
BUILD=$(cd "${BUILD:-build}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/libbench.sh"
. "$here/libbed.sh"
parts=${FORECAST_PARTS:-generator learn real placement svm probe experiment}
case " $parts " in
*" experiment "*) bed_can 2>/dev/null && bed_enter "$here/forecast.sh" ;;
esac
quick=${FORECAST_QUICK:-} full=${FORECAST_FULL:-}
SHARED=${SHARED:-$here/../../shared}
sluice=$BUILD/sluice
# Debian's Python: scikit-learn is installed for that one.
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
# Nothing of the user's settings.
for variable in $(compgen -e SLUICE_ || true); do
	unset "$variable"
done
export LC_ALL=C HOME=$work SLUICE_ETC=/dev/null XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work
export SLUICE_STORE_PATH=$work/store.db SLUICE_TRACE_DIR=$work/runs
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
. "$here/libexperiment.sh"

# bars FILE: lines "key NAME VALUE" and "missed: TEXT" of a judge, which it has printed in words already
bars() {
	local line
	while read -r line; do
		case $line in
		"key "*) key ${line#key } ;;
		missed:*) miss "${line#missed: }" ;;
		esac
	done <"$1"
}

# word NAME FILE: the value of NAME=VALUE in the first line that has it
word() {
	grep -om1 "\b$1=[^ ]*" "$2" | cut -d= -f2
}

# has_reference: whether scikit-learn is there
has_reference() {
	$python -c 'import sklearn' 2>/dev/null || { echo "forecast: no scikit-learn for $python: not compared" >&2; return 1; }
}

part_generator() {
	local system
	for system in titan cori; do
		"$bench" generate $system >generate.$system || { miss "generator: $system fails"; continue; }
		say "  $(cat generate.$system)"
		key "${system}_rows_per_s" "$(word per_s generate.$system)"
		less "$(word per_s generate.$system)" 1000000 && miss "generator: $system: below a million rows a second"
	done
}

# system NAME TARGETS DAYS EVERY_S TAG: judged by us, then by scikit-learn on the same rows
system() {
	mkdir -p "rows.$5"
	"$bench" judge "$1" "$2" "$3" "$4" "rows.$5" >"judge.$5" || { miss "learn: $5 was not judged"; return; }
	has_reference || return
	say "  ground truth every $4 s"
	$python "$here/forecast_judge.py" learn "learn.$5" "$1" "judge.$5" "rows.$5" "$5" && bars "learn.$5" ||
		miss "learn: $5 was not compared"
	say
}

# Cori's campaign of two days is short: with rows every five minutes as well as every 30 seconds.
part_learn() {
	local titan=$([ -n "$quick" ] && echo 2 || echo 6) cori=$([ -n "$quick" ] && echo 2 || echo 4)
	system titan "$titan" 8 300 titan
	system cori "$cori" 1 300 cori
	system cori "$cori" 1 30 cori30
	[ -e judge.titan ] && "$bench" judge titan "$titan" 4 300 - >judge.titan4 &&
		$python "$here/forecast_judge.py" days learn.days judge.titan judge.titan4 && bars learn.days ||
		miss "learn: 4 days were not judged"
}

part_real() {
	[ -d "$SHARED/data/tokio-abc" ] ||
		{ echo "forecast: real is left out: there is no $SHARED/data/tokio-abc (SHARED names another)" >&2; return; }
	"$BUILD/bench/bench_forecast_real" "$SHARED/data" >real.out || { miss "real: it was not judged"; return; }
	grep -v '^key ' real.out | sed 's/^/  /'
	$python "$here/forecast_judge.py" real real.bars real.out && bars real.bars || miss "real: it was not judged"
}

part_placement() {
	"$bench" steps titan "$([ -n "$quick" ] && echo 24 || echo 288)" 8 >steps.titan ||
		{ miss "placement: it was not simulated"; return; }
	$python "$here/forecast_judge.py" steps steps.bars steps.titan && bars steps.bars || miss "placement: it was not judged"
}

# One thread of scikit-learn's beside one of ours by CPU time; the wall time of ours is that of all cores.
part_svm() {
	local targets=$([ -n "$quick" ] && echo 6 || echo 288) some=$([ -n "$full" ] && echo 288 || echo 6) theirs
	"$bench" train titan "$targets" svm 0 >train.svm || { miss "svm: nothing was trained"; return; }
	say "  ours: $(cat train.svm)"
	# Answers of models of 8 days, as the paper's and those of `sluice forecast watch`.
	"$bench" train titan "$targets" svm 8 >train.days || { miss "svm: nothing was trained"; return; }
	say "  of 8 days: $(cat train.days)"
	key svm_wall_s "$(word wall_s train.svm)"
	key svm_cpu_s "$(word cpu_s train.svm)"
	key ask_us "$(word ask_us train.days)"
	key ask_10_days_us "$(word ask_us train.svm)"
	less 10 "$(word ask_us train.days)" && miss "svm: $(word ask_us train.days) us per answer, bar 10 us"
	has_reference || return 0
	mkdir -p rows.all
	"$bench" rows titan "$some" rows.all >/dev/null || { miss "svm: there are no rows to compare with"; return; }
	theirs=$($python "$here/forecast_judge.py" fit rows.all titan "$some") || { miss "svm: not compared"; return; }
	theirs=$(awk -v one="$theirs" -v n="$(word models train.svm)" 'BEGIN { printf "%.1f", one * n }')
	say "  scikit-learn, CPU seconds for $(word models train.svm) models by $some targets of 1 GB writes: $theirs;" \
		"ours $(word cpu_s train.svm)"
	key svm_reference_cpu_s "$theirs"
	less "$theirs" "$(word cpu_s train.svm)" && miss "svm: slower than scikit-learn"
	return 0
}

# Four directories at the paper's cadence; what the process and its children took is counted by the kernel as well.
part_probe() {
	local seconds=$([ -n "$quick" ] && echo 65 || echo 330) i operands=() sizes
	sizes=$([ -n "$quick" ] && echo 1M,64M || echo 1M,64M,256M,1G)
	for i in 1 2 3 4; do
		mkdir -p "probed/d$i"
		operands+=("d$i=$work/probed/d$i")
	done
	$python "$here/forecast_judge.py" outside outside.txt "$sluice" forecast probe --system cost --every 30s --reference-every 5m \
		--sizes "$sizes" --duration "${seconds}s" --jobs-every 5m --json "${operands[@]}" >probe.json 2>probe.err ||
		{ tail -2 probe.err >&2; miss "probe: it did not run"; return; }
	$python "$here/forecast_judge.py" probe probe.bars probe.json outside.txt && bars probe.bars ||
		miss "probe: it was not judged"
}

bench=$BUILD/bench/bench_forecast
for part in $parts; do
	say "---- $part ----"
	"part_$part"
	say
done
printf '%s' "${missed:-}"
say "bench forecast:$keys failed=$failed"
[ $failed = 0 ]
