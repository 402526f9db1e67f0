#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls become slow on one of two nodes of a job; UTS namespaces simulate the nodes. The process and the node signal
# there. The system signals on both nodes, because the nodes exchange their health through files of the job.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

command -v mpiexec.mpich >/dev/null || skip libmpich-dev
unshare --uts --fork true 2>/dev/null || skip namespaces

cat >"$SLUICE_ETC" <<SETTINGS
[plugins]
load = histogram
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
# writes COUNT MS: makes COUNT writes, the last hundred of which take MS longer; then the node idles
cat >writes <<END
#!/bin/sh
SLOW_FROM=\$((\$1 - 100)) SLOW_MS=\$2 LD_PRELOAD=\$LD_PRELOAD:$prog/slow.so $prog/writes alike \$1
exec sleep 5
END
chmod +x node writes
mkdir spool-one spool-two

case_is "the system is bad if one of its nodes is bad"
timeout -k 5 "$limit" mpiexec.mpich -n 1 ./node one "$sluice" run -o both.sluice -- ./writes 2000 0 : \
	-n 1 ./node two "$sluice" run -o both.sluice -- ./writes 2000 10 >out 2>err </dev/null ||
	wrong "exit code $?: $(cat err)"
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
