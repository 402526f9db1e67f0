#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# When calls become slow, the histogram finds them and the reasoners of process, node and system signal in the same
# cycle. A cycle of one hour makes this exact: there is one cycle, at the end.
# Papers: SIOX-35, SIOX-66, SIOX-AC-10.
. "$(dirname "$0")/libtest.sh"

# The load of this machine must not explain what the test slows down, so node statistics are not sampled. Nor must it
# look like an anomaly: a slow call takes 50 times as long as usual, and the test makes calls take 20 ms.
cat >"$SLUICE_ETC" <<SETTINGS
[plugins]
load = histogram
[plugin.histogram]
learn = 1000
quantiles = 1 10 80 90
factor = 50
[stats]
period = 0
[reason]
cycle = 1h
[store]
path = $work/store.db
SETTINGS

# slow FROM MS COUNT [OPTION]...: makes COUNT writes, which take MS longer from call FROM on; the trace is t.sluice
slow() {
	rm -rf t.sluice t.txt
	SLOW_FROM=$1 SLOW_MS=$2 check_rc 0 "$sluice" "${@:4}" run -o t.sluice -- \
		sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$prog/slow.so" "$prog/writes" alike "$3"
	check_eq "$(cat out)" "$3" "output of the program"
	"$sluice" trace convert t.sluice t.txt
}

# notes KIND NAME: prints the number of such notes in the trace
notes() {
	grep -c "^#note.*	kind=$1	name=$2	" t.txt || true
}

# A normal run: nothing is signaled, and the next run knows what is normal.
slow 100000 0 3000
check_eq "$(notes anomaly '.*')" 0 "anomalies of a usual run"
check_eq "$(notes report 'POSIX pwrite/normal')" 1 "reports on pwrite"
check_rc 0 "$sluice" config store durations --json
check_json out sluice.store/1
check_eq "$(python3 -c 'import json
print(max(r["calls"] for r in json.load(open("out"))["rows"] if r["call"] == "pwrite"))')" 3000 "calls that are known"

# The test knows from the first call on what is slow; no learning is needed.
slow 0 20 60
check_eq "$(notes anomaly 'process bad')" 1 "anomalies of the process"
check_eq "$(notes anomaly 'node bad')" 1 "anomalies of the node"
check_eq "$(notes anomaly 'system bad')" 1 "anomalies of the system"
order=$(grep '	kind=anomaly	' t.txt | sed 's/.*	name=\([a-z]*\) .*/\1/' | tr '\n' ' ')
check_eq "$order" "process node system " "order of the signals"
check_words "$(grep '	name=process bad	' t.txt)" "60 of 60 calls" slow

# Most of a run was slow, so slow calls count as normal. Everything is forgotten, and the next run learns again.
check_rc 0 "$sluice" config store durations --forget
check_rc 3 "$sluice" config store durations
slow 1000 20 1100
check_eq "$(notes anomaly 'process bad')" 1 "anomalies of a run that learned by itself"
check_eq "$(notes anomaly 'system bad')" 1 "anomalies of its system"

# The signal comes while the program runs, not at its end: the program writes until the trace has the signals.
check_rc 0 "$sluice" config store durations --forget
rm -f t.sluice
SLOW_WHILE=$work/slow SLOW_MS=20 timeout "$limit" "$sluice" --set reason.cycle=100ms --set reason.calls=5 run -o t.sluice -- \
	sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$@"' "$prog/slow.so" "$prog/writes" steady 4096 100 "$work/stop" >out 2>err &
run=$!
wait_for "usual writes" grep -q ready out
touch slow
# is_signaled NAME: the trace of the program that runs has such an anomaly
is_signaled() {
	rm -f t.txt
	"$sluice" trace convert t.sluice t.txt 2>/dev/null && [ "$(notes anomaly "$1")" -ge 1 ]
}
wait_for "anomaly while the program runs" is_signaled 'process bad'
wait_for "anomaly of the system while the program runs" is_signaled 'system bad'
touch stop
wait $run || fail "the program fails: $(cat err)"

# The flight recorder keeps nothing without an anomaly, and with one exactly what the ring held (SIOX-AC-8).
check_rc 0 "$sluice" config store durations --forget
flight="--set capture.mode=flight --set flight.ring=50"
slow 100000 0 3000 $flight
check_eq "$(grep -c '	POSIX	pwrite	' t.txt || true)" 0 "calls of a flight without an anomaly"
check_eq "$(notes anomaly '.*')" 0 "anomalies of that flight"
slow 0 20 60 $flight
check_eq "$(notes anomaly 'process bad')" 1 "anomalies of a flight"
check_eq "$(grep -c '^[0-9]' t.txt || true)" 50 "calls of a flight with an anomaly"
# These are the last calls of the run, including the close and the output of the program.
python3 - <<'PYTHON' || fail "the calls are not the last of the flight in their order"
rows = [l.split("\t") for l in open("t.txt") if l[0].isdigit()]
# An inherited descriptor has a number after that of the call that first uses it, but the same start.
ids = [int(r[3]) for r in rows]
starts = [int(r[0]) for r in rows]
assert starts == sorted(starts), starts
assert sorted(ids) == list(range(min(ids), min(ids) + 50)), ids
names = [r[6] for r in rows]
assert names.count("pwrite") == names.index("close") and "close" in names, names
PYTHON
