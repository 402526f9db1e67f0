#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice tune` on several hosts, as batch jobs: files that tasks change on CephFS are restored; a file on a node's own file
# system is not changed, whatever has the same path elsewhere. A host that is lost during a run costs that run only.
# Papers: H5T-11.
. "$(dirname "$0")/libcluster.sh"
own_bed
check_rc 0 "$testbed/up" --hosts 3 cephfs slurm
for part in cephfs slurm; do
	need=$(missing_of $part)
	[ -z "$need" ] || skip "$need" "part $part of the test bed"
done
export SLUICE_STORE_PATH=$work/store.db
data=$SLUICE_TESTBED/cephfs/tune
on head mkdir "$data"
echo '{"schema": "sluice.space/1", "dimensions": [{"name": "striping_factor", "values": [null, 2, 4]}]}' >space.json

# tune CODE WORD...: tunes as batch jobs in the directory on CephFS
tune() {
	local code=$1
	shift
	check_rc "$code" on head sh -c 'cd "$0" && exec "$@"' "$data" "$sluice" tune --space "$work/space.json" --runs 4 --repeat 2 \
		--pairs 4 --no-ablation --timeout-factor 1000 --json "$@"
}

# check_files: the user's files on CephFS are as before
check_files() {
	check_eq "$(on head sh -c 'cd "$0" && ls -A && cat old.*' "$data" | xargs)" "old.0 old.1 first second" "files on CephFS"
}
on head sh -c 'cd "$0" && echo first >old.0 && echo second >old.1' "$data"

# Each task appends to a file on CephFS, and creates one there and one on its node's own file system. The latter exists on
# head with other content.
cat >writes <<'END_OF_PROGRAM'
#!/bin/sh
dd if=/dev/zero of="new.$SLURM_PROCID" bs=64k count=16 status=none
echo line >>"old.$SLURM_PROCID"
echo node >/dev/shm/local
echo node >>/dev/shm/local
END_OF_PROGRAM
chmod +x writes
on head sh -c 'echo head >/dev/shm/local'
tune 0 --launcher 'slurm -N 2 -n 2' -- srun "$work/writes"
check_eq "$(json_get out '["data"]')" identical "data"
check_files
check_eq "$(on head cat /dev/shm/local)" head "the file of head"
check_rc 0 "$sluice" kb tunings 1 --json
python3 - out <<'END_OF_SCRIPT' || fail "not all runs were good: $(cat out)"
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
assert len(runs) >= 4 and all(run["state"] == "good" for run in runs), runs
assert any("striping_factor" in run["parameters"] and "striping_factor" in run["effective"] for run in runs), runs
END_OF_SCRIPT

# A file that existed on a node. The tuning ends before its first run counts.
on node1 sh -c 'echo precious >/dev/shm/precious'
on node2 sh -c 'echo precious >/dev/shm/precious'
tune 1 --launcher 'slurm -w node[1-2] -n 2' -- srun sh -c 'echo changed >/dev/shm/precious; echo line >>old.0'
check_words "$(cat err)" /dev/shm/precious "another host"
check_eq "$(on node1 cat /dev/shm/precious) $(on node2 cat /dev/shm/precious)" "precious precious" "files of the nodes"
check_files

# The fourth run loses its host. Slurm would find out after SlurmdTimeout.
cat >loses <<'END_OF_PROGRAM'
#!/bin/sh
dd if=/dev/zero of=new bs=64k count=16 status=none
echo line >>old.0
SLUICE_DISABLE=1 sh -c 'uname -n >>"$0"; [ "$(wc -l <"$0")" != 4 ] || sleep 600' "$WORK/hosts"
END_OF_PROGRAM
chmod +x loses
export WORK=$work
lose_host() {
	local node
	wait_for "the fourth run" has_lines hosts 4
	node=$(tail -n 1 hosts)
	kill -KILL "$(pgrep -P "$(cat "$SLUICE_TESTBED/host/$node/pid")")"
	on head scontrol update NodeName="$node" State=DOWN Reason=lost
}
has_lines() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}
: >hosts
lose_host &
tune 0 --launcher 'slurm -n 1' -- "$work/loses"
wait $!
check_files
check_rc 0 "$sluice" kb tunings 2 --json
python3 - out <<'END_OF_SCRIPT' || fail "the run that lost its host: $(cat out)"
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
bad = [run for run in runs if run["state"] != "good"]
assert len(bad) == 1 and bad[0]["state"] == "failed" and "NODE_FAIL" in bad[0]["reason"], bad
assert runs[-1]["state"] == "good", runs
END_OF_SCRIPT
