#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The parameters of a parallel job are read once per node and are the same on all nodes, or are not applied at all.
# Two hosts are simulated as in merge_hosts.sh.
. "$(dirname "$0")/libtest.sh"
. "$(dirname "$0")/libjob.sh"

program=$(mpi_program mpich meet)
[ -n "$program" ] || skip libmpich-dev

for nodes in 2 4 8; do
	echo "{\"schema\": \"sluice.params/1\", \"parameters\": [{\"name\": \"cb_nodes\", \"value\": $nodes}]}" >$nodes.json
done

# The program of each rank first writes the parameters that it gets.
cat >look <<'END'
#!/bin/sh
grep -a -A 1 '^sluice-parameters\|.*sluice-parameters' "$SLUICE_SPOOL/control" | tr '\000' '\n' |
	grep -a 'parameters 1\|cb_nodes' >given-$PMI_RANK
exec "$@"
END
chmod +x look

# all_given TEXT: every rank got this value; empty: no rank got any
all_given() {
	local rank
	for rank in 0 1 2 3; do
		[ -f "given-$rank" ] || wrong "rank $rank has not looked"
		check_eq "$(sed -n 's/.*cb_nodes\t//p' "given-$rank")" "$1" "$this: cb_nodes of rank $rank"
	done
	rm given-*
}

case_is "ranks that a launcher starts on one node get the same parameters"
rm -rf runs
timeout -k 5 "$limit" mpiexec.mpich -n 4 "$sluice" run --params 4.json -- ./look "$program" >out 2>err </dev/null ||
	wrong "exit code $?: $(cat err)"
all_given 4
[ ! -s err ] || wrong "there are warnings: $(cat err)"
"$sluice" report --json >report
check_eq "$(json_get report '["applied"][1]["value"]')" 4.json
check_eq "$(json_get report '["applied"][0]["count"]')" 1

case_is "a problem is reported once, not by each rank"
timeout -k 5 "$limit" mpiexec.mpich -n 4 "$sluice" --set params.file=none.json run -- ./look "$program" >out 2>err </dev/null ||
	wrong "exit code $?: $(cat err)"
all_given ""
check_eq "$(grep -c 'none.json.*No such file' err)" 1 "$this"

unshare --uts --fork true 2>/dev/null || skip namespaces
cat >node <<'END'
#!/bin/sh
# node NAME COMMAND...: runs as if on another host; the second host starts when the first has announced its parameters
name=$1
shift
while [ $name = two ] && [ -z "$(ls -- *.parts/*-parameters runs/*.parts/*-parameters 2>/dev/null)" ]; do
	sleep 0.02
done
export MPI_LOCALNRANKS=2 SLUICE_SPOOL_DIR=$PWD/spool-$name
exec unshare --uts --fork sh -c 'hostname "$0" && exec "$@"' "$name" "$@"
END
chmod +x node
mkdir spool-one spool-two

# hosts_run FIRST SECOND: runs two ranks on each host; each argument is a command with its arguments
hosts_run() {
	rm -rf runs
	timeout -k 5 "$limit" mpiexec.mpich -n 2 ./node one $1 ./look "$program" : -n 2 ./node two $2 ./look "$program" \
		>out 2>err </dev/null || wrong "exit code $?: $(cat err)"
	[ -z "$(ls spool-one spool-two | grep sluice)" ] || wrong "spools are left"
}

# hosts_agree FIRST SECOND: the same, again if a host was late: the first one waits for the other for a few seconds only
hosts_agree() {
	local try
	for try in 1 2 3 4 5 6 7 8 9 10; do
		hosts_run "$@"
		grep -q 'parameters .* not all ranks' err || return 0
	done
}

case_is "two hosts get the same parameters, and only the trace is left behind"
hosts_agree "$sluice run --params 8.json --" "$sluice run --params 8.json --"
all_given 8
! grep -q 'parameters are\|another node' err || wrong "there are warnings: $(cat err)"
check_eq "$(ls runs | wc -l)" 1 "$this: files in trace.dir"
"$sluice" report --json >report
check_eq "$(json_get report '["applied"][0]["value"]')" "cb_nodes=8"
check_eq "$(python3 -c 'import json
rows = [r for r in json.load(open("report"))["parameters"] if "honoured" in r]
print({(r["name"], r.get("requested"), r["openings"] % 4, r["openings"] == r["agreeing"]) for r in rows})')" \
	"{('cb_nodes', '8', 0, True)}" "$this: what ranks of both have asked for"

case_is "the first host decides"
hosts_agree "$sluice run --params 2.json --" "$sluice run --params 4.json --"
all_given 2
check_eq "$(grep -c 'another node .* different parameters' err)" 1 "$this: $(cat err)"
hosts_agree "$sluice run --params 2.json --" "$sluice run --"
all_given 2

case_is "parameters are not applied if some ranks of the job would not get them"
hosts_run "$sluice run -o half --params 2.json --" "env SLUICE_SPOOL=$work ./look"
sed -i 's/.*//' given-2 given-3
all_given ""
check_eq "$(grep -c 'parameters .* not all ranks' err)" 1 "$this: $(cat err)"
