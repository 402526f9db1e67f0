#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice run` writes the same trace with and without a daemon. The site gets a copy as its policy says, also if the
# daemon is killed in between. A library that the site preloads records nothing twice.
# Papers: SIOX-3.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libdaemon.sh"
database=$work/site.db
kept=$work/state/traces/$(id -u)

# calls_of TRACE: calls, bytes and files, without times
calls_of() {
	"$sluice" report --json --all "$1" >"$work/report.json" 2>"$work/err" || fail "no report of $1: $(cat "$work/err")"
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["run"]["processes"], d["run"]["exit_status"], d["complete"])
for f in sorted(d["functions"], key=lambda f: (f["layer"], f["function"])):
    print(f["layer"], f["function"], f["calls"], f["errors"], f["bytes_read"], f["bytes_written"])
for f in sorted(d["files"], key=lambda f: f["file"]):
    print(f["file"], f["bytes_read"], f["bytes_written"])' "$work/report.json"
}

# record NAME COMMAND...: records the command in an empty directory, as NAME.sluice; keeps its output
record() {
	local name=$1
	shift
	rm -rf place
	mkdir place
	(cd place && "$@" -- "$prog/patterns" small_writes file >"$work/$name.out" 2>"$work/$name.err"
		echo $? >"$work/$name.rc")
	calls_of "$work/$name.sluice" >"$name.txt"
}

# submitted_are COUNT: so many traces were submitted
submitted_are() {
	[ "$(status '["traces"]["submitted"]')" = "$1" ]
}

# same NAME: the run NAME is the same as that without a daemon
same() {
	diff alone.txt "$1.txt" >diff || fail "$1: the trace differs: $(cat diff)"
	check_eq "$(cat "$1.rc")" "$(cat alone.rc)" "$1: exit code"
	check_eq "$(cat "$1.out")" "$(cat alone.out)" "$1: output"
	check_eq "$(sed "s/$1/NAME/" "$1.err")" "$(sed s/alone/NAME/ alone.err)" "$1: messages"
}

chmod 755 "$work"
printf '[policy]\nrule = mode=trace program=patterns\n' >"$work/policy"

# Without a daemon; it is missed only on request.
record alone "$sluice" run -o "$work/alone.sluice"
record wanted "$sluice" --set site.use=yes run -o "$work/wanted.sluice"
check_has "$(cat wanted.err)" "the site does not get this run"
cat alone.err >wanted.err && sed -i s/alone/wanted/ wanted.err
same wanted

# With a daemon: the same trace, of which the site has a copy and the rows.
start_daemon SLUICE_SITE_DATABASE="$database"
record with env SLURM_JOB_ID=4711 SLURM_JOB_PARTITION=debug "$sluice" --set site.use=yes run -o "$work/with.sluice"
same with
wait_for "copy" traces_are 1
cmp with.sluice "$(ls "$kept"/*.sluice)" || fail "the copy differs from the trace"
check_eq "$(stat -c %a "$(ls "$kept"/*.sluice)")" 600 "mode of the copy"
wait_for "run in the database" row_is "SELECT count(*) FROM run WHERE job = '4711'" 1
wait_for "file system" row_is "SELECT count(*) > 0 FROM run_file WHERE filesystem LIKE '/%' AND path LIKE '%/file'" 1
# A copy has its name before it is counted.
wait_for "count of the trace that was submitted" submitted_are 1
check_eq "$(status '["hellos"]')" 0 "spools that were handed over"

# The site gets a container, whatever the user wants.
(cd place && "$sluice" run -q -o "$work/text.txt" -- "$prog/patterns" small_writes file >/dev/null 2>&1) || true
[ -s text.txt ] || fail "no text trace"
wait_for "copy of a run with a text trace" traces_are 2
wait_for "count of this trace" submitted_are 2

# The user says no; the policy does not name the program.
record no "$sluice" --set site.use=no run -o "$work/no.sluice"
same no
(cd place && "$sluice" run -q -o "$work/other.sluice" -- "$prog/plain" >/dev/null 2>&1) || true
check_eq "$(status '["traces"]["submitted"]')" 2 "traces after two runs that the site must not have"

# A library that the site preloads as well, from the same file or from another one, records nothing twice.
mkdir copy
cp "$BUILD/libsluice.so" copy/
for library in "$BUILD/libsluice.so" "$work/copy/libsluice.so"; do
	record preloaded env LD_PRELOAD="$library" SLUICE_SITE="$work/run" "$sluice" run -o "$work/preloaded.sluice"
	same preloaded
done
check_eq "$(status '["hellos"]')" 0 "spools of programs below sluice run"
wait_for "copies of these runs" traces_are 4

# The worker is stopped when the run ends, and killed: the run does not wait, and the next worker gets the trace.
worker=$(worker_of "$daemon")
kill -STOP "$worker"
record stopped timeout "$limit" "$sluice" run -o "$work/stopped.sluice"
same stopped
kill -9 "$worker"
wait_for "copy after the death of the worker" traces_are 5

# The daemon is killed while the program runs.
cat >twice.sh <<'SCRIPT'
"$1" small_writes file
touch ready
while [ ! -e go ]; do sleep 0.05; done
"$1" small_writes file
SCRIPT
mkdir killed
(cd killed && "$sluice" run -o "$work/killed.sluice" -- sh "$work/twice.sh" "$prog/patterns" >/dev/null 2>"$work/killed.err") &
runner=$!
wait_for "first half" test -e killed/ready
worker=$(worker_of "$daemon")
kill -9 "$daemon" "$worker"
touch killed/go
wait $runner || true
calls_of killed.sluice >killed.txt
expected=$(awk '$2 == "pwrite" || $2 == "write" { n += $3 } END { print 2 * n }' alone.txt)
check_eq "$(awk '$2 == "pwrite" || $2 == "write" { n += $3 } END { print n }' killed.txt)" "$expected" "writes of both halves"
check_eq "$(json_get report.json '["complete"]')" True "completeness"
check_eq "$(cat killed.err | grep -c warning)" 0 "warnings"

# With mode=counters, the database gets sums, and the daemon keeps no trace.
printf '[policy]\nrule = mode=counters program=patterns\n' >"$work/policy"
start_daemon SLUICE_SITE_DATABASE="$database" SLUICE_SITE_SAMPLE=1
before=$(ls "$kept" | grep -c '\.sluice$')
# Earlier runs may still be on their way to the database.
record sums env SLURM_JOB_ID=4712 "$sluice" run -o "$work/sums.sluice"
same sums
wait_for "sums in the database" row_is "SELECT count(*) FROM run WHERE job = '4712'" 1
wait_for "end of the trace" traces_are "$before"
sums="run = (SELECT id FROM run WHERE job = '4712')"
wait_for "sums of bytes in the database" row_is "SELECT sum(bytes_written) > 0 FROM aggregate WHERE $sums" 1
row_is "SELECT count(*) FROM activity WHERE $sums" 0 || fail "the database has calls"
