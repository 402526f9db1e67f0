#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The plug-in model_hints changes hints of an open MPI file while the program runs, because the calibrated model predicts
# a speedup. The program tests/mpi/repeats.c repeats a strided collective write until its hints have changed. Its storage
# is slow per writer (SLOW_BYTES), so that pieces which all ranks write are faster than collective buffering by one of
# them, as the model predicts; or slow per call, so that the model is wrong and the hints are withdrawn. In both cases
# all ranks change at the same access, and the data is that of a run without Sluice. Nothing changes if the plug-in is
# off, if the program, a hints file, the user or the plug-in history decides, if a rank is not recorded, or with Open
# MPI. If the watcher or the recorder is killed, or the recorder stalls, the hints change back.
# Papers: SIOX-2.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_STORE_PATH=$work/store.db
rounds=2000
few=40
model=$work/here.model
"$prog/model_file" "$model" 3 262144 65536 0.05 0.1 0.017 || fail "no model"

# repeats MPI SETTING ROUNDS CHANGES [KEY=VALUE]...: records three ranks, with the plug-in unless SETTING says otherwise
repeats() {
	local mpi=$1 setting=$2
	shift 2
	observed "$sluice" -c plugins.act=model_hints -c model.path="$model" ${setting:+-c "$setting"} run -o "$work/trace" -- \
		"mpiexec.$mpi" -n 3 sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$prog/slow.so" "$BUILD/mpi/$mpi/repeats" "$@"
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	"$sluice" report "$work/trace" >report
}

# slow_per writer|call: what makes the storage of the next runs slow
slow_per() {
	export SLOW_FROM=0 SLOW_MS=1 SLOW_BYTES=16384
	[ "$1" = writer ] || { unset SLOW_BYTES && SLOW_MS=20; }
}

# unchanged VALUES: the hints in effect were these in all accesses
unchanged() {
	check_eq "$(cut -d " " -f 2- captured/effective.[0-9] | sort -u)" "$1" "$case: hints in effect"
	check_eq "$("$sluice" report --json "$work/trace" | grep -c "hint changes")" 0 "$case: hint changes"
}

# same_everywhere CHANGES: so many changes, at the same accesses of all ranks, and the same bytes as without Sluice
same_everywhere() {
	cmp captured/effective.0 captured/effective.1 && cmp captured/effective.0 captured/effective.2 ||
		wrong "the ranks differ"
	check_eq "$(cut -d " " -f 2- captured/effective.0 | uniq | wc -l)" "$(($1 + 1))" "$case: changes"
	cmp bare/repeats.dat captured/repeats.dat || wrong "the data differs"
	check_trace "$1" <<'END'
changes = defaultdict(list)
for call in calls:
    if call.function == "MPI_File_set_info":
        changes[call.rank].append(tuple(sorted(call.hints)))
same(sorted(changes), [0, 1, 2], "ranks that change hints")
must(len(set(map(tuple, changes.values()))) == 1, "the ranks differ", changes)
same(len(changes[0]), int(arguments[0]), "changes")
END
}

# values AT: romio_cb_write and romio_ds_write in effect after the first (head) or last (tail) access of rank 0
values() {
	"$1" -n 1 captured/effective.0 | cut -d " " -f 2-
}

faster() {
	case_begin "$1: hints change to those that the model predicts to be faster"
	slow_per writer
	repeats "$1" "" $rounds 1
	same_everywhere 1
	check_eq "$(values head)" "automatic automatic"
	check_eq "$(values tail)" "disable disable"
	check_has "$(cat captured.err)" "model_hints: hint changes 1"
	check_words "$(tr -s ' \n' ' ' <captured.err)" "strided write, 3 ranks" "with romio_cb_write=disable;romio_ds_write=disable" before after
	! grep -q withdrawn captured.err || wrong "what is faster is withdrawn: $(cat captured.err report)"
	check_words "$(tr -s ' \n' ' ' <report)" "suggested hints" "predicted speedup" "interval" "; measured"
	cp trace trace.sluice && check_has "$("$sluice" ls "$work")" "model_hints: hint changes"
}

slower() {
	case_begin "$1: hints are withdrawn if accesses are not faster with them"
	slow_per call
	repeats "$1" "" $rounds 2
	same_everywhere 2
	check_eq "$(values head)" "automatic automatic"
	check_eq "$(cut -d " " -f 2- captured/effective.0 | uniq | sed -n 2p)" "disable disable"
	check_eq "$(values tail)" "automatic automatic"
	check_words "$(tr -s ' \n' ' ' <captured.err)" before after withdrawn
	check_words "$(tr -s ' \n' ' ' <report)" "; measured" "; withdrawn"
}

# begin_until_changed MPI: starts the program, which expects two changes, and waits for the first. Sets $run, $recorder and
# $watcher to the pids.
begin_until_changed() {
	slow_per writer
	rm -rf "$work/captured"
	mkdir "$work/here"
	(cd "$work/here" && exec "$sluice" -c plugins.act=model_hints -c model.path="$model" run -o "$work/trace" -- \
		"mpiexec.$1" -n 3 sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$prog/slow.so" "$BUILD/mpi/$1/repeats" $rounds 2) \
		2>captured.err &
	run=$!
	for _ in $(seq $polls); do
		grep -qs disable "$work/here/effective.0" && break
		sleep 0.05
	done
	recorder=$(recorder_of $run)
	watcher=$(pgrep -P "$recorder" -x sluice-watcher)
}

# ends_unchanged: the hints have changed back at the same access of all ranks, and the data is that without Sluice
ends_unchanged() {
	wait $run || wrong "the program fails: $(cat captured.err)"
	mv "$work/here" "$work/captured"
	check_eq "$(cut -d " " -f 2- captured/effective.0 | uniq | paste -sd " ")" "automatic automatic disable disable automatic automatic"
	cmp captured/effective.0 captured/effective.1 && cmp captured/effective.0 captured/effective.2 ||
		wrong "the ranks differ"
	cmp bare/repeats.dat captured/repeats.dat || wrong "the data differs"
}

watcher_killed() {
	case_begin "$1: hints are withdrawn if the watcher dies"
	begin_until_changed "$1"
	kill -KILL "$watcher"
	ends_unchanged
	check_has "$(cat captured.err)" "watcher"
}

# All rounds take at least 30 s, because the storage is slow.
recorder_killed() {
	case_begin "$1: hints change back if recorder and watcher die"
	begin_until_changed "$1"
	kill -KILL "$recorder" "$watcher"
	ends_unchanged
	case_begin "$1: hints change back for good if the recorder stalls"
	begin_until_changed "$1"
	kill -STOP "$recorder"
	for _ in $(seq $polls); do
		tail -n 1 "$work/here/effective.0" | grep -q automatic && break
		sleep 0.05
	done
	kill -CONT "$recorder"
	ends_unchanged
	"$sluice" report "$work/trace" | tr -s ' \n' ' ' >report
	check_has "$(cat report)" "suggestions ended"
}

off() {
	slow_per writer
	case_begin "$1: the plug-in is off"
	repeats "$1" plugins.act= $few 0
	unchanged "automatic automatic"
	case_begin "$1: the model only compares"
	observed "$sluice" -c plugins.load=predicted -c model.path="$model" run -o "$work/trace" -- \
		"mpiexec.$1" -n 3 "$BUILD/mpi/$1/repeats" $few 0
	unchanged "automatic automatic"
	case_begin "$1: there is no model"
	repeats "$1" model.path="$work/none" $few 0
	unchanged "automatic automatic"
}

# not_used: hints were suggested, but no access was made with them
not_used() {
	check_words "$(tr -s ' \n' ' ' <report)" "suggested hints" "not measured, because 0 of 8 accesses"
}

others_decide() {
	slow_per writer
	case_begin "$1: the program sets a hint"
	repeats "$1" "" $few 0 romio_ds_write=enable
	unchanged "automatic enable"
	case_begin "$1: the hints file of ROMIO sets a hint"
	echo "romio_ds_write enable" >"$work/romio-hints"
	ROMIO_HINTS=$work/romio-hints repeats "$1" "" $few 0
	unchanged "automatic enable"
	not_used
	case_begin "$1: the user forbids a hint"
	repeats "$1" params.forbid=romio_cb_write $few 0
	unchanged "automatic automatic"
	not_used
}

# The plug-in history has learned that another hint is the best one.
history_first() {
	case_begin "$1: what history has learned has precedence"
	slow_per writer
	printf '%s\n' '[plugin.history]' 'learn = 1' >"$XDG_CONFIG_HOME/sluice/config"
	repeats "$1" plugins.act=history 8 0
	repeats "$1" plugins.act=history 8 0 romio_cb_write=enable
	python3 - "$SLUICE_STORE_PATH" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
db.execute("UPDATE outcome SET seconds = bytes / (CASE hints WHEN '' THEN 1.0 ELSE 10.0 END), spread = 0")
db.execute("UPDATE outcome SET rate = bytes / seconds")
db.commit()
END
	repeats "$1" plugins.act="history model_hints" $few 0
	unchanged "enable automatic"
	check_has "$(cat captured.err)" "history: hints given"
}

rank_missing() {
	local program=$BUILD/mpi/$1/repeats
	mpi_mixes "$1" || { skip_case mixed-jobs "$1: one rank is not recorded" && return; }
	case_begin "$1: one rank is not recorded"
	observed "$sluice" -c plugins.act=model_hints -c model.path="$model" run -o "$work/trace" -- \
		"mpiexec.$1" -n 2 "$program" $few 0 : -n 1 env SLUICE_DISABLE=1 "$program" $few 0
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	unchanged "automatic automatic"
}

openmpi_unchanged() {
	case_begin "openmpi: $1"
	slow_per writer
	OMPI_MCA_io=$1 repeats openmpi "" $few 0
	check_trace <<'END'
must(not [c for c in calls if c.function == "MPI_File_set_info"], "hints are set")
END
	check_eq "$(cut -d " " -f 2- captured/effective.[0-9] | sort -u | wc -l)" 1 "$case: hints in effect"
	check_eq "$("$sluice" report --json "$work/trace" | grep -c "hint changes")" 0 "$case: hint changes"
}

mpis=$(mpi_list)
case " ${mpis//$'\n'/ } " in *" mpich "*) ;; *) skip libmpich-dev ;; esac
mkdir bare
(cd bare && mpi_run mpich 3 repeats 2 0) || fail "the program fails without Sluice"
faster mpich
slower mpich
watcher_killed mpich
recorder_killed mpich
off mpich
others_decide mpich
history_first mpich
rank_missing mpich
case " ${mpis//$'\n'/ } " in
*" openmpi "*)
	openmpi_unchanged ompio
	[ -z "$(romio)" ] || openmpi_unchanged "$(romio)"
	;;
esac
