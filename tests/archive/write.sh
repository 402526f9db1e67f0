#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Called by make.sh in the directory of one earlier version: writes the files of the archive to files/, and beside each
# what that version says about it. Commands were renamed over time, and the first versions lack many.
set -eu
sluice=$PWD/bin/sluice
files=$PWD/files
export HOME=$PWD/home XDG_CONFIG_HOME=$PWD/home/.config XDG_DATA_HOME=$PWD/home/.local/share SLUICE_TRACE_DIR=$PWD/runs
export SLUICE_MACHINES=$PWD/machines SLUICE_OVERHEAD_BUDGET=0 LC_ALL=C USER=archive
mkdir -p "$HOME" runs machines
mkdir data
cd data
say() { echo "$*" >>"$files/MANIFEST"; }
# first FILE COMMAND [-- COMMAND]...: writes the output of a command to FILE; its names in earlier versions follow. A
# FILE *.out is not kept.
first() {
	local file=$1 command=() word
	shift
	for word in "$@" --; do
		if [ "$word" != -- ]; then
			command+=("$word")
			continue
		fi
		if "${command[@]}" >"$files/$file" 2>"$file.err"; then
			word="${command[*]//"$files/"/}"
			say "${file/%*.out/-}: ${word/#"$sluice"/sluice}"
			[[ $file != *.out ]] || rm "$files/$file"
			return
		fi
		command=()
	done
	rm -f "$files/$file"
	say "(no $file: $(head -n 1 "$file.err"))"
}

# Traces of each format, of a parallel program, and of counters. Their reports are those of this version.
seq 1000 >numbers
"$sluice" run -o "$files/plain.sluice" -- sh -c 'cat numbers numbers >twice; dd if=twice of=copy bs=512 count=4; rm copy'
say "plain.sluice: sluice run -- sh -c '...'"
for form in text sqlite; do
	first convert.out "$sluice" trace convert --format $form "$files/plain.sluice" "$files/plain.$form" \
		-- "$sluice" convert --to $form "$files/plain.sluice" "$files/plain.$form"
done
"$sluice" run --mode counters -o "$files/counters.sluice" -- sh -c 'cat numbers numbers >twice' &&
	say "counters.sluice: sluice run --mode counters" || rm -f "$files/counters.sluice"
if [[ " $WITHOUT " != *" ranks "* ]] && mpicc.mpich -o collective ../collective.c; then
	"$sluice" run -o "$files/ranks.sluice" -- mpiexec.mpich -n 2 ./collective &&
		say "ranks.sluice: sluice run -- mpiexec -n 2 ./collective" || rm -f "$files/ranks.sluice"
fi
for trace in "$files"/*.sluice; do
	name=$(basename "$trace" .sluice)
	"$sluice" report --json "$trace" >"$name.report"
	python3 ../figures.py "$name.report" >"$files/$name.figures"
	"$sluice" print "$trace" 2>/dev/null | wc -l >"$files/$name.lines"
	say "$name.figures: sluice report --json $name.sluice | figures.py; $name.lines: sluice print $name.sluice | wc -l"
done
first part.out "$sluice" report --part -o "$files/profile.saved" "$files/plain.sluice"

# Models, learned from rows of a formula.
python3 ../rows.py
cat >../machines/testbed.ini <<END
[machine]
name = testbed
title = Testbed (Lustre)
romio = lustre
[nodes]
cores = 16
[storage]
block = 4K
[defaults]
cb_buffer_size = 16M
node_aggregators = 16
striping_factor = 16
striping_unit = 16M
END
cp ../machines/testbed.ini "$files"
fit=(--rows costs.csv --learners linear,neighbours --folds 3 --model "$files/costs.model")
first fit.out "$sluice" model fit "${fit[@]}" --candidates 2 -- "$sluice" model fit "${fit[@]}" --budget 2
first costs.predicted "$sluice" model predict -m "$files/costs.model" -n 256 -s 15872K --param striping_factor=16 --json

# The store: a tuning with its entry in the knowledge base, rows of the model, and data of probes.
first tune.out "$sluice" tune --simulate hopper --kernel vpic --ranks 2048 --runs 16 --json -o "$files/best" \
	-- "$sluice" tune --on simulated:hopper --kernel vpic --ranks 2048 --runs 16 --json -o "$files/best"
first kb.list "$sluice" kb list --json
first kb.exported "$sluice" kb export -- "$sluice" kb export 1
first tunings.list "$sluice" kb tunings --json -- "$sluice" tune --list --json
first data.out "$sluice" model data import costs.csv -- "$sluice" bench import costs.csv
mkdir target
first probes.out "$sluice" forecast import probes.txt -- "$sluice" probe import probes.txt \
	-- "$sluice" probe run --system little --every 1s --sizes 4K --truth-every 0 --jobs-every 0 --for 3s a=target
first systems.list "$sluice" forecast systems --json -- "$sluice" probe systems --json -- "$sluice" probe list --json
first probes.sum "$sluice" forecast export --system little
if [ -e "$files/probes.sum" ]; then
	sha256sum <"$files/probes.sum" >sum
	mv sum "$files/probes.sum"
fi
first train.out "$sluice" forecast train --method logistic --history 20m --folds 3 -o "$files/forecast.model"
first forecast.now "$sluice" forecast now -m "$files/forecast.model" --until $((1520700000 + 399 * 60)) --json
if [ -e "$XDG_DATA_HOME/sluice/store.db" ]; then
	cp "$XDG_DATA_HOME/sluice/store.db" "$files/store.db"
	say "store.db: the store after all of this"
fi

# A site's database as a file.
first site.out "$sluice" site init --database "$files/site.db"
if [ -e "$files/site.db" ]; then
	"$sluice" site import --database "$files/site.db" "$files/plain.sluice" "$files/counters.sluice"
	say "site.db: sluice site init, import"
	first site.runs "$sluice" site query --database "$files/site.db" --json \
		'SELECT uuid, program, ranks FROM run ORDER BY uuid' \
		-- "$sluice" site query --database "$files/site.db" --json 'SELECT uuid, program FROM run ORDER BY uuid' \
		-- "$sluice" site query --database "$files/site.db" --json 'SELECT * FROM run'
fi

# Settings: a file that sets each one to the value that it has.
first settings "$sluice" config show -- "$sluice" config
first settings.json "$sluice" config show --json -- "$sluice" config --json

# A run whose processes were killed: its spools, and the part of the trace that was written.
mkdir "$files/killed"
cat >slow.py <<'END'
import os, time

def put(name, text):
    with open("began", "w") as file:
        file.write(text)
    os.rename("began", name)

put("ready", "%d %s\n" % (os.getpid(), os.environ["SLUICE_SPOOL"]))
while not os.path.exists("go"):
    time.sleep(0.05)
with open("slow.out", "wb", buffering=0) as out:
    for i in range(200):
        out.write(b"x" * 100)
put("done", "")
time.sleep(600)
END
"$sluice" run -o "$PWD/killed.sluice" -- python3 -S slow.py &
run=$!
wait_for() {
	for i in $(seq 600); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	return 1
}
wait_for ready
read -r program spool <ready
below() { # PID: prints it and all processes below it, except the program
	local child
	[ "$1" = "$program" ] || echo "$1"
	for child in $(pgrep -P "$1"); do
		below "$child"
	done
}
sleep 1
# What the program writes now stays in the spools, because all processes of `sluice run` are stopped.
mapfile -t pids < <(below "$run")
kill -STOP "${pids[@]}"
touch go
wait_for done
kill -9 "${pids[@]}" "$program"
wait "$run" || true
cp -a "$spool" "$files/killed/spool"
cp killed.sluice "$files/killed"
say "killed/: a run of python3 -S slow.py whose processes were killed, and its spools ($(basename "$spool"))"
rm -rf "$spool"
"$sluice" version >"$files/version" 2>/dev/null || true
