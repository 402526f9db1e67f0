#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Torture: signal handlers that do I/O, jump or fork while a wrapper runs; and processes that are killed.
. "$(dirname "$0")/libtorture.sh"

# Every call of the handler is recorded or counted as lost.
check_storm() {
	local handled main recorded
	handled=$(cat "$work/captured/handler.count")
	main=$(cat "$work/captured/main.count")
	recorded=$(rows 'function == "pwrite" and file == "side"')
	[ $((recorded + $(lost))) -ge "$handled" ] && [ "$recorded" -le "$handled" ] ||
		wrong "the handler wrote $handled times, recorded $recorded, lost $(lost)"
	recorded=$(rows 'function == "pwrite" and file == "file"')
	[ $((recorded + $(lost))) -ge "$main" ] && [ "$recorded" -le "$main" ] ||
		wrong "the program wrote $main times, recorded $recorded, lost $(lost)"
}

case_begin "a handler writes every 50 us while the program does I/O"
bare "$prog/signals" storm 200
captured "$prog/signals" storm 200
same_code
same_out
same_err
check_storm
check_rows "$(cat "$work/captured/main.count")" 'function == "fwrite" and file == "stream" and size == 1'
[ "$(lost)" != 0 ] || check_sound
# No record is torn: each handler call writes one byte at its own offset.
check_rows 0 'function == "pwrite" and (size != 1 or result != 1 or not (offset == 0 or file == "side"))'

case_begin "the same on an alternate stack, with handlers that interrupt handlers"
bare "$prog/signals" storm_altstack 200
captured "$prog/signals" storm_altstack 200
same_code
same_out
same_err
check_storm

case_begin "siglongjmp out of read()"
both "$prog/signals" jump_from_read
check_sound 50
check_rows 50 'function == "write" and file == "file" and size == 6'
check_rows 0 'cause'

case_begin "siglongjmp leaves any code, including that of Sluice"
bare "$prog/signals" storm_jump 200
captured "$prog/signals" storm_jump 200
same_code
same_out
same_err
check_rows 1000 'function == "write" and file == "file"'
# The program ends only when it has got on: it has a number of writes to make.
n=$(cat "$work/captured/main.count")
recorded=$(rows 'function == "pwrite" and file == "file"')
# A jump between the call and its record loses this record; there are at most as many as jumps.
[ "$recorded" -ge $((n - 100)) ] && [ "$(lost)" -le 10 ] || wrong "$n writes, $recorded recorded, $(lost) lost"

case_begin "a handler forks at any point, and the child continues"
both "$prog/signals" fork_in_handler 200
# In a child that was forked inside Sluice's code, the call of the handler is not recorded.
check_least 150 'function == "pwrite" and file == "side" and p > 0'
# The interrupted call may end in the child, too.
check_least 2000 'function == "pwrite" and file == "file" and p > 0'

case_begin "a handler forks during read(), and the child returns from it"
both "$prog/signals" fork_in_read 20
check_rows 200 'function == "write" and file == "file" and p == 0'
check_rows 200 'function == "write" and file == "file" and p > 0'
check_rows 20 'function == "read" and p == 0 and error == 4'
check_rows 0 'duration_ns > 60e9'

for how in kill abort segv exit term; do
	case_begin "sudden death by $how: all committed records are in the trace"
	both "$prog/signals" die 5000 $how
	check_sound
	check_rows 5000 'function == "pwrite" and file == "file"'
done

for signal in TERM HUP USR1 USR2; do
	case_begin "SIG$signal to sluice run reaches the program"
	rm -rf captured
	mkdir captured
	(cd captured && exec "$sluice" run -o "$work/trace" -- "$prog/signals" wait_signal) >out 2>err &
	pid=$!
	for try in $(seq $polls); do
		[ ! -e captured/ready ] || break
		sleep 0.05
	done
	kill -$signal $pid
	rc=0
	wait $pid || rc=$?
	check_eq $rc $((20 + $(kill -l $signal))) "exit code"
	check_eq "$(cat out)" "signal $(kill -l $signal)" "signal of the program"
	spools_gone
	trace_read
	check_sound
done

case_begin "SIGINT from the terminal goes to the whole group; sluice run waits for the program"
rm -rf captured
mkdir captured
"$python" - "$sluice" "$work/trace" "$prog/signals" <<'PYTHON' || wrong "SIGINT was not handled"
import os, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "run", "-o", sys.argv[2], "--", sys.argv[3], "wait_signal"], cwd="captured",
                     stdout=subprocess.PIPE, start_new_session=True)
while not os.path.exists("captured/ready"):
    time.sleep(0.05)
os.killpg(p.pid, signal.SIGINT)
out = p.communicate(timeout=600)[0]
assert out == b"signal 2\n" and p.returncode == 22, (out, p.returncode)
PYTHON
spools_gone
trace_read
check_sound
