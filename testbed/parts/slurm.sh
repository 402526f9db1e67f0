# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # the commands and parts share variables
# Slurm: slurmctld on head and one slurmd on each compute node, without authentication and accounting.
folder=$state/slurm

part_missing() {
	need_commands slurmctld slurmctld
	need_commands slurmd slurmd
	need_commands slurm-client srun sinfo
	compgen -G '/usr/lib*/*/slurm*/auth_none.so' >/dev/null || compgen -G '/usr/lib*/slurm*/auth_none.so' >/dev/null ||
		echo slurm-plugin:auth_none
}

slurm_settings() {
	local name
	cat <<END
ClusterName=testbed
SlurmctldHost=head
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=$state/log/slurmctld
SlurmdLogFile=$state/log/slurmd.%n
# Nodes have the CPUs of the line below, not those of the machine.
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=60
CompleteWait=0
KillWait=5
PropagateResourceLimits=NONE
END
	for name in $(node_names); do
		echo "NodeName=$name CPUs=4 RealMemory=2000 State=UNKNOWN"
	done
	echo "PartitionName=main Nodes=ALL Default=YES OverSubscribe=YES MaxTime=60 State=UP"
}

nodes_are_idle() {
	[ "$(enter head sinfo -h -t idle -o %D)" = "$hosts" ]
}

part_start() {
	local name
	mkdir -p "$folder/state" "$folder/spool"
	slurm_settings >"$folder/slurm.conf"
	# Hosts share /tmp, but each has its own /run.
	echo "PMIxCliTmpDirBase=/run" >"$folder/mpi.conf"
	publish SLURM_CONF "$folder/slurm.conf"
	start_server head slurmctld.err slurmctld -D -c
	for name in $(node_names); do
		mkdir -p "$folder/spool/$name"
		start_server "$name" "slurmd.$name.err" slurmd -D -N "$name"
	done
	wait_until Slurm nodes_are_idle
}

part_stop() {
	:
}

part_status() {
	local usable
	usable=$(enter head timeout 60 sinfo -h -t idle,alloc,mix,comp -o %D | awk '{ n += $1 } END { print n + 0 }')
	echo "$usable of $hosts nodes are usable"
	[ "$usable" = "$hosts" ]
}
