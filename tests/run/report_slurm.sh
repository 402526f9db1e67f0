#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Under a real Slurm: srun starts `sluice run` on two nodes, which gives one trace, or parts if a node does not deliver;
# and the tasks of `srun sluice report --part` share the parts of a job. Both nodes are this machine; UTS namespaces
# give them names.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libslurm.sh"
slurm_here
unshare --uts --fork true 2>/dev/null || skip namespaces
slurm_start 2

# submit COMMANDS: runs a batch job on both nodes, with four tasks, and waits for its end; its output is in job.out
submit() {
	printf '#!/bin/bash\n#SBATCH -N 2 -n 4 -o %s/job.out\nset -e\ncd %s\n%s\ntouch finished\n' "$work" "$work" "$1" >job.sh
	rm -f finished
	check_rc 0 sbatch --wait job.sh
	[ -e finished ] || fail "the job failed: $(cat job.out)"
}

# Reports: six parts are shared by four tasks, each saved once, and their sum is the report of the parts.
mkdir job.parts
for first in 0 2 4 6 8 10; do
	python3 "$SOURCE/tests/run/parts_trace.py" part.txt $first 2 12
	"$sluice" trace convert part.txt job.parts/n$first.sluice
done
# report ARGUMENT...: prints the report without the lines that name the trace
report() {
	check_rc 0 "$sluice" report "$@"
	grep -v -e '^ *show: ' -e '^ *slow calls: ' out
}
report job.parts >expected
submit "srun --label $sluice report --part job.parts"
check_eq "$(sed 's/^[0-9]*: //' job.out | sort)" "$(printf 'job.parts/n%d.profile\n' 0 10 2 4 6 8)" "saved profiles"
check_eq "$(sed 's/: .*//' job.out | sort | uniq -c | awk '{ print $2 ":" $1 }' | xargs)" "0:2 1:2 2:1 3:1" "parts per task"
rm job.parts/*.sluice
check_eq "$(report job.parts/*.profile)" "$(cat expected)" "the report of what the tasks saved"

# Recording: a task of a node.
cat >node <<'END'
#!/bin/bash
# node COMMAND...: runs the command as if on a host with the name of the node of Slurm
export SLUICE_SPOOL_DIR=$PWD/spool-$SLURMD_NODENAME
exec unshare --uts --fork sh -c 'hostname "$0" && exec "$@"' "$SLURMD_NODENAME" "$@"
END
cat >program <<'END'
#!/bin/sh
dd if=/dev/zero of="data.$SLURM_PROCID" bs=4k count=$((1 + SLURM_PROCID)) status=none
END
chmod +x node program
mkdir spool-n1 spool-n2
submit "srun ./node $sluice run --quiet -o job.sluice -- ./program"
[ -e job.sluice ] || fail "there is no trace of the job: $(ls -R job.sluice* ; cat job.out)"
[ ! -e job.sluice.parts ] || fail "the parts are still there"
check_rc 0 "$sluice" report --json job.sluice
cp out merged.json
check_eq "$(json_get merged.json '["complete"]')" True "complete"
check_eq "$(python3 -c 'import json
print(*sorted(h["host"] for h in json.load(open("merged.json"))["hosts"]))')" "n1 n2" "hosts"
files() {
	python3 -c 'import json, os, sys
for row in sorted(json.load(open(sys.argv[1]))["files"], key=lambda row: row["file"]):
    if row["class"] == "user" and row["bytes_written"]:
        print(os.path.basename(row["file"]), row["bytes_written"])' "$1"
}
check_eq "$(files merged.json)" "$(printf 'data.%d %d\n' 0 4096 1 8192 2 12288 3 16384)" "files of the job"

# A task of the second node runs without Sluice, so its part is not complete, and the parts remain.
submit "srun ./node sh -c 'if [ \$SLURM_PROCID = 3 ]; then exec ./program; fi
	exec $sluice run --quiet -o lost.sluice -- ./program'
srun $sluice report --part lost.sluice.parts"
check_rc 0 "$sluice" report --json lost.sluice.parts
cp out parts.json
check_eq "$(files parts.json)" "$(printf 'data.%d %d\n' 0 4096 1 8192 2 12288)" "files of the parts"
