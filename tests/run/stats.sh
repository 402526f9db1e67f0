#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Node statistics in the trace of a run: what is sampled, whether it matches what the program did, and which settings
# select it.
# Papers: SIOX-47, SIOX-67.
. "$(dirname "$0")/libtest.sh"

# The program writes 32 MiB of random data to the disk between two samples: it waits for the files "begin" and "end".
cat >writes.py <<'END'
import os, time
def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.05)
wait_for("begin")
fd = os.open("data", os.O_WRONLY | os.O_CREAT, 0o600)
for _ in range(32):
    os.write(fd, os.urandom(1 << 20))
os.fsync(fd)
os.close(fd)
open("written", "w")
wait_for("end")
END

# ask TRACE SQL: prints one value of the trace
ask() {
	python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])' "$@"
}

named="samples JOIN statistics ON number = statistic"
names="'cpu/user', 'cpu/idle', 'cpu/running', 'memory/used', 'memory/dirty', 'utilization/cpu', 'utilization/memory'"
# has_samples NUMBER: the trace, which is being written, has so many samples of each of these statistics
has_samples() {
	rm -f part.db
	"$sluice" trace convert run.sluice part.db 2>/dev/null || return 1
	[ "$(ask part.db "SELECT count(*) FROM (SELECT name FROM $named WHERE name IN ($names) GROUP BY name HAVING count(*) >= $1)" \
		2>/dev/null)" = 7 ]
}
"$sluice" run --quiet --output run.sluice -- python3 writes.py >out 2>err &
run=$!
at_exit "touch '$work/begin' '$work/end'; wait $run 2>/dev/null || true"
wait_for "first samples" has_samples 1
touch begin
wait_for "end of the writes" test -e written
wait_for "further samples" has_samples 3
touch end
wait $run || fail "exit code $?: $(cat err)"
check_rc 0 "$sluice" trace convert run.sluice run.db
check_eq "$(ask run.db "SELECT count(*) FROM $named WHERE time_ns < period_ns OR period_ns < 0 OR
	time_ns - period_ns > (SELECT duration_ns FROM end_of_run)")" 0 "samples outside the run"
check_eq "$(ask run.db "SELECT count(DISTINCT host) FROM statistics")" 1 "hosts"
check_eq "$(ask run.db "SELECT host = (SELECT host FROM run) FROM statistics")" 1 "the host is the run's"

# The shares of CPU time add up to 100%, except for rounding.
wrong=$(ask run.db "SELECT count(*) FROM (SELECT sum(1.0 * value / scale) AS percent FROM $named
	WHERE name IN ('cpu/user', 'cpu/system', 'cpu/iowait', 'cpu/idle', 'cpu/steal') GROUP BY time_ns)
	WHERE abs(percent - 100) > 0.05")
check_eq "$wrong" 0 "polls in which shares of the cores do not add up"
used=$(ask run.db "SELECT max(value) < (SELECT min(value) FROM $named WHERE name = 'memory/total')
	FROM $named WHERE name = 'memory/used'")
check_eq "$used" 1 "less memory is used than there is"

# Synchronized data went through a device, if the file is on one.
case $(df --output=source "$work" | tail -1) in
/dev/*)
	written=$(ask run.db "SELECT max(bytes) FROM (SELECT sum(value) AS bytes FROM $named
		WHERE name LIKE 'io/%/written' GROUP BY name)")
	[ "$written" -ge $((32 << 20)) ] || fail "32 MiB were written, but the devices have written $written bytes"
	busy=$(ask run.db "SELECT max(value) FROM $named WHERE name = 'utilization/io'")
	[ "$busy" -gt 0 ] || fail "the device was never busy"
	;;
*)
	echo "not checked against a device: $work lies on none"
	;;
esac

# Sampling has an overhead, which is noted.
cost=$(ask run.db "SELECT value FROM notes WHERE source = 'statistics' AND kind = 'cost'")
[ "$cost" -gt 0 ] || fail "the cost of statistics is $cost"

# The report shows the node statistics of the time of the I/O.
check_rc 0 "$sluice" report --json run.sluice
cp out report.json
python3 - <<'END' || fail "the report lacks the node statistics"
import json
node = json.load(open("report.json"))["node"]
figures = {f["name"]: f for f in node["statistics"]}
assert 0 <= node["from_ns"] < node["to_ns"], node
assert 0 <= figures["cpu/idle"]["least"] <= figures["cpu/idle"]["mean"] <= figures["cpu/idle"]["most"] <= 100
assert 0 < figures["memory/used"]["mean"] < figures["memory/total"]["mean"]
END

# A run that is shorter than the period has samples, too: the last one is taken at its end.
check_rc 0 "$sluice" run --quiet --output short.db --format sqlite -- true
[ "$(ask short.db "SELECT count(*) FROM $named WHERE name = 'memory/used'")" -ge 1 ] || fail "no sample of a short run"

# All formats have the same samples.
check_rc 0 "$sluice" trace convert run.db run.txt
check_eq "$(grep -c '^#sample' run.txt)" "$(ask run.db "SELECT count(*) FROM samples")" "samples in text"

# Settings select the providers and the period.
check_rc 0 "$sluice" --set stats.providers=memory run --quiet --output one.db --format sqlite -- sleep 2
check_eq "$(ask one.db "SELECT count(*) FROM statistics WHERE name NOT LIKE 'memory/%'")" 0 "others than memory"
[ "$(ask one.db "SELECT count(*) FROM samples")" -gt 0 ] || fail "no samples of memory"
check_rc 0 "$sluice" --set stats.period=0 run --quiet --output none.db --format sqlite -- sleep 0.3
check_eq "$(ask none.db "SELECT count(*) FROM samples")" 0 "samples with a period of 0"
check_rc 0 "$sluice" --set stats.providers=weather run --quiet --output wrong.db --format sqlite -- sleep 0.3
check_has "$(ask wrong.db "SELECT value FROM notes WHERE source = 'statistics' AND kind = 'refused'")" \
	"weather" "the refusal"
