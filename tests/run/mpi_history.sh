#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hints of MPI files with every installed MPI: the trace has the hints that a program sets; hints learned from two
# runs are passed to the files of a third run that sets none, equally on all ranks; and hints of the program are not
# changed. If a rank is not recorded, or if nothing is known, files are opened unchanged. The program
# tests/mpi/hinted.c decides by waiting how slow a set of hints is at least; fast() stores how fast the other one is. The
# plug-in must be enabled; run/unchanged.sh tests that it does nothing otherwise.
# Papers: SIOX-39, SIOX-62, SIOX-65, SIOX-AC-9.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_PLUGINS_ACT=history
# One run of each set is enough.
cat >"$XDG_CONFIG_HOME/sluice/config" <<EOF
[plugin.history]
learn = 1
EOF
set=cb_buffer_size=8388608\;romio_ds_write=disable
own=cb_buffer_size=1048576

# hinted ORDER MPI MS KEY=VALUE...: runs four ranks
hinted() {
	local order=$1 mpi=$2 command
	shift 2
	mpi_order "$order" "$mpi" 4 hinted "$@"
	observed "${command[@]}"
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	fast
}

# fast: accesses with the set of hints took 1 us per KiB, also if this machine was busy with something else meanwhile
fast() {
	python3 - "$SLUICE_STORE_PATH" "$set" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
db.execute("UPDATE outcome SET seconds = bytes / 1024e6, rate = 1024e6, spread = 0 WHERE hints = ?", sys.argv[2:])
db.commit()
END
}

# opened NAME HINTS...: each file of this name was opened with these hints, by all ranks that open it
opened() {
	check_trace "$@" <<'END'
name, hints = arguments[0], arguments[1] if len(arguments) > 1 else None
opens = [c for c in calls if c.function == "MPI_File_open" and base(c).startswith(name) and c.error == 0]
must(opens, "nobody opens %s" % name)
for call in opens:
    same(call.hints, hints, "hints of rank %s, %s" % (call.rank, call.file))
END
}

outcomes() {
	python3 - "$SLUICE_STORE_PATH" <<'END'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(
    "SELECT operation, program, extension, hints, sum(count), count(DISTINCT run) FROM outcome "
    "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4")
for row in rows:
    print(*row, sep="|")
END
}

# Learning: files without hints are slow, files with hints are fast.
training() {
	case_begin "$1: without hints"
	hinted outside "$1" 700
	for name in world. self. half; do
		opened $name
	done
	case_begin "$1: with hints"
	hinted outside "$1" 1 romio_ds_write=disable cb_buffer_size=8388608
	for name in world. self. half; do
		opened $name "$set"
	done
	# Each run has the file of all ranks, the same file under two names, two halves, and four files of one rank.
	check_eq "$(outcomes | grep '^write|hinted|dat')" "write|hinted|dat||9|1
write|hinted|dat|$set|9|1"
	python3 - "$SLUICE_STORE_PATH" <<'END' || wrong "writes that waited for 0.7 s were faster than that"
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute("SELECT count, seconds FROM outcome WHERE operation = 'write' AND hints = ''").fetchall()
sys.exit(not rows or any(seconds < 0.7 * count for count, seconds in rows))
END
}

# The third run gets the better hints on all ranks, for files of that kind only.
answered() {
	case_begin "$1, $2: the better hints are passed"
	hinted "$2" "$1" 1
	for name in world.dat self. half; do
		opened $name "$set"
	done
	check_has "$("$sluice" report "$work/trace" | sed -n '/^Applied/,/^$/p')" "[history] hints given"
	# So far only files with hints of this kind were seen.
	[ "$2" != outside ] || opened kind.
}

# A hint of the program is kept, and missing hints are added.
own_stay() {
	case_begin "$1: the program sets its own hints"
	hinted outside "$1" 300 $own
	opened world.dat "$own;romio_ds_write=disable"
	opened self. "$own;romio_ds_write=disable"
	"$sluice" report "$work/trace" >report
	check_line report program: cb_buffer_size "1048576 (program) instead of 8388608 (plugin)"
	! grep -q "romio_ds_write.*instead" report || wrong "a conflict about a hint that only one sets"
	case_begin "$1: the parameters of the run set a hint"
	observed "$sluice" run -p cb_buffer_size=2097152 -o "$work/trace" -- "mpiexec.$1" -n 4 "$BUILD/mpi/$1/hinted" 300 $own
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	opened world.dat "cb_buffer_size=2097152;romio_ds_write=disable"
	"$sluice" report "$work/trace" >report
	check_line report user: cb_buffer_size "2097152 (user) instead of 1048576 (program)"
	check_line report user: cb_buffer_size "2097152 (user) instead of 8388608 (plugin)"
}

# If one rank is not recorded, no rank gets hints.
rank_missing() {
	local program=$BUILD/mpi/$1/hinted
	mpi_mixes "$1" || { skip_case mixed-jobs "$1: one rank is not recorded" && return; }
	case_begin "$1: one rank is not recorded"
	observed "$sluice" run -o "$work/trace" -- "mpiexec.$1" -n 3 "$program" 1 : -n 1 env SLUICE_DISABLE=1 "$program" 1
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	fast
	opened world.dat
	opened half
	opened self. "$set"
}

# Two jobs in one run, the first of which is killed: its remains are not taken for ranks of the second.
jobs_apart() {
	local program=$BUILD/mpi/$1/hinted
	mpi_mixes "$1" || { skip_case mixed-jobs "$1: a job runs after a job that was killed" && return; }
	case_begin "$1: a job runs after a job that was killed"
	observed "$sluice" run -o "$work/trace" -- sh -c "mpiexec.$1 -n 2 $program none bad-hint >/dev/null 2>&1
mpiexec.$1 -n 2 $program 1 : -n 2 env SLUICE_DISABLE=1 $program 1"
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	# check_trace does not accept a trace with calls that never ended.
	"$sluice" print "$work/trace" | grep ' MPI_File_open(.* = 0$' >opens || wrong "no file is opened"
	! grep '/world.dat.*hint/set=' opens || wrong "hints for some ranks"
	check_eq "$(grep -c '/self.dat.*hint/set=' opens)" 2
}

# Without the plug-in, in another program, or if more runs are required, nothing is changed.
not_wanted() {
	local program=$BUILD/mpi/$1/hinted
	case_begin "$1: the plug-in is disabled"
	observed "$sluice" -c plugins.act= run -o "$work/trace" -- "mpiexec.$1" -n 4 "$program" 1
	check_eq "$captured_rc" 0 "$case: exit code"
	opened world.
	opened self.
	case_begin "$1: another program writes the same kind of file"
	cp "$program" "$work/another"
	observed "$sluice" run -o "$work/trace" -- "mpiexec.$1" -n 2 "$work/another" 1
	check_eq "$captured_rc" 0 "$case: exit code"
	opened world.
	opened self.
	case_begin "$1: more runs are required"
	observed "$sluice" -c plugin.history.learn=1000 run -o "$work/trace" -- "mpiexec.$1" -n 4 "$program" 1
	check_eq "$captured_rc" 0 "$case: exit code"
	opened world.
}

# A run with many files is one run. The run itself is not learned.
one_run() {
	case_begin "$1: one run of each set"
	cp "$SLUICE_STORE_PATH" "$work/copy.db"
	observed "$sluice" -c store.path="$work/copy.db" -c plugin.history.learn=2 run -o "$work/trace" -- \
		"mpiexec.$1" -n 2 "$BUILD/mpi/$1/hinted" 1
	check_eq "$captured_rc" 0 "$case: exit code"
	opened world.
	opened self.
}

# Exploration: at most this share of the opens of all runs, and the same on all ranks.
exploring() {
	local program=$BUILD/mpi/$1/hinted
	case_begin "$1: exploration"
	export SLUICE_STORE_PATH=$work/explore.$1.db
	for _ in 1 2; do
		observed "$sluice" -c plugin.history.learn=1000 -c plugin.history.explore=20% \
			-c plugin.history.sets=romio_ds_write=disable \
			run -o "$work/trace" -- "mpiexec.$1" -n 4 "$program" 1
		check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
		check_trace <<'END'
opens = [c for c in calls if c.function == "MPI_File_open" and c.error == 0]
alike = defaultdict(set)
for call in opens:
    alike[call.collective if int(call.collective, 16) else call.id].add(call.hints)
for hints in alike.values():
    same(len(hints), 1, "kinds of hints of an opening")
tried = sum(hints == {"romio_ds_write=disable"} for hints in alike.values())
must(tried and tried <= 0.2 * len(alike) + 1, "%d of %d openings were trials" % (tried, len(alike)))
END
	done
	python3 - "$SLUICE_STORE_PATH" <<'END' || wrong "trials are not within their share"
import sqlite3, sys
opens, explored = sqlite3.connect(sys.argv[1]).execute("SELECT sum(opens), sum(explored) FROM trial").fetchone()
sys.exit(not (opens == 20 and 1 <= explored <= 0.2 * opens))
END
}

mpis=$(mpi_list)
[ -n "$mpis" ] || skip libmpich-dev
for mpi in $mpis; do
	export SLUICE_STORE_PATH=$work/store.$mpi.db
	training "$mpi"
	one_run "$mpi"
	answered "$mpi" outside
	answered "$mpi" inside
	own_stay "$mpi"
	rank_missing "$mpi"
	jobs_apart "$mpi"
	not_wanted "$mpi"
	exploring "$mpi"
done
