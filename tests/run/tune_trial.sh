#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Trials of real commands: their states and figures, the files that are removed after them, and that an aborted trial
# leaves nothing behind. prog/trial calls the runner in the same way as the tuning loop.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export TMPDIR=$work/tmp
mkdir "$TMPDIR" data
cd data

# trial [OPTION...] -- COMMAND...: runs trials; the figures are in $work/figures
trial() {
	"$prog/trial" "$sluice" "$@" >"$work/figures" 2>"$work/err" || fail "trial $*: $(cat "$work/err")"
}

# figure KEY [NUMBER]: prints a figure of the last or of the given trial
figure() {
	sed -n "s/^$1=//p" "$work/figures" | if [ $# -gt 1 ]; then sed -n "$2p"; else tail -1; fi
}

# $note PID: part of a command that notes a process, outside of Sluice, which would restore the file
note="SLUICE_DISABLE=1 sh -c 'echo \$0 >>$work/pids'"

# check_gone: no process of the trial is left, and no temporary file
check_gone() {
	local pid
	for pid in $(cat "$work/pids" 2>/dev/null); do
		[ ! -d "/proc/$pid" ] || fail "process $pid is left: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
	done
	check_eq "$(ls -A "$TMPDIR" | grep -v '^ompi\.' || true)" "" "left in TMPDIR"
	rm -f "$work/pids"
}

# interrupted N COMMAND...: sends SIGINT to a trial as soon as N of its processes have written their pids
interrupted() {
	local count=$1 pid rc=0
	shift
	"$prog/trial" "$sluice" -- "$@" >"$work/figures" 2>"$work/err" &
	pid=$!
	until [ "$(cat "$work/pids" 2>/dev/null | wc -l)" = "$count" ]; do
		kill -0 $pid || fail "$* has ended: $(cat "$work/figures")"
		sleep 0.02
	done
	kill -INT $pid
	wait $pid || rc=$?
	check_eq "$rc: $(cat "$work/err")" "1: trial: interrupted" "an interrupted trial"
}

# A program without MPI: its files are measured and removed; files that existed before are kept.
echo before >old
cat >writer.py <<'END'
import os, sys
os.makedirs("made/deeper")
with open("made/deeper/new", "wb") as f:
	f.write(b"x" * 100000)
open("made/empty", "w").close()
with open("old", "a") as f:
	f.write("appended\n")
os.symlink("old", "link") if not os.path.lexists("link") else None
print("output")
END
trial -c -n 2 -- python3 -B writer.py
check_eq "$(figure state 1) $(figure state 2)" "good good" "states"
check_eq "$(figure write_bytes)" 100009 "bytes written"
check_eq "$(figure program) $(figure ranks) $(figure filesystem)" "writer.py 1 local"
check_has "$(figure fingerprint)" "text:"
check_has "$(figure uses)" "creates"
awk "BEGIN { exit !($(figure io_s) > 0 && $(figure io_s) < $(figure run_s)) }" || fail "times: $(cat "$work/figures")"
[ ! -e made ] || fail "files of a trial are left: $(find made)"
check_eq "$(cat old)" before "a file that was there"
[ ! -L link ] || fail "a link is left"
check_eq "$(figure digest 1)" "$(figure digest 2)" "checksums of the same data"
check_gone

# A program replaces its files: they are as before.
echo before >replaced
echo before >moved
cat >replace.py <<'END'
import os
os.unlink("replaced")
os.rename("moved", "moved.old")
for name in "replaced", "moved", "fresh":
	with open(name, "wb") as f:
		f.write(b"x" * 100000)
END
trial -n 2 -- python3 -B replace.py
check_eq "$(figure state 1) $(figure state 2)" "good good" "states of a program that replaces files"
check_eq "$(ls -d replaced moved moved.old fresh 2>/dev/null | tr '\n' ' ')" "moved replaced " "names"
check_eq "$(cat replaced moved | uniq)" before "contents"
rm replaced moved

# Files are kept on request.
trial -c -k -- python3 -B writer.py
[ -s made/deeper/new ] || fail "--keep does not keep"
rm -r made

# States of trials.
trial -- sh -c 'echo "no such thing" >&2; exit 3'
check_eq "$(figure state)" failed
check_words "$(figure reason)" "exit code 3" "no such thing"
trial -- sh -c 'echo bye; kill -SEGV $$'
check_eq "$(figure state)" crashed
check_words "$(figure reason)" "signal 11" bye
trial -- true
check_eq "$(figure state)" unseen
trial -n 2 -v 'test ! -e made/deeper/new' -- python3 -B writer.py
check_eq "$(figure state 1)" wrong
check_has "$(figure reason 1)" "exit code 1"
trial -v 'test -s made/deeper/new && test "$SLUICE_DISABLE" = 1' -- python3 -B writer.py
check_eq "$(figure state)" good "a trial that is verified"
trial -s "$work/scratch" -- sh -c 'echo kept; exit 1'
check_eq "$(cat "$work/scratch/failed-1.log")" kept "output of a failed trial"
check_gone

# A trial is ended at the time limit and on an interrupt, with all its processes.
trial -l 0.5 -- sh -c "echo made >slow; $note \$\$; setsid sleep 300 & $note \$!; wait"
check_eq "$(figure state)" slow
check_words "$(figure reason)" "0.5 s"
[ ! -e slow ] || fail "a file of a trial that was ended is left"
check_gone
interrupted 1 sh -c "echo x >slow; $note \$\$; exec sleep 300"
[ ! -e slow ] || fail "a file of an interrupted trial is left"
check_gone

echo '{"schema":"sluice.params/1","parameters":[{"name":"alignment","value":"0,65536"}]}' >"$work/params.json"

# A damaged HDF5 file is wrong if it is readable without parameters.
cat >damage.py <<'END'
import os, h5py
with h5py.File("damaged.h5", "w") as f:
	f["x"] = list(range(1000))
if os.path.getsize("../trials") == 4: # the third run
	os.truncate("damaged.h5", 2500)
# Outside of Sluice, which would restore the file.
os.system("SLUICE_DISABLE=1 sh -c 'echo x >>../trials'")
END
if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
	: >../trials
	trial -c -b 2 -p "$work/params.json" -- /usr/bin/python3 -B damage.py
	check_eq "$(figure state 1) $(figure state 2) $(figure state 3)" "good good wrong" "states of a damaged file"
	check_words "$(figure reason 3)" damaged.h5 HDF5
else
	skip_case python3-h5py "a damaged HDF5 file"
fi

# Parallel programs get the parameters, their data is the same, and ranks that ignore signals are ended.
for mpi in $(mpi_list); do
	trial -c -- "mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/vpic_io" -n 8192
	check_eq "$(figure state) $(figure ranks) $(figure nodes) $(figure write_bytes)" "good 2 1 524288" "$mpi"
	check_eq "$(figure uses)" "hdf5 parallel mpi collective collective_hdf5 creates" "$mpi: uses"
	[ "$mpi" = mpich ] && middleware=mpich || middleware=ompio
	check_eq "$(figure middleware)" $middleware "$mpi: what does MPI-IO"
	digest=$(figure digest)
	check_has "$(figure effective)" "alignment=1,1" "$mpi: effective values"
	trial -c -p "$work/params.json" -- "mpiexec.$mpi" -n 2 "$BUILD/mpi/$mpi/vpic_io" -n 8192
	check_eq "$(figure state) $(figure digest)" "good $digest" "$mpi: with parameters"
	check_has "$(figure compared)" "identical: 1 file" "$mpi: comparison"
	check_has "$(figure effective)" "alignment=0,65536" "$mpi: effective values"
	interrupted 2 "mpiexec.$mpi" -n 2 sh -c "trap '' TERM; $note \$\$; exec sleep 300"
	check_gone
	[ ! -e vpic.h5 ] || fail "$mpi: vpic.h5 is left"
done
