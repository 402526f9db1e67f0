#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Clients, sluiced (its worker, its keeper, both) and PostgreSQL are killed by SIGKILL at random moments while programs run,
# and for one round the disk of the daemon is full. In the end, the database has every acknowledged call exactly once, and
# programs that were not killed themselves behave as without Sluice.
#
# A call is acknowledged when it has returned to the program: its record is then in the spool. The programs (prog/counted.c)
# note their calls in mapped files, so it is known how many calls a program that was killed had made. A call that was made
# but not noted, at most one per killed process, may be in the database once.
#
# SLUICE_LONG=1 runs 30 rounds. CHAOS_SEED repeats the random numbers of an earlier run, CHAOS_ROUNDS sets the number of
# rounds.
. "$(dirname "$0")/libtest.sh"
rounds=3
[ -z "$long" ] || rounds=30
rounds=${CHAOS_ROUNDS:-$rounds}
. "$(dirname "$0")/libdaemon.sh"
. "$(dirname "$0")/../libpg.sh"
seed=${CHAOS_SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$((seed % 32768))
echo "chaos: seed $seed, $rounds rounds (CHAOS_SEED=$seed CHAOS_ROUNDS=$rounds repeats it)"
clients=4 processes=3 calls=8000
# Only processes are killed, so what the server has written stays in the page cache.
pg_start fsync=off || skip postgresql
chmod 755 "$work"
printf '[policy]\nrule = mode=trace program=counted\n' >"$work/policy"
"$sluice" site init --database "$pg" >/dev/null || fail "the database cannot be initialized"

# The state of the daemon is in a file system of its own, which can be filled.
has_disk=
if [ "$(id -u)" = 0 ] && mkdir state && mount -t tmpfs -o size=1g,mode=700 tmpfs state 2>/dev/null; then
	has_disk=1
	at_exit 'umount -l "$work/state"'
fi

# pause MILLISECONDS: sleeps for a random time up to that
pause() {
	local ms=$((RANDOM % $1))
	sleep $((ms / 1000)).$(printf %03d $((ms % 1000)))
}

daemon=
at_exit 'stop_process "$daemon"'
launch_daemon() {
	SLUICE_SITE_DATABASE="$pg" SLUICE_SITE_SAMPLE=1 "$sluiced" 2>>"$work/daemon.log" &
	daemon=$!
}

# end_daemon: kills the keeper, and the worker if it is given
end_daemon() {
	local old try
	# It must not start a worker after the question for it.
	kill -STOP "$daemon" 2>/dev/null || true
	old=$(pgrep -P "$daemon" || true)
	kill -KILL "$daemon" "$@" 2>/dev/null || true
	wait "$daemon" 2>/dev/null || true
	# Without its keeper, a worker ends by itself, and until then no other daemon can start.
	for try in $(seq $polls); do
		[ -n "$old" ] && kill -0 $old 2>/dev/null || return 0
		sleep 0.05
	done
	fail "the worker outlives the keeper"
}

# start_clients ROUND: starts programs in the background; each is a job of its own
start_clients() {
	local client name
	for client in $(seq $clients); do
		name=$1.$client
		mkdir -p "clients/$name"
		echo "$name" >>names
		(
			rc=0
			setsid -w env LD_PRELOAD="$BUILD/libsluice.so" SLUICE_SITE="$work/run" SLURM_JOB_ID="$name" \
				"$prog/counted" "$work/clients/$name" $processes $calls $((5000 + RANDOM)) \
				>"clients/$name/out" 2>"clients/$name/err" || rc=$?
			echo $rc >"clients/$name/rc"
		) 2>/dev/null &
		client_pids="$client_pids $!"
	done
}

# kill_client ROUND: kills one process of a program, or all of them
kill_client() {
	local name pids pid
	name=$1.$((RANDOM % clients + 1))
	pids=$(pgrep -f "^$prog/counted $work/clients/$name " || true)
	[ -n "$pids" ] || return 0
	echo "$name" >>killed
	if [ $((RANDOM % 2)) = 0 ]; then
		pids=$(echo "$pids" | sed -n "$((RANDOM % processes + 1))p")
	fi
	for pid in $pids; do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

kill_daemon() {
	local worker
	worker=$(worker_of "$daemon" || true)
	case $((RANDOM % 3)) in
	0) [ -z "$worker" ] || kill -KILL "$worker" 2>/dev/null || true ;;
	1) end_daemon && pause 1000 && launch_daemon ;;
	2) end_daemon $worker && pause 1000 && launch_daemon ;;
	esac
}

kill_server() {
	pg_kill
	pause 1000
	pg_again || fail "PostgreSQL does not start again: $(tail -n 3 "$pg_dir/log")"
}

# wait_clients: waits until all programs have ended, with the children of those that were killed
wait_clients() {
	local try pid
	for pid in $client_pids; do
		wait "$pid" || true
	done
	client_pids=
	for try in $(seq $polls); do
		pgrep -f "^$prog/counted $work/clients/" >/dev/null || return 0
		sleep 0.05
	done
	fail "programs hang"
}

# remains: what is not in the database yet; empty at the end
remains() {
	ls "$work/spools" | grep '\.spool$' || true
	find "$work/state/traces" -name '*.ledger' -o -name '*.partial*'
	find "$work/state/traces" -name '*.sluice' | while read -r trace; do
		[ -e "$trace.sent" ] || echo "$trace"
	done
	"$sluiced" status --json >"$work/status" 2>/dev/null || { echo "no answer" && return; }
	json_get "$work/status" '["queue"]["frames"]' | grep -vx 0 || true
	json_get "$work/status" '["database"]["traces_waiting"]' | grep -vx 0 || true
}

# wait_database: waits until the database has everything, as long as it gets more
wait_database() {
	local idle rows=none before
	for ((idle = 0; idle < polls / 20; idle++)); do
		[ -n "$(remains)" ] || return 0
		before=$rows
		rows=$(pg_psql 'SELECT count(*) FROM activity' 2>/dev/null || true)
		[ "$rows" = "$before" ] || idle=0
		kill -0 "$daemon" 2>/dev/null || fail "the daemon has ended: $(cat "$work/daemon.log")"
		sleep 1
	done
	fail "not in the database: $(remains | head -n 5) $(tail -n 5 "$work/daemon.log")"
}

# full_disk: one round during which the daemon cannot write, and in which it is killed as well
full_disk() {
	head -c 2g /dev/zero >state/filler 2>/dev/null || true
	start_clients full
	pause 1500
	kill_client full
	kill_daemon
	pause 1500
	kill_daemon
	kill_server
	wait_clients
	rm -f state/filler
}

client_pids=
: >names
: >killed
mkdir bare
"$prog/counted" "$work/bare" $processes $calls 0 >bare.out 2>bare.err || bare_rc=$?
sort -o bare.out bare.out
launch_daemon
# Processes that start before the first daemon has published the policy are not recorded.
for _ in $(seq $polls); do
	[ ! -e "$work/run/policy" ] || break
	sleep 0.05
done
for round in $(seq "$rounds"); do
	start_clients "$round"
	for victim in $(printf 'client\ndaemon\nserver\n' | shuf --random-source=<(yes $RANDOM)); do
		pause 900
		case $victim in
		client) kill_client "$round" ;;
		daemon) kill_daemon ;;
		server) kill_server ;;
		esac
	done
	wait_clients
done
if [ -n "$has_disk" ]; then
	full_disk
else
	skip_case mounts "a full disk"
fi
wait_database

# Programs that were not killed behave as without Sluice.
while read -r name; do
	! grep -qx "$name" killed || continue
	check_eq "$(cat "clients/$name/rc")" "${bare_rc:-0}" "exit code of program $name"
	check_eq "$(sort "clients/$name/out")" "$(cat bare.out)" "output of program $name"
	check_eq "$(cat "clients/$name/err")" "$(cat bare.err)" "errors of program $name"
	for process in $(seq 0 $((processes - 1))); do
		cmp -s "clients/$name/data.$process" "bare/data.$process" || fail "program $name wrote wrong data"
	done
done <names

# The database has what the programs know.
pg_psql "SELECT f.path, count(*), count(DISTINCT a.position), min(a.position), max(a.position)
	FROM activity a JOIN run_call c ON c.run = a.run AND c.call = a.call
	JOIN run_file f ON f.run = a.run AND f.file = a.file
	WHERE c.name LIKE 'pwrite%' GROUP BY f.path" >rows
python3 - "$work" $processes $calls <<'PYTHON' || fail "seed $seed: the database differs from what the programs did"
import array, os, sys
work, processes, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rows = {}
for line in open(f"{work}/rows"):
    path, *numbers = line.rstrip("\n").split("|")
    rows[path] = [int(n) for n in numbers]
killed = set(open(f"{work}/killed").read().split())
wrong = acknowledged = unnoted = 0
for name in open(f"{work}/names").read().split():
    progress = array.array("Q")
    try:
        progress.frombytes(open(f"{work}/clients/{name}/progress", "rb").read())
    except OSError:
        pass  # it was killed before it began
    for process, known in enumerate(progress):
        path = f"{work}/clients/{name}/data.{process}"
        count, distinct, low, high = rows.pop(path, [0, 0, 0, -1])
        more = 1 if name in killed and known < calls else 0
        acknowledged += known
        unnoted += count - known
        is_right = distinct == count and low == 0 and high == count - 1 and known <= count <= known + more
        if name not in killed and known != calls:
            is_right = False
        if not is_right:
            wrong += 1
            print(f"{path}: made {known} calls; rows {count}, distinct {distinct}, from {low} to {high}")
for path in rows:
    wrong += 1
    print("unexpected rows of", path)
print(f"chaos: {acknowledged} acknowledged calls, {unnoted} more that killed processes made, {wrong} files with differences")
sys.exit(wrong != 0 or acknowledged == 0)
PYTHON
check_eq "$(pg_psql 'SELECT coalesce(sum(lost), 0) FROM run')" 0 "lost calls"
check_eq "$(pg_psql 'SELECT count(*) FROM run WHERE kept <> (SELECT count(*) FROM activity a WHERE a.run = run.id)')" 0 \
	"runs whose number of rows is not what they state"
check_eq "$(pg_psql "SELECT count(*) FROM run WHERE job = ''")" 0 "runs without a job"
check_eq "$(status '["queue"]["lost"]')" 0 "lost frames"
check_eq "$(status '["database"]["invalid"]')" 0 "refused payloads"
