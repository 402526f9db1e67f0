#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A tuning that is killed at ten random times loses at most the current trial, and ends with the same result. An
# interrupted tuning prints its results and can be resumed.
# Papers: GA-12.
. "$(dirname "$0")/libtest.sh"

# Everything that defines a course: numbers, phases, points, states and costs.
course() {
	"$sluice" -c store.path="$1" kb tunings 1 --json | python3 -c 'import json, sys
for run in json.load(sys.stdin)["runs"]:
    print(run["number"], run["phase"], run["parameters"], run["state"], run["cost"])'
}

# The tuning is killed.
genetic=(tune --simulate stampede --kernel vorpal --ranks 2048 --search genetic --seed 5 --runs 150 --json)
begun=$(date +%s.%N)
"$sluice" -c store.path="$work/whole.db" "${genetic[@]}" >whole.json
took=$(echo "$(date +%s.%N) $begun" | awk '{ print $1 - $2 }')
course "$work/whole.db" >whole
[ "$(wc -l <whole)" -gt 150 ] || fail "the course has only $(wc -l <whole) runs"

python3 - "$sluice" "$work/killed.db" "$took" "${genetic[@]}" <<'END' || fail "killing"
import os, random, signal, sqlite3, subprocess, sys, time

sluice, store, took, command = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:]
random.seed(11)

def ask(table, what):
    if not os.path.exists(store):
        return None
    with sqlite3.connect(store) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            return db.execute("SELECT %s FROM %s" % (what, table)).fetchone()

def kill(patience):
    child = subprocess.Popen([sluice, "-c", "store.path=" + store] + command + ["--resume"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, patience))
    child.send_signal(signal.SIGKILL)
    child.wait()
    return (ask("study_run", "count(*)") or [0])[0]

# If the tuning ends before ten kills, kill it sooner. If all kills hit its start, kill it later.
patience = took / 8
for _ in range(20):
    points = [kill(patience) for _ in range(10)]
    done = ask("study", "state") == ("done",)
    if not done and len(set(points)) >= 3:
        break
    for name in (store, store + "-journal"):
        if os.path.exists(name):
            os.remove(name)
    patience *= 0.5 if done else 1.7
print("killed after runs", *points)
if len(set(points)) < 3:
    sys.exit("too few kills have met it")
if points != sorted(points):
    sys.exit("runs were lost")
END
"$sluice" -c store.path="$work/killed.db" tune --resume --json >killed.json
course "$work/killed.db" >killed
cmp whole killed || fail "the course is another one after kills"
for part in best proof entry; do
	check_eq "$(json_get killed.json "[\"$part\"]")" "$(json_get whole.json "[\"$part\"]")" "$part"
done
check_rc 3 "$sluice" -c store.path="$work/killed.db" tune --resume
check_eq "$("$sluice" -c store.path="$work/killed.db" kb tunings --json | grep -o '"id"' | wc -l)" 1 "tunings"

# The tuning is interrupted in its fourth run, which waits for that.
cat >program <<-'END'
	#!/bin/sh
	SLUICE_DISABLE=1 sh -c 'echo x >>"$1"' sh "$1.count"
	while [ -e "$1.hold" ] && [ "$(wc -l <"$1.count")" -ge 4 ]; do sleep 0.05; done
	head -c 100000 /dev/zero >"$1"
END
chmod +x program
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "cb_nodes", "values": [null, 1, 2, 4, 8, 16]}]}' >space.json
export TMPDIR=$work
: >data.count
: >data.hold
real=(tune --space space.json --search exhaustive --repeat 1 --pairs 4 --no-ablation --no-check --timeout-factor 1000 -- ./program data)
rc=0
# The tuning does not run in the background of a shell, because it would ignore SIGINT there.
python3 - "$sluice" "${real[@]}" >out 2>err <<'END' || rc=$?
import signal, subprocess, sys, time

signal.signal(signal.SIGINT, signal.SIG_DFL)
child = subprocess.Popen(sys.argv[1:])
while child.poll() is None and open("data.count").read().count("x") < 4:
    time.sleep(0.005)
child.send_signal(signal.SIGINT)
sys.exit(child.wait())
END
check_eq "$rc" 130 "exit code when interrupted"
rm data.hold
check_has "$(cat out)" unfinished
check_has "$(cat out)" "sluice tune --resume"
for pid in $(pgrep -f "^/bin/sh ./program data"); do
	[ "$(readlink "/proc/$pid/cwd")" != "$PWD" ] || fail "a process is left behind: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
done
check_rc 0 "$sluice" kb tunings
check_has "$(cat out)" running
before=$(wc -l <data.count)
# The tuning is resumed from another directory.
cd /
check_rc 0 "$sluice" tune --resume --json
cd "$work"
check_eq "$(json_get out '["complete"]')" True "complete"
check_eq "$(json_get out '["points_tried"]')" 5 "points tried"
# One run may have been interrupted.
runs=$(json_get out '["runs"]')
[ $(($(wc -l <data.count) - runs)) -le 1 ] || fail "$(wc -l <data.count) runs, of which only $runs are known"
[ "$before" -lt "$runs" ] || fail "no run was left"
# The same program with other options is another tuning.
check_rc 0 "$sluice" tune --space space.json --runs 2 --no-check --resume -- ./program data
check_words "$(cat err)" new

# One of several unfinished tunings is resumed by its id.
check_rc 2 "$sluice" tune --tuning 1
check_rc 2 "$sluice" tune --resume --tuning 1 -- ./program data
check_rc 2 "$sluice" tune --resume --tuning 0
check_rc 3 "$sluice" tune --resume --tuning 1
check_words "$(cat err)" finished
check_rc 3 "$sluice" tune --resume --tuning 99
check_words "$(cat err)" "unknown tuning"
for seed in 7 8; do
	"$sluice" -c store.path="$work/two.db" tune --simulate stampede --kernel vorpal --search random --seed $seed --runs 30 >/dev/null
done
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE study SET state = \"running\"")
    db.execute("DELETE FROM study_run WHERE number > 5")' "$work/two.db"
check_rc 0 "$sluice" -c store.path="$work/two.db" tune --resume --tuning 1 --json
check_eq "$(json_get out '["id"], d["seed"], d["complete"]')" "(1, 7, True)" "tuning that was resumed"
