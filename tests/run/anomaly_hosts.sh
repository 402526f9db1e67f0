#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls become slow on one of two nodes of a job; UTS namespaces simulate the nodes. The process and the node signal
# there. The system signals on both nodes, because the nodes exchange their health through files of the job.
# Papers: SIOX-35, SIOX-66, SIOX-AC-10.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

command -v mpiexec.mpich >/dev/null || skip libmpich-dev
unshare --uts --fork true 2>/dev/null || skip namespaces

cat >"$SLUICE_ETC" <<SETTINGS
[plugins]
load = histogram
[plugin.histogram]
quantiles = 1 10 80 90
[stats]
period = 0
[reason]
cycle = 200ms
calls = 5
SETTINGS

cat >node <<'END'
#!/bin/sh
# node NAME COMMAND...: runs the command as if on another host, with its own store
name=$1
shift
export MPI_LOCALNRANKS=1 SLUICE_SPOOL_DIR=$PWD/spool-$name SLUICE_STORE_PATH=$PWD/store-$name
exec unshare --uts --fork sh -c 'hostname "$0" && exec "$@"' "$name" "$@"
END
# Writes until the file "stop" exists. On node two, they are slow while the file "slow" exists. Node one writes 2000 times
# and then idles.
cat >writes <<END
#!/bin/sh
if [ "\$(hostname)" = one ]; then
	$prog/writes alike 2000
	SLUICE_DISABLE=1 exec sh -c 'until [ -e stop ]; do sleep 0.05; done'
fi
SLOW_WHILE=slow SLOW_MS=20 LD_PRELOAD=\$LD_PRELOAD:$prog/slow.so exec $prog/writes steady 4096 100 stop
END
chmod +x node writes
mkdir spool-one spool-two

case_is "the system is bad if one of its nodes is bad"
# However loaded the machine is, a call on node one is not slow, so that only node two can be bad.
timeout -k 5 "$limit" mpiexec.mpich \
	-n 1 ./node one "$sluice" --set plugin.histogram.floor=1h run -o both.sluice -- ./writes : \
	-n 1 ./node two "$sluice" run -o both.sluice -- ./writes >out 2>err </dev/null &
job=$!
wait_for "usual writes" grep -q ready out
touch slow
# one_heard: while the nodes run, the part of node one says that the system is bad
one_heard() {
	local part
	for part in both.sluice.parts/*.sluice; do
		"$sluice" trace convert -f text "$part" part.txt 2>/dev/null &&
			grep -q "^#note.*	host=one	source=reasoner	kind=anomaly	name=system bad	" part.txt && return
		rm -f part.txt
	done
	kill -0 $job 2>/dev/null || wrong "the job has ended: $(cat err)"
	return 1
}
wait_for "signal on node one" one_heard
touch stop
wait $job || wrong "exit code $?: $(cat err)"
[ -f both.sluice ] || wrong "there is no trace: $(ls)"
[ ! -e both.sluice.parts ] || wrong "parts or a board are left: $(find both.sluice.parts)"
"$sluice" trace convert both.sluice both.txt

# anomalies HOST NAME: prints the number of anomalies of that name that were signaled on the host
anomalies() {
	grep -c "^#note.*	host=$1	source=reasoner	kind=anomaly	name=$2	" both.txt || true
}
[ "$(anomalies two 'process bad')" -ge 1 ] || wrong "the process on two did not signal: $(grep '^#note' both.txt)"
[ "$(anomalies two 'node bad')" -ge 1 ] || wrong "node two did not signal"
[ "$(anomalies two 'system bad')" -ge 1 ] || wrong "the system was not bad as seen from two"
[ "$(anomalies one 'system bad')" -ge 1 ] || wrong "node one did not hear of node two: $(grep '^#note' both.txt)"
check_eq "$(anomalies one 'process bad')" 0 "$this: processes on the good node"
check_eq "$(anomalies one 'node bad')" 0 "$this: the good node"
