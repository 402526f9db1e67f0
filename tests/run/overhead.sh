#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The overhead monitor notes the overhead. Above its budget it records less and reports that, and the totals remain
# complete.
# Papers: SIOX-18.
. "$(dirname "$0")/libtest.sh"

calls=400000
many() {
	check_rc 0 "$sluice" run "$@" -o t.sluice -- dd if=/dev/zero of=copy bs=1 count=$calls status=none
	check_rc 0 "$sluice" report --json --top 1000 t.sluice
}

# The names of the monitor's steps. Notes of other sources, such as dropped calls, are left out.
steps() {
	python3 -c '
import json
print(*[n["name"] for n in json.load(open("out"))["degraded"] if n["source"] == "overhead"])'
}

# The totals of the program, recorded or counted.
check_sums() {
	check_eq "$(json_get out '["io"]["bytes_written"]')" $calls "$1: bytes written"
	check_eq "$(wc -c <copy)" $calls "$1: size of the copy"
}

# Without a budget, everything is recorded, and the overhead is known.
SLUICE_OVERHEAD_BUDGET=0 many
check_sums "no budget"
check_eq "$(steps)" "" "steps without a budget"
check_eq "$(json_get out '["losses"]["counted_calls"]')" 0 "counted calls"
python3 - <<'PYTHON' || fail "the costs are not right: $(cat out)"
import json
cost = {row["name"]: row for row in json.load(open("out"))["cost"] if row["source"] == "overhead"}
assert cost["guest_ns"]["sum"] > 0 and 0 < cost["guest_share"]["sum"] < 1, cost
assert cost["collector_ns"]["sum"] > 0, cost
PYTHON

# A short run is within the grace period, whatever its overhead.
SLUICE_OVERHEAD_BUDGET=0.0001% SLUICE_OVERHEAD_GRACE=10m many
check_eq "$(steps)" "" "steps within the grace period"

# The budget is almost zero: after a while calls are only counted. The monitor looks ten times per second, or later on a
# loaded machine, so a fast program makes more calls.
for calls in 800000 4000000 20000000; do
	SLUICE_OVERHEAD_BUDGET=0.0001% SLUICE_OVERHEAD_GRACE=0 many --summary
	[ -z "$(steps)" ] || break
done
case $(steps) in
counters) check_sums "counted" ;;
"counters off") ;; # on a machine so slow that this takes two seconds
*) fail "the steps are \"$(steps)\"" ;;
esac
[ "$(json_get out '["losses"]["counted_calls"]')" -gt 0 ] || fail "no call was counted"
check_rc 0 "$sluice" report t.sluice
check_has "$(cat out)" "Reduced recording"
check_words "$(cat out)" "run time" 0.0001% counted

# If counting is too expensive, too, recording stops, at least two seconds later. The program continues.
for seconds in 6 30 150; do
	SLUICE_OVERHEAD_BUDGET=0.0001% SLUICE_OVERHEAD_GRACE=0 check_rc 124 "$sluice" run --summary -o t.sluice -- \
		timeout $seconds dd if=/dev/zero of=/dev/null bs=1 status=none
	cp err summary
	check_rc 0 "$sluice" report --json t.sluice
	[ "$(steps)" != "counters off" ] || break
done
check_words "$(grep "^  degraded " summary)" "run time" 0.0001% stopped
check_eq "$(steps)" "counters off" "the steps"

# An invalid budget is reported, and the default is used.
SLUICE_OVERHEAD_BUDGET=lots check_rc 0 "$sluice" run -o t.sluice -- true
check_has "$(cat err)" 'overhead.budget: '

# Threads that wait for a processor cause no overhead: a thread may be preempted in the middle of guest code.
SLUICE_OVERHEAD_BUDGET=90% SLUICE_OVERHEAD_GRACE=0 check_rc 0 "$sluice" run -o t.sluice -- "$prog/threads" crowd 1000
check_rc 0 "$sluice" report --json t.sluice
check_eq "$(steps)" "" "steps with 1000 threads"
check_eq "$(json_get out '["losses"]["counted_calls"]')" 0 "counted calls of 1000 threads"
