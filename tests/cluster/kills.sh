#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An OSD, then the metadata server, is killed while a run of a tuning writes, and started again. That run is aborted, its
# processes end, the user's files are as before, and the tuning goes on. Probes of the other OSDs go on without the one that
# is killed, whose own probes time out until it is back.
. "$(dirname "$0")/libcluster.sh"
own_bed
check_rc 0 "$testbed/up" --hosts 1 cephfs
need=$(missing_of cephfs)
[ -z "$need" ] || skip "$need" "part cephfs of the test bed"
export SLUICE_STORE_PATH=$work/store.db WORK=$work
data=$SLUICE_TESTBED/cephfs/kills
on head mkdir "$data"
on head sh -c 'echo user >"$0"' "$data/old"
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "striping_unit", "values": [null, "1M", "2M"]}]}' >space.json

# The fourth run waits, outside of Sluice, until it may write. Its file has a stripe on each OSD.
cat >writes.py <<'END_OF_PROGRAM'
import os, subprocess
with open("old", "a") as f:
    f.write("changed\n")
subprocess.run(["sh", "-c", 'echo $PPID >>"$WORK/runs"; [ "$(wc -l <"$WORK/runs")" != 4 ] || until [ -e "$WORK/go" ]; do sleep 0.05; done'],
               env=dict(os.environ, SLUICE_DISABLE="1"))
fd = os.open("new", os.O_CREAT | os.O_WRONLY)
os.setxattr("new", "ceph.file.layout.stripe_count", b"4")
for i in range(4):
    os.pwrite(fd, bytes(1 << 20), i << 20)
os.fsync(fd)
os.close(fd)
END_OF_PROGRAM

# aborted: the tuning has sent a signal to the fourth run, which waits for the file system
aborted() {
	on head sh -c '[ ! -e "/proc/$0/status" ] || grep -q "^ShdPnd:.*[1-9a-f]" "/proc/$0/status"' "$(tail -n 1 runs)"
}
waits() {
	[ "$(wc -l <runs)" -ge 4 ]
}

# survive DAEMON ARGUMENT...: kills a daemon of Ceph during the fourth run, and starts it again when that run was aborted.
# Until then, whoever uses the file waits.
tuning=0
survive() {
	local pid
	tuning=$((tuning + 1))
	rm -f go
	: >runs
	on head sh -c 'cd "$0" && exec "$@"' "$data" "$sluice" tune --space "$work/space.json" --runs 6 --repeat 2 --pairs 4 \
		--no-ablation --timeout-factor 5 --json -- python3 -B "$work/writes.py" >out 2>err &
	pid=$!
	wait_for "fourth run" waits
	on head pkill -KILL -f "^$*( |\$)"
	: >go
	wait_for "end of the fourth run" aborted
	on head "$@"
	wait $pid || fail "the tuning failed: $(cat err)"
	check_eq "$(json_get out '["data"]')" identical "data"
	"$sluice" kb tunings $tuning --json >tuning.json
	python3 - tuning.json <<'END_OF_SCRIPT' || fail "runs: $(cat tuning.json)"
import json, sys
states = [run["state"] for run in json.load(open(sys.argv[1]))["runs"]]
assert [s for s in states if s != "good"] == ["slow"] and states[-1] == "good", states
END_OF_SCRIPT
	wait_for "end of the processes" all_ended
	check_eq "$(on head sh -c 'cd "$0" && ls -A && cat old' "$data" | xargs)" "old user" "files after the loss of $1"
}
all_ended() {
	# shellcheck disable=SC2016,SC2046 # expanded there; words
	on head sh -c 'for pid; do ! kill -0 "$pid" 2>/dev/null || exit 1; done' sh $(cat runs)
}
survive ceph-osd -i 1
survive ceph-mds -i a

for i in 0 1 2 3; do
	targets+=("osd$i=$SLUICE_TESTBED/cephfs/targets/osd$i")
done
# after TARGET STATE: exports the probes since the last call of `since`; the target has two with that state
after() {
	"$sluice" forecast export --system bed --since "$since" >exported 2>/dev/null || return
	[ "$(grep -cE "^$1 $2" exported)" -ge 2 ]
}
since() {
	sleep 1
	since=$(date +%s)
}
good='[0-9.e-]+s'
on head "$sluice" forecast probe --system bed --every 1s --reference-every 0 --jobs-every 0 --sizes 1M --timeout 2s "${targets[@]}" \
	>probe.out 2>probe.err &
prober=$!
since
wait_for "probes" after osd1 "$good"
on head pkill -KILL -f '^ceph-osd -i 1'
since
wait_for "probes that time out" after osd1 ">"
wait_for "probes of the others" after osd3 "$good"
on head ceph-osd -i 1
since
wait_for "probes after the return" after osd1 "$good"
on head pkill -TERM -f "^$sluice forecast probe"
wait $prober || true
check_eq "$(on head find "$SLUICE_TESTBED/cephfs/targets" -type f)" "" "files that the probes left"
