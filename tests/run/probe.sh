#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Probes write to real targets: from one process, from ranks of both MPIs, and while a command runs; with targets that
# hang, fail or are full. tests/prog/preload/lustreapi.c replaces Lustre and CephFS.
# Papers: WAN-3, WAN-6, WAN-13, WAN-AC-14.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libpapers.sh"
. "$(dirname "$0")/../mpi/libmpi.sh"
export SLUICE_STORE_PATH=$work/store.db SLUICE_PROBE_SYSTEM=here
mkdir a b c
cat >site.ini <<'EOF'
[jobs]
reader = pbs
command = cat jobs.txt
[targets]
a = a
b = b
c = c
EOF
cat >jobs.txt <<'EOF'
Job Id: 3901500
    Job_Name = run
    Job_Owner = ann@login3
    job_state = R
    queue = batch
    Resource_List.nodect = 4
    Resource_List.walltime = 10:00:00
    resources_used.mem = 8412kb
    resources_used.vmem = 168948kb
    resources_used.walltime = 03:55:35
EOF

# probe ARGUMENT...: runs fast rounds, by default without ground truth and jobs
probe() {
	timeout "$limit" "$sluice" forecast probe --every 100ms --reference-every 0 --jobs-every 0 --sizes 64K,256K "$@"
}

# until_true COMMAND...: waits until the command succeeds; otherwise the test fails
until_true() {
	for _ in $(seq $polls); do
		if "$@" >/dev/null 2>&1; then
			return
		fi
		sleep 0.02
	done
	fail "never came true: $*"
}

# probe_start ARGUMENT...: starts fast rounds in the background, which go on until probe_stop, however slow the machine is
probe_start() {
	"$sluice" forecast probe --every 100ms --reference-every 0 --jobs-every 0 --sizes 64K,256K "$@" >out 2>err &
	probe_pid=$!
}

# probe_stop: ends the rounds; the summary is in out
probe_stop() {
	local rc=0
	kill $probe_pid
	wait $probe_pid || rc=$?
	check_eq "$rc" 143 "exit code of a probe that is stopped: $(cat err)"
}

# saved TARGET...: probes and reference writes of all these targets are in the store
saved() {
	local target
	"$sluice" forecast export >exported || return
	for target; do
		grep -qE "^$target [0-9.e-]+s [0-9.e-]+s" exported || return
	done
}

# rounds SYSTEM N: the store has at least N probes of target a
rounds() {
	[ "$("$sluice" forecast export --system "$1" 2>/dev/null | grep -cE '^a [0-9]')" -ge "$2" ]
}

# lines_of FILE N: the file has at least N lines
lines_of() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# number NAME: prints the first number of that name in out, which is JSON; starting Python takes longer than many probes
number() {
	grep -oE "\"$1\": [0-9]+" out | head -n 1 | cut -d' ' -f2
}

# Three directories: rounds, ground truth, jobs, rows in the store.
has_jobs() {
	"$sluice" forecast export >exported && grep -q 'Job Id: 3901500' exported
}
probe_start --site site.ini --reference-every 300ms --jobs-every 5m --json
until_true saved a b c
until_true has_jobs
probe_stop
check_words "$(cat err)" '"a"' '"b"' device
python3 - out <<'EOF' || fail "numbers do not agree: $(cat out)"
import json, sys
d = json.load(open(sys.argv[1]))
t = d["targets"]
assert d["schema"] == "sluice.probe/1"
assert [x["name"] for x in t] == ["a", "b", "c"]
assert d["probes"] == sum(x["probes"] for x in t) > 0 and d["reference_writes"] > 0
assert d["bytes"] == 65536 * d["probes"] + 262144 * d["reference_writes"] == sum(x["bytes"] for x in t)
assert d["rows_saved"] == d["probes"] + d["reference_writes"] and not d["rows_lost"]
assert d["rounds"] > 0 and 0 < d["cpu_seconds"] < d["seconds"]
# It asks once per period of the wall clock; a new period may begin during the run.
assert d["jobs_asked"] >= 1 and d["jobs_failed"] == 0 and d["jobs_reader"] == "pbs"
assert not d["timeouts"] + d["failed"] + d["full"] + d["over_budget"]
assert all(0 < x["probe_mean_s"] <= x["probe_worst_s"] for x in t)
EOF
rows=$(number rows_saved)
check_rc 0 "$sluice" forecast export
check_eq "$(grep -E '^[abc] ' out | grep -o '[0-9.e-]*s\b' | wc -l)" "$rows" "rows that are exported"
check_has "$(cat out)" "Job Id: 3901500"
check_eq "$(grep -c ann out || true)" 0 "names of owners"
check_eq "$(ls -A a b c)" "$(printf 'a:\n\nb:\n\nc:')" "files left behind"

# The daily limit includes the bytes that were written before.
bytes=$((rows * 65536))
check_rc 0 probe a --target-daily-limit $((bytes * 64)) --duration 1s --json
# Without a round, because the machine was too slow, no probe could be skipped.
for seconds in 0.25 2 16 128; do
	rc=0
	probe a b c --daily-limit 64K --duration ${seconds}s --json >out 2>err || rc=$?
	[ "$(number rounds)" = 0 ] || break
done
check_eq "$rc" 3 "exit code of a day that has none left: $(cat err)"
check_eq "$(number bytes)" 0 "bytes of a day that has none left"
[ "$(number over_budget)" -gt 0 ] || fail "no probe was skipped"

# Invalid arguments are errors.
check_rc 2 "$sluice" forecast probe
check_has "$(cat err)" "missing TARGET"
check_rc 2 "$sluice" forecast probe gpfs:/x
check_rc 2 "$sluice" forecast probe a a
check_rc 2 "$sluice" forecast probe a --sizes 1000
check_rc 2 "$sluice" forecast probe a --every 1ms
check_rc 2 "$sluice" forecast probe a --per-rank
check_rc 2 "$sluice" forecast probe a --all-to-all
check_rc 2 "$sluice" forecast probe a --daily-limit 0
check_rc 1 "$sluice" forecast probe a nowhere --duration 1s
check_words "$(cat err)" target '"nowhere"' "No such file"
check_rc 1 "$sluice" forecast probe lustre:a,ost=1 --duration 1s
check_has "$(cat err)" liblustreapi
check_rc 1 "$sluice" forecast probe ceph:a,pool=fast --duration 1s
check_has "$(cat err)" ceph.file.layout.pool
check_rc 2 "$sluice" forecast probe --while --target a --cpu 100000 -- true
check_rc 2 "$sluice" forecast probe --while --target a

# A scheduler that hangs delays no round, and leaves no process behind.
sed 's/^command.*/command = ps -o pgid= -p $$ >asked; sleep 3600 | cat/' site.ini >hangs.ini
gone() {
	! pgrep -g "$(tr -d ' ' <asked)"
}
probe_start --site hangs.ini --jobs-every 5m --system hangs --json
until_true test -s asked
until_true rounds hangs 1
probe_stop
[ "$(number probes)" -gt 0 ] || fail "no round was made"
check_eq "$(number jobs_failed)" 1 "questions that were given up"
until_true gone # with all that its command has started

# Ranks: each has a target, the fourth has none; all have the same rounds.
for mpi in $(mpi_list); do
	# If a rank had no round, because the machine was too slow, they get more time.
	for seconds in 2 16 128; do
		rm -rf rows
		mpi_run "$mpi" 4 "$sluice" forecast probe --per-rank --site site.ini --every 125ms --reference-every 0 \
			--sizes 64K --duration ${seconds}s --spool-dir rows --system "$mpi" --json >out 2>err || fail "$mpi: $(cat err)"
		[ "$(cat rows/*.blocks | grep -oE '^[abc] [0-9]' | cut -c1 | sort -u | wc -l)" != 3 ] || break
	done
	check_eq "$(grep -c '"schema": "sluice.probe/1"' out)" 4 "$mpi: ranks"
	# It asks once per period of the wall clock; a new period may begin during the run.
	check_eq "$(grep -oE '"jobs_asked": [1-9]' out | wc -l)" 1 "$mpi: ranks that ask for jobs"
	check_eq "$(ls rows | grep -vc jobs)" 3 "$mpi: files of rows"
	check_eq "$(cat rows/*.blocks | grep -oE '^[abc] ' | sort -u | tr -d '\n')" "a b c " "$mpi: targets"
	check_rc 0 "$sluice" forecast import rows/*.blocks
	check_rc 0 "$sluice" forecast export --system "$mpi"
	awk '/^Timestamp:/ { t = $2 * 8 } /^[abc] / { if (int(t) != t) exit 1 }' out || fail "$mpi: rounds are not at multiples"
	[ "$(grep -cE '^[abc] [0-9.e-]+s' out)" -ge 3 ] || fail "$mpi: too few rows"
done

# While a command runs: it keeps its cores, its exit code and its output, and the probe uses one core.
cat >command.sh <<'EOF'
grep Cpus_allowed_list /proc/self/status
for _ in $(seq 12000); do
	grep -q 'Cpus_allowed_list:.[0-9]*$' /proc/$PPID/status && break
	sleep 0.05
done
grep Cpus_allowed_list /proc/$PPID/status
sleep 0.2
exit 7
EOF
cores=$(grep Cpus_allowed_list /proc/self/status)
check_rc 7 probe --while --target a --json -- bash command.sh
check_eq "$(head -1 out)" "$cores" "cores of the command"
check_eq "$(tail -1 out | grep -c 'list:.[0-9]*$')" 1 "cores of the probe: $(tail -1 out)"
check_eq "$(wc -l <out)" 2 "lines of the command"
# The defaults are those of the paper: 1 MB per target every 30 s, one query of the scheduler every 5 minutes.
"$sluice" forecast probe --help | tr -s ' \n' ' ' >help
paper_report WAN-AC-14 "$(grep -c 'time between probes (default 30s).*reference writes (default 1M,.*queries (default 5m)' help)" \
	"1 MB per target and 30 s, one query per 5 min, by default; --while confines the probes to one core"
check_has "$(cat err)" '"rows_saved"'
check_rc 0 probe --while --target nowhere -- echo fine
check_eq "$(cat out)" fine
check_has "$(cat err)" "no probes: "
check_rc 127 probe --while --target a -- ./no-such-command
check_rc 143 probe --while --target a -- bash -c 'kill $$; sleep 9'
# A signal is meant for the command.
timeout "$limit" "$sluice" forecast probe --while --target a --every 100ms -- bash -c 'trap "exit 5" TERM; touch up
	while :; do sleep 0.05; done' 2>err &
until_true test -e up
until_true pgrep -P $!
kill "$(pgrep -P $!)"
rc=0
wait $! || rc=$?
check_eq "$rc" 5 "exit code after a signal"

# If the probe is stopped, measurements are saved; if it is killed, it leaves no files behind.
# timeout(1) and launchers signal a process and its group: two signals count as one.
"$sluice" forecast probe a b --every 50ms --reference-every 0 --jobs-every 0 --system stopped >out 2>err &
until_true "$sluice" forecast export --system stopped
kill $!
kill $! 2>/dev/null || true
sleep 0.01
kill $! 2>/dev/null || true
rc=0
wait $! || rc=$?
check_eq "$rc" 143 "exit code of a stopped probe: $(cat err)"
check_has "$(cat out)" "rows saved"
"$sluice" forecast probe a --every 50ms --reference-every 100ms --sizes 64K,8M --jobs-every 0 --system killed >out 2>err &
until_true "$sluice" forecast export --system killed
{
	kill -9 $!
	wait $! || true
} 2>/dev/null
check_eq "$(ls -A a b)" "$(printf 'a:\n\nb:')" "files that a killed probe leaves behind"

# A scheduler that is only installed is queried once; one that the site names is queried repeatedly.
mkdir bin
printf '#!/bin/sh\necho >>"%s/questions"\nprintf "error: no cluster\\nand more\\n" >&2\nexit 1\n' "$work" >bin/squeue
chmod +x bin/squeue
# scheduler_warnings: their number; on a loaded machine, err may also say that a write timed out
scheduler_warnings() {
	grep -c "from the scheduler: .*error: no cluster" err
}
PATH=$work/bin:$PATH probe_start a --jobs-every 50ms --system installed --json
until_true grep -q "error: no cluster" err
seen=$("$sluice" forecast export --system installed 2>/dev/null | grep -cE '^a [0-9]' || true)
until_true rounds installed $((seen + 3))
probe_stop
check_eq "$(scheduler_warnings)" 1 "warnings about a scheduler without a cluster: $(cat err)"
check_has "$(cat err)" "an hour"
check_eq "$(number jobs_asked)" 1 "questions to it"
printf '[jobs]\nreader = slurm-text\n' >named.ini
rm questions
PATH=$work/bin:$PATH probe_start a --site named.ini --jobs-every 100ms --json
until_true lines_of questions 2
probe_stop
check_eq "$(scheduler_warnings)" 1 "warnings about a scheduler that the site names: $(cat err)"
[ "$(number jobs_asked)" -gt 1 ] || fail "a scheduler that the site names was asked only once"

# Lustre and CephFS.
mkdir lib
ln -s "$prog/lustreapi.so" lib/liblustreapi.so.1
standin() {
	env LD_LIBRARY_PATH="$work/lib" LD_PRELOAD="$prog/lustreapi.so" STANDIN_MAGIC=1 STANDIN_LOG="$work/log" "$@"
}
check_rc 0 standin "$sluice" forecast probe lustre:a,ost=3 'lustre:a,osts=4|6' 'lustre:a,oss=7|8' \
	'ceph:b,pool=fast,object_size=1M' --every 50ms --reference-every 0 --jobs-every 0 --duration 1s --json
check_eq "$(number failed)" 0
check_eq "$(grep -c ' 1048576 3 1 0' log)" 1 "files on OST 3"
check_has "$(grep ^layout log)" " 4 6"
check_has "$(cat log)" " 1048576 7 1 0"
check_has "$(cat log)" " 1048576 8 1 0"
# Workers write to the log in any order, and only one of them sets a layout of CephFS.
check_eq "$(grep '^set' log | head -4 | tr '\n' ,)" \
	"set pool fast,set stripe_unit 65536,set object_size 1048576,set stripe_unit 1048576," "layout of CephFS"
check_eq "$(grep -c illegal log || true)" 0
check_eq "$(ls -A a b)" "$(printf 'a:\n\nb:')" "files left behind"
check_rc 1 standin env STANDIN_OST=9 "$sluice" forecast probe lustre:a,ost=3 --duration 1s
check_words "$(cat err)" "OST 9"

# Storage that hangs: a frozen file system, if the test may create one.
command -v mkfs.ext4 >/dev/null || skip e2fsprogs "storage that hangs"
mkdir frozen
truncate -s 16M image
if ! { mkfs.ext4 -q image && mount -o loop image frozen; } 2>/dev/null; then
	skip mounts "storage that hangs"
fi
thawed() {
	fsfreeze -u "$work/frozen" 2>/dev/null || true
}
at_exit 'thawed; umount "$work/frozen" 2>/dev/null'
# lines PATTERN: prints the number of rows that match
lines() {
	cat hung/*.blocks | grep -cE "$1" || true
}
more() {
	[ "$(lines "$1")" -gt "$2" ]
}
"$sluice" forecast probe frozen a --every 50ms --timeout 150ms --reference-every 0 --sizes 64K --jobs-every 0 --spool-dir hung \
	--system hung >out 2>err &
until_true more '^frozen [0-9]' 0
fsfreeze -f frozen
until_true more '^frozen >' 1
seen=$(lines '^a [0-9]')
until_true more '^a [0-9]' "$seen" # the other goes on
thawed
seen=$(lines '^frozen [0-9]')
until_true more '^frozen [0-9]' "$seen" # and it comes back
fsfreeze -f frozen
seen=$(lines '^frozen >')
until_true more '^frozen >' "$seen"
kill $!
rc=0
wait $! || rc=$? # it ends while its worker hangs
check_eq "$rc" 143 "exit code of a probe of hanging storage: $(cat err)"
check_has "$(cat out)" "rows saved"
thawed
until_true umount frozen
