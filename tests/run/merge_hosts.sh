#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Traces of two hosts are merged automatically and have one time line. The hosts are simulated: UTS namespaces give
# them names, time namespaces set their clocks 1000 s apart, each has its own spools, and real ranks communicate with
# MPI.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

program=$(mpi_program mpich meet)
[ -n "$program" ] || skip libmpich-dev
command -v readelf >/dev/null || skip binutils
unshare --uts -T --monotonic 1000 --fork true 2>/dev/null || skip namespaces

cat >node <<'END'
#!/bin/sh
# node NAME SECONDS COMMAND...: runs the command as if on another host, whose clock is ahead by SECONDS
name=$1 ahead=$2
shift 2
export MPI_LOCALNRANKS=2 SLUICE_SPOOL_DIR=$PWD/spool-$name SLUICE_CAPTURE_CLOCK=monotonic
exec unshare --uts -T --monotonic "$ahead" --fork sh -c 'hostname "$0" && exec "$@"' "$name" "$@"
END
chmod +x node
mkdir spool-one spool-two

# hosts_run ARGUMENTS...: runs `sluice run ARGUMENTS`, with two ranks on each host
hosts_run() {
	timeout -k 5 "$limit" mpiexec.mpich -n 2 ./node one 0 "$sluice" run "$@" -- "$program" : \
		-n 2 ./node two 1000 "$sluice" run "$@" -- "$program" >out 2>err </dev/null || wrong "exit code $?: $(cat err)"
}

# time_check TRACE SKEW_NS: checks the clock offset of the second host, whose time of day is wrong by SKEW_NS
time_check() {
	"$sluice" trace convert --format sqlite "$1" time.db
	PYTHONPATH=$mpi_source python3 -B - "$2" <<'END' || wrong "times do not fit"
import meet, sqlite3, sys
skew = int(sys.argv[1])
db = sqlite3.connect("time.db")
hosts = {h: (m, o, e) for h, m, o, e in db.execute("SELECT host, method, offset_ns, error_ns FROM hosts")}
assert set(hosts) == {"one", "two"}, hosts
# The host with the earlier time of day is the reference.
moved, sign = ("two", -1) if hosts["one"][0] == "reference" else ("one", 1)
method, offset, error = hosts[moved]
assert method == "collective calls", hosts
# Ranks meet in opens, so no error is longer than the longest of them.
longest, = db.execute("""SELECT max(a.duration_ns) FROM activities a JOIN calls k ON k.number = a.call
    WHERE k.name = 'MPI_File_open'""").fetchone()
assert 0 < error <= longest, (hosts, longest)
# Both hosts have the same time of day in reality; reading it takes a moment.
assert abs(offset - sign * skew) <= error + 5e6, (hosts, skew)
meet.check(db, "one", "two")
assert db.execute("SELECT min(start_ns) >= 0 FROM activities").fetchone()[0]
END
	rm time.db
}

case_is "the parts of two hosts become one trace when the job ends"
hosts_run
check_eq "$(ls runs | wc -l)" 1 "$this: files in trace.dir"
[ -z "$(ls spool-one spool-two | grep sluice)" ] || wrong "spools are left"
time_check runs/*.sluice 0

case_is "each host names the trace; its part does not stay"
rm -r runs
SLUICE_RUN_SUMMARY=auto hosts_run
check_eq "$(grep -c '^sluice: ' err)" 2 "$this: lines of Sluice in: $(cat err)"
for word in "trace" "part of trace"; do
	[ -f "$(sed -n "s/^sluice: $word \(runs.*\|\/.*\)/\1/p" err)" ] || wrong "\"$word\" without an existing file: $(cat err)"
done

case_is "a job with tuned parameters is compared with earlier runs once"
export SLUICE_TUNE_PLATFORM=testbed SLUICE_STORE_PATH=$work/store.db
cat >entry.json <<END
{"schema": "sluice.kb/1", "entries": [{"program": "meet",
 "fingerprint": "build:$(readelf -n "$program" | sed -n 's/.*Build ID: //p')", "arguments": "", "platform": "testbed",
 "filesystem": "$(filesystem_here)", "ranks": 4, "size_class": 7, "objective": "io", "before": 2, "after": 1, "gain": 2,
 "gain_low": 1.5, "gain_high": 3, "found_ns": 1700000000000000000,
 "parameters": [{"name": "cb_buffer_size", "value": "65536"}]}]}
END
check_rc 0 "$sluice" kb import entry.json
hosts_run --tune=apply
check_eq "$(grep -c "with the parameters of entry 1" err)" 1 "$this: comparisons in: $(cat err)"
! grep "not compared" err || wrong "a node with some of the ranks said something"
unset SLUICE_TUNE_PLATFORM SLUICE_STORE_PATH

case_is "the same works with -o and in another format"
hosts_run -o both.txt -f text
[ ! -e both.txt.parts ] || wrong "the parts are still there"
time_check both.txt 0

case_is "parts of different jobs are merged only with --force"
sed -i 's/^export/export SLUICE_JOB=$name/' node
hosts_run -o apart.sluice
check_eq "$(ls apart.sluice.parts | wc -l)" 2 "$this: parts"
check_rc 1 "$sluice" trace merge apart.sluice.parts
check_words "$(cat err)" uuids --force
check_rc 0 "$sluice" trace merge --force -o forced.sluice apart.sluice.parts
time_check forced.sluice 0

for skew in 40000000000 -40000000000; do
	case_is "a host whose time of day is wrong by $skew ns"
	rm -rf wrong
	mkdir wrong
	for part in apart.sluice.parts/*.sluice; do
		"$sluice" trace convert --format text "$part" "wrong/$(basename "$part").txt"
	done
	python3 - $skew wrong/*-two-*.txt <<'END'
import re, sys
path = sys.argv[2]
text = open(path, encoding="latin-1").read()
# This is the only fact with a time of day.
moved, n = re.subn(r"\b(1[0-9]{18})\b", lambda m: str(int(m[1]) + int(sys.argv[1])), text, count=1)
assert n == 1
open(path, "w", encoding="latin-1").write(moved)
END
	check_rc 0 "$sluice" trace merge --force -o wrong/merged.sluice wrong/*.txt
	time_check wrong/merged.sluice $skew
done
