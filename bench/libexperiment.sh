# SPDX-License-Identifier: BSD-3-Clause
# The experiment of forecast.sh, placement.sh and cluster_placement.sh on real storage: throttled targets (libbed.sh or
# libcephbed.sh), a load that moves between them, probes, a model, and a program that writes a set of files with and without
# placement. To be sourced.
#
# Time is compressed: a probe every second instead of every 30 s, reference writes every 2 s, a history of 20 s instead
# of 600 s, and the load stays at a target for tens of seconds instead of minutes to hours.
#
# While probes are collected, the program runs with equal shares, as on a system without placement. Blocks follow; in each
# block, every rule has one step, in random order. All rules, also equal shares, use `sluice run --place RULE`.
targets=${FORECAST_TARGETS:-6} target_mib=256 target_rate=${target_rate:-40} movers=${movers:-2} load_threads=16
stay_s=${FORECAST_STAY:-25} rest_s=15
# 0: without probes and a model
collect_s=${FORECAST_COLLECT:-$([ -n "$quick" ] && echo 90 || echo 300)}
step_s=${FORECAST_STEPS:-$([ -n "$quick" ] && echo 60 || echo 380)}
rules=${rules:-equal classes expected hedged}
# A step: number of processes, files per process, bytes per file; 32 MiB per target with six targets.
writer_processes=${writer_processes:-24} writer_files=4 writer_bytes=2097152
load_pid= probe_pid=

experiment_end() {
	local pid
	for pid in $probe_pid $load_pid; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
	done
	probe_pid= load_pid=
	bed_stop
}

# experiment_start: creates the targets and starts load and probes
experiment_start() {
	local i operands=()
	mkdir -p bed out && bed_start "$work/bed" "$targets" "$target_mib" && bed_throttle "$target_rate" || return 1
	for i in $(seq "$targets"); do
		mkdir "${bed_targets[i - 1]}/probe" "${bed_targets[i - 1]}/files"
		operands+=("t$i=${bed_targets[i - 1]}/probe")
	done
	bed_load "${FORECAST_SEED:-1}" "$movers" "$load_threads" "$stay_s" "$rest_s" >load.log
	load_pid=$!
	[ "$collect_s" -gt 0 ] || return 0
	bed_spawn "$sluice" forecast probe --system bed --every 1s --reference-every 2s --sizes 1M,8M --timeout 10s --jobs-every 0 \
		--duration "$((collect_s + step_s + 300))s" "${operands[@]}" >probe.out 2>probe.err
	probe_pid=$!
	sleep 2
	kill -0 "$probe_pid" 2>/dev/null && kill -0 "$load_pid" 2>/dev/null || { tail -3 probe.err >&2; return 1; }
}

# experiment_site: the description of the site, with the directory of each target for files
experiment_site() {
	local i
	echo "[targets]"
	for i in $(seq "$targets"); do
		echo "t$i = ${bed_targets[i - 1]}/files"
	done
}

# equal_parameters: parameters that spread files equally, for the time before there is a model
equal_parameters() {
	local target list=
	for target in "${bed_targets[@]}"; do
		list=$list${list:+,}$target/files
	done
	echo "{\"schema\": \"sluice.params/1\", \"parameters\": [{\"name\": \"spread_directories\", \"value\": \"$list\"}]}"
}

# step RULE FILE: runs one step and appends a line "RULE BEGIN WHOLE_MS SECONDS BYTES FOLDER=FILES ..." to FILE. SECONDS
# is measured by the program; WHOLE_MS is the time of `sluice run`, including the forecast.
step() {
	local rule=$1 begin line how=(--place "$1")
	if [ "$2" = collected ]; then
		how=(-p equal.json)
	elif [ "$collect_s" -gt 0 ]; then
		"$sluice" forecast now --json 2>now.err | tr -d '\n' >now.json
		[ ! -s now.json ] || echo "$rule $(date +%s%N) $(cat now.json)" >>forecasts
	fi
	begin=$(date +%s%N)
	line=$(bed_run "$sluice" run -q "${how[@]}" -- "$BUILD/bench/bench_forecast_writer" "$work/out" \
		$writer_processes $writer_files $writer_bytes 2>run.err) || { tail -1 run.err >&2; return 1; }
	echo "$rule $begin $((($(date +%s%N) - begin) / 1000000)) $line" >>"$2"
	bed_run find out "${bed_targets[@]/%//files}" -mindepth 1 -delete
}

# pause: waits until a probe was made after the step, because probes would see the step itself as load
pause() {
	sleep 2.2
}

# collect: runs steps with equal shares while probes are collected
collect() {
	local end=$(($(date +%s) + collect_s))
	while [ "$(date +%s)" -lt $end ]; do
		step equal collected && pause || return 1
	done
}

# blocks: runs blocks in which every rule has one step, in random order
blocks() {
	local end=$(($(date +%s) + step_s)) rule
	while [ "$(date +%s)" -lt $end ]; do
		for rule in $(printf '%s\n' $rules | shuf --random-source=<(yes "$end$RANDOM")); do
			step "$rule" steps && pause || return 1
		done
		echo "end" >>steps
	done
}

# learn_load: collects probes and trains the model with them
learn_load() {
	collect || { miss "experiment: the program fails"; return 1; }
	"$sluice" forecast train --system bed --history 20s --method svm -o bed.model >train.out 2>train.err ||
		{ tail -2 train.err >&2; miss "experiment: training failed"; return 1; }
	sed 's/^/  /' train.out
}

# probes_end: ends the probes, if there are any, and fails if they have failed
probes_end() {
	[ -n "$probe_pid" ] || return 0
	kill "$probe_pid" 2>/dev/null && wait "$probe_pid"
	case $? in
	0 | 143) probe_pid= ;;
	*) return 1 ;;
	esac
}

# experiment VERB [ARGUMENT]...: runs it, and has it evaluated by this verb of forecast_judge.py
experiment() {
	experiment_start || { miss "experiment: cannot start targets, load and probes"; return; }
	experiment_site >bed.ini
	equal_parameters >equal.json
	export SLUICE_PARAMS_ALLOW=semantics SLUICE_PROBE_SITE=$work/bed.ini SLUICE_FORECAST_MODEL=$work/bed.model
	say "experiment: $targets targets of $target_rate MiB/s, $movers loads of $load_threads writers that stay for" \
		"$stay_s s on average; $collect_s s of probes, then $step_s s of steps of" \
		"$((writer_processes * writer_files)) files of $((writer_bytes >> 20)) MiB"
	[ "$collect_s" = 0 ] || learn_load || return
	blocks || { miss "experiment: the program fails with placement"; return; }
	probes_end || miss "experiment: sluice forecast probe failed"
	$python "$here/forecast_judge.py" "$1" gain.bars . "$(target_folders)" "${@:2}" || { miss "experiment: the evaluation failed"; return; }
}

# target_folders: prints where the files of each target are: "FOLDER=t1 FOLDER=t2 ..."
target_folders() {
	local i
	for i in $(seq "$targets"); do
		echo "${bed_targets[i - 1]}/files=t$i"
	done
}

# experiment_judged VERB [ARGUMENT]...: the experiment, whose bars are read, and which leaves nothing behind
experiment_judged() {
	trap 'experiment_end; work_remove' EXIT
	experiment "$@"
	experiment_end
	trap work_remove EXIT
	[ ! -e gain.bars ] || bars gain.bars
}
