# SPDX-License-Identifier: BSD-3-Clause
# Runs a real Slurm on this machine: slurmctld and one slurmd per node; to be sourced after libtest.sh. All its files are
# below $work, its ports are unused ones, and the test ends all its processes by their ids.

# slurm_here: skips the test unless Slurm is installed
slurm_here() {
	PATH=$PATH:/usr/sbin:/sbin
	command -v slurmctld >/dev/null || skip slurmctld
	command -v slurmd >/dev/null || skip slurmd
	command -v sbatch >/dev/null || skip slurm-client
	[ "$(id -u)" = 0 ] || skip root "slurmd starts jobs as their owners"
}

# slurm_ports N: prints N unused ports below the ephemeral ports of the kernel
slurm_ports() {
	python3 - "$1" <<'END'
import random, socket, sys
wanted, found = int(sys.argv[1]), []
while len(found) < wanted:
    port = random.randrange(10000, 32000)
    with socket.socket() as s:
        try:
            s.bind(("", port))
        except OSError:
            continue
    if port not in found:
        found.append(port)
print(*found)
END
}

# slurm_auth: prints the authentication settings. It uses no authentication if Slurm has that plug-in, unless
# SLURM_TEST_AUTH=munge; otherwise it starts its own munged.
slurm_auth() {
	local plugins i
	plugins=$(ls /usr/lib*/*/slurm*/auth_none.so /usr/lib*/slurm*/auth_none.so /usr/local/lib/slurm/auth_none.so \
		2>/dev/null | head -n 1)
	if [ "$plugins" ] && [ "${SLURM_TEST_AUTH:-none}" = none ]; then
		printf 'AuthType=auth/none\nCredType=cred/none\n'
		return
	fi
	command -v munged >/dev/null || skip munge "this Slurm has no other authentication"
	mkdir -p "$slurm/munge"
	chmod 700 "$slurm/munge"
	dd if=/dev/urandom of="$slurm/munge/key" bs=1 count=128 status=none
	chmod 600 "$slurm/munge/key"
	munged --foreground --force --key-file="$slurm/munge/key" --pid-file="$slurm/run/munged.pid" \
		--log-file="$slurm/log/munged" --seed-file="$slurm/munge/seed" --socket="$slurm/munge/socket" >"$slurm/log/munged.err" 2>&1 &
	slurm_pids+=($!)
	for ((i = 0; i < polls; i++)); do
		[ ! -S "$slurm/munge/socket" ] || break
		sleep 0.02
	done
	printf 'AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket=%s\n' "$slurm/munge/socket"
}

# slurm_stop: ends Slurm. The daemons are children of the test; job steps are not, and would outlive the daemons.
slurm_stop() {
	local pid
	for pid in $(pgrep -f '^slurmstepd: ' || true); do
		if { tr '\0' '\n' <"/proc/$pid/environ"; } 2>/dev/null | grep -qxF "SLURM_CONF=$slurm/slurm.conf"; then
			pkill -KILL -P "$pid" || true
			kill -KILL "$pid" 2>/dev/null || true
		fi
	done
	kill -TERM "${slurm_pids[@]}" 2>/dev/null || true
	wait "${slurm_pids[@]}" 2>/dev/null || true
}

# slurm_start NODES [SETTING=VALUE]...: starts Slurm with nodes n1 to nN and the partitions batch (default) and debug,
# and with further settings
slurm_start() {
	local count=$1 host ports i
	shift
	slurm=$work/slurm slurm_pids=()
	host=$(hostname -s)
	mkdir -p "$slurm"/{state,spool,log,run}
	at_exit slurm_stop
	read -r -a ports <<<"$(slurm_ports $((count + 1)))"
	slurm_auth >"$slurm/auth"
	{
		cat <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
$(cat "$slurm/auth")
SlurmctldPort=${ports[0]}
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool/%n
SlurmctldPidFile=$slurm/run/slurmctld.pid
SlurmdPidFile=$slurm/run/slurmd.%n.pid
SlurmctldLogFile=$slurm/log/slurmctld
SlurmdLogFile=$slurm/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
ReturnToService=2
MinJobAge=2
CompleteWait=0
KillWait=1
MessageTimeout=100
PropagateResourceLimits=NONE
DefMemPerNode=100
END
		[ $# = 0 ] || printf '%s\n' "$@"
		for ((i = 1; i <= count; i++)); do
			echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=2 RealMemory=500"
		done
		echo "PartitionName=batch Nodes=n[1-$count] Default=YES MaxTime=60 DefaultTime=10 State=UP"
		echo "PartitionName=debug Nodes=n[1-$count] MaxTime=30 DefaultTime=5 State=UP"
	} >"$slurm/slurm.conf"
	export SLURM_CONF=$slurm/slurm.conf
	slurmctld -D -c >"$slurm/log/slurmctld.err" 2>&1 &
	slurm_pids+=($!)
	for ((i = 1; i <= count; i++)); do
		slurmd -D -N "n$i" >"$slurm/log/slurmd.n$i.err" 2>&1 &
		slurm_pids+=($!)
	done
	# A client that asks before slurmctld listens waits for a second.
	for ((i = 0; i < polls; i++)); do
		(: <"/dev/tcp/127.0.0.1/${ports[0]}") 2>/dev/null && break
		sleep 0.02
	done
	for ((i = 0; i < polls; i++)); do
		[ "$(sinfo -h -p batch -t idle -o %D 2>/dev/null)" = "$count" ] && return
		sleep 0.05
	done
	fail "Slurm did not start: $(tail -n 5 "$slurm"/log/*)"
}

# slurm_wait STATE N: waits until N jobs are in that state
slurm_wait() {
	local i
	for ((i = 0; i < polls; i++)); do
		[ "$(squeue -h -t "$1" -o %i | wc -l)" = "$2" ] && return
		sleep 0.05
	done
	fail "the number of jobs in state $1 is not $2: $(squeue -l; tail -n 5 "$slurm"/log/*)"
}
