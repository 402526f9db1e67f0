#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The launcher of `sluice run`: a signal at any moment has the effect that it has on the program, the exit code is the
# program's whatever happens to the recorder, and the program runs unrecorded if Sluice cannot fork, map or allocate.
. "$(dirname "$0")/libtest.sh"
export SLUICE_SPOOL_DIR=$work/spools
mkdir "$SLUICE_SPOOL_DIR"
tries=10
[ -z "$long" ] || tries=40

# nothing_left: no spool directory is left
nothing_left() {
	check_eq "$(ls "$SLUICE_SPOOL_DIR")" "" "left in the spool directory"
}

# A signal in the first moments: the program never runs to its end. Python restores the actions that the shell ignores.
cat >early.py <<'END'
import random, signal, subprocess, sys, time
sluice, tries = sys.argv[1], int(sys.argv[2])
for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGALRM:
    for i in range(tries):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        p = subprocess.Popen([sluice, "run", "-q", "-o", "early.sluice", "--", "sleep", "300"])
        time.sleep(random.uniform(0, 0.08) if i else 0)
        p.send_signal(number)
        code = p.wait(600)
        # The first instructions of the process are those of the loader.
        assert code in (128 + number, -number), "signal %d: exit code %d" % (number, code)
END
python3 early.py "$sluice" $tries || fail "a signal was lost"
for try in $(seq $polls); do
	[ -n "$(ls "$SLUICE_SPOOL_DIR")" ] || break
	sleep 0.05
done
nothing_left

# The terminal sends its signals to the whole group; the program gets them once.
cat >once.py <<'END'
import os, pty, signal, sys, time
pid, terminal = pty.fork()
if not pid:
    os.execv(sys.argv[1], [sys.argv[1], "run", "-q", "-o", "once.sluice", "--", "sh", "-c",
        "n=0; trap 'n=$((n+1)); touch got' INT; touch waits; while [ ! -e stop ]; do sleep 0.05; done; exit $((40 + n))"])
while not os.path.exists("waits"):
    time.sleep(0.05)
os.write(terminal, b"\x03")
while not os.path.exists("got"):
    time.sleep(0.05)
time.sleep(1) # a second one would come at once
open("stop", "w").close()
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
check_eq "$(python3 once.py "$sluice")" 41 "exit code of a program that counts SIGINT"
nothing_left

# run_with_recorder SIGNAL: kills the recorder by a signal while the program runs; sets rc
run_with_recorder() {
	rm -f go running
	"$sluice" run -o r.sluice -- sh -c ': >running; while [ ! -e go ]; do sleep 0.05; done; exit 23' 2>err &
	for try in $(seq $polls); do
		[ ! -e running ] || break
		sleep 0.05
	done
	kill "-$1" "$(recorder_of $!)"
	: >go
	rc=0
	wait $! || rc=$?
}
for signal in SEGV KILL ABRT; do
	run_with_recorder $signal
	check_eq $rc 23 "exit code after SIG$signal of the recorder"
	nothing_left
	case $signal in
	SEGV | KILL)
		check_words "$(cat err)" recorder recovered r.sluice
		check_rc 0 "$sluice" report r.sluice
		;;
	esac
done
run_with_recorder STOP
check_eq $rc 23 "exit code after SIGSTOP of the recorder"
nothing_left

# A wrong command line starts nothing.
check_rc 2 "$sluice" run --mode nonsense -- touch started
check_rc 2 "$sluice" --set nonsense=1 run -- touch started
check_rc 2 "$sluice" run -p missing.json -- touch started
[ ! -e started ] || fail "the program was started"
# A setting that names a missing file only warns.
check_rc 0 "$sluice" --set params.file=missing.json run -o p.sluice -- touch started
[ -e started ] || fail "the program was not started"

# Closed standard files stay closed, and no file of Sluice takes their place.
check_rc 5 "$sluice" run -o c.sluice -- sh -c 'exit 5' <&- >&- 2>&-
check_rc 0 "$sluice" report c.sluice

# Too few files, or too little memory for the recorder: the program runs.
for files in 4 6 8 12; do
	# The loader, too, needs a descriptor, and the test may have inherited some.
	(ulimit -n $files && exec "$sluice" version) >/dev/null 2>&1 || continue
	(ulimit -n $files && exec "$sluice" run -o f.sluice -- sh -c 'echo fine; exit 6') >out 2>err && rc=0 || rc=$?
	check_eq "$rc $(cat out)" "6 fine" "with $files files: $(cat err)"
done
nothing_left
# Find the smallest address space in which the command itself can be loaded; the program needs less.
for kb in 12000 16000 20000 24000 28000 32000 40000 60000 100000 200000; do
	(ulimit -v $kb && exec "$sluice" version) >/dev/null 2>&1 || continue
	rc=0
	(ulimit -v $kb && exec "$sluice" run -o v.sluice -- sh -c 'echo fine; exit 6') >out 2>err || rc=$?
	check_eq "$rc $(cat out)" "6 fine" "with $kb KiB: $(cat err)"
	# Too little memory even to recover the trace: the warning names the command that does it.
	left=$(sed -n "s/.*'sluice trace recover \(.*\)'.*/\1/p" err)
	[ -z "$left" ] || check_rc 0 "$sluice" trace recover "$left"
	nothing_left
done

# No further process can be started. The limit does not hold for root, and counts all processes of a user: a user without
# any, also if the test runs twice on this machine.
limited=()
if [ "$(id -u)" = 0 ]; then
	user=$((60600 + $$ % 400))
	limited=(setpriv --reuid=$user --regid=$user --clear-groups)
fi
mkdir -m 777 theirs
chmod 755 "$work"
cp "$BUILD/sluice" "$BUILD/libsluice.so" "$prog/limits" .
for processes in 1 2 3 4; do
	rc=0
	(cd theirs && ulimit -u $processes && exec "${limited[@]}" env -u SLUICE_SPOOL_DIR HOME="$work/theirs" \
		SLUICE_TRACE_DIR="$work/theirs" XDG_CONFIG_HOME=/nonexistent "$work/sluice" run -o u.sluice -- \
		"$work/limits" busy 10) >out 2>err || rc=$?
	check_eq "$rc $(cat out)" "0 10" "with $processes processes: $(cat err)"
	[ ${#limited[@]} = 0 ] || check_eq "$(find /dev/shm -maxdepth 1 -name "sluice-$user-*")" "" "left in /dev/shm"
done
