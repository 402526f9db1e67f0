#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The collecting process is killed again and again, is absent, or cannot write. The program does not notice, and
# every call is in the trace exactly once.
. "$(dirname "$0")/libsite.sh"

cat >writes.py <<'END'
import os, sys, time
open("pid", "w").write(str(os.getpid()))
fd = os.open("data", os.O_CREAT | os.O_RDWR)
n, pause = int(sys.argv[1]), int(sys.argv[2])
for i in range(n):
    os.pwrite(fd, b"x", i)
    if pause and i % pause == 0:
        time.sleep(0.001)
while len(sys.argv) > 3 and not os.path.exists(sys.argv[3]):
    time.sleep(0.01)
END

# check_once NUMBER: the trace has each of that many writes once
check_once() {
	"$python" - "$work/rows.csv" "$1" <<'END' || wrong "calls are missing or doubled"
import collections, csv, sys
seen = collections.Counter(int(r["offset"]) for r in csv.DictReader(open(sys.argv[1]))
                           if r["function"].startswith("pwrite"))
n = int(sys.argv[2])
missing = [i for i in range(n) if i not in seen]
double = [i for i, c in seen.items() if c > 1]
if missing or double or len(seen) != n:
    print("of", n, "calls", len(missing), "are missing", missing[:5], "and", len(double), "are doubled", double[:5])
    sys.exit(1)
END
}

case_begin "the collector is killed at random moments"
site_start
ends=$(site_ends)
# The program stays until the last collector has started: one that is killed when the trace is complete, and before it
# says so, would say nothing.
under_site "$python" "$work/writes.py" 150000 50 "$work/leave" &
program=$!
for round in $(seq 12); do
	sleep 0.$((RANDOM % 4))$((RANDOM % 10))
	site_stop KILL
	site_start
done
touch leave
wait $program || wrong "the program failed"
site_wait "$ends"
check_once 150000
check_eq "$(lost)" 0 "losses"
check_eq "$(json_get report.json '["run"]["processes"]')" 1 "processes"
check_eq "$(find "$site_traces" -name '*.ledger' -o -name '*.partial*' | wc -l)" 0 "files of unfinished runs"
spools_gone

case_begin "the collector is absent while a program runs"
site_stop
(cd "$work" && under_site "$python" "$work/writes.py" 20000 0) || wrong "the program failed"
[ -n "$(ls "$spools")" ] || wrong "there is nothing to collect"
ends=$(site_ends)
site_start
site_wait "$ends"
check_once 20000
spools_gone

case_begin "the collector starts after the program, which hands over again"
site_stop
rm -f go
under_site "$python" -c 'import os, time
fd = os.open("data", os.O_CREAT | os.O_RDWR)
for i in range(5000):
    os.pwrite(fd, b"x", i)
open("began", "w")
while not os.path.exists("go"):
    time.sleep(0.01)
for i in range(5000, 20000):
    os.pwrite(fd, b"x", i)' &
program=$!
for try in $(seq $polls); do
	[ ! -e began ] || break
	sleep 0.05
done
ends=$(site_ends)
site_start
touch go
wait $program || wrong "the program failed"
site_wait "$ends"
check_once 20000
spools_gone

case_begin "a program is killed"
ends=$(site_ends)
rm -f data pid
# has_written: so many calls that many of them have been collected
has_written() {
	[ "$(stat -c %s data 2>/dev/null || echo 0)" -gt 20000 ]
}
under_site "$python" "$work/writes.py" 100000000 20 &
wait_for "writes" has_written
kill -KILL "$(cat pid)"
wait $! 2>/dev/null || true
site_wait "$ends"
"$python" - "$work/rows.csv" <<'END' || wrong "committed calls are missing"
import csv, sys
seen = sorted(int(r["offset"]) for r in csv.DictReader(open(sys.argv[1])) if r["function"].startswith("pwrite"))
assert len(seen) > 1000 and seen == list(range(len(seen))), (len(seen), seen[:3], seen[-3:])
END
spools_gone

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	case_begin "the file system of the traces is full for a while"
	site_stop
	mkdir -p small
	mount -t tmpfs -o size=1500k,mode=700 tmpfs small || skip mounts
	at_exit 'umount "$work/small" 2>/dev/null'
	kept=$site_traces
	site_traces=$work/small/traces
	site_start
	ends=$(site_ends)
	under_site "$python" "$work/writes.py" 120000 0 &
	program=$!
	head -c 1100k /dev/zero >small/filler 2>/dev/null || true
	wait $program || wrong "the program failed"
	rm -f small/filler
	mount -o remount,size=64m small
	site_wait "$ends"
	n=$(($(rows 'function.startswith("pwrite")') + $(lost)))
	check_eq "$n" 120000 "recorded and lost calls"
	spools_gone
	site_stop
	umount small
	site_traces=$kept
fi
site_stop
