#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The plug-in history changes the hints of open MPI files before accesses that other hints suit better. The program
# tests/mpi/kinds.c alternates large contiguous and small strided accesses. Three runs with different hints are recorded;
# then measured() replaces their times, so that a set is the best one for each kind. In the next run, the hints in effect
# (MPI_File_get_info) and the calls that ROMIO makes differ per kind of access, and the data is that of a run without
# Sluice. Nothing changes if the plug-in is off, if a rank is not recorded, if the program decides, or with Open MPI.
# Papers: SIOX-39.
. "$(dirname "$0")/libtorture.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_PLUGINS_ACT=history
cat >"$XDG_CONFIG_HOME/sluice/config" <<EOF
[plugin.history]
learn = 1
EOF
rounds=4
collective=romio_cb_write=enable
independent=romio_cb_write=disable\;romio_ds_write=disable

# kinds MPI ARGUMENT...: records three ranks
kinds() {
	local mpi=$1
	shift
	kinds_with "$mpi" "" "$@"
}

# kinds_with MPI SETTING ARGUMENT...: the same with a setting KEY=VALUE, or ""
kinds_with() {
	local mpi=$1 setting=$2
	shift 2
	observed "$sluice" ${setting:+-c "$setting"} run -o "$work/trace" -- \
		"mpiexec.$mpi" -n 3 "$BUILD/mpi/$mpi/kinds" "$@"
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
}

# measured: replaces the measured times. Contiguous accesses gain from collective buffering, strided ones from none.
measured() {
	python3 - "$SLUICE_STORE_PATH" "$collective" "$independent" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
for strided, best in ((0, sys.argv[2]), (1, sys.argv[3])):
    db.execute("UPDATE outcome SET seconds = bytes / (CASE WHEN hints = ? THEN 10.0 WHEN hints = '' THEN 1.0 ELSE 0.9 END) "
               "/ (CASE ? WHEN 1 THEN 1 ELSE 100 END), spread = 0 WHERE operation LIKE '%strided' = ?", (best, strided, strided))
db.execute("UPDATE outcome SET rate = bytes / seconds")
db.commit()
END
}

# effective FILE KIND: the different values of romio_cb_write and romio_ds_write after the first round, over all ranks
effective() {
	for file in captured/effective.[0-9]; do
		grep "^$1 $2 " "$file" | tail -n +2
	done | sort -u | cut -d " " -f 3-
}

# unchanged WORLD [SELF]: the hints in effect of these files were these values in all accesses
unchanged() {
	check_eq "$(cat captured/effective.[0-9] | grep ^world | cut -d " " -f 3- | sort -u)" "$1" "$case: shared file"
	check_eq "$(cat captured/effective.[0-9] | grep ^self | cut -d " " -f 3- | sort -u)" "${2-$1}" "$case: files of one rank"
	check_eq "$("$sluice" report --json "$work/trace" | grep -c "hint changes")" 0 "$case: hint changes"
}

# changed: the hints in effect are those that suit the access
changed() {
	local file
	for file in world self; do
		check_eq "$(effective $file contiguous)" "enable automatic" "$case: $file, contiguous"
		check_eq "$(effective $file strided)" "disable disable" "$case: $file, strided"
	done
}

training() {
	case_begin "$1: three runs teach"
	kinds "$1" $rounds
	unchanged "automatic automatic"
	kinds "$1" $rounds ${collective/;/ }
	kinds "$1" $rounds ${independent/;/ }
	check_has "$("$sluice" config store outcomes)" "write_all strided"
	measured
	cp "$SLUICE_STORE_PATH" "$work/learned.db"
}

# again: what was learned at first is known again
again() {
	cp "$work/learned.db" "$SLUICE_STORE_PATH"
}

acting() {
	case_begin "$1: hints change before accesses"
	again
	kinds "$1" $rounds
	changed
	check_trace $rounds <<'END'
rounds = int(arguments[0])
shared = [c for c in calls if c.file and c.file.endswith("/kinds.dat")]
changes = defaultdict(list)
for call in shared:
    if call.function == "MPI_File_set_info":
        changes[call.rank].append(tuple(sorted(call.hints)))
same(sorted(changes), [0, 1, 2], "ranks that change hints")
must(len(set(map(tuple, changes.values()))) == 1, "the ranks differ", changes)
must(2 * rounds - 2 <= len(changes[0]) <= 2 * rounds, "%d changes" % len(changes[0]))
# The pieces of ranks are written by one aggregator, or by each rank.
writers = defaultdict(set)
for call in calls:
    access = call.cause_in("MPI")
    if call.layer == "POSIX" and call.function.startswith("pwrite") and access in shared:
        writers[access.size, access.offset // 1000000].add(call.rank)
last = [max(k for k in writers if k[0] == size) for size in (65536 * 4, 512 * 4)]
same(writers[last[0]], {0}, "writers of contiguous accesses")
same(writers[last[1]], {0, 1, 2}, "writers of strided accesses")
END
	"$sluice" report "$work/trace" >report
	check_line report "[history]" "hint changes"
	check_has "$(cat captured.err)" "history: hint changes"
	cp trace trace.sluice && check_has "$("$sluice" ls "$work")" "hint changes"
	mkdir bare
	(cd bare && mpi_run "$1" 3 kinds $rounds) || wrong "the program fails without Sluice"
	for file in kinds.dat kinds.dat.0 kinds.dat.1 kinds.dat.2; do
		cmp bare/$file captured/$file || wrong "$file differs"
	done
	case_begin "$1: a recorder for each rank"
	again
	observed "mpiexec.$1" -n 3 "$sluice" run -o "$work/trace" -- "$BUILD/mpi/$1/kinds" $rounds
	check_eq "$captured_rc" 0 "$case: exit code"
	changed
	# The samples of that run belong to the hints that were in force.
	check_eq "$(python3 - "$SLUICE_STORE_PATH" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for row in db.execute("SELECT DISTINCT hints FROM outcome ORDER BY 1"):
    print(*row)
END
)" "
$independent
$collective"
}

bounded() {
	case_begin "$1: few changes"
	again
	kinds_with "$1" plugin.history.changes=2 6
	check_eq "$(cat captured/effective.[0-9] | grep ^world | sed '$!d' | cut -d " " -f 3-)" "enable automatic" "$case: world"
	check_eq "$(cat captured/effective.[0-9] | grep ^self | sed '$!d' | cut -d " " -f 3-)" "automatic automatic" "$case: self"
	check_has "$(cat captured/effective.[0-9])" "world strided disable disable"
	# Two, and the one that restores the hints of three files; the shared file is opened with those of contiguous accesses.
	check_has "$("$sluice" report "$work/trace")" "hint changes 11" "$case"
	case_begin "$1: no changes"
	again
	kinds_with "$1" plugin.history.changes=0 $rounds
	check_eq "$(cat captured/effective.[0-9] | cut -d " " -f 3- | sort -u)" "enable automatic"
}

off() {
	case_begin "$1: the plug-in is off"
	again
	kinds_with "$1" plugins.act= $rounds
	unchanged "automatic automatic"
	case_begin "$1: more runs are required"
	again
	kinds_with "$1" plugin.history.learn=2 $rounds
	unchanged "automatic automatic"
	case_begin "$1: other calls are watched"
	again
	kinds_with "$1" plugin.history.calls=MPI_File_write_ordered $rounds
	unchanged "enable automatic" "automatic automatic"
	case_begin "$1: offsets do not count"
	again
	kinds_with "$1" plugin.history.attributes=volume $rounds
	unchanged "enable automatic"
	case_begin "$1: the user forbids a hint"
	again
	kinds_with "$1" params.forbid=romio_cb_write $rounds
	check_eq "$(effective world strided)" "automatic disable"
	check_eq "$(effective world contiguous)" "automatic automatic"
}

own_stay() {
	case_begin "$1: the program sets a hint"
	again
	kinds "$1" $rounds romio_cb_write=automatic
	check_eq "$(effective world strided)" "automatic disable"
	check_eq "$(effective world contiguous)" "automatic automatic"
	case_begin "$1: the program sets hints of the open file"
	again
	kinds "$1" $rounds set-info
	check_eq "$(cat captured/effective.[0-9] | grep ^world | tail -1 | cut -d " " -f 3-)" \
		"$(grep "^world strided" captured/effective.0 | head -1 | cut -d " " -f 3-)"
	check_eq "$(effective world strided)" "$(effective world contiguous)"
	case_begin "$1: a split collective access"
	again
	kinds "$1" $rounds begin
	check_eq "$(effective world strided)" "$(effective world contiguous)"
}

rank_missing() {
	local program=$BUILD/mpi/$1/kinds
	mpi_mixes "$1" || { skip_case mixed-jobs "$1: one rank is not recorded" && return; }
	case_begin "$1: one rank is not recorded"
	again
	observed "$sluice" run -o "$work/trace" -- "mpiexec.$1" -n 2 "$program" $rounds : -n 1 env SLUICE_DISABLE=1 "$program" $rounds
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	check_eq "$(cat captured/effective.[0-9] | grep ^world | cut -d " " -f 3- | sort -u)" "automatic automatic"
	check_eq "$(effective self strided)" "automatic automatic
disable disable"
}

# Ranks of two programs, for which other hints were the best for strided accesses.
programs_differ() {
	local program=$BUILD/mpi/$1/kinds
	mpi_mixes "$1" || { skip_case mixed-jobs "$1: two programs share a file" && return; }
	case_begin "$1: two programs share a file"
	again
	cp "$program" "$work/other"
	python3 - "$SLUICE_STORE_PATH" "$independent" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
columns = [c[1] for c in db.execute("PRAGMA table_info(outcome)")]
names = ", ".join('"%s"' % c for c in columns)
values = ", ".join({"program": "'other'", "hints": "replace(hints, 'ds_write=disable', 'ds_write=enable')"}.get(c, '"%s"' % c)
                   for c in columns)
db.execute("INSERT INTO outcome (%s) SELECT %s FROM outcome WHERE program = 'kinds'" % (names, values))
db.commit()
END
	observed "$sluice" run -o "$work/trace" -- "mpiexec.$1" -n 2 "$program" $rounds : -n 1 "$work/other" $rounds
	check_eq "$captured_rc" 0 "$case: exit code, after $(tail -60 captured.err): exit code"
	check_eq "$(cat captured/effective.[0-9] | grep ^world | cut -d " " -f 3- | sort -u)" "enable automatic"
	check_eq "$(effective self strided)" "disable disable
disable enable"
}

# What was learned with MPICH changes no open files of Open MPI, neither with OMPIO nor with ROMIO: they are opened with
# the hints that are the best ones for whole files.
openmpi_unchanged() {
	local component=$1
	case_begin "openmpi: $component"
	again
	OMPI_MCA_io=$component kinds openmpi $rounds
	unchanged "enable -"
	check_trace <<'END'
must(not [c for c in calls if c.function == "MPI_File_set_info"], "hints are set")
END
}

invalid() {
	case_begin "invalid settings"
	for pair in changes=64 changes=x attributes=size calls=MPI_File_wriet; do
		"$sluice" -c plugin.history.$pair run -o "$work/trace" -- true 2>error
		check_has "$(cat error)" "plugin.history.${pair%%=*}: invalid value \"${pair#*=}\""
	done
}

mpis=$(mpi_list)
case " ${mpis//$'\n'/ } " in *" mpich "*) ;; *) skip libmpich-dev ;; esac
export SLUICE_STORE_PATH=$work/store.db
training mpich
acting mpich
bounded mpich
off mpich
own_stay mpich
rank_missing mpich
programs_differ mpich
invalid
case " ${mpis//$'\n'/ } " in
*" openmpi "*)
	openmpi_unchanged ompio
	[ -z "$(romio)" ] || openmpi_unchanged "$(romio)"
	;;
esac
