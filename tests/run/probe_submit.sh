#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `sluice forecast submit` submits a probe job again whenever it has ended: to scripts that imitate PBS, and to a real
# Slurm. There is never a second job, even if the command is started again.
# Papers: WAN-11, WAN-AC-15.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libslurm.sh"

# PBS: a job ends after it has been queried three times.
mkdir bin queue
cat >bin/qsub <<'END'
#!/bin/bash
cd "$QUEUE"
[ "$1" = -N ] || exit 2
[ ! -e refuse ] || { echo "qsub: Job exceeds queue resource limits" >&2; exit 188; }
ls [0-9]* >/dev/null 2>&1 && echo "two at once" >>violations
id=$(($(cat last 2>/dev/null || echo 40) + 1))
echo "$id" >last
echo "$*" >>submitted
echo "$2 0" >"$id"
echo "$id.sdb"
END
cat >bin/qstat <<'END'
#!/bin/bash
cd "$QUEUE"
[ ! -e down ] || { echo "qstat: cannot connect to server sdb (errno=15010)" >&2; exit 255; }
for id in [0-9]*; do
	[ -e "$id" ] || continue
	read -r name looks <"$id"
	state=R
	[ "$looks" != 2 ] || state=C
	printf 'Job Id: %s.sdb\n    Job_Name = %s\n    Job_Owner = %s@login1\n    job_state = %s\n    queue = batch\n\n' \
		"$id" "$name" "$(id -un)" "$state"
	if [ "$state" = C ]; then rm "$id"; else echo "$name $((looks + 1))" >"$id"; fi
done
printf 'Job Id: 7.sdb\n    Job_Name = %s\n    Job_Owner = somebody@login1\n    job_state = R\n\n' "$MINE"
END
cat >bin/qdel <<'END'
#!/bin/bash
rm "$QUEUE/${1%.sdb}"
END
chmod +x bin/*
printf '[site]\nname = played\n[jobs]\nreader = pbs\n' >site.ini
echo 'sleep 1' >collect.sh
export QUEUE=$work/queue MINE=mine
played() {
	PATH=$work/bin:$PATH "$sluice" forecast submit --site ./site.ini --every 10ms --min-runtime 0 --name mine "$@"
}

check_rc 0 played --jobs 3 collect.sh -- -q batch
check_eq "$(cut -d' ' -f2- out)" "submitted job 41.sdb
job 41.sdb ended
submitted job 42.sdb
job 42.sdb ended
submitted job 43.sdb
job 43.sdb ended" "messages about three jobs"
check_eq "$(sort -u queue/submitted)" "-N mine -q batch collect.sh" "how jobs are submitted"
[ ! -e queue/violations ] || fail "$(cat queue/violations)"

# A job of this name exists already: it is counted, and one more is submitted.
echo "mine 0" >queue/50
check_rc 0 played --jobs 1 --json collect.sh
check_eq "$(python3 -c 'import json
d = json.load(open("out"))
print(d["schema"], d["submitted"], d["end"], [(job["id"], job["found"]) for job in d["jobs"]])')" \
	"sluice.probe/1 1 times [('50.sdb', True), ('44.sdb', False)]" "messages about an existing job"
[ ! -e queue/violations ] || fail "$(cat queue/violations)"

# The scheduler rejects the job with its own message, or every job ends at once.
touch queue/refuse
check_rc 1 played --max-failures 2 collect.sh
check_has "$(cat err)" "qsub: Job exceeds queue resource limits"
check_has "$(tail -n 1 err)" "after 2 failures"
rm queue/refuse
check_rc 1 played --max-failures 2 --min-runtime 1h collect.sh
check_words "$(cat err)" "2 jobs" "3600 s"

# While the queue cannot be queried, nothing is submitted.
before=$(wc -l <queue/submitted)
touch queue/down
check_rc 0 played --duration 100ms collect.sh
check_has "$(cat err)" "cannot connect to server"
check_eq "$(wc -l <queue/submitted)" "$before" "jobs that were submitted"
rm queue/down

# The command leaves its job in the queue when it ends, unless --cancel is given.
check_rc 0 played --every 10s --duration 100ms collect.sh
check_words "$(tail -n 1 out)" queue
[ "$(ls queue/[0-9]* | wc -l)" = 1 ] || fail "the job is gone"
rm queue/[0-9]*
check_rc 0 played --every 10s --duration 100ms --cancel collect.sh
check_has "$(tail -n 1 out)" "canceled job"
[ "$(ls queue/[0-9]* 2>/dev/null | wc -l)" = 0 ] || fail "the job is still there"

# Invalid arguments are errors.
check_rc 2 played --name 'a,b' collect.sh
check_rc 1 played nowhere.sh
check_words "$(cat err)" nowhere.sh "No such file"
check_rc 1 env PATH="$work" "$sluice" forecast submit collect.sh
check_words "$(cat err)" sbatch qsub

# A real Slurm.
slurm_here
slurm_start 1
mkdir target
# It probes until its rows have the job itself, however slow the machine is.
cat >quick.sh <<END
#!/bin/sh
echo "\$SLURM_JOB_ID" >>$work/ran
"$sluice" forecast probe --system campaign --sizes 4K --every 20ms --reference-every 0 --jobs-every 1s a=$work/target &
until "$sluice" forecast export --system campaign | grep -A 999 '^All running jobs:' | grep -qx "Job Id: \$SLURM_JOB_ID"; do
	sleep 0.1
done
kill \$!
wait \$! || exit 0
END
printf '#!/bin/sh\nsleep 3600\n' >long.sh
check_rc 0 "$sluice" forecast submit --jobs 2 --every 50ms --min-runtime 0 quick.sh -- -o /dev/null
check_eq "$(cut -d' ' -f2- out | tr '\n' ' ')" \
	"submitted job 1 job 1 ended submitted job 2 job 2 ended " "messages about jobs of Slurm"
check_eq "$(tr '\n' ' ' <ran)" "1 2 " "jobs that ran"
check_rc 0 "$sluice" forecast export --system campaign
check_eq "$(sed -n 's/^Job Id: //p' out | uniq | tr '\n' ' ')" "1 2 " "jobs that the collection has seen: itself"
[ "$(grep -c '^a ' out)" -ge 2 ] || fail "the jobs have not probed: $(cat out)"

"$sluice" forecast submit --every 50ms long.sh -- -o /dev/null >first 2>&1 &
watcher=$!
for ((i = 0; i < polls; i++)); do
	grep -q submitted first && break
	sleep 0.05
done
check_rc 1 "$sluice" forecast submit long.sh
check_words "$(cat err)" already "job slc-"
kill -TERM "$watcher"
rc=0
wait "$watcher" || rc=$?
check_eq "$rc" 143 "exit code of the watcher: $(cat first)"
check_has "$(cat first)" "job 3 stays"
check_rc 0 "$sluice" forecast submit --every 50ms --duration 300ms --cancel long.sh -- -o /dev/null
check_eq "$(cut -d' ' -f2- out)" "found job 3 in the queue
canceled job 3" "messages of a second watcher"

check_rc 1 "$sluice" forecast submit --every 50ms --max-failures 2 long.sh -- -p nowhere
check_has "$(cat err)" "invalid partition"
